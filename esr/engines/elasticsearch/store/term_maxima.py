"""What the entry of a document stores of each term, so that its best sentence can be bounded for any ranking.

Of a term in a document: its greatest count in one sentence, the length of the shortest sentence that contains
it, and its greatest share in the surrounding of any sentence, c(t,c_s)/c(c_s). Each is rounded to the side
that keeps a bound a bound, and the three are packed into one number: a weight of a sparse vector, whose
postings keep 16 bits of it. Lengths and shares are small floats, with two bits behind the leading one, so
that the scripts can unpack them without computing.

Of the document: its length, its longest and its shortest sentence, packed into the field `extent`.
"""

from __future__ import annotations

import math
import struct
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

FIELD = "term_maxima"
"""The stored field of the term maxima."""
COUNTS, LENGTHS, SHARES = 8, 32, 64
"""How many values each part can have. The last count means: unknown."""
_SHORTEST_LENGTH, _SMALLEST_SHARE = 1.0, 2.0**-15
"""The smallest length and the smallest share that can be stored."""
_DROPPED_BITS = 21
"""Bits that a 32-bit float has and a small one has not."""
FIRST = 24320
"""The upper bits of the weight of code 0: weights are numbers around 1, which are short as JSON."""
_LENGTH_BITS = 21
"""Bits of each number in `extent`: no entry contains a text of two million terms."""


def term_maxima(sentences: Sequence[Sequence[str]]) -> dict[str, float]:
    """The weights of the field for a document whose sentences have these terms."""
    greatest_count: dict[str, int] = {}
    shortest_length: dict[str, int] = {}
    greatest_share: dict[str, float] = {}
    # Much of the time of a load is spent here: hence plain comparisons, and a cache of weights.
    for n, terms in enumerate(sentences):
        length = len(terms)
        for term, count in Counter(terms).items():
            if count > greatest_count.get(term, 0):
                greatest_count[term] = count
            if length < shortest_length.get(term, sys.maxsize):
                shortest_length[term] = length
        surrounding = list(chain.from_iterable(sentences[max(n - 1, 0) : n + 2]))
        size = len(surrounding)
        for term, count in Counter(surrounding).items():
            share = count / size
            if share > greatest_share.get(term, 0.0):
                greatest_share[term] = share
    return {
        term: _weight(count, shortest_length[term], greatest_share[term])
        for term, count in greatest_count.items()
    }


@lru_cache(1 << 16)
def _weight(count: int, length: int, share: float) -> float:
    return code_weight(pack_maxima(count, length, share))


def pack_lengths(document_length: int, sentence_lengths: Sequence[int]) -> int:
    """The field `extent`: the lengths of a document, of its longest and of its shortest sentence."""
    longest, shortest = max(sentence_lengths, default=0), min(sentence_lengths, default=0)
    return document_length << 2 * _LENGTH_BITS | longest << _LENGTH_BITS | shortest


def pack_maxima(count: int, length: int, share: float) -> int:
    """The code of three maxima: the count and the share are rounded up, the length is rounded down."""
    count_code = count - 1 if count <= 4 else min((count - 1).bit_length() + 1, COUNTS - 1)
    length_code = (_bits(float(length)) >> _DROPPED_BITS) - (_bits(_SHORTEST_LENGTH) >> _DROPPED_BITS)
    share_bits = _bits(min(share * (1 + 1e-6), 1.0))  # a float of 32 bits may be less than the share
    share_code = -(-share_bits >> _DROPPED_BITS) - (_bits(_SMALLEST_SHARE) >> _DROPPED_BITS)
    return (max(share_code, 0) * LENGTHS + min(length_code, LENGTHS - 1)) * COUNTS + count_code


def unpack_maxima(code: int) -> tuple[float, float, float]:
    """Count (infinite if unknown), length and share of a code, as the scripts unpack them."""
    count_code, rest = code % COUNTS, code // COUNTS
    length_code, share_code = rest % LENGTHS, rest // LENGTHS
    if count_code < 4:
        count = count_code + 1.0
    else:
        count = 2.0 ** (count_code - 1) if count_code < COUNTS - 1 else math.inf
    length = _float((length_code << _DROPPED_BITS) + _bits(_SHORTEST_LENGTH))
    share = _float((share_code << _DROPPED_BITS) + _bits(_SMALLEST_SHARE))
    return count, length, share


def code_weight(code: int) -> float:
    """The weight of a code: `code + FIRST` are the upper bits that Elasticsearch keeps of its float."""
    return short_float(code + FIRST)


def short_float(upper_bits: int) -> float:
    """A positive number with few digits whose 32-bit float has these 16 upper bits below the sign.

    They are the bits that the postings of a sparse vector keep of a weight.
    """
    low, high = (_float((upper_bits + more) << 15) for more in (0, 1))
    return float(f"{(low + high) / 2:.3e}")


def _bits(number: float) -> int:
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits


def _float(bits: int) -> float:
    number: float = struct.unpack("f", struct.pack("i", bits))[0]
    return number
