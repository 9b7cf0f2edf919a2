"""Dependency parses: encoded as one blob per sentence, and decoded by the thousand into flat arrays.

A blob is little-endian:

    u32  number of words, and MAGIC in the highest byte
    u32  number of terms, and `width` in the highest byte
    words x int(width)    the head's position less the word's own; 0 is a root
    terms x uint(width)   the position of the word that has the term
    terms x u64           the term's hash

`width` is 1 byte if heads and positions fit into it, else 2 or 4. Words are not stored, since the text has
them; only the hashes of their terms are: none for a stop word, several for "U.S.".

A node is a word. A sentence may have several trees; nodes of different trees have no distance. Depth is the
number of links up to the root, distance the number of links between two nodes in either direction
(docs/formulas.md, C.2, D.5, D.6). Traces, which some parsers add, are not nodes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.errors import IndexUnusable
from esr.stdlib import cached_property, hash64
from esr.text.analyzer import Analyzer
from esr.text.document import ParseWord

Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]


class Forest(Struct, frozen=True):
    """The trees of n sentences with N nodes.

    `starts` (n + 1): sentence i has the nodes from starts[i] to starts[i + 1]; none if it has no parse.
    `heads` (N): a node's head as a node, or -1 for a root. `term_nodes`, `term_hashes` (M): the nodes that
    have terms, and the terms' hashes, in order of nodes.
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
        heads = np.append(self.heads, -1)  # index -1 is above a root
        rows = [nodes]
        longest = int(np.diff(self.starts).max(initial=0))
        while rows[-1].max(initial=-1) >= 0:
            if len(rows) > longest:
                raise IndexUnusable("the heads of a stored parse form a circle: parse the sentences again")
            rows.append(heads[rows[-1]])
        return Paths(np.stack(rows))


class Paths(Struct, frozen=True, dict=True):
    """The paths of m nodes up to their roots.

    `steps` (L, m): the node reached after 0, 1, .. links; -1 beyond the root. The last row is all -1.
    """

    steps: Indices

    @cached_property
    def depths(self) -> Indices:
        """(m): the number of links from each node up to its root."""
        return np.asarray((self.steps >= 0).sum(axis=0) - 1, np.intp)

    def lca_depths(self, i: Indices, j: Indices) -> Indices:
        """The depth of the lowest common ancestor of nodes i and j (columns of `steps`); -1 if there is none.

        Both paths are walked from the root down, one level at a time for all pairs, as long as they agree.
        """
        flat, width = self.steps.ravel(), self.steps.shape[1]
        at_i, at_j = self.depths[i] * width + i, self.depths[j] * width + j
        depth = np.full(len(i), -1, np.intp)
        agreeing = np.arange(len(i))
        # Below the end of a path the index is negative and wraps to the last rows. These hold -1 or, for a
        # node compared with itself, equal values, so that this walk ends one level too late.
        for level in range(len(self.steps) - 1):
            agree = np.flatnonzero(flat[at_i] == flat[at_j])
            if not len(agree):
                break
            agreeing, at_i, at_j = agreeing[agree], at_i[agree] - width, at_j[agree] - width
            depth[agreeing] = level
        return np.asarray(np.minimum(depth, self.depths[i]), np.intp)

    def ancestors(self, i: Indices, depth: Indices) -> Indices:
        """The ancestor of node i (a column of `steps`) at the given depth."""
        return np.asarray(self.steps[self.depths[i] - depth, i], np.intp)

    def distances(self, i: Indices, j: Indices, lca_depths: Indices) -> Indices:
        """Links between nodes i and j, by the depth of their lowest common ancestor; -1 if there is none."""
        return np.where(lca_depths < 0, -1, self.depths[i] + self.depths[j] - 2 * lca_depths)


MAGIC = 0xD1
"""Marks a blob as a parse of this format."""

_HEADER_BYTES = 8
_MAX_COUNT = 0xFFFFFF
_FORMATS = {1: ("b", "B"), 2: ("h", "H"), 4: ("i", "I")}
"""Struct codes of heads and of positions, by width."""


def encode(parse: Sequence[ParseWord], analyzer: Analyzer) -> bytes:
    """Encode a sentence's parse. Raises ValueError if a head is neither another word's position nor -1."""
    words = len(parse)
    if words > _MAX_COUNT:
        raise ValueError(f"a parse of {words:,} words: at most {_MAX_COUNT:,} fit")
    if not all(-1 <= word.head < words and word.head != at for at, word in enumerate(parse)):
        raise ValueError("the head of a word must be the position of another word of its sentence, or -1")
    heads = [word.head - at if word.head >= 0 else 0 for at, word in enumerate(parse)]
    terms = [(at, code) for at, word in enumerate(parse) for code in _term_hashes(analyzer, word.word)]
    positions = [at for at, _ in terms]
    # Heads are signed, positions unsigned.
    max_head = max((max(head, -head - 1) for head in heads), default=0)
    max_position = max(positions, default=0)
    width = next(w for w in _FORMATS if max_head < 1 << (8 * w - 1) and max_position < 1 << (8 * w))
    signed, unsigned = _FORMATS[width]
    return struct.pack(
        f"<II{words}{signed}{len(terms)}{unsigned}{len(terms)}Q",
        words | MAGIC << 24,
        len(terms) | width << 24,
        *heads,
        *positions,
        *(code for _, code in terms),
    )


def decode(blobs: Sequence[bytes | None]) -> Forest:
    """Decode the parses of many sentences. None is a sentence without a parse, which gets no nodes.

    Raises IndexUnusable if a blob is truncated or was not written by `encode`.
    """
    present = np.array([blob is not None for blob in blobs], bool)
    parses = [blob for blob in blobs if blob is not None]
    sizes = np.array([len(blob) for blob in parses], np.intp)
    _check(bool((sizes >= _HEADER_BYTES).all()))
    data = np.frombuffer(b"".join(parses), np.uint8)
    firsts = np.cumsum(sizes) - sizes
    header = data[firsts[:, None] + np.arange(_HEADER_BYTES)].view("<u4").astype(np.intp).reshape(-1, 2)
    words, terms = (header & _MAX_COUNT).T
    width = header[:, 1] >> 24
    _check(bool((header[:, 0] >> 24 == MAGIC).all() and np.isin(width, list(_FORMATS)).all()))
    parts = np.stack([np.full(len(parses), _HEADER_BYTES), words * width, terms * width, terms * 8], axis=1)
    _check(bool((parts.sum(axis=1) == sizes).all()))
    # Label each byte with its part, to separate the parts, which alternate from sentence to sentence.
    owner = np.repeat(np.tile(np.arange(4, dtype=np.uint8), len(parses)), parts.ravel())
    relative = _numbers(data[owner == 1], words, width, "i")
    positions = _numbers(data[owner == 2], terms, width, "u")
    hashes = data[owner == 3].view("<u8").astype(np.uint64, copy=False)

    low = np.repeat(np.cumsum(words) - words, words)
    nodes = np.arange(len(low))
    heads = nodes + relative
    _check(bool((heads >= low).all() and (heads < low + np.repeat(words, words)).all()))
    heads[relative == 0] = -1
    _check(bool((positions < np.repeat(words, terms)).all()))
    starts = np.zeros(len(blobs) + 1, np.intp)
    starts[1:][present] = words
    return Forest(np.cumsum(starts), heads, np.repeat(np.cumsum(words) - words, terms) + positions, hashes)


def _numbers(data: npt.NDArray[np.uint8], counts: Indices, width: Indices, kind: str) -> Indices:
    """Read the numbers of all sentences, of 1, 2 or 4 bytes depending on the sentence."""
    widths = [w for w in _FORMATS if (width == w).any()]
    if len(widths) == 1:
        return data.view(f"<{kind}{widths[0]}").astype(np.intp)
    numbers = np.empty(counts.sum(), np.intp)
    number_width, byte_width = np.repeat(width, counts), np.repeat(width, counts * width)
    for w in widths:
        numbers[number_width == w] = data[byte_width == w].view(f"<{kind}{w}")
    return numbers


@lru_cache(maxsize=200_000)
def _term_hashes(analyzer: Analyzer, word: str) -> tuple[int, ...]:
    """The hashes of a word's distinct terms."""
    return tuple(hash64(term) for term in dict.fromkeys(analyzer.terms(word)))


def _check(is_valid: bool) -> None:
    if not is_valid:
        raise IndexUnusable("a stored parse is truncated or of another version: parse the sentences again")
