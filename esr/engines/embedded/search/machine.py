"""What the compiled functions stand on: their types, and numbers read from where columns are mapped.

numba's cache looks for changes in the file of a function, and not in this one or in `layout`: after a change
of these, remove the folders `__pycache__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


def array(of: types.Type, dimensions: int = 1, readonly: bool = True) -> types.Type:
    return types.Array(of, dimensions, "C", readonly=readonly)


LONGS, LONG_TABLE, LONG_CUBE = (array(types.int64, n) for n in (1, 2, 3))
DOUBLES, DOUBLE_TABLE = (array(types.float64, n) for n in (1, 2))
FLOATS, FLAGS, INTS, RECORDS = (
    array(types.float32), array(types.boolean), array(types.int32), array(types.int32, 2)
)  # fmt: skip
OUT, OUT_LONGS, OUT_INTS, OUT_FLAGS = (
    array(of, 1, False) for of in (types.float64, types.int64, types.int32, types.boolean)
)
OUT_TABLE = array(types.float64, 2, False)
WORDS, OUT_WORDS = array(types.uint64), array(types.uint64, 1, False)
LONG, DOUBLE, FLAG = types.int64, types.float64, types.boolean
inlined = njit(inline="always", error_model="numpy")
alone = njit(error_model="numpy", _nrt=False)  # type: ignore[call-overload]
"""Compiled by itself, for other compiled functions. It makes no array, so numba counts no references, which
took half of the time."""


def compiled(*signature: types.Type) -> Any:
    """Compiled for these arguments now, without the interpreter's lock."""
    return njit([signature], cache=True, nogil=True, error_model="numpy")


def _loads(of: types.Type) -> Any:
    """A function of an address and a place: the number of this type that stands there."""

    @intrinsic
    def load(context: Any, address: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(of).as_pointer()
            place = builder.gep(builder.inttoptr(arguments[0], pointer), [arguments[1]])
            return builder.load(place)

        return of(types.int64, types.int64), generate

    return load


_byte_at, _short_at, _int_at, _long_at = (
    _loads(of) for of in (types.uint8, types.uint16, types.int32, types.int64)
)


@inlined
def number_at(address, width, at):
    """A number of a column whose numbers have 1, 2, 4 or 8 bytes."""
    if width == 1:
        return np.int64(_byte_at(address, at))
    if width == 2:
        return np.int64(_short_at(address, at))
    return np.int64(_int_at(address, at)) if width == 4 else _long_at(address, at)


@inlined
def at_place(segments, g, column, at):
    """A number of one of a segment's columns."""
    return number_at(segments[g, column], segments[g, column + 1], at)


@inlined
def first_from(segments, g, column, low, high, wanted):
    """The first place from low to high of a segment's column whose number is not below the one wanted."""
    address, width = segments[g, column], segments[g, column + 1]
    while low < high:
        middle = (low + high) >> 1
        if number_at(address, width, middle) < wanted:
            low = middle + 1
        else:
            high = middle
    return low
