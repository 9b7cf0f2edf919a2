"""JSON is written as the module `json` writes it, in a part of its time."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webui.running.json_text import replace_nonfinite, write_json

_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_TEXTS = st.text(st.characters(exclude_categories=()))  # halves of surrogate pairs too
_DATA = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner),
)


def dumps(data: Any, *, sort_keys: bool = True) -> str:
    return json.dumps(data, sort_keys=sort_keys, separators=(",", ":"))


def test_numbers_that_json_does_not_have_become_null_at_any_depth() -> None:
    nan, inf = float("nan"), float("inf")
    data = {"a": nan, "b": [1.5, -inf, {"c": (inf, 2)}], "d": None, "e": "NaN", "f": True}
    expected = {"a": None, "b": [1.5, None, {"c": [None, 2]}], "d": None, "e": "NaN", "f": True}
    assert replace_nonfinite(data) == expected
    assert write_json(data) == dumps(expected).encode()
    assert write_json([np.float64(nan), 1 << 70]) == b"[null,1180591620717411303424]"


@given(_DATA)
def test_any_data_is_read_as_it_was_written(data: Any) -> None:
    written = write_json(data)
    assert written.isascii()
    assert json.loads(written) == json.loads(dumps(data))


@given(_TEXTS | st.floats(1e-4, 1e15) | st.dictionaries(_TEXTS, st.integers()), st.booleans())
def test_texts_keys_and_common_numbers_have_the_bytes_that_json_writes(data: Any, sort_keys: bool) -> None:
    assert write_json(data, sort_keys=sort_keys).decode() == dumps(data, sort_keys=sort_keys)


@pytest.mark.parametrize("character", ["\x7f", "\x1f", "\u2028", "é", "😀", "\ud800", '"', "\\", "/"])
def test_characters_are_escaped_as_json_does(character: str) -> None:
    assert write_json({character: f"a{character}b"}).decode() == dumps({character: f"a{character}b"})


def test_a_number_of_numpy_is_one() -> None:
    assert json.loads(write_json([np.float64(math.pi)])) == [math.pi]
