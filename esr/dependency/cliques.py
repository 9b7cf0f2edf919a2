"""The sets of query terms that sentences have in one tree: what of TDSR and the MRF no parameter changes.

A set of k terms in a sentence has as many *choices* as there are ways to take one occurrence for each of its
terms. Each choice has a distance (the mean over the pairs of its nodes) and heights. The models take the
best choice of a set (docs/formulas.md, C.5, D.7), and which is best may depend on their parameters: so all
stay.

What is looked at is bounded:
- A sentence that has more than MOST_TERMS distinct query terms gives, for "subsets", its pairs and the runs
  of adjacent query terms only.
- The sets of a sentence have MOST_CHOICES choices together, shared evenly. Where a set has more than its
  share, only the first c occurrences of each of its terms are looked at, c as large as its share allows.
- A sentence has MOST_OCCURRENCES occurrences (occurrences.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from esr.dependency.occurrences import Occurrences, find
from esr.dependency.trees import Flags, Forest, Indices

Sets = Literal["subsets", "contiguous", "adjacent"]
"""All sets of query terms; those that stand in a row in the query; pairs of neighbours. Two terms or more
(docs/formulas.md, C.1, D.9)."""

Array = npt.NDArray[np.float64]

MOST_TERMS = 12
MOST_CHOICES = 4096
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Cliques:
    """The C sets of k >= 2 terms and their R choices of nodes, each choice within one tree.

    `sentences` (C), `terms` (k, C): the set's sentence, and its terms by their number in the query, rising.
    `firsts` (C): its first choice; choices of a set stand in a row, sets of a sentence too.
    `sets` (R), `chosen` (k, R): the choice's set, and the occurrences taken.
    `distances` (R): the mean distance. `meet` (R): the depth of the lowest common ancestor.
    """

    occurrences: Occurrences
    sentences: Indices
    terms: Indices
    firsts: Indices
    sets: Indices
    chosen: Indices
    distances: Array
    meet: Indices

    @property
    def size(self) -> int:
        return len(self.terms)

    @cached_property
    def contiguous(self) -> Flags:
        """(C): whether the terms stand in a row in the query."""
        return np.asarray(self.terms[-1] - self.terms[0] == self.size - 1, bool)

    @cached_property
    def depths(self) -> Indices:
        """(k, R): of the chosen nodes."""
        return self.occurrences.paths.depths[self.chosen]

    @cached_property
    def connected(self) -> Flags:
        """(R): whether the nodes form a subtree by direct links alone (docs/formulas.md, D.4).

        That is so if each has its head among them, or is the common ancestor. Two terms of one word are
        one node.
        """
        a, b, pairs = _pairs(self.occurrences, self.chosen)
        linked = self.depths == self.meet
        for one, other, pair in zip(a, b, pairs, strict=True):
            linked[one] |= self.occurrences.up[pair]
            linked[other] |= self.occurrences.down[pair]
        return np.asarray(linked.all(axis=0), bool)

    def heights(self, reading: str) -> Array:
        """(R): the height, by one of HEIGHTS."""
        return HEIGHTS[reading](self).astype(np.float64, copy=False)


HEIGHTS: dict[str, Callable[[Cliques], npt.NDArray[np.generic]]] = {
    "top": lambda cliques: cliques.depths.min(axis=0),
    "lca": lambda cliques: cliques.meet,
    "mean": lambda cliques: cliques.depths.mean(axis=0),
    "max": lambda cliques: cliques.depths.max(axis=0),
}
"""The depth of the top-most query term, of the lowest common ancestor; the mean and the greatest
(docs/formulas.md, D.6)."""


@dataclass(frozen=True)
class CliqueEvidence:
    """Of n sentences and T distinct query terms.

    `places`: where single terms stand. `cliques` has one entry a size that occurs, rising.
    `bounded` (n): whether something of the sentence was left out by a bound of this module.
    """

    terms: tuple[str, ...]
    sets: Sets
    places: Occurrences
    cliques: tuple[Cliques, ...]
    bounded: Flags

    def __len__(self) -> int:
        return len(self.places.forest)

    @property
    def in_parse(self) -> Flags:
        """(n): whether the parse has a query term."""
        return np.diff(self.places.place_starts) > 0


def clique_evidence(forest: Forest, terms: Sequence[str], sets: Sets = "subsets") -> CliqueEvidence:
    """The sets of query terms in each sentence. `terms` are the query's; repeated ones are merged."""
    distinct = tuple(dict.fromkeys(terms))
    places = find(forest, distinct)
    matched = np.diff(places.place_starts)
    bounded = places.left_out | (matched > MOST_TERMS if sets == "subsets" else False)
    found = []
    for size in range(2, 3 if sets == "adjacent" else int(matched.max(initial=0)) + 1):
        rows = _sets(places, matched, size, sets)
        if rows.shape[1]:
            choices, cut = _choices(places, matched, rows, sets)
            bounded[cut] = True
            found.append(choices)
    cliques = tuple(each for each in found if len(each.sets))
    return CliqueEvidence(distinct, sets, places, cliques, bounded)


def _sets(places: Occurrences, matched: Indices, size: int, sets: Sets) -> Indices:
    """(k, C): the places of every set of this size, in order of number of terms, sentence and set."""
    rows = []
    for count in np.unique(matched[matched >= size]):
        columns, in_a_row = _columns(int(count), size, sets)
        of_sentences = places.place_starts[:-1][matched == count]
        row = (of_sentences[:, None] + columns[:, None, :]).reshape(size, -1)
        if in_a_row:
            row = row[:, places.terms[row[-1]] - places.terms[row[0]] == size - 1]
        rows.append(row)
    return np.concatenate(rows, axis=1) if rows else np.empty((size, 0), np.intp)


@lru_cache(maxsize=1024)
def _columns(count: int, size: int, sets: Sets) -> tuple[Indices, bool]:
    """(k, sets): sets of `count` terms by number, and whether they must stand in a row in the query too."""
    if sets == "subsets" and (count <= MOST_TERMS or size == 2):
        return np.array(list(combinations(range(count), size)), np.intp).T, False
    return np.arange(count - size + 1) + np.arange(size)[:, None], True


def _number_of_sets(matched: Indices, sets: Sets) -> Indices:
    """The most sets that a sentence with so many query terms can have."""
    if sets == "adjacent":
        return matched - 1
    runs = matched * (matched - 1) // 2
    if sets == "contiguous":
        return runs
    subsets = 2 ** np.minimum(matched, MOST_TERMS) - 1 - matched
    return np.where(matched <= MOST_TERMS, subsets, 2 * runs)


def _choices(places: Occurrences, matched: Indices, rows: Indices, sets: Sets) -> tuple[Cliques, Indices]:
    """All choices of these sets within one tree, and the sentences where not all were looked at."""
    sentences = np.searchsorted(places.place_starts, rows[0], side="right") - 1
    counts = places.counts[rows]
    cut = np.empty(0, np.intp)
    numbers = np.arange(rows.shape[1])
    chosen = places.firsts[rows]
    if counts.max() > 1:
        share = np.maximum(MOST_CHOICES // _number_of_sets(matched[sentences], sets), 1)
        looked_at = _bounded(counts, share)
        cut = sentences[(looked_at < counts).any(axis=0)]
        ways = looked_at.prod(axis=0)
        numbers = np.repeat(numbers, ways)
        rank = np.arange(len(numbers)) - np.repeat(np.cumsum(ways) - ways, ways)
        chosen = chosen[:, numbers]
        for row in reversed(range(len(rows))):
            rank, digit = np.divmod(rank, looked_at[row][numbers])
            chosen[row] += digit
    distances, meet = _measured(places, chosen)
    if (apart := meet < 0).any():
        together = ~apart
        numbers, chosen = numbers[together], chosen[:, together]
        distances, meet = distances[together], meet[together]
    firsts = np.flatnonzero(np.diff(numbers, prepend=-1))
    kept = numbers[firsts]
    of_choices = np.repeat(np.arange(len(kept)), np.diff(firsts, append=len(numbers)))
    terms = places.terms[rows[:, kept]]
    return Cliques(places, sentences[kept], terms, firsts, of_choices, chosen, distances, meet), cut


def _bounded(counts: Indices, share: Indices) -> Indices:
    """(k, C): how many occurrences of each term of a set are looked at."""
    ways = counts.prod(axis=0, dtype=np.float64)  # 64 occurrences each of many terms fit no whole number
    if (ways <= share).all():
        return counts
    most = counts.max(axis=0)
    while (over := np.flatnonzero((ways > share) & (most > 1))).size:
        most[over] -= 1
        ways[over] = np.minimum(counts[:, over], most[over]).prod(axis=0, dtype=np.float64)
    return np.asarray(np.minimum(counts, most), np.intp)


def _measured(places: Occurrences, chosen: Indices) -> tuple[Array, Indices]:
    """(R), (R): the mean distance; the depth of the common ancestor, -1 if the nodes are not in one tree."""
    size, total = chosen.shape
    distances, meet = np.empty(total), np.empty(total, np.intp)
    step = max(_AT_ONCE // (size * size), 1)
    for low in range(0, total, step):
        part = slice(low, low + step)
        _, _, pairs = _pairs(places, chosen[:, part])
        distances[part] = places.pairs.distances[pairs].sum(axis=0) / len(pairs)
        # The common ancestor of a set is the highest of those of its pairs.
        meet[part] = places.pairs.meet[pairs].min(axis=0)
    return distances, meet


def _pairs(places: Occurrences, chosen: Indices) -> tuple[Indices, Indices, Indices]:
    """Rows a < b of `chosen`, and (pairs, R) the numbers in `places.pairs`."""
    b, a = np.tril_indices(len(chosen), -1)
    return a, b, places.pairs.bases[chosen][b] + places.local[chosen][a]
