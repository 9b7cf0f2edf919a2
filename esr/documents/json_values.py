"""Checks of single JSON values: strings, numbers, lists. Their messages name the field and the type."""

from __future__ import annotations

from math import isfinite
from typing import Any

_TYPE_NAMES: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


class InvalidDocument(ValueError):
    """These fields are no valid document. The message names the field and says what it must be."""


def require_string(value: Any, name: str) -> str:
    """The value, if it is a string that UTF-8 can encode. Raises InvalidDocument."""
    if not isinstance(value, str):
        raise InvalidDocument(f"{name} must be a string, not {type_name(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            surrogate = value[error.start]
            raise InvalidDocument(
                f"{name} contains {surrogate!r}, half a character (a lone surrogate): "
                "remove it, it cannot be stored"
            ) from None
    return value


def require_number(value: Any, name: str) -> float:
    """The value as a finite float. Raises InvalidDocument."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidDocument(f"{name} must be a number, not {type_name(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise InvalidDocument(f"{name} must be a finite number of at most 1.8e308")
    return number


def require_list(value: Any, name: str) -> list[Any]:
    """The value, if it is a list. Raises InvalidDocument."""
    if not isinstance(value, list):
        raise InvalidDocument(f"{name} must be a list, not {type_name(value)}")
    return value


def type_name(value: Any) -> str:
    """The JSON type of a value, with its article: "a string"."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def quote(text: str) -> str:
    """The text as messages show it: quoted, escaped where it is not printable, and shortened."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
