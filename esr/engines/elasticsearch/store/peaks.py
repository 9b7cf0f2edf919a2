"""What a document's entry keeps, so that its best sentence can be bounded for any ranking.

Of a term in a document: the most that one of its sentences has of it (count), the shortest sentence that
holds it (length), and its greatest share in the surrounding of any sentence, c(t,c_s)/c(c_s). They are
rounded to the side that keeps bounds bounds, and put together into one number: a weight of the field
`peaks`, of which the postings of a sparse vector keep 16 bits. Lengths and shares are small floats, with two
bits behind the leading one, so that the bounding scripts take them apart without computing.

Of a document: its length, its longest and its shortest sentence, together in `extent`.
"""

from __future__ import annotations

import math
import struct
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

COUNTS, LENGTHS, SHARES = 8, 32, 64
"""How many values each part has. The last count means: not known."""
_SHORTEST, _LEAST = 1.0, 2.0**-15
"""The smallest of the lengths and of the shares that can be told."""
_KEPT = 21
"""A float's bits that a small one has not."""
FIRST = 24320
"""The upper bits of the float that stands for 0: of the numbers around 1, so that they are short as JSON."""
_EXTENT = 21
"""Bits of each number of an extent: no entry holds a text of two million terms."""


def peaks(sentences: Sequence[Sequence[str]]) -> dict[str, float]:
    """The field `peaks` of a document with these sentences, given as terms."""
    count: dict[str, int] = {}
    length: dict[str, int] = {}
    share: dict[str, float] = {}
    # Much of what a load computes is here: so plain comparisons, and each weight is made once.
    for n, terms in enumerate(sentences):
        size = len(terms)
        for term, times in Counter(terms).items():
            if times > count.get(term, 0):
                count[term] = times
            if size < length.get(term, sys.maxsize):
                length[term] = size
        around = list(chain.from_iterable(sentences[max(n - 1, 0) : n + 2]))
        whole = len(around)
        for term, times in Counter(around).items():
            part = times / whole
            if part > share.get(term, 0.0):
                share[term] = part
    return {term: _weight(times, length[term], share[term]) for term, times in count.items()}


@lru_cache(1 << 16)
def _weight(count: int, length: int, share: float) -> float:
    return weight(code(count, length, share))


def extent(length: int, counts: Sequence[int]) -> int:
    """The field `extent` of a document of this length, whose sentences have so many terms."""
    longest, shortest = max(counts, default=0), min(counts, default=0)
    return length << 2 * _EXTENT | longest << _EXTENT | shortest


def code(count: int, length: int, share: float) -> int:
    """The three parts in one number: the count and the share rounded up, the length down."""
    more = count - 1 if count <= 4 else min((count - 1).bit_length() + 1, COUNTS - 1)
    shorter = min((_bits(float(length)) >> _KEPT) - (_bits(_SHORTEST) >> _KEPT), LENGTHS - 1)
    above = _bits(min(share * (1 + 1e-6), 1.0))  # as a float of 32 bits it may come out lower
    greater = max(-(-above >> _KEPT) - (_bits(_LEAST) >> _KEPT), 0)
    return (greater * LENGTHS + shorter) * COUNTS + more


def parts(code: int) -> tuple[float, float, float]:
    """What the scripts make of it: count (infinite: not known), length, share."""
    more, rest = code % COUNTS, code // COUNTS
    shorter, greater = rest % LENGTHS, rest // LENGTHS
    count = more + 1.0 if more < 4 else 2.0 ** (more - 1) if more < COUNTS - 1 else math.inf
    return count, _float((shorter << _KEPT) + _bits(_SHORTEST)), _float((greater << _KEPT) + _bits(_LEAST))


def weight(code: int) -> float:
    """The weight of a code: of its float Elasticsearch keeps the upper bits `code + FIRST`."""
    return number(code + FIRST)


def number(bits: int) -> float:
    """A number with few digits, of whose float these are the upper bits. A sparse vector keeps 16 of them."""
    low, high = (_float((bits + more) << 15) for more in (0, 1))
    return float(f"{(low + high) / 2:.3e}")


def _bits(number: float) -> int:
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits


def _float(bits: int) -> float:
    number: float = struct.unpack("f", struct.pack("i", bits))[0]
    return number
