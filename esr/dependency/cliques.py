"""The sets of query terms that sentences have in one tree: what no parameter of TDSR or the MRF changes.

A set of k terms in a sentence has as many *choices* as there are ways to pick one occurrence for each of its
terms. Each choice has a distance (the mean over the pairs of its nodes) and heights. The models take the
best choice of a set (docs/formulas.md, C.5, D.7), and which one is best may depend on their parameters: so
all are kept. `clique_search` finds them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.dependency.forest import Flags, Indices
from esr.dependency.occurrences import Occurrences

SetFamily = Literal["subsets", "contiguous", "adjacent"]
"""All sets of query terms; those that are contiguous in the query; pairs of neighbours. Two terms or more
(docs/formulas.md, C.1, D.9)."""

Array = npt.NDArray[np.float64]


class Cliques(Struct, frozen=True, dict=True):
    """The C sets of k >= 2 terms and their R choices of nodes, each choice within one tree.

    `sentences` (C), `terms` (k, C): the set's sentence, and its terms by their number in the query, rising.
    `first_choices` (C): its first choice; choices of a set are consecutive, sets of a sentence too.
    `sets` (R), `members` (k, R): the choice's set, and the occurrences picked.
    `distances` (R): the mean distance. `lca_depths` (R): the depth of the lowest common ancestor.
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
        """(C): whether the terms are contiguous in the query."""
        return np.asarray(self.terms[-1] - self.terms[0] == self.size - 1, bool)

    @cached_property
    def depths(self) -> Indices:
        """(k, R): of the members' nodes."""
        return self.occurrences.paths.depths[self.members]

    @cached_property
    def is_connected(self) -> Flags:
        """(R): whether the nodes form a subtree by direct links alone (docs/formulas.md, D.4).

        That is so if each has its head among them, or is the common ancestor. Two terms of one word are
        one node.
        """
        a, b, pairs = member_pairs(self.occurrences, self.members)
        linked = self.depths == self.lca_depths
        for row_a, row_b, pair in zip(a, b, pairs, strict=True):
            linked[row_a] |= self.occurrences.is_child[pair]
            linked[row_b] |= self.occurrences.is_head[pair]
        return np.asarray(linked.all(axis=0), bool)

    def heights(self, reading: str) -> Array:
        """(R): the height, by one of HEIGHTS."""
        return HEIGHTS[reading](self).astype(np.float64, copy=False)


HEIGHTS: dict[str, Callable[[Cliques], npt.NDArray[np.generic]]] = {
    "top": lambda cliques: cliques.depths.min(axis=0),
    "lca": lambda cliques: cliques.lca_depths,
    "mean": lambda cliques: cliques.depths.mean(axis=0),
    "max": lambda cliques: cliques.depths.max(axis=0),
}
"""The depth of the top-most query term, of the lowest common ancestor; the mean and the greatest
(docs/formulas.md, D.6)."""


class CliqueEvidence(Struct, frozen=True):
    """Of n sentences and T distinct query terms.

    `occurrences`: those of single terms. `cliques` has one entry for each size that occurs, rising.
    `truncated` (n): whether a limit of the search left out something of the sentence.
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
        """(n): whether the parse has a query term."""
        return np.diff(self.occurrences.posting_starts) > 0


def member_pairs(occurrences: Occurrences, members: Indices) -> tuple[Indices, Indices, Indices]:
    """Rows a < b of `members`, and (pairs, R) the numbers in `occurrences.pairs`."""
    b, a = np.tril_indices(len(members), -1)
    return a, b, occurrences.pairs.bases[members][b] + occurrences.local[members][a]
