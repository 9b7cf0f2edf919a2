"""Cliques: sets of query terms in one dependency tree, the evidence behind TDSR and the Markov random fields.

A set of k terms in a sentence has as many *choices* as there are ways to pick one occurrence of each term. A
choice has a distance (the mean over the pairs of its nodes) and heights. The models use the best choice of a
set (docs/formulas.md, C.5, D.7), which may depend on their parameters. All choices are kept, so that the
evidence is independent of parameters.

The search is limited:

- A sentence has at most MAX_OCCURRENCES occurrences of query terms.
- In a sentence with more than MAX_TERMS distinct query terms, "subsets" are only its pairs and the runs of
adjacent query terms.
- The sets of a sentence have at most MAX_CHOICES choices together, shared evenly. A set with more choices
than its share uses only the first c occurrences of each term, with c as large as the share allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from esr.dependency.parses import Flags, Forest, Indices, Paths, decode
from esr.stdlib import cached_property, hash64

# Occurrences

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


# Cliques

SetFamily = Literal["subsets", "contiguous", "adjacent"]
"""Which sets of two or more query terms: all, those contiguous in the query, or adjacent pairs.

See docs/formulas.md, C.1 and D.9.
"""

Array = npt.NDArray[np.float64]


class Cliques(Struct, frozen=True, dict=True):
    """The C sets of k >= 2 terms and their R choices of nodes, each choice within one tree.

    `sentences` (C), `terms` (k, C): the set's sentence, and the numbers of its terms in the query, ascending.
    `first_choices` (C): the set's first choice. Choices of a set, and sets of a sentence, are consecutive.
    `sets` (R), `members` (k, R): the choice's set, and its occurrences. `distances` (R): the mean distance.
    `lca_depths` (R): the depth of the lowest common ancestor.
    """

    occurrences: Occurrences
    sentences: Indices
    terms: Indices
    first_choices: Indices
    sets: Indices
    members: Indices
    distances: Array
    lca_depths: Indices

    @property
    def size(self) -> int:
        return len(self.terms)

    @cached_property
    def is_contiguous(self) -> Flags:
        """(C): whether the set's terms are contiguous in the query."""
        return np.asarray(self.terms[-1] - self.terms[0] == self.size - 1, bool)

    @cached_property
    def depths(self) -> Indices:
        """(k, R): the depths of the members' nodes."""
        return self.occurrences.paths.depths[self.members]

    @cached_property
    def is_connected(self) -> Flags:
        """(R): whether direct links alone join the nodes into a subtree (docs/formulas.md, D.4).

        This holds if each node is the common ancestor or has its head among the nodes. Two terms of one word
        are one node.
        """
        a, b, pairs = member_pairs(self.occurrences, self.members)
        linked = self.depths == self.lca_depths
        for row_a, row_b, pair in zip(a, b, pairs, strict=True):
            linked[row_a] |= self.occurrences.is_child[pair]
            linked[row_b] |= self.occurrences.is_head[pair]
        return np.asarray(linked.all(axis=0), bool)

    def heights(self, reading: str) -> Array:
        """(R): the height of each choice, by one of HEIGHTS."""
        return HEIGHTS[reading](self).astype(np.float64, copy=False)


HEIGHTS: dict[str, Callable[[Cliques], npt.NDArray[np.generic]]] = {
    "top": lambda cliques: cliques.depths.min(axis=0),
    "lca": lambda cliques: cliques.lca_depths,
    "mean": lambda cliques: cliques.depths.mean(axis=0),
    "max": lambda cliques: cliques.depths.max(axis=0),
}
"""The depth of the top-most query term, of the lowest common ancestor, the mean, and the greatest depth.

See docs/formulas.md, D.6.
"""


class CliqueEvidence(Struct, frozen=True):
    """The cliques of n sentences and T distinct query terms.

    `occurrences` are those of single terms. `cliques` has one entry per size that occurs, ascending.
    `truncated` (n): whether a limit of the search cut something from the sentence.
    """

    terms: tuple[str, ...]
    family: SetFamily
    occurrences: Occurrences
    cliques: tuple[Cliques, ...]
    truncated: Flags

    def __len__(self) -> int:
        return len(self.occurrences.forest)

    @property
    def has_query_term(self) -> Flags:
        """(n): whether the sentence's parse has a query term."""
        return np.diff(self.occurrences.posting_starts) > 0


def member_pairs(occurrences: Occurrences, members: Indices) -> tuple[Indices, Indices, Indices]:
    """The pairs of rows a < b of `members`, and (pairs, R) their numbers in `occurrences.pairs`."""
    b, a = np.tril_indices(len(members), -1)
    return a, b, occurrences.pairs.bases[members][b] + occurrences.local[members][a]


# The search for cliques

MAX_TERMS = 12
MAX_CHOICES = 4096
_CHUNK_CELLS = 2_000_000


def clique_evidence(forest: Forest, terms: Sequence[str], family: SetFamily = "subsets") -> CliqueEvidence:
    """Find the sets of query terms in each sentence, for the query's terms; repeated terms are merged."""
    distinct = tuple(dict.fromkeys(terms))
    occurrences = find_occurrences(forest, distinct)
    matched = np.diff(occurrences.posting_starts)
    truncated = occurrences.truncated | (matched > MAX_TERMS if family == "subsets" else False)
    by_size = []
    for size in range(2, 3 if family == "adjacent" else int(matched.max(initial=0)) + 1):
        postings = _sets_of_size(occurrences, matched, size, family)
        if postings.shape[1]:
            cliques, cut_sentences = _all_choices(occurrences, matched, postings, family)
            truncated[cut_sentences] = True
            by_size.append(cliques)
    found = tuple(cliques for cliques in by_size if len(cliques.sets))
    return CliqueEvidence(distinct, family, occurrences, found, truncated)


def _sets_of_size(occurrences: Occurrences, matched: Indices, size: int, family: SetFamily) -> Indices:
    """(k, C): the postings of every set of this size, ordered by number of terms, sentence and set."""
    parts = []
    for count in np.unique(matched[matched >= size]):
        columns, must_be_contiguous = _combinations(int(count), size, family)
        sentence_starts = occurrences.posting_starts[:-1][matched == count]
        postings = (sentence_starts[:, None] + columns[:, None, :]).reshape(size, -1)
        if must_be_contiguous:
            terms = occurrences.posting_terms
            postings = postings[:, terms[postings[-1]] - terms[postings[0]] == size - 1]
        parts.append(postings)
    return np.concatenate(parts, axis=1) if parts else np.empty((size, 0), np.intp)


@lru_cache(maxsize=1024)
def _combinations(count: int, size: int, family: SetFamily) -> tuple[Indices, bool]:
    """(k, sets): sets of `count` terms by number, and whether they must also be contiguous in the query."""
    if family == "subsets" and (count <= MAX_TERMS or size == 2):
        return np.array(list(combinations(range(count), size)), np.intp).T, False
    return np.arange(count - size + 1) + np.arange(size)[:, None], True


def _max_sets(matched: Indices, family: SetFamily) -> Indices:
    """The greatest possible number of sets in a sentence with this many query terms."""
    if family == "adjacent":
        return matched - 1
    runs = matched * (matched - 1) // 2
    if family == "contiguous":
        return runs
    subsets = 2 ** np.minimum(matched, MAX_TERMS) - 1 - matched
    return np.where(matched <= MAX_TERMS, subsets, 2 * runs)


def _all_choices(
    occurrences: Occurrences, matched: Indices, postings: Indices, family: SetFamily
) -> tuple[Cliques, Indices]:
    """Find all choices of these sets within one tree, and the sentences for which some were left out."""
    sentences = np.searchsorted(occurrences.posting_starts, postings[0], side="right") - 1
    counts = occurrences.posting_counts[postings]
    cut_sentences = np.empty(0, np.intp)
    sets = np.arange(postings.shape[1])
    members = occurrences.posting_firsts[postings]
    if counts.max() > 1:
        share = np.maximum(MAX_CHOICES // _max_sets(matched[sentences], family), 1)
        limited = _limit_choice_counts(counts, share)
        cut_sentences = sentences[(limited < counts).any(axis=0)]
        choices_per_set = limited.prod(axis=0)
        sets = np.repeat(sets, choices_per_set)
        rank = np.arange(len(sets)) - np.repeat(np.cumsum(choices_per_set) - choices_per_set, choices_per_set)
        members = members[:, sets]
        for row in reversed(range(len(postings))):
            rank, digit = np.divmod(rank, limited[row][sets])
            members[row] += digit
    distances, lca_depths = _measure(occurrences, members)
    if (apart := lca_depths < 0).any():
        together = ~apart
        sets, members = sets[together], members[:, together]
        distances, lca_depths = distances[together], lca_depths[together]
    first_choices = np.flatnonzero(np.diff(sets, prepend=-1))
    used = sets[first_choices]
    renumbered = np.repeat(np.arange(len(used)), np.diff(first_choices, append=len(sets)))
    terms = occurrences.posting_terms[postings[:, used]]
    cliques = Cliques(
        occurrences, sentences[used], terms, first_choices, renumbered, members, distances, lca_depths
    )
    return cliques, cut_sentences


def _limit_choice_counts(counts: Indices, share: Indices) -> Indices:
    """(k, C): how many occurrences of each term of a set are used."""
    choices = counts.prod(axis=0, dtype=np.float64)  # floats: many factors of 64 overflow an integer
    if (choices <= share).all():
        return counts
    limit = counts.max(axis=0)
    while (over := np.flatnonzero((choices > share) & (limit > 1))).size:
        limit[over] -= 1
        choices[over] = np.minimum(counts[:, over], limit[over]).prod(axis=0, dtype=np.float64)
    return np.asarray(np.minimum(counts, limit), np.intp)


def _measure(occurrences: Occurrences, members: Indices) -> tuple[Array, Indices]:
    """(R), (R): the mean distance, and the common ancestor's depth, -1 for nodes in different trees."""
    size, total = members.shape
    distances, lca_depths = np.empty(total), np.empty(total, np.intp)
    step = max(_CHUNK_CELLS // (size * size), 1)
    for low in range(0, total, step):
        part = slice(low, low + step)
        _, _, pairs = member_pairs(occurrences, members[:, part])
        distances[part] = occurrences.pairs.distances[pairs].sum(axis=0) / len(pairs)
        # The common ancestor of a set is the highest of the common ancestors of its pairs.
        lca_depths[part] = occurrences.pairs.lca_depths[pairs].min(axis=0)
    return distances, lca_depths


class ParsedSentences(Struct):
    """The parses of n sentences, and the query's terms in order.

    `count_terms` returns the occurrences of each term in the texts of m sentences, given by their positions:
    shape (T, m).
    """

    forest: Forest
    terms: Sequence[str]
    count_terms: Callable[[Sequence[int]], Array]
    _cache: dict[Any, Any] = field(default_factory=dict)

    @staticmethod
    def from_blobs(
        blobs: Sequence[bytes | None], terms: Sequence[str], count_terms: Callable[[Sequence[int]], Array]
    ) -> ParsedSentences:
        """Read stored parses, None for a sentence without one. Raises IndexUnusable for a damaged blob."""
        return ParsedSentences(decode(blobs), tuple(dict.fromkeys(terms)), count_terms)

    @property
    def has_parse(self) -> npt.NDArray[np.bool_]:
        """(n,): whether each sentence has a parse with words."""
        return np.diff(self.forest.starts) > 0

    def evidence(self, family: SetFamily) -> CliqueEvidence:
        evidence = self.cached(("evidence", family), lambda: clique_evidence(self.forest, self.terms, family))
        return cast(CliqueEvidence, evidence)

    def text_counts(self) -> Array:
        """(T, n): term counts in the texts of sentences whose parse has no query term; 0 for others."""

        def count() -> Array:
            counts = np.zeros((len(self.terms), len(self.forest)))
            positions = np.flatnonzero(~self.evidence("adjacent").has_query_term).tolist()
            if positions:
                counts[:, positions] = self.count_terms(positions)
            return counts

        return cast(Array, self.cached("text counts", count))

    def cached(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a cached value, computed at first use: tuning reads it repeatedly with other weights."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]
