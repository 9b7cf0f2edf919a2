"""The term maxima of a document bound what its terms have in its sentences."""

from __future__ import annotations

import math
import struct
from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from esr.engines.elasticsearch.store.term_maxima import (
    COUNTS,
    FIRST,
    LENGTHS,
    SHARES,
    code_weight,
    pack_lengths,
    pack_maxima,
    term_maxima,
    unpack_maxima,
)

words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=40) | st.builds(
    lambda n, rest: ["a"] * n + rest, st.integers(1, 400), st.lists(st.sampled_from("bcd"), max_size=5)
)


def upper_bits(number: float) -> int:
    """What the postings of a sparse vector keep of a weight."""
    bits: int = struct.unpack("i", struct.pack("f", number))[0]
    return bits >> 15


def test_every_code_survives_a_round_trip() -> None:
    codes = range(COUNTS * LENGTHS * SHARES)
    assert [upper_bits(code_weight(code)) - FIRST for code in codes] == list(codes)


@given(st.lists(words, max_size=6))
def test_the_maxima_bound_every_sentence(sentences: list[list[str]]) -> None:
    maxima = {term: unpack_maxima(upper_bits(w) - FIRST) for term, w in term_maxima(sentences).items()}
    assert maxima.keys() == {term for terms in sentences for term in terms}
    for n, terms in enumerate(sentences):
        around = [term for near in sentences[max(n - 1, 0) : n + 2] for term in near]
        for term, times in Counter(terms).items():
            count, length, _ = maxima[term]
            assert count >= times and length <= len(terms)
        for term, times in Counter(around).items():
            assert maxima[term][2] >= times / len(around)


def test_small_numbers_are_exact() -> None:
    for count, length in product(range(1, 5), range(1, 9)):
        assert unpack_maxima(pack_maxima(count, length, 0.25)) == (count, length, 0.25 * 1.25)
    assert unpack_maxima(pack_maxima(1, 1, 1.0)) == (1, 1, 1.0)


def test_large_numbers_are_rounded_to_the_safe_side() -> None:
    assert unpack_maxima(pack_maxima(5, 9, 0.3)) == (8, 8, 0.3125)
    assert unpack_maxima(pack_maxima(32, 230, 1e-9))[:2] == (32, 224)
    assert unpack_maxima(pack_maxima(33, 5000, 1e-9)) == (math.inf, 224, 2.0**-15)


def test_the_lengths_of_a_document_are_one_number() -> None:
    extent = pack_lengths(70_000, [3, 40_000, 0])
    assert (extent >> 42, extent >> 21 & 0x1FFFFF, extent & 0x1FFFFF) == (70_000, 40_000, 0)
    assert pack_lengths(0, []) == 0
