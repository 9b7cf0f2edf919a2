"""Numbers read from where a segment's columns are mapped.

The kernel sees all segments in one call: it gets addresses, so arrays need no common type.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from esr.engines.embedded.search.kernel.instructions import choose
from esr.engines.embedded.search.kernel.numba_support import inlined


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
