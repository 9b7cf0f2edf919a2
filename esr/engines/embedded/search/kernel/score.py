"""The value of a sentence, by the formulas of `esr.plans.evaluate`, with one logarithm for several terms."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.layout import (
    IN_DOCUMENT,
    IN_SENTENCE,
    IN_SURROUNDING,
    LOG_COLLECTION,
    LOGARITHM,
    MIXTURE,
)
from esr.engines.embedded.search.kernel.numba_support import inlined

GREAT = 1e100
"""A product of evidence beyond it is turned to a logarithm before it becomes infinite."""


@inlined
def saturate(shape, k1, x):
    """The saturation's curve."""
    if x <= 0:
        return 0.0
    return np.log1p(x) if shape == LOGARITHM else (k1 + 1.0) * x / (k1 + x)


@inlined
def value_sentence(scoring, space, m, place, length, around):
    """The value of a sentence with so many terms in itself and in its surrounding.

    `m` terms are present in its document. Its counts begin at `place`, its neighbours' beside; at 0 there are
    none.
    """
    shape, transform, table = scoring.shape, scoring.numbers, scoring.length_table
    weight, background, present = space.weight, space.background, space.present
    share, counts, termless = space.share, space.counts, scoring.termless
    terms = len(weight)
    if shape == MIXTURE:
        total, product = termless[0] + (termless[1] + termless[2]) * table[length, LOG_COLLECTION], 1.0
        here, wide = table[length, IN_SENTENCE], table[length, IN_DOCUMENT]
        near = table[length, IN_SURROUNDING] / max(around, 1)
        for n in range(m):
            t = present[n]
            x = wide * share[t]
            if place > 0:
                count = counts[place + t]
                x += here * count + near * (counts[place - terms + t] + count + counts[place + terms + t])
            x = 1.0 + x / background[t]
            if weight[t] == 1.0 and x < GREAT:
                product *= x
                if product > GREAT:
                    total += np.log(product)
                    product = 1.0
            else:
                total += weight[t] * np.log(x)
        return total + np.log(product)
    total = 0.0
    norm = 1.0 - transform[2] + transform[2] * length / transform[3]
    here = transform[1] / (norm if norm > 0 else 1.0)
    norm = 1.0 - transform[5] + transform[5] * around / transform[6]
    near = transform[4] / (norm if norm > 0 else 1.0)
    for n in range(m):
        t = present[n]
        x = share[t]
        if place > 0:
            count = counts[place + t]
            x += here * count + near * (counts[place - terms + t] + count + counts[place + terms + t])
        total += weight[t] * saturate(shape, transform[0], x)
    return total


@inlined
def bound_without_terms(scoring, space, m, shortest, longest):
    """The most that a sentence of a document has with no term in its window.

    `m` terms are present in the document, whose sentences have from `shortest` to `longest` terms.
    """
    shape, transform, table = scoring.shape, scoring.numbers, scoring.length_table
    weight, background, own = space.weight, space.background, space.own
    present, share, termless = space.present, space.share, scoring.termless
    if shape != MIXTURE:
        total = 0.0
        for n in range(m):
            total += weight[present[n]] * saturate(shape, transform[0], share[present[n]])
        return total
    total, rising, falling = termless[0], termless[1], termless[2]
    for n in range(m):
        t = present[n]
        at_shortest = weight[t] * np.log(1.0 + table[shortest, IN_DOCUMENT] * share[t] / background[t])
        at_longest = weight[t] * np.log(1.0 + table[longest, IN_DOCUMENT] * share[t] / background[t])
        if own[t]:
            at_shortest += weight[t] * table[shortest, LOG_COLLECTION]
            at_longest += weight[t] * table[longest, LOG_COLLECTION]
            rising, falling = rising - max(weight[t], 0.0), falling - min(weight[t], 0.0)
        total += max(at_shortest, at_longest)
    total += rising * max(table[shortest, LOG_COLLECTION], table[longest, LOG_COLLECTION])
    return total + falling * min(table[shortest, LOG_COLLECTION], table[longest, LOG_COLLECTION])
