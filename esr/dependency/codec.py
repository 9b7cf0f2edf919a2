"""Dependency parses as bytes, one blob a sentence, and back, a thousand at a time.

A blob is little-endian:

    u32  number of words, and MARK in the highest byte
    u32  number of terms, and `width` in the highest byte
    words x int(width)    the head's position less the word's own; 0 is a root
    terms x uint(width)   the position of the word that has the term
    terms x u64           the term's hash

`width` is 1 byte where heads and positions fit into it, else 2 or 4. Words are not kept, only the hashes of
the terms that they analyse to: none for a stop word, several for "U.S.". The words stay with the text.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from esr.analysis import Analyzer
from esr.dependency.trees import Forest, Indices
from esr.documents import ParseWord
from esr.errors import IndexUnusable
from esr.hashing import hash64

MARK = 0xD1
"""Says that a blob is a parse, and in which form."""

_HEADER = 8
_COUNT = 0xFFFFFF
_FORMATS = {1: ("b", "B"), 2: ("h", "H"), 4: ("i", "I")}
"""By width: heads, positions."""


def encode(parse: Sequence[ParseWord], analyzer: Analyzer) -> bytes:
    """One sentence's parse. ValueError if a head is no other word of the sentence and no -1."""
    words = len(parse)
    if words > _COUNT:
        raise ValueError(f"a parse of {words:,} words: at most {_COUNT:,} fit")
    if not all(-1 <= word.head < words and word.head != at for at, word in enumerate(parse)):
        raise ValueError("the head of a word is the position of another word of its sentence, or -1")
    heads = [word.head - at if word.head >= 0 else 0 for at, word in enumerate(parse)]
    terms = [(at, code) for at, word in enumerate(parse) for code in _hashes(analyzer, word.word)]
    positions = [at for at, _ in terms]
    # The largest number a head or, unsigned, a position can be in so many bytes has to reach these.
    head = max((max(each, -each - 1) for each in heads), default=0)
    last = max(positions, default=0)
    width = next(w for w in _FORMATS if head < 1 << (8 * w - 1) and last < 1 << (8 * w))
    signed, unsigned = _FORMATS[width]
    return struct.pack(
        f"<II{words}{signed}{len(terms)}{unsigned}{len(terms)}Q",
        words | MARK << 24,
        len(terms) | width << 24,
        *heads,
        *positions,
        *(code for _, code in terms),
    )


def decode(blobs: Sequence[bytes | None]) -> Forest:
    """The parses of many sentences; None is a sentence that was not parsed, and so has no words.

    Raises IndexUnusable if a blob is cut off or is not one that `encode` wrote.
    """
    present = np.array([blob is not None for blob in blobs], bool)
    known = [blob for blob in blobs if blob is not None]
    sizes = np.array([len(blob) for blob in known], np.intp)
    _check(bool((sizes >= _HEADER).all()))
    data = np.frombuffer(b"".join(known), np.uint8)
    firsts = np.cumsum(sizes) - sizes
    header = data[firsts[:, None] + np.arange(_HEADER)].view("<u4").astype(np.intp).reshape(-1, 2)
    words, terms = (header & _COUNT).T
    width = header[:, 1] >> 24
    _check(bool((header[:, 0] >> 24 == MARK).all() and np.isin(width, list(_FORMATS)).all()))
    parts = np.stack([np.full(len(known), _HEADER), words * width, terms * width, terms * 8], axis=1)
    _check(bool((parts.sum(axis=1) == sizes).all()))
    # What each byte belongs to: the parts of all sentences lie between each other, and come apart by it.
    owner = np.repeat(np.tile(np.arange(4, dtype=np.uint8), len(known)), parts.ravel())
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
    """The numbers of all sentences, which take 1, 2 or 4 bytes each in different sentences."""
    widths = [w for w in _FORMATS if (width == w).any()]
    if len(widths) == 1:
        return data.view(f"<{kind}{widths[0]}").astype(np.intp)
    found = np.empty(counts.sum(), np.intp)
    of_number, of_byte = np.repeat(width, counts), np.repeat(width, counts * width)
    for each in widths:
        found[of_number == each] = data[of_byte == each].view(f"<{kind}{each}")
    return found


@lru_cache(maxsize=200_000)
def _hashes(analyzer: Analyzer, word: str) -> tuple[int, ...]:
    """Of the distinct terms of a word."""
    return tuple(hash64(term) for term in dict.fromkeys(analyzer.terms(word)))


def _check(right: bool) -> None:
    if not right:
        raise IndexUnusable("a stored parse is cut off or of another version: parse the sentences again")
