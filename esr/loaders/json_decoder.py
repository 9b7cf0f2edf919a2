"""The decoder of JSON as its standard has it: without NaN and infinities, which Python's own accepts."""

from __future__ import annotations

import json
from typing import NoReturn


class _InvalidConstant(ValueError):
    """NaN or an infinity."""


def _reject_constant(constant: str) -> NoReturn:
    raise _InvalidConstant(constant)


DECODER = json.JSONDecoder(parse_constant=_reject_constant)


def describe_invalid_value(error: RecursionError | ValueError) -> str:
    """The problem with well-formed JSON that DECODER refuses: its depth, a constant or a long number."""
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply for a document: flatten it"
    if isinstance(error, _InvalidConstant):
        return f"broken JSON: {error} is not a JSON number, leave it out"
    return "broken JSON: a number has too many digits, shorten it"  # Python's limit is 4,300
