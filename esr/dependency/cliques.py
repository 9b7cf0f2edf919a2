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

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.dependency.occurrences import Occurrences
from esr.dependency.parses import Flags, Indices
from esr.stdlib import cached_property

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
