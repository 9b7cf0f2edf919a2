"""The evidence for the selected sentences: to the last digit that of `esr.plans.evaluate`."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.layout import BACKGROUND, MIXTURE, OWN
from esr.engines.embedded.search.kernel.numba_support import compiled, inlined


@inlined
def weigh_fields(transform, lengths, shares):
    """What one occurrence in each field is worth in a sentence, and of a mixture the collection's part."""
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
    """What `esr.plans.evaluate.combine_evidence` gives for sentences, of shape (T, n).

    Each number is computed by the same steps. `facts` are those of `Selection`, `order` has the row of each.
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
