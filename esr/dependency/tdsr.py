"""TDSR (Cai, Bu, Chen & Liu 2007, ACL posters, P07-2025; docs/formulas.md, section C).

The score of a sentence is the strength of its most strongly associated set of query terms. The paper's
formula of the association strength is lost, so there are several readings of it. Strength rises with the size
of a set and falls with the mean distance of its terms in the dependency tree. A single term has distance 0; a
set not in one tree has no strength. For all parameters, the best set of each size is thus the one with the
least distance: `nearest_distances` runs once, and `score_best_sets` is cheap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from esr.dependency.cliques import Array, CliqueEvidence
from esr.dependency.parses import Indices
from esr.registry import INNER_TENTHS, Parameter

STRENGTHS: dict[str, Callable[[float, float, Array, Array], Array]] = {
    "exp": lambda alpha, beta, size, distance: alpha ** (1.0 / size) * beta**distance,
    "power": lambda alpha, beta, size, distance: size**alpha * np.maximum(distance, 1.0) ** -beta,
    "linear": lambda alpha, beta, size, distance: alpha * size + beta / (1.0 + distance),
}
"""The readings of the association strength (docs/formulas.md, C.3).

In `power` a distance below 1 counts as 1.
"""

TDSR_PARAMETERS = (
    Parameter("alpha", "how much the size of a term set counts", 0.5, grid=INNER_TENTHS),
    Parameter("beta", "how much the distance of its terms counts", 0.9, grid=INNER_TENTHS),
    Parameter("form", "the reading of the association strength", "exp", choices=tuple(STRENGTHS)),
    Parameter("sets", "term sets: all, or runs of the query", "subsets", choices=("subsets", "contiguous")),
    Parameter("ties", "what orders equal scores", "order", choices=("order", "score")),
)


class BestSets(Struct, frozen=True):
    """The scores (n) and sizes (n) of the best term sets of n sentences, both 0 without a query term."""

    scores: Array
    sizes: Indices


def nearest_distances(evidence: CliqueEvidence, counts: Array | None = None) -> Array:
    """(K, n): the least distance of a sentence's term sets of 1, 2, .. K terms; inf if it has none.

    `counts` (T, n) has the occurrences of each term in the texts of sentences without a parse, or without a
    query term in it. Without `counts`, such sentences have no sets.
    """
    largest = evidence.cliques[-1].size if evidence.cliques else 1
    table = np.full((largest, len(evidence)), np.inf)
    has_term = evidence.has_query_term
    if counts is not None:
        has_term = has_term | (counts > 0).any(axis=0)
    table[0, has_term] = 0.0
    for cliques in evidence.cliques:
        sentences = cliques.sentences[cliques.sets]
        firsts = np.flatnonzero(np.diff(sentences, prepend=-1))
        table[cliques.size - 1, sentences[firsts]] = np.minimum.reduceat(cliques.distances, firsts)
    return table


def score_best_sets(nearest: Array, alpha: float, beta: float, form: str = "exp") -> BestSets:
    """The best strength of each sentence (docs/formulas.md, C.4), with the size of the smallest best set."""
    size = np.arange(1.0, len(nearest) + 1)[:, None]
    exists = np.isfinite(nearest)
    strength = np.where(exists, STRENGTHS[form](alpha, beta, size, np.where(exists, nearest, 0.0)), 0.0)
    best = strength.argmax(axis=0)
    return BestSets(strength[best, np.arange(nearest.shape[1])], np.where(exists[0], best + 1, 0))
