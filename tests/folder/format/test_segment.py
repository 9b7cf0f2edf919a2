from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.folder.format.segment import COUNT_BITS, POSTINGS, pack, unpack


@given(st.dictionaries(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1)))
def test_what_is_packed_is_unpacked_the_same(counts: dict[int, int]) -> None:
    sentences = np.array(sorted(counts), np.int32)
    packed = pack(sentences, np.array([counts[s] for s in sentences.tolist()], np.int32))
    numbers, values = unpack(packed[POSTINGS], int(packed[COUNT_BITS][0]))
    assert dict(zip(numbers.tolist(), values.tolist(), strict=True)) == counts
    assert (np.diff(packed[POSTINGS]) > 0).all()


@pytest.mark.parametrize(
    ("sentence", "count", "size"),
    [
        (2**29 - 1, 3, 4),
        (2**29, 3, 8),
        (2**20 - 1, 2**11 - 1, 4),
        (2**20, 2**11 - 1, 8),
    ],
)
def test_a_posting_has_four_bytes_where_that_is_enough(sentence: int, count: int, size: int) -> None:
    packed = pack(np.array([sentence], np.int32), np.array([count], np.int32))
    assert packed[POSTINGS].itemsize == size


def test_a_segment_without_terms_has_no_postings() -> None:
    packed = pack(np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert len(packed[POSTINGS]) == 0
