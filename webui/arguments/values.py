"""The values of arguments: their JSON Schemas, and how they are read from an address."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from esr.errors import EsrError, UsageError, unknown
from esr.following.novelty import DEFAULT_THRESHOLD, MIN_THRESHOLD, parse_threshold
from esr.query.query import ValueKind, is_valid
from esr.text.document import META_PREFIX
from webui.running.problems import RequestError
from webui.running.settings import Settings

Schema = Mapping[str, Any]
ALL = "all"
"""The value of `k` for all sentences, up to the maximum of files."""


class Type(Struct, frozen=True):
    """The type of an argument's values. `chars`: the setting that limits their length."""

    chars: str = "value_chars"

    def schema(self, settings: Settings) -> Schema:
        """The JSON Schema of a value."""
        raise NotImplementedError

    def read(self, name: str, text: str, settings: Settings) -> Any:
        """The value in an address. Raises UsageError, or RequestError if the message names the argument."""
        return text

    def default(self, settings: Settings) -> Any:
        """The default value of the argument."""
        return None


class Text(Type, frozen=True):
    """A text of limited length. An empty argument counts as not given."""

    min_chars: int = 0

    def schema(self, settings: Settings) -> Schema:
        return {"type": "string", "minLength": self.min_chars, "maxLength": getattr(settings, self.chars)}


class Number(Type, frozen=True):
    """Any number."""

    def schema(self, settings: Settings) -> Schema:
        return {"type": "number"}


class Choice(Type, frozen=True, kw_only=True):
    """One of several values, each with a label."""

    labels: Mapping[Any, str]
    usual: str | None = None

    def schema(self, settings: Settings) -> Schema:
        return {"enum": list(self.labels), **({} if self.usual is None else {"default": self.usual})}

    def read(self, name: str, text: str, settings: Settings) -> str:
        if text not in self.labels:
            raise unknown(name, text, self.labels)
        return text

    def default(self, settings: Settings) -> str | None:
        return self.usual


class Whole(Type, frozen=True, kw_only=True):
    """A whole number. Its maximum and its default are numbers or names of settings."""

    low: int = 1
    high: int | str
    usual: int | str | None = None

    def schema(self, settings: Settings) -> Schema:
        (low, high), usual = self.bounds(settings), self.default(settings)
        return {
            "type": "integer",
            "minimum": low,
            "maximum": high,
            **({} if usual is None else {"default": usual}),
        }

    def read(self, name: str, text: str, settings: Settings) -> int:
        return parse_whole(name, text, *self.bounds(settings))

    def default(self, settings: Settings) -> int | None:
        return int(getattr(settings, self.usual)) if isinstance(self.usual, str) else self.usual

    def bounds(self, settings: Settings) -> tuple[int, int]:
        return self.low, getattr(settings, self.high) if isinstance(self.high, str) else self.high


class Count(Whole, frozen=True, kw_only=True):
    """A number of sentences, or `all` for the maximum."""

    def schema(self, settings: Settings) -> Schema:
        return {"anyOf": [{"enum": [ALL]}, super().schema(settings)], "default": self.default(settings)}

    def read(self, name: str, text: str, settings: Settings) -> int:
        return self.bounds(settings)[1] if text == ALL else super().read(name, text, settings)


class Offset(Whole, frozen=True, kw_only=True):
    """A position in a ranking, below the maximum depth of pages."""

    def bounds(self, settings: Settings) -> tuple[int, int]:
        return self.low, settings.max_depth - 1


class Share(Type, frozen=True):
    """The minimum overlap with an earlier sentence that makes a sentence a repeat, as a share."""

    def schema(self, settings: Settings) -> Schema:
        return {"type": "number", "minimum": MIN_THRESHOLD, "maximum": 1, "default": DEFAULT_THRESHOLD}

    def read(self, name: str, text: str, settings: Settings) -> float:
        return parse_threshold(text)

    def default(self, settings: Settings) -> float:
        return DEFAULT_THRESHOLD


class Day(Type, frozen=True, kw_only=True):
    """A day, a month or a year, read as its first or its last moment."""

    parse: Callable[[str], int]

    def schema(self, settings: Settings) -> Schema:
        return {"type": "string", "examples": ["2017-03-01", "2017"]}

    def read(self, name: str, text: str, settings: Settings) -> int:
        try:
            return self.parse(text)
        except (ValueError, OverflowError, EsrError):
            raise UsageError(f"argument {name!r} must be a date such as 2017-03-01, not {text!r}") from None


class FieldName(Type, frozen=True, kw_only=True):
    """A field, or a key of the metadata as `meta.desk`."""

    names: tuple[str, ...]

    def schema(self, settings: Settings) -> Schema:
        return {"anyOf": [{"enum": list(self.names)}, META_FIELD]}

    def read(self, name: str, text: str, settings: Settings) -> str:
        if text not in self.names and not (text.startswith(META_PREFIX) and text != META_PREFIX):
            raise unknown(name, text, self.names)
        return text


class LanguageCode(Type, frozen=True):
    """The code of a language."""

    def schema(self, settings: Settings) -> Schema:
        return {"type": "string", "pattern": "^[A-Za-z0-9]+([-_][A-Za-z0-9]+)*$", "examples": ["de"]}

    def read(self, name: str, text: str, settings: Settings) -> str:
        if not is_valid(ValueKind.CODE, text, False):
            raise UsageError(f"argument {name!r} must be a code such as de, not {text!r}")
        return text


META_FIELD: Schema = {"type": "string", "pattern": "^meta[.].", "examples": ["meta.desk"]}


def parse_whole(name: str, text: str, low: int, high: int) -> int:
    """A whole number within the bounds. Raises RequestError."""
    if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
        raise RequestError(
            f"argument {name!r} must be a whole number from {low} to {high}, not {text!r}", name
        )
    return int(text)
