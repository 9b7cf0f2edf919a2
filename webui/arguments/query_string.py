"""The query string of an address, decoded and checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from unicodedata import category
from urllib.parse import parse_qsl, unquote_to_bytes

from esr.errors import UsageError, unknown
from webui.arguments.names import KNOWN_ELSEWHERE, NAME, REPEATABLE, SEARCH_ARGUMENTS, TEXT_ARGUMENTS
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

Arguments = Mapping[str, Sequence[str]]
"""The values of arguments by name."""

_MESSAGE_CHARS = 60  # of an unknown name, which may be anything
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tabs and ends of lines, and those that set the direction of text."""


def decode_arguments(
    query_string: bytes, settings: Settings, names: Collection[str] = SEARCH_ARGUMENTS
) -> Arguments:
    """The arguments by name, as text that is safe to handle. Empty ones count as not given.

    `names` are those that are allowed; one that ends in NAME allows all that begin as it does.
    Raises RequestError for the first thing that is wrong.
    """
    values: dict[str, list[str]] = {}
    for name, value in split_pairs(query_string, settings):
        _check_name(name, names)
        check_text(name, value, settings.query_chars if name in TEXT_ARGUMENTS else settings.value_chars)
        if value.strip():
            values.setdefault(name, []).append(value.strip())
    for name, texts in values.items():
        if len(texts) > 1 and name not in REPEATABLE:
            raise RequestError(f"argument {name!r} is given {len(texts)} times: give it once", name)
    return values


def split_pairs(query_string: bytes, settings: Settings) -> list[tuple[str, str]]:
    """Names and values as they stand in the address."""
    if len(query_string) > settings.address_bytes:
        size, limit = f"{len(query_string):,}", f"{settings.address_bytes:,}"
        raise RequestError(f"the address has {size} bytes of arguments: at most {limit} are allowed", None)
    try:
        text = query_string.decode()  # a character of which only one half is quoted is none
        unquote_to_bytes(query_string.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise RequestError("the address is not valid UTF-8", None) from None
    pairs = parse_qsl(text, keep_blank_values=True)
    if len(pairs) > settings.arguments:
        limit = f"{settings.arguments:,}"
        raise RequestError(f"the address has {len(pairs)} arguments: at most {limit} are allowed", None)
    return pairs


def check_text(name: str, value: str, max_chars: int) -> None:
    """Raises RequestError for a text that is too long, or has characters that rearrange other text."""
    what = "the query" if name == "q" else f"argument {name!r}"
    if len(value) > max_chars:
        raise RequestError(f"{what} has {len(value):,} characters: at most {max_chars:,} are allowed", name)
    if unwanted := _UNWANTED.search(value):
        kind = "control" if category(unwanted[0]) == "Cc" else "text direction"
        code = f"U+{ord(unwanted[0]):04X}"
        raise RequestError(f"{what} contains the {kind} character {code}: remove it", name)


def parse_count(name: str, value: str | None, default: int, maximum: int, minimum: int = 1) -> int:
    """A whole number, or the default where there is none. Raises RequestError."""
    if value is None:
        return default
    if not re.fullmatch("[0-9]{1,6}", value) or not minimum <= int(value) <= maximum:
        raise RequestError(
            f"argument {name!r} must be a whole number from {minimum} to {maximum}, not {value!r}", name
        )
    return int(value)


def _check_name(name: str, names: Collection[str]) -> None:
    if name in names:
        return
    prefixes = tuple(allowed.removesuffix(NAME) for allowed in names if allowed.endswith(NAME))
    if not name.startswith(prefixes):
        short = name[:_MESSAGE_CHARS]
        ours = KNOWN_ELSEWHERE.get(name.lower())
        with blame_argument(short):
            if ours in names:
                raise UsageError(f"unknown argument {short!r}: did you mean {ours!r}?")
            raise unknown("argument", short, names)
