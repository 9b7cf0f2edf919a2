"""Numbers read from where a segment's columns are mapped.

The kernel sees all segments in one call: it gets addresses, so arrays need no common type.

Instructions of the processor that numba has no functions for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from esr.folder.kernel.numba_support import inlined


def _trailing_zeros() -> Any:
    """A function of a word that is not 0: the place of its lowest bit that is 1."""

    @intrinsic
    def count(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

        return types.uint64(types.uint64), generate

    return count


def _chooser() -> Any:
    """A function of a condition and two numbers: the first number where it holds, else the second.

    No branch is made of it, as LLVM makes of other ways to say the same. A branch costs more where it is hard
    to foresee.
    """

    @intrinsic
    def choose(context: Any, condition: Any, number: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            chosen = builder.select(*arguments)
            chosen.set_metadata("unpredictable", builder.module.add_metadata([]))
            return chosen

        return types.int64(types.boolean, types.int64, types.int64), generate

    return choose


def _prefetcher() -> Any:
    """A function of an address: what stands there is brought into the cache, and nobody waits for it.

    The address may be any number.
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


count_trailing_zeros, choose, prefetch = _trailing_zeros(), _chooser(), _prefetcher()


def _reader(of: types.Type) -> Any:
    """A function of an address and a place: the number of this type there."""

    @intrinsic
    def read(context: Any, address: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(of).as_pointer()
            element = builder.gep(builder.inttoptr(arguments[0], pointer), [arguments[1]])
            return builder.load(element)

        return of(types.int64, types.int64), generate

    return read


def _loader(of: types.Type) -> Any:
    """A function of an address: the number of this type there, on whatever byte it begins."""

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
    """A number of a column whose numbers have 1, 2, 4 or 8 bytes."""
    if width == 1:
        return np.int64(_byte_at(address, place))
    if width == 2:
        return np.int64(_short_at(address, place))
    return np.int64(_int_at(address, place)) if width == 4 else _long_at(address, place)


@inlined
def column_number(segments, g, column, place):
    """A number of one of a segment's columns."""
    return number_at(segments[g, column], segments[g, column + 1], place)


@inlined
def lower_bound(segments, g, column, low, high, wanted):
    """The first place from low to high of a segment's column whose number is not below the one wanted."""
    address, width = segments[g, column], segments[g, column + 1]
    size = high - low
    while size > 1:
        half = size >> 1
        low = choose(number_at(address, width, low + half - 1) < wanted, low + half, low)
        size -= half
    if size > 0:
        low += number_at(address, width, low) < wanted
    return low


@inlined
def lower_bounds(segments, g, column, low, high, wanted, found):
    """Set `found` to what `lower_bound` gives for each number that is wanted.

    Step by step for all of them: none waits for the memory that another one reads.
    """
    address, width, size = segments[g, column], segments[g, column + 1], high - low
    for i in range(len(wanted)):
        found[i] = low
    while size > 1:
        half = size >> 1
        for i in range(len(wanted)):
            at = found[i]
            found[i] = choose(number_at(address, width, at + half - 1) < wanted[i], at + half, at)
        size -= half
    if size > 0:
        for i in range(len(wanted)):
            found[i] += number_at(address, width, found[i]) < wanted[i]
