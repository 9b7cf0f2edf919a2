"""What the entry of a document stores of each term, so that its best sentence can be bounded for any ranking.

Of a term in a document: its greatest count in one sentence, the length of the shortest sentence that contains
it, and its greatest share in the surrounding of any sentence, c(t,c_s)/c(c_s). Each is rounded to the side
that keeps a bound a bound, and the three are packed into one number: a weight of a sparse vector, whose
postings keep 16 bits of it. Lengths and shares are small floats, with two bits behind the leading one, so
that the scripts can unpack them without computing.

Of the document: its length, its longest and its shortest sentence, packed into the field `extent`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from esr.plans.evidence import Array

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
"""Bits of each number in `extent`."""
GREATEST_LENGTH = (1 << _LENGTH_BITS) - 1
"""What `extent` has for greater lengths too. A document's length only divides, so a bound stays a bound with
a smaller one. A longer sentence has no bound: searches of a collection with one score every candidate."""


def pack_lengths(document_length: int, sentence_lengths: Sequence[int]) -> int:
    """The field `extent`: the lengths of a document, of its longest and of its shortest sentence."""
    lengths = document_length, max(sentence_lengths, default=0), min(sentence_lengths, default=0)
    document, longest, shortest = (min(length, GREATEST_LENGTH) for length in lengths)
    return document << 2 * _LENGTH_BITS | longest << _LENGTH_BITS | shortest


def pack_maxima(counts: Array, lengths: Array, shares: Array) -> npt.NDArray[np.int32]:
    """The codes of maxima, of one shape: counts and shares are rounded up, lengths are rounded down.

    Counts and lengths are 1 or more, shares above 0.
    """
    bit_lengths = np.frexp(counts - 1)[1]
    count_codes = np.where(counts <= 4, counts - 1, np.minimum(bit_lengths + 1, COUNTS - 1))
    length_codes = (_small_floats(lengths) >> _DROPPED_BITS) - (_bits(_SHORTEST_LENGTH) >> _DROPPED_BITS)
    share_bits = _small_floats(np.minimum(shares * (1 + 1e-6), 1.0))  # 32 bits may be less than the share
    share_codes = -(-share_bits >> _DROPPED_BITS) - (_bits(_SMALLEST_SHARE) >> _DROPPED_BITS)
    high = np.maximum(share_codes, 0) * LENGTHS + np.minimum(length_codes, LENGTHS - 1)
    codes: npt.NDArray[np.int32] = (high * COUNTS + count_codes).astype(np.int32)
    return codes


@lru_cache(COUNTS * LENGTHS * SHARES)
def code_weight(code: int) -> float:
    """The weight of a code: `code + FIRST` are the upper bits that Elasticsearch keeps of its float."""
    return short_float(code + FIRST)


def short_float(upper_bits: int) -> float:
    """A positive number with few digits whose 32-bit float has these 16 upper bits below the sign.

    They are the bits that the postings of a sparse vector keep of a weight.
    """
    low, high = (_float((upper_bits + more) << 15) for more in (0, 1))
    return float(f"{(low + high) / 2:.3e}")


def _small_floats(numbers: Array) -> npt.NDArray[np.int32]:
    """The bits of the numbers as floats of 32 bits."""
    return numbers.astype(np.float32).view(np.int32)


def _bits(number: float) -> int:
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits


def _float(bits: int) -> float:
    number: float = struct.unpack("f", struct.pack("i", bits))[0]
    return number
