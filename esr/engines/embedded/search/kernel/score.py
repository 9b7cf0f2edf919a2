"""The values of sentences, by the formulas of `esr.plans.evaluate`, with one logarithm for several terms."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.columns import number_at
from esr.engines.embedded.search.kernel.layout import (
    IN_DOCUMENT,
    IN_SENTENCE,
    IN_SURROUNDING,
    LENGTHS,
    LOG_COLLECTION,
    LOGARITHM,
    MIXTURE,
    Far,
)
from esr.engines.embedded.search.kernel.numba_support import inlined

LOG_2 = 0.6931471805599454
"""Above the logarithm of 2, by some units in the last place."""


@inlined
def saturate(shape, k1, x):
    """The saturation's curve."""
    if x <= 0:
        return 0.0
    return np.log1p(x) if shape == LOGARITHM else (k1 + 1.0) * x / (k1 + x)


@inlined
def evidence_of(space, t, i):
    """The evidence for a term in a listed sentence: of a mixture, over the collection's weight."""
    listed = space.listed
    place = listed.places[i]
    x = listed.wide[i] * space.share[t] + listed.here[i] * space.counts[t, place]
    return x + listed.beside[i] * space.around[t, place]


@inlined
def weigh_listed(scoring, segments, g, listed, n, first, size):
    """What one occurrence in each field is worth in the n listed sentences of a document, and their totals
    without any term."""
    shape, transform, table, termless = scoring.shape, scoring.numbers, scoring.length_table, scoring.termless
    address, width, end = segments[g, LENGTHS], segments[g, LENGTHS + 1], first + size - 1
    for i in range(n):
        local = first + listed.places[i] - 1
        length = around = number_at(address, width, local)
        around += (local > first) * number_at(address, width, max(local - 1, first))
        around += (local < end) * number_at(address, width, min(local + 1, end))
        listed.lengths[i], listed.around_lengths[i], listed.products[i] = length, around, 1.0
        if shape == MIXTURE:
            listed.totals[i] = termless[0] + (termless[1] + termless[2]) * table[length, LOG_COLLECTION]
            listed.here[i], listed.wide[i] = table[length, IN_SENTENCE], table[length, IN_DOCUMENT]
            listed.beside[i] = table[length, IN_SURROUNDING] / max(around, 1)
        else:
            listed.totals[i], listed.wide[i] = 0.0, 1.0
            norm = 1.0 - transform[2] + transform[2] * length / transform[3]
            listed.here[i] = transform[1] / (norm if norm > 0 else 1.0)
            norm = 1.0 - transform[5] + transform[5] * around / transform[6]
            listed.beside[i] = transform[4] / (norm if norm > 0 else 1.0)


@inlined
def value_sentences(scoring, segments, g, space, m, n, first, size):
    """The values of the n listed sentences of a document: the totals plus the logarithms of the products.

    `m` terms are present in the document, whose first sentence is `first` in the segment. A product may be
    infinite.
    """
    shape, transform, listed = scoring.shape, scoring.numbers, space.listed
    weigh_listed(scoring, segments, g, listed, n, first, size)
    for k in range(m):
        t = space.present[k]
        weight, inverse = space.weight[t], space.inverse_background[t]
        if shape != MIXTURE:
            for i in range(n):
                listed.totals[i] += weight * saturate(shape, transform[0], evidence_of(space, t, i))
        elif weight == 1.0:
            for i in range(n):
                listed.products[i] *= 1.0 + evidence_of(space, t, i) * inverse
        else:
            for i in range(n):
                listed.totals[i] += weight * np.log(1.0 + evidence_of(space, t, i) * inverse)


@inlined
def bound_logarithm(bits):
    """What is not below the logarithm of a positive, finite number with these bits, and at most .06 above."""
    return (bits * 2.0**-52 - 1022.9139) * LOG_2


@inlined
def sum_logarithms(space, m, i):
    """The logarithm of the product of a listed sentence, also if the product is infinite."""
    product = space.listed.products[i]
    if product < np.inf:
        return np.log(product)
    total = 0.0
    for k in range(m):
        t = space.present[k]
        if space.weight[t] == 1.0:
            total += np.log(1.0 + evidence_of(space, t, i) * space.inverse_background[t])
    return total


@inlined
def begin_far(scoring, shortest, longest):
    """The bound of a sentence that is near none of a document's terms, before any of these is added.

    The document's sentences have from `shortest` to `longest` terms.
    """
    termless, table, low, high = scoring.termless, scoring.length_table, 0.0, 0.0
    if scoring.shape == MIXTURE:
        low, high = table[shortest, LOG_COLLECTION], table[longest, LOG_COLLECTION]
        low, high = min(low, high), max(low, high)
    return Far(termless[0], termless[1], termless[2], low, high, shortest, longest)


@inlined
def add_far(scoring, space, t, far, impact):
    """The bound with a term that the document has, and how much more a sentence near it has at most."""
    weight, share, table = space.weight[t], space.share[t], scoring.length_table
    near, rising, falling = weight * impact, far.rising, far.falling
    if scoring.shape != MIXTURE:
        most = weight * saturate(scoring.shape, scoring.numbers[0], share)
    else:
        x = share * space.inverse_background[t]
        at_shortest = weight * np.log(1.0 + table[far.shortest, IN_DOCUMENT] * x)
        at_longest = weight * np.log(1.0 + table[far.longest, IN_DOCUMENT] * x)
        if space.own[t]:
            at_shortest += weight * table[far.shortest, LOG_COLLECTION]
            at_longest += weight * table[far.longest, LOG_COLLECTION]
            near += max(weight, 0.0) * far.high + min(weight, 0.0) * far.low
            rising, falling = rising - max(weight, 0.0), falling - min(weight, 0.0)
        most = max(at_shortest, at_longest)
    bound = Far(far.bound + most, rising, falling, far.low, far.high, far.shortest, far.longest)
    return bound, max(near - most, 0.0)


@inlined
def end_far(far):
    """The bound, when all terms that the document has were added."""
    return far.bound + far.rising * far.high + far.falling * far.low
