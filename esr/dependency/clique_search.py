"""The search for cliques in parsed sentences.

The search is limited:

- In a sentence with more than MAX_TERMS distinct query terms, "subsets" are only its pairs and the runs of
adjacent query terms.
- The sets of a sentence have at most MAX_CHOICES choices together, shared evenly. A set with more choices
than its share uses only the first c occurrences of each term, with c as large as the share allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from esr.dependency.cliques import Array, CliqueEvidence, Cliques, SetFamily, member_pairs
from esr.dependency.occurrences import Occurrences, find_occurrences
from esr.dependency.parses import Forest, Indices, decode

MAX_TERMS = 12
MAX_CHOICES = 4096
CHUNK_CELLS = 2_000_000


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
    non_empty = tuple(cliques for cliques in by_size if len(cliques.sets))
    return CliqueEvidence(distinct, family, occurrences, non_empty, truncated)


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
    step = max(CHUNK_CELLS // (size * size), 1)
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
        """The sets of query terms of a family in the parses, computed once."""
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
