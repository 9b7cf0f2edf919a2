"""Reads numbers of memory-mapped columns by address, and adds processor instructions that numba lacks.

One call of the kernel covers all segments, whose columns have different widths, so no array type fits them
all. numba has no pointers, so reading at an address takes hand-written LLVM, as do the instructions below.
Each docstring says what its function saves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from esr.folder.kernel.layout import RANGES
from esr.folder.kernel.numba_support import inlined


def _trailing_zeros() -> Any:
    """Create a function that returns the index of the lowest set bit of a word, which must not be 0.

    100,000 words with a quarter of their bits set take 2.9 ms, compared to 116 ms by shifting bit by bit.
    """

    @intrinsic
    def count(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

        return types.uint64(types.uint64), generate

    return count


def _bit_counter() -> Any:
    """Create a function that returns the number of bits of a word that are 1.

    LLVM vectorizes a loop over words: with AVX-512 (VPOPCNTDQ), one instruction counts eight words.
    """

    @intrinsic
    def count(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    return count


def _prefetcher() -> Any:
    """Create a function that prefetches an address into the cache. An invalid address does no harm.

    The searches of 200 headlines in 516,872 sentences take 1.5 to 3.6 % longer without it.
    """

    @intrinsic
    def prefetch(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
            is_write, locality, is_data = number(0), number(3), number(1)
            builder.call(function, [builder.inttoptr(arguments[0], pointer), is_write, locality, is_data])
            return context.get_dummy_value()

        return types.void(types.int64), generate

    return prefetch


count_trailing_zeros, count_bits, prefetch = _trailing_zeros(), _bit_counter(), _prefetcher()


def _reader(of: types.Type) -> Any:
    """Create a function that reads element `place` of an array of this type at an address."""

    @intrinsic
    def read(context: Any, address: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(of).as_pointer()
            element = builder.gep(builder.inttoptr(arguments[0], pointer), [arguments[1]])
            return builder.load(element)

        return of(types.int64, types.int64), generate

    return read


def _loader(of: types.Type) -> Any:
    """Create a function that reads a number of this type at an address, which need not be aligned.

    100,000 words of 64 bits take 28 µs, compared to 218 µs if assembled from bytes.
    """

    @intrinsic
    def load(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(of).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], pointer), align=1)

        return of(types.int64), generate

    return load


bits_32_at, bits_64_at = _loader(types.uint32), _loader(types.uint64)


_byte_at, _short_at, _int_at, _long_at = (
    _reader(of) for of in (types.uint8, types.uint16, types.int32, types.int64)
)


@inlined
def number_at(address, width, place):
    """Read a number of a column with a width of 1, 2, 4 or 8 bytes."""
    if width == 1:
        return np.int64(_byte_at(address, place))
    if width == 2:
        return np.int64(_short_at(address, place))
    return np.int64(_int_at(address, place)) if width == 4 else _long_at(address, place)


@inlined
def view_ranges(numbers, segments):
    """View numbers of posting ranges as RANGES, of shape (T, G)."""
    return numbers.view(RANGES).reshape((len(numbers) // (4 * segments), segments))


@inlined
def read_column(column, place):
    """Read a number of a COLUMN."""
    return number_at(column.address, column.width, place)


@inlined
def lower_bound(column, low, high, wanted):
    """The first index from `low` to `high` of a sorted column whose number is at least `wanted`."""
    address, width = column.address, column.width
    size = high - low
    while size > 1:
        half = size >> 1
        low = low + half if number_at(address, width, low + half - 1) < wanted else low
        size -= half
    if size > 0:
        low += number_at(address, width, low) < wanted
    return low


@inlined
def lower_bounds(column, low, high, wanted, found):
    """Set `found` to the result of `lower_bound` for each of the wanted numbers.

    The searches advance in lockstep, so that their memory reads overlap.
    """
    address, width, size = column.address, column.width, high - low
    for i in range(len(wanted)):
        found[i] = low
    while size > 1:
        half = size >> 1
        for i in range(len(wanted)):
            at = found[i]
            found[i] = at + half if number_at(address, width, at + half - 1) < wanted[i] else at
        size -= half
    if size > 0:
        for i in range(len(wanted)):
            found[i] += number_at(address, width, found[i]) < wanted[i]
