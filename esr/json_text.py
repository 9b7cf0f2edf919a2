"""Reads the JSON that engines store and return, and removes numbers that JSON cannot hold."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec


def read_json(data: bytes | str) -> Any:
    """Parse JSON like json.loads, in less than half the time. Raises ValueError for invalid JSON.

    Python parses input that msgspec rejects: infinities, NaN, and escapes of half a surrogate pair.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return json.loads(data)


def replace_nonfinite(data: Any) -> Any:
    """The same data, with null in place of infinities and NaN."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: replace_nonfinite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [replace_nonfinite(value) for value in data]
    return data
