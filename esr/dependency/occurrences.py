"""Where the query's terms stand in the trees, and how any two of these places lie to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from esr.dependency.trees import Flags, Forest, Indices, Paths
from esr.hashing import hash64

MOST_OCCURRENCES = 64
"""Of all query terms in one sentence. Beyond it the last ones of the most frequent terms are left out."""


@dataclass(frozen=True)
class Occurrences:
    """The O occurrences of query terms in n sentences, in order of sentence, term and node.

    A *place* is a query term in a sentence that has it, with all its occurrences there; there are P.

    `starts` (n + 1): the occurrences of sentence i; `place_starts` (n + 1): its places.
    `terms`, `firsts`, `counts` (P): the place's term by its number in the query, its first occurrence, how
    many it has.
    `nodes`, `local` (O): the occurrence's node, and its number within its sentence.
    `left_out` (n): whether the sentence has more occurrences than are looked at.
    """

    forest: Forest
    starts: Indices
    nodes: Indices
    local: Indices
    place_starts: Indices
    terms: Indices
    firsts: Indices
    counts: Indices
    left_out: Flags

    @cached_property
    def paths(self) -> Paths:
        return self.forest.paths(self.nodes)

    @cached_property
    def pairs(self) -> Pairs:
        """Of every two occurrences in the same sentence."""
        j = np.repeat(np.arange(len(self.nodes)), self.local)
        bases = np.cumsum(self.local) - self.local
        i = np.arange(len(j)) - bases[j] + (j - self.local[j])
        meet = self.paths.meet(i, j)
        return Pairs(i, j, bases, meet, self.paths.distances(i, j, meet))

    @cached_property
    def up(self) -> Flags:
        """Of every pair i, j: whether i's head is j's node."""
        i, j = self.pairs.i, self.pairs.j
        return np.asarray(self.forest.heads[self.nodes[i]] == self.nodes[j], bool)

    @cached_property
    def down(self) -> Flags:
        """Of every pair i, j: whether j's head is i's node."""
        i, j = self.pairs.i, self.pairs.j
        return np.asarray(self.forest.heads[self.nodes[j]] == self.nodes[i], bool)


@dataclass(frozen=True)
class Pairs:
    """Occurrences i before j of one sentence: the depth where they meet (-1: never) and their distance (-1).

    The pair (i, j) is number `bases[j] + local[i]`.
    """

    i: Indices
    j: Indices
    bases: Indices
    meet: Indices
    distances: Indices


def find(forest: Forest, terms: Sequence[str]) -> Occurrences:
    """Where these distinct terms stand. A word of several terms is an occurrence of each."""
    term = np.full(len(forest.term_hashes), -1, np.intp)
    for number, each in enumerate(terms):
        term[forest.term_hashes == np.uint64(hash64(each))] = number
    hits = np.flatnonzero(term >= 0)
    nodes = forest.term_nodes[hits]
    key = forest.sentences(nodes) * max(len(terms), 1) + term[hits]
    order = np.argsort(key, kind="stable")
    nodes, key = nodes[order], key[order]

    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    counts = np.diff(firsts, append=len(key))
    sentence, term = np.divmod(key[firsts], max(len(terms), 1))
    looked_at = _bounded(sentence, counts, len(forest))
    left_out = np.bincount(sentence, looked_at < counts, len(forest)) > 0
    if left_out.any():
        nodes = nodes[np.arange(len(key)) - np.repeat(firsts, counts) < np.repeat(looked_at, counts)]
        counts = looked_at
        firsts = np.cumsum(counts) - counts

    starts = _starts(np.bincount(sentence, counts, len(forest)).astype(np.intp))
    local = np.arange(len(nodes)) - np.repeat(starts[:-1], np.diff(starts))
    place_starts = _starts(np.bincount(sentence, minlength=len(forest)))
    return Occurrences(forest, starts, nodes, local, place_starts, term, firsts, counts, left_out)


def _bounded(sentence: Indices, counts: Indices, n: int) -> Indices:
    """(P): how many occurrences are looked at: at most c, as large as the sentence's total allows."""
    total = np.bincount(sentence, counts, n)
    if total.max(initial=0) <= MOST_OCCURRENCES:
        return counts
    most = np.full(n, MOST_OCCURRENCES)
    while (over := (total > MOST_OCCURRENCES) & (most > 1)).any():
        most[over] -= 1
        total = np.bincount(sentence, np.minimum(counts, most[sentence]), n)
    return np.asarray(np.minimum(counts, most[sentence]), np.intp)


def _starts(sizes: Indices) -> Indices:
    return np.concatenate([[0], np.cumsum(sizes)])
