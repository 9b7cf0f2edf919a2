"""The first potential of the MRF: one query term and the sentence (docs/formulas.md, D.3).

The paper's formula is lost. Any other score of sentences that is a sum over query terms, such as that of
2S-I, can stand in its place: the MRF takes an array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from esr.dependency.cliques import Array
from esr.dependency.parses import Indices


@dataclass(frozen=True)
class TermCounts:
    """Of T distinct query terms and n sentences.

    `counts` (T, n): c(t,S); `lengths` (n): c(S); `in_query` (T): c(t,q); `probabilities` (T): p(t);
    `sentence_frequencies` (T): sf(t); `sentences`: how many the collection has.
    """

    counts: Array
    lengths: Array
    in_query: Array
    probabilities: Array
    sentence_frequencies: Array
    sentences: int


def _dirichlet(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """log( (c(t,S) + mu p(t)) / (c(S) + mu) )"""
    return np.log((counts.counts[seen] + mu * counts.probabilities[seen, None]) / (counts.lengths + mu))


def _jelinek_mercer(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """log( (1 - lambda) c(t,S)/c(S) + lambda p(t) ); an empty sentence has no terms."""
    share = counts.counts[seen] / np.maximum(counts.lengths, 1.0)
    return np.log((1.0 - lambda_) * share + lambda_ * counts.probabilities[seen, None])


def _tfisf(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """log(c(t,S) + 1) log( (n + 1) / (0.5 + sf(t)) )"""
    rarity = np.log((counts.sentences + 1.0) / (0.5 + counts.sentence_frequencies[seen]))
    return np.log1p(counts.counts[seen]) * rarity[:, None]


def _binary(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """1 if the sentence has the term, else 0."""
    return (counts.counts[seen] > 0).astype(np.float64)


READINGS: dict[str, Callable[[TermCounts, Indices, float, float], Array]] = {
    "dir": _dirichlet,
    "jm": _jelinek_mercer,
    "tfisf": _tfisf,
    "binary": _binary,
}


def single(counts: TermCounts, reading: str, mu: float, lambda_: float) -> Array:
    """(n): the sum of f_I over the positions of the query. A term that the collection lacks is dropped."""
    seen = np.flatnonzero(counts.probabilities > 0)
    return np.asarray(counts.in_query[seen] @ READINGS[reading](counts, seen, mu, lambda_))
