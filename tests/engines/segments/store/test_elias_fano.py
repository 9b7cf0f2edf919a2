"""Lists that are encoded are decoded again, alone or with those beside them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from esr.engines.segments.store.elias_fano import (
    EncodedLists,
    Group,
    choose_low_bits,
    decode,
    encode,
    low_size,
)


def random_lists(seed: int, limit: int, count: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    longest = min(limit, 300)
    return [np.unique(rng.integers(0, limit, rng.integers(1, longest + 1))).tolist() for _ in range(count)]


@pytest.mark.parametrize(
    ("limit", "low_bits"),
    [
        (1, 0),
        (2, 1),
        (7, 0),
        (8, 7),
        (1000, 0),
        (1000, 8),
        (12_345_678, 7),
        (12_345_678, 24),
        (2**31 - 1, 24),
    ],
)
def test_lists_are_decoded_alone_and_together(limit: int, low_bits: int) -> None:
    lists = random_lists(low_bits, limit, 9)
    lengths, numbers = np.array([len(each) for each in lists]), np.array(list(chain(*lists)))
    group = Group(low_bits, limit)
    content = np.frombuffer(encode(group, numbers, lengths), np.uint8)
    unary = low_size(len(numbers), low_bits)
    for first in range(9):
        for last in range(first + 1, 10):
            before = int(lengths[:first].sum())
            lists_of = EncodedLists(group, content, unary, first, before, lengths[first:last])
            decoded = decode(lists_of)
            assert decoded.tolist() == list(chain(*lists[first:last]))


def test_the_more_numbers_a_list_has_the_fewer_low_bits_suit_it() -> None:
    lengths = np.array([1, 2, 3, 500, 999, 1000])
    assert choose_low_bits(lengths, 1000).tolist() == [9, 9, 9, 0, 0, 0]


def test_a_long_list_takes_few_bits_and_the_logarithm_of_its_gaps() -> None:
    limit, count = 1 << 20, 1 << 14
    numbers = np.sort(np.random.default_rng(1).choice(limit, count, replace=False))
    (low_bits,) = choose_low_bits(np.array([count]), limit).tolist()
    size = len(encode(Group(low_bits, limit), numbers, np.array([count])))
    assert size * 8 / count < 2.6 + np.log2(limit / count)
