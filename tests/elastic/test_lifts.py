"""The term maxima of a document are packed so that they stay bounds."""

from __future__ import annotations

import math
import struct
from itertools import product

import numpy as np

from esr.elastic.lifts import COUNTS, FIRST, LENGTHS, SHARES, code_weight, pack_lengths, pack_maxima
from tests.support.term_maxima import unpack_maxima


def pack(count: int, length: int, share: float) -> tuple[float, float, float]:
    """What is left of three maxima."""
    (code,) = pack_maxima(np.array([float(count)]), np.array([float(length)]), np.array([share])).tolist()
    return unpack_maxima(code)


def upper_bits(number: float) -> int:
    """What the postings of a sparse vector keep of a weight."""
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits >> 15


def test_every_code_survives_a_round_trip() -> None:
    codes = range(COUNTS * LENGTHS * SHARES)
    assert [upper_bits(code_weight(code)) - FIRST for code in codes] == list(codes)


def test_small_numbers_are_exact() -> None:
    for count, length in product(range(1, 5), range(1, 9)):
        assert pack(count, length, 0.25) == (count, length, 0.25 * 1.25)
    assert pack(1, 1, 1.0) == (1, 1, 1.0)


def test_large_numbers_are_rounded_to_the_safe_side() -> None:
    assert pack(5, 9, 0.3) == (8, 8, 0.3125)
    assert pack(32, 230, 1e-9)[:2] == (32, 224)
    assert pack(33, 5000, 1e-9) == (math.inf, 224, 2.0**-15)


def test_the_lengths_of_a_document_are_one_number() -> None:
    extent = pack_lengths(70_000, [3, 40_000, 0])
    assert (extent >> 42, extent >> 21 & 0x1FFFFF, extent & 0x1FFFFF) == (70_000, 40_000, 0)
    assert pack_lengths(0, []) == 0
    longest = 0x1FFFFF
    for length in (longest, longest + 1, 10**9):
        assert pack_lengths(length, [length, 7]) == longest << 42 | longest << 21 | 7
