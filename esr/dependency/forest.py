"""Many sentences' dependency trees as flat arrays, and the relations of their nodes.

A node is a word. A sentence may have several trees; nodes of different trees have no distance. Depth is the
number of links up to the root, distance the number of links between two nodes, whatever their direction
(docs/formulas.md, C.2, D.5, D.6). A trace that some parsers add is no node here.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.errors import IndexUnusable

Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]


class Forest(Struct, frozen=True):
    """The trees of n sentences with N nodes.

    `starts` (n + 1): sentence i has the nodes from starts[i] to starts[i + 1]; none if it was not parsed.
    `heads` (N): a node's head as a node, or -1 for a root.
    `term_nodes`, `term_hashes` (M): the nodes that have terms and the terms' hashes, in order of nodes.
    """

    starts: Indices
    heads: Indices
    term_nodes: Indices
    term_hashes: Hashes

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sentences_of(self, nodes: Indices) -> Indices:
        """The sentence of each node."""
        return np.searchsorted(self.starts, nodes, side="right") - 1

    def paths(self, nodes: Indices) -> Paths:
        """The paths from these nodes to their roots."""
        heads = np.append(self.heads, -1)  # index -1, above a root: nothing
        rows = [nodes]
        longest = int(np.diff(self.starts).max(initial=0))
        while rows[-1].max(initial=-1) >= 0:
            if len(rows) > longest:
                raise IndexUnusable("the heads of a stored parse form a circle: parse the sentences again")
            rows.append(heads[rows[-1]])
        return Paths(np.stack(rows))


class Paths(Struct, frozen=True, dict=True):
    """The paths of m nodes up to their roots.

    `steps` (L, m): the node reached after 0, 1, .. links; -1 beyond the root. Its last row is all -1.
    """

    steps: Indices

    @cached_property
    def depths(self) -> Indices:
        """(m): links from each node up to its root."""
        return np.asarray((self.steps >= 0).sum(axis=0) - 1, np.intp)

    def lca_depths(self, i: Indices, j: Indices) -> Indices:
        """The depth of the lowest common ancestor of nodes i and j (columns of `steps`); -1 if there is none.

        Both paths are walked from the root down, all pairs a level at a time, as long as they agree.
        """
        flat, width = self.steps.ravel(), self.steps.shape[1]
        at_i, at_j = self.depths[i] * width + i, self.depths[j] * width + j
        depth = np.full(len(i), -1, np.intp)
        agreeing = np.arange(len(i))
        # Below the end of a path the index is negative and so wraps to the last rows: -1 there, or, for a
        # node compared with itself, the same on both sides. That walk ends with the levels, one too late.
        for level in range(len(self.steps) - 1):
            agree = np.flatnonzero(flat[at_i] == flat[at_j])
            if not len(agree):
                break
            agreeing, at_i, at_j = agreeing[agree], at_i[agree] - width, at_j[agree] - width
            depth[agreeing] = level
        return np.asarray(np.minimum(depth, self.depths[i]), np.intp)

    def ancestors(self, i: Indices, depth: Indices) -> Indices:
        """The ancestor of node i (a column of `steps`) at this depth."""
        return np.asarray(self.steps[self.depths[i] - depth, i], np.intp)

    def distances(self, i: Indices, j: Indices, lca_depths: Indices) -> Indices:
        """Links between nodes i and j by the depth of their lowest common ancestor; -1 if there is none."""
        return np.where(lca_depths < 0, -1, self.depths[i] + self.depths[j] - 2 * lca_depths)
