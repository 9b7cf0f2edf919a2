"""Dependency parses as bytes, one blob a sentence, and back, a thousand at a time.

A blob is little-endian:

    u32  number of words, and MAGIC in the highest byte
    u32  number of terms, and `width` in the highest byte
    words x int(width)    the head's position less the word's own; 0 is a root
    terms x uint(width)   the position of the word that has the term
    terms x u64           the term's hash

`width` is 1 byte where heads and positions fit into it, else 2 or 4. Words are not stored, only the hashes of
the terms that they analyse to: none for a stop word, several for "U.S.". The text has the words.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from esr.analysis import Analyzer
from esr.dependency.forest import Forest, Indices
from esr.documents import ParseWord
from esr.errors import IndexUnusable
from esr.hashing import hash64

MAGIC = 0xD1
"""Marks a blob as a parse of this format."""

_HEADER_BYTES = 8
_MAX_COUNT = 0xFFFFFF
_FORMATS = {1: ("b", "B"), 2: ("h", "H"), 4: ("i", "I")}
"""By width: the struct codes of heads and of positions."""


def encode(parse: Sequence[ParseWord], analyzer: Analyzer) -> bytes:
    """One sentence's parse. Raises ValueError if a head is neither another word of the sentence nor -1."""
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
    """The parses of many sentences; None is a sentence that was not parsed, and so has no words.

    Raises IndexUnusable if a blob is truncated or is not one that `encode` wrote.
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
    # The part that each byte belongs to separates the parts, which alternate from sentence to sentence.
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
    """The numbers of all sentences, of 1, 2 or 4 bytes each, depending on the sentence."""
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
