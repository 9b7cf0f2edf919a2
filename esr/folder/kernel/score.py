"""The values of sentences in the kernel, and the exact evidence of the selected sentences.

Values follow the formulas of `esr.plans.evaluate`, with one logarithm of a product for several terms.
Evidence is computed by the same steps as there, so it is identical.
"""

from __future__ import annotations

import numpy as np

from esr.folder.kernel.layout import (
    IN_DOCUMENT,
    IN_SENTENCE,
    IN_SURROUNDING,
    LOG_COLLECTION,
    LOGARITHM,
    MIXTURE,
)
from esr.folder.kernel.numba_support import compiled, inlined, read_column

LOG_2 = 0.6931471805599454
"""The logarithm of 2, rounded up by some units in the last place."""


@inlined
def saturate(shape, k1, x):
    """Apply the curve of the saturation."""
    if x <= 0:
        return 0.0
    return np.log1p(x) if shape == LOGARITHM else (k1 + 1.0) * x / (k1 + x)


@inlined
def field_worth(field, length):
    """The worth of one occurrence in a field of a saturation, which has this length."""
    norm = 1.0 - field.b + field.b * length / field.average
    return field.share / (norm if norm > 0 else 1.0)


@inlined
def evidence_of(space, t, i):
    """The evidence for a term in a listed sentence; for a mixture, divided by the collection's weight."""
    listed = space.listed
    position = listed.positions[i]
    x = listed.in_document[i] * space.share[t] + listed.in_sentence[i] * space.counts[t, position]
    return x + listed.in_surrounding[i] * space.surrounding_counts[t, position]


@inlined
def weigh_listed(scoring, lengths, listed, n, first, size):
    """Set the worth of an occurrence in each field of the n listed sentences, and their termless totals.

    `lengths` is the column of the segment. `first` is the number of the document's first sentence there,
    `size` its number of sentences.
    """
    table, termless, saturation = scoring.length_table, scoring.termless, scoring.saturation
    end = first + size - 1
    for i in range(n):
        s = first + listed.positions[i] - 1
        length = around = read_column(lengths, s)
        around += (s > first) * read_column(lengths, max(s - 1, first))
        around += (s < end) * read_column(lengths, min(s + 1, end))
        listed.lengths[i], listed.surrounding_lengths[i], listed.products[i] = length, around, 1.0
        if scoring.shape == MIXTURE:
            query_weight = termless.positive_weight + termless.negative_weight
            listed.totals[i] = termless.constant + query_weight * table[length, LOG_COLLECTION]
            listed.in_sentence[i] = table[length, IN_SENTENCE]
            listed.in_surrounding[i] = table[length, IN_SURROUNDING] / max(around, 1)
            listed.in_document[i] = table[length, IN_DOCUMENT]
        else:
            listed.totals[i], listed.in_document[i] = 0.0, 1.0
            listed.in_sentence[i] = field_worth(saturation.sentence, length)
            listed.in_surrounding[i] = field_worth(saturation.surrounding, around)


@inlined
def value_sentences(scoring, lengths, space, m, n, first, size):
    """Score the n listed sentences of a document: `totals` plus the logarithms of `products`.

    Products may overflow. `m` terms are present in the document. The other arguments are those of
    `weigh_listed`.
    """
    shape, k1, listed = scoring.shape, scoring.saturation.k1, space.listed
    weigh_listed(scoring, lengths, listed, n, first, size)
    for j in range(m):
        t = space.present[j]
        weight, inverse = space.weight[t], space.inverse_background[t]
        if shape != MIXTURE:
            for i in range(n):
                listed.totals[i] += weight * saturate(shape, k1, evidence_of(space, t, i))
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
def reads_surrounding(shape, mixture, saturation):
    """Whether a transform uses the surrounding."""
    if shape == MIXTURE:
        return mixture.surrounding.constant != 0 or mixture.surrounding.slope != 0
    return saturation.surrounding.share != 0


@inlined
def bound_termless(scoring, shortest, longest):
    """Upper bound of a sentence's score without any of the terms.

    `shortest` and `longest` are the lengths of the document's shortest and longest sentence.
    """
    termless, table = scoring.termless, scoring.length_table
    if scoring.shape != MIXTURE:
        return termless.constant
    at_shortest, at_longest = table[shortest, LOG_COLLECTION], table[longest, LOG_COLLECTION]
    high, low = max(at_shortest, at_longest), min(at_shortest, at_longest)
    return termless.constant + termless.positive_weight * high + termless.negative_weight * low


@inlined
def bound_far(scoring, space, t, shortest, longest):
    """Upper bound of what a term of the document adds to the termless score of a sentence not near it."""
    weight, share, table = space.weight[t], space.share[t], scoring.length_table
    if scoring.shape != MIXTURE:
        return weight * saturate(scoring.shape, scoring.saturation.k1, share)
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
def weight_at(affine, beta):
    """The weight of a field of a mixture."""
    return affine.constant + affine.slope * beta


@inlined
def weigh_fields(shape, mixture, saturation, sentence, surrounding, document):
    """The worth of an occurrence in a sentence, its surrounding and its document, whose lengths are given.

    The fourth number is the collection's weight.
    """
    if shape == MIXTURE:
        beta = 0.0 if mixture.mu == 0 else mixture.mu / (sentence + mixture.mu)
        return (
            weight_at(mixture.sentence, beta) / max(sentence, 1.0),
            weight_at(mixture.surrounding, beta) / max(surrounding, 1.0),
            weight_at(mixture.document, beta) / max(document, 1.0),
            weight_at(mixture.collection, beta),
        )
    return (
        field_worth(saturation.sentence, sentence),
        field_worth(saturation.surrounding, surrounding),
        field_worth(saturation.document, document),
        0.0,
    )


@compiled
def compute_evidence(formula, table, facts, order):
    """The evidence for sentences, of shape (T, n), as `esr.plans.evaluate.combine_evidence` computes it.

    Each number is computed by the same steps. `facts` are those of `Selection`, `order` the row of each
    sentence.
    """
    terms, is_mixture = len(table), formula.shape == MIXTURE
    evidence = np.empty((terms, len(order)))
    for n in range(len(order)):
        row = facts[order[n]]
        in_sentence, in_surrounding, in_document, collection = weigh_fields(
            formula.shape,
            formula.mixture[0],
            formula.saturation[0],
            row[3 * terms],
            row[3 * terms + 1],
            row[3 * terms + 2],
        )
        for t in range(terms):
            least = collection * table[t].background
            x = (
                least
                + in_sentence * row[t]
                + in_surrounding * row[terms + t]
                + in_document * row[2 * terms + t]
            )
            evidence[t, n] = x / least if is_mixture and table[t].own == 0 else x
    return evidence
