"""Reads JSON: what both engines store and answer.

Numbers in JSON, which has neither infinities nor NaN.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec


def read_json(data: bytes | str) -> Any:
    """What json.loads gives, in less than half of the time. Raises ValueError for what is no JSON.

    What msgspec rejects and Python takes is left to Python: numbers that JSON does not have, half a surrogate
    pair in an escape.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return json.loads(data)


def replace_nonfinite(data: Any) -> Any:
    """The same data, with null in place of numbers that JSON does not have."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: replace_nonfinite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [replace_nonfinite(value) for value in data]
    return data
