"""Occurrences of query terms in parsed sentences.

A sentence has at most MAX_OCCURRENCES occurrences of query terms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from esr.dependency.parses import Flags, Forest, Indices, Paths
from esr.stdlib import cached_property, hash64

MAX_OCCURRENCES = 64
"""Maximum occurrences of query terms in a sentence. The last ones of the most frequent terms are dropped."""


class Occurrences(Struct, frozen=True, dict=True):
    """The O occurrences of query terms in n sentences, in order of sentence, term and node.

    A *posting* is a query term in a sentence, with all its occurrences there; there are P of them.

    `starts` (n + 1): the first occurrence of each sentence; `posting_starts` (n + 1): its first posting.
    `posting_terms`, `posting_firsts`, `posting_counts` (P): the number of the posting's term in the query,
    its first occurrence, and the number of its occurrences. `nodes`, `local` (O): the occurrence's node, and
    its number within its sentence. `truncated` (n): whether occurrences of the sentence were dropped.
    """

    forest: Forest
    starts: Indices
    nodes: Indices
    local: Indices
    posting_starts: Indices
    posting_terms: Indices
    posting_firsts: Indices
    posting_counts: Indices
    truncated: Flags

    @cached_property
    def paths(self) -> Paths:
        return self.forest.paths(self.nodes)

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs of occurrences in the same sentence."""
        j = np.repeat(np.arange(len(self.nodes)), self.local)
        bases = np.cumsum(self.local) - self.local
        i = np.arange(len(j)) - bases[j] + (j - self.local[j])
        lca_depths = self.paths.lca_depths(i, j)
        return Pairs(i, j, bases, lca_depths, self.paths.distances(i, j, lca_depths))

    @cached_property
    def is_child(self) -> Flags:
        """For each pair i, j: whether i is a child of j."""
        i, j = self.pairs.i, self.pairs.j
        return np.asarray(self.forest.heads[self.nodes[i]] == self.nodes[j], bool)

    @cached_property
    def is_head(self) -> Flags:
        """For each pair i, j: whether i is the head of j."""
        i, j = self.pairs.i, self.pairs.j
        return np.asarray(self.forest.heads[self.nodes[j]] == self.nodes[i], bool)


class Pairs(Struct, frozen=True):
    """Pairs of occurrences, i before j in one sentence, with the depth of their common ancestor and distance.

    `lca_depths` and `distances` are -1 for nodes of different trees. The pair (i, j) has the number `bases[j]
    + local[i]`.
    """

    i: Indices
    j: Indices
    bases: Indices
    lca_depths: Indices
    distances: Indices


def find_occurrences(forest: Forest, terms: Sequence[str]) -> Occurrences:
    """Find the occurrences of distinct terms. A word with several terms is an occurrence of each."""
    term = np.full(len(forest.term_hashes), -1, np.intp)
    for number, name in enumerate(terms):
        term[forest.term_hashes == np.uint64(hash64(name))] = number
    hits = np.flatnonzero(term >= 0)
    nodes = forest.term_nodes[hits]
    key = forest.sentences_of(nodes) * max(len(terms), 1) + term[hits]
    order = np.argsort(key, kind="stable")
    nodes, key = nodes[order], key[order]

    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    counts = np.diff(firsts, append=len(key))
    sentence, term = np.divmod(key[firsts], max(len(terms), 1))
    limited = _limit_counts(sentence, counts, len(forest))
    truncated = np.bincount(sentence, limited < counts, len(forest)) > 0
    if truncated.any():
        nodes = nodes[np.arange(len(key)) - np.repeat(firsts, counts) < np.repeat(limited, counts)]
        counts = limited
        firsts = np.cumsum(counts) - counts

    starts = _starts(np.bincount(sentence, counts, len(forest)).astype(np.intp))
    local = np.arange(len(nodes)) - np.repeat(starts[:-1], np.diff(starts))
    posting_starts = _starts(np.bincount(sentence, minlength=len(forest)))
    return Occurrences(forest, starts, nodes, local, posting_starts, term, firsts, counts, truncated)


def _limit_counts(sentence: Indices, counts: Indices, n: int) -> Indices:
    """(P): how many occurrences of each posting are used: at most c, with the largest c within the limit."""
    total = np.bincount(sentence, counts, n)
    if total.max(initial=0) <= MAX_OCCURRENCES:
        return counts
    limit = np.full(n, MAX_OCCURRENCES)
    while (over := (total > MAX_OCCURRENCES) & (limit > 1)).any():
        limit[over] -= 1
        total = np.bincount(sentence, np.minimum(counts, limit[sentence]), n)
    return np.asarray(np.minimum(counts, limit[sentence]), np.intp)


def _starts(sizes: Indices) -> Indices:
    return np.concatenate([[0], np.cumsum(sizes)])
