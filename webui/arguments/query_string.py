"""The query string of an address: how it is decoded and checked, and the values of its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import category
from urllib.parse import parse_qsl, unquote_to_bytes

from esr.errors import UsageError, unknown
from webui.arguments.table import NAME, PAGE, Argument, rows
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings


class Arguments(dict[str, Sequence[str]]):
    """The texts of the given arguments by name. `rows` say what they mean."""

    def __init__(
        self, texts: Mapping[str, Sequence[str]], settings: Settings, rows: Mapping[str, Argument]
    ) -> None:
        super().__init__(texts)
        self._settings = settings
        self._rows = rows

    def value(self, name: str) -> Any:
        """The value of an argument, or its default. Raises RequestError."""
        row = self._rows.get(name) or PAGE[name]
        texts = self.get(name)
        return row.read(texts[0], self._settings) if texts else row.type.default(self._settings)

    def values_of(self, name: str) -> tuple[Any, ...]:
        """The values of an argument of names, also separated by commas, once each. Raises RequestError."""
        texts = (text.strip() for text in ",".join(self.get(name, ())).split(","))
        return tuple(self._rows[name].read(text, self._settings) for text in dict.fromkeys(texts) if text)

    def with_defaults(self, **texts: str) -> Arguments:
        """These arguments, and others for those that are not given."""
        added = {name: [text] for name, text in texts.items() if name not in self}
        return Arguments({**self, **added}, self._settings, self._rows)

    def first(self, name: str) -> str:
        """The first text of an argument, empty if it is not given."""
        return self[name][0] if name in self else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names and texts, as in an address."""
        return [(name, text) for name, texts in self.items() for text in texts]


_MESSAGE_CHARS = 60  # maximum for an unknown name
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tabs and line ends, and characters that set the direction of text."""


def decode_arguments(query_string: bytes, settings: Settings, *takers: str) -> Arguments:
    """The arguments of an address that the pages or operations `takers` take, as text that is safe to handle.

    Empty ones count as not given. Raises RequestError for the first error, also for a missing argument.
    """
    allowed = rows(*takers)
    values: dict[str, list[str]] = {}
    for name, value in split_pairs(query_string, settings):
        row = _find_row(name, allowed)
        check_text(name, value, getattr(settings, row.type.chars))
        if value.strip():
            values.setdefault(name, []).append(value.strip())
    for name, texts in values.items():
        if len(texts) > 1 and not _find_row(name, allowed).is_repeatable:
            raise RequestError(f"argument {name!r} is given {len(texts)} times: give it once", name)
    for row in allowed.values():
        if row.is_required and row.name not in values and row.name != "q":
            raise RequestError(f"argument {row.name!r} is missing: {row.help}", row.name)
    return Arguments(values, settings, allowed)


def split_pairs(query_string: bytes, settings: Settings) -> list[tuple[str, str]]:
    """Names and values in the order of the address. Raises RequestError."""
    if len(query_string) > settings.address_bytes:
        size, limit = f"{len(query_string):,}", f"{settings.address_bytes:,}"
        raise RequestError(f"the address has {size} bytes of arguments: at most {limit} are allowed", None)
    try:
        text = query_string.decode()  # fails if a character is percent-encoded in part
        unquote_to_bytes(query_string.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise RequestError("the address is not valid UTF-8", None) from None
    pairs = parse_qsl(text, keep_blank_values=True)
    if len(pairs) > settings.arguments:
        limit = f"{settings.arguments:,}"
        raise RequestError(f"the address has {len(pairs)} arguments: at most {limit} are allowed", None)
    return pairs


def check_text(name: str, value: str, max_chars: int) -> None:
    """Raise RequestError for a text that is too long or has control or direction characters."""
    what = "the query" if name == "q" else f"argument {name!r}"
    if len(value) > max_chars:
        raise RequestError(f"{what} has {len(value):,} characters: at most {max_chars:,} are allowed", name)
    if unwanted := _UNWANTED.search(value):
        kind = "control" if category(unwanted[0]) == "Cc" else "text direction"
        code = f"U+{ord(unwanted[0]):04X}"
        raise RequestError(f"{what} contains the {kind} character {code}: remove it", name)


def _find_row(name: str, allowed: Mapping[str, Argument]) -> Argument:
    """The row of an argument. Raises RequestError for an unknown one, with what is probably meant."""
    row = allowed.get(name) or next(
        (r for r in allowed.values() if r.name.endswith(NAME) and name.startswith(r.name.removesuffix(NAME))),
        None,
    )
    if row is None:
        short = name[:_MESSAGE_CHARS]
        meant = next((r.name for r in allowed.values() if name.lower() in r.elsewhere), None)
        with blame_argument(short):
            if meant is not None:
                raise UsageError(f"unknown argument {short!r}: did you mean {meant!r}?")
            raise unknown("argument", short, allowed)
    return row
