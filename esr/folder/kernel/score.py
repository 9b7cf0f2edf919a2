"""The values of sentences in the kernel, and the exact evidence of the selected ones.

Values follow the formulas of `esr.plans.evaluate`, with one logarithm of a product for several terms.
Evidence is computed by the same steps as there, so it is equal to the last digit.
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.columns import number_at
from esr.folder.kernel.layout import (
    BACKGROUND,
    IN_DOCUMENT,
    IN_SENTENCE,
    IN_SURROUNDING,
    LENGTHS,
    LOG_COLLECTION,
    LOGARITHM,
    MIXTURE,
    OWN,
)
from esr.folder.kernel.numba_support import compiled, inlined

LOG_2 = 0.6931471805599454
"""The logarithm of 2, rounded up by some units in the last place."""


@inlined
def saturate(shape, k1, x):
    """Apply the curve of the saturation."""
    if x <= 0:
        return 0.0
    return np.log1p(x) if shape == LOGARITHM else (k1 + 1.0) * x / (k1 + x)


@inlined
def evidence_of(space, t, i):
    """The evidence for a term in a listed sentence; of a mixture, divided by the collection's weight."""
    listed = space.listed
    place = listed.places[i]
    x = listed.wide[i] * space.share[t] + listed.here[i] * space.counts[t, place]
    return x + listed.beside[i] * space.around[t, place]


@inlined
def weigh_listed(scoring, segments, g, listed, n, first, size):
    """Set the worth of an occurrence in each field of the n listed sentences, and their termless totals.

    `first` is the number of the document's first sentence in the segment, `size` its number of sentences.
    """
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
    """Score the n listed sentences of a document: `totals` plus the logarithms of `products`.

    Products may overflow. `m` terms are present in the document. `first` is the number of its first sentence
    in the segment.
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
    """An upper bound of the logarithm of a positive, finite number, from its bits: at most 0.06 too great."""
    return (bits * 2.0**-52 - 1022.9139) * LOG_2


@inlined
def sum_logarithms(space, m, i):
    """The logarithm of the product of a listed sentence, even if the product overflows."""
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
def reads_surrounding(is_mixture, numbers):
    """Whether a transform uses the surrounding."""
    return numbers[4] != 0 or (is_mixture and numbers[3] != 0)


@inlined
def bound_termless(scoring, shortest, longest):
    """Upper bound of a sentence's score without any of the terms.

    `shortest` and `longest` are the lengths of the document's shortest and longest sentence.
    """
    termless, table = scoring.termless, scoring.length_table
    if scoring.shape != MIXTURE:
        return termless[0]
    at_shortest, at_longest = table[shortest, LOG_COLLECTION], table[longest, LOG_COLLECTION]
    rising, falling = max(at_shortest, at_longest), min(at_shortest, at_longest)
    return termless[0] + termless[1] * rising + termless[2] * falling


@inlined
def bound_far(scoring, space, t, shortest, longest):
    """Upper bound of what a term of a document adds to the termless score of a sentence not near it."""
    weight, share, table = space.weight[t], space.share[t], scoring.length_table
    if scoring.shape != MIXTURE:
        return weight * saturate(scoring.shape, scoring.numbers[0], share)
    x = share * space.inverse_background[t]
    at_shortest = weight * np.log(1.0 + table[shortest, IN_DOCUMENT] * x)
    at_longest = weight * np.log(1.0 + table[longest, IN_DOCUMENT] * x)
    if not space.own[t]:
        return max(at_shortest, at_longest)
    lacking_shortest = weight * table[shortest, LOG_COLLECTION]
    lacking_longest = weight * table[longest, LOG_COLLECTION]
    most = max(at_shortest + lacking_shortest, at_longest + lacking_longest)
    return most - max(lacking_shortest, lacking_longest)


@inlined
def weigh_fields(transform, lengths, shares):
    """Set `shares` to the worth of an occurrence in each field, then the collection's weight."""
    numbers = transform.numbers
    if transform.shape == MIXTURE:
        mu = numbers[0]
        beta = 0.0 if mu == 0 else mu / (lengths[0] + mu)
        for field in range(3):
            share = numbers[1 + 2 * field] + numbers[2 + 2 * field] * beta
            shares[field] = share / max(lengths[field], 1.0)
        shares[3] = numbers[7] + numbers[8] * beta
    else:
        for field in range(3):
            share, b, average = numbers[1 + 3 * field], numbers[2 + 3 * field], numbers[3 + 3 * field]
            norm = 1.0 - b + b * lengths[field] / average
            shares[field] = share / (norm if norm > 0 else 1.0)
        shares[3] = 0.0


@compiled
def compute_evidence(transform, table, facts, order):
    """The evidence for sentences, of shape (T, n), as `esr.plans.evaluate.combine_evidence` computes it.

    Each number is computed by the same steps. `facts` are those of `Selection`, `order` the row of each
    sentence.
    """
    terms, shares = len(table), np.empty(4)
    evidence = np.empty((terms, len(order)))
    for n in range(len(order)):
        row = facts[order[n]]
        weigh_fields(transform, row[3 * terms :], shares)
        for t in range(terms):
            least = shares[3] * table[t, BACKGROUND]
            x = least + shares[0] * row[t] + shares[1] * row[terms + t] + shares[2] * row[2 * terms + t]
            evidence[t, n] = x if transform.shape != MIXTURE or table[t, OWN] > 0 else x / least
    return evidence
