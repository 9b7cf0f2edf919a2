"""Lists of ascending numbers of 31 bits in few bits: the code of Elias and Fano (Vigna 2013,
"Quasi-succinct indices").

The lists of a group have one number of low bits, and one limit that all numbers are below. The low bits of
all numbers stand one after another. What is above them never falls within a list, and is in unary: a number
is a 1 after a 0 for each step from the number before it. All lists have the same number of zeros, so each
begins at a known place, and consecutive lists are decoded together. A list takes some 2 + log2(limit /
length) bits a number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_CHUNK = 1 << 17  # numbers whose bits are spread at once: a multiple of 8, so that they end with a byte
_STEP = 3  # of the numbers of low bits
_WINDOW = 4  # bytes that are read for one number: low bits are fewer than 25


class Group(NamedTuple):
    """What the lists of a group share: the bytes of the group are `low_bytes(count)` and the unary part."""

    low_bits: int
    limit: int

    @property
    def steps(self) -> int:
        """The zeros of a list in the unary part."""
        return (self.limit >> self.low_bits) + 1


def choose_low_bits(lengths: Array, limit: int) -> Array:
    """The number of low bits for lists of these lengths, at least 1, with numbers below the limit.

    The best is the logarithm of limit / length. It is rounded to a multiple of 3, for 2 % more bytes: so a
    few groups hold all lists, and those of a prefix are decoded in as many steps.
    """
    # A float's exponent is exact, its logarithm is not.
    exponents = np.frexp(np.maximum(limit // lengths.astype(np.int64), 1).astype(float))[1] - 1
    rounded: Array = (exponents + 1) // _STEP * _STEP
    return rounded


def encode(group: Group, numbers: Array, lengths: Array) -> bytes:
    """The lists of these lengths, which stand one after another in `numbers`."""
    list_of = np.repeat(np.arange(len(lengths)), lengths)
    bits = np.zeros(len(numbers) + len(lengths) * group.steps, np.uint8)
    bits[(numbers >> group.low_bits) + list_of * group.steps + np.arange(len(numbers))] = 1
    return _pack_low(numbers, group.low_bits) + np.packbits(bits, bitorder="little").tobytes()


class EncodedLists(NamedTuple):
    """Consecutive lists of a group, of these lengths.

    `content` are the bytes of the group, whose unary part begins with the byte `unary`. Before these lists,
    the group has `first` lists with `before` numbers.
    """

    group: Group
    content: Array
    unary: int
    first: int
    before: int
    lengths: Array


def decode(lists: EncodedLists) -> Array:
    """The numbers of the lists, one after another."""
    group, content, unary_start, first, before, lengths = lists
    count, steps = int(lengths.sum()), group.steps
    start = before + first * steps
    stop = start + count + len(lengths) * steps
    unary = content[unary_start:][start >> 3 : -(-stop >> 3)]
    bits = np.unpackbits(unary, bitorder="little")[start & 7 :][: stop - start]
    numbers = np.flatnonzero(bits).astype(np.int32)
    numbers -= np.arange(count, dtype=np.int32)
    if len(lengths) > 1:
        numbers -= np.repeat(np.arange(len(lengths), dtype=np.int32) * np.int32(steps), lengths)
    numbers <<= group.low_bits
    numbers |= _unpack_low(content, group.low_bits, before, count)
    return numbers


def low_size(count: int, low_bits: int) -> int:
    """The bytes of the low bits of so many numbers, before the unary part."""
    return -(-count * low_bits >> 3) + _WINDOW


def _pack_low(numbers: Array, low_bits: int) -> bytes:
    shifts = np.arange(low_bits)
    parts = [
        np.packbits(
            (numbers[n : n + _CHUNK, None] >> shifts & 1).astype(np.uint8), bitorder="little"
        ).tobytes()
        for n in range(0, len(numbers), _CHUNK)
        if low_bits
    ]
    return b"".join(parts).ljust(low_size(len(numbers), low_bits), b"\0")


def _unpack_low(content: Array, low_bits: int, start: int, count: int) -> Array:
    """The low bits of `count` numbers from the number `start` on."""
    if not low_bits:
        return np.zeros(count, np.int32)
    first_byte = start * low_bits >> 3
    places = np.arange(start * low_bits & 7, (start * low_bits & 7) + count * low_bits, low_bits)
    low = content[first_byte : first_byte + (int(places[-1]) >> 3) + _WINDOW if count else first_byte]
    windows = np.lib.stride_tricks.as_strided(
        np.frombuffer(low, "<u4", 1), (len(low) - _WINDOW + 1,), (1,), writeable=False
    )
    low_parts: Array = windows[places >> 3]
    low_parts >>= (places & 7).astype(np.uint32)
    low_parts &= np.uint32((1 << low_bits) - 1)
    return low_parts.view(np.int32)
