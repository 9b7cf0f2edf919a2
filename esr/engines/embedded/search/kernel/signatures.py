"""The types of what the kernel is given, for numba.

They are plain tuples: numba takes twice as long to find out the type of a NamedTuple, which is 3 microseconds
a search.
"""

from __future__ import annotations

from typing import Any

from numba import types


def array(of: types.Type, dimensions: int = 1) -> types.Type:
    return types.Array(of, dimensions, "C")


def group(*fields: types.Type) -> Any:
    """The type of a tuple with these fields."""
    return types.BaseTuple.from_types(fields)  # type: ignore[no-untyped-call]


LONG, FLAG = types.int64, types.boolean
DOUBLES, FLOATS, LONGS, INTS, SHORTS, WORDS, MASK = (
    array(of)
    for of in (
        types.float64,
        types.float32,
        types.int64,
        types.int32,
        types.int16,
        types.uint64,
        types.boolean,
    )
)
DOUBLE_TABLE, LONG_TABLE, INT_TABLE = (array(of, 2) for of in (types.float64, types.int64, types.int32))
LONG_CUBE = array(types.int64, 3)

BYTES, FILE = types.Array(types.uint8, 1, "C"), types.Array(types.uint8, 1, "C", readonly=True)
PLACE_LISTS = group(FILE, LONGS, LONGS, LONG, BYTES, INTS, LONGS, LONGS)
SENTENCE_PLACES = group(INTS, INTS, LONG)
VECTORS = types.Array(types.int8, 2, "C", readonly=True)

TRANSFORM = group(LONG, DOUBLES, DOUBLE_TABLE, FLOATS, FLOATS)
COMMIT = group(LONG_TABLE, LONGS, INT_TABLE, INTS, WORDS)
STATICS = group(DOUBLES, FLOATS, FLAG)
FILTERS = group(MASK, MASK, WORDS)
SCRATCH = group(DOUBLES, MASK, DOUBLES, INTS, WORDS)
