"""The values of arguments: their JSON Schemas, and how they are read from an address or from a program."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex

from msgspec import Struct

from esr.errors import UsageError, unknown
from esr.stdlib import import_lazily
from esr.text.attributes import META_PREFIX
from esr.text.dates import format_moment, parse_date_end, parse_date_start

if TYPE_CHECKING:
    from esr.index import filters
    from esr.query import query
else:
    # The start of `esr` needs neither, and numpy is imported after the number of its threads is set.
    filters = import_lazily("esr.index.filters")
    query = import_lazily("esr.query.query")

Schema = Mapping[str, Any]
ALL = "all"
"""The value of `k` for all sentences, up to the maximum of files."""


class Limits(Protocol):
    """The limits of values, which are settings of a server. Types name them."""

    @property
    def value_chars(self) -> int: ...
    @property
    def query_chars(self) -> int: ...
    @property
    def text_chars(self) -> int: ...
    @property
    def default_k(self) -> int: ...
    @property
    def max_k(self) -> int: ...
    @property
    def max_depth(self) -> int: ...
    @property
    def export_k(self) -> int: ...


class UsualLimits:
    """The limits where no server sets others."""

    value_chars = 300
    query_chars = 2_000
    text_chars = 50_000
    default_k = 10
    max_k = 100
    max_depth = 1_000
    export_k = 100_000


class Type(Struct, frozen=True):
    """The type of an argument's values. `chars`: the limit of their length."""

    chars: str = "value_chars"

    def schema(self, limits: Limits) -> Schema:
        """The JSON Schema of a value."""
        raise NotImplementedError

    def read(self, name: str, text: str, limits: Limits) -> Any:
        """The value in an address. Raises UsageError."""
        return text

    def default(self, limits: Limits) -> Any:
        """The default value of the argument."""
        return None

    def write(self, value: Any) -> str:
        """The text that is read as this value."""
        return f"{value:g}" if isinstance(value, float) else str(value)

    def annotation(self) -> str:
        """The type of a keyword's value in Python."""
        return "str"


class Text(Type, frozen=True):
    """A text of limited length. An empty argument counts as not given."""

    min_chars: int = 0
    usual: str | None = None

    def schema(self, limits: Limits) -> Schema:
        return {"type": "string", "minLength": self.min_chars, "maxLength": getattr(limits, self.chars)}

    def default(self, limits: Limits) -> str | None:
        return self.usual


class Number(Type, frozen=True):
    """Any number."""

    def schema(self, limits: Limits) -> Schema:
        return {"type": "number"}

    def annotation(self) -> str:
        return "Number"


class Between(Number, frozen=True, kw_only=True):
    """A number from `low` to `high`, or without a maximum."""

    low: float = 0
    high: float | None = None
    usual: float | None = None

    def default(self, limits: Limits) -> float | None:
        return self.usual

    def annotation(self) -> str:
        return "float"


class Positive(Between, frozen=True, kw_only=True):
    """A number greater than 0."""


class Percentage(Positive, frozen=True, kw_only=True):
    """A number from 0 to 100. On the command line, it may end with a percent sign."""


class Choice(Type, frozen=True, kw_only=True):
    """One of several values, each with a label. `local`: those that a server does not take."""

    labels: Mapping[Any, Any]
    usual: str | None = None
    local: tuple[str, ...] = ()

    def schema(self, limits: Limits) -> Schema:
        return {"enum": self._served(), **({} if self.usual is None else {"default": self.usual})}

    def read(self, name: str, text: str, limits: Limits) -> str:
        if text not in self.labels or text in self.local:
            raise unknown(name, text, self._served())
        return text

    def default(self, limits: Limits) -> str | None:
        return self.usual

    def annotation(self) -> str:
        return f"Literal[{', '.join(map(json.dumps, self.labels))}]"

    def _served(self) -> list[str]:
        return [name for name in self.labels if name not in self.local]


class Named(Choice, frozen=True, kw_only=True):
    """The name of something that plug-ins may add, which is checked where it is used."""

    def annotation(self) -> str:
        return "str"


class Only(Choice, frozen=True, kw_only=True):
    """The only value beside none."""


class Flag(Type, frozen=True, kw_only=True):
    """A setting that is on or off. `is_on`: without the argument, None if this depends on something else.

    `words`: on and off in addresses. `opposite`: the name of the option that switches it off.
    """

    is_on: bool | None = False
    words: tuple[str, str] = ("yes", "no")
    opposite: str = ""

    def schema(self, limits: Limits) -> Schema:
        return {"enum": list(self.words), "default": self.write(self.is_on)}

    def read(self, name: str, text: str, limits: Limits) -> bool:
        if text not in self.words:
            raise unknown(name, text, self.words)
        return text == self.words[0]

    def default(self, limits: Limits) -> bool | None:
        return self.is_on

    def write(self, value: Any) -> str:
        return self.words[0] if value else self.words[1]

    def annotation(self) -> str:
        return "bool"


UNLIMITED = 10**9
"""The maximum of a whole number that has none."""


class WholeNumber(Type, frozen=True, kw_only=True):
    """A whole number. Its maximum and its default are numbers or names of limits.

    `high`: the maximum in requests to a server. `most`: the maximum elsewhere, if there is one.
    """

    low: int = 1
    high: int | str = UNLIMITED
    usual: int | str | None = None
    most: int | None = None

    def schema(self, limits: Limits) -> Schema:
        (low, high), usual = self.bounds(limits), self.default(limits)
        return {
            "type": "integer",
            "minimum": low,
            "maximum": high,
            **({} if usual is None else {"default": usual}),
        }

    def read(self, name: str, text: str, limits: Limits) -> int:
        return parse_whole(name, text, *self.bounds(limits))

    def default(self, limits: Limits) -> int | None:
        return int(getattr(limits, self.usual)) if isinstance(self.usual, str) else self.usual

    def bounds(self, limits: Limits) -> tuple[int, int]:
        return self.low, getattr(limits, self.high) if isinstance(self.high, str) else self.high

    def annotation(self) -> str:
        return "int"


class Seed(WholeNumber, frozen=True, kw_only=True):
    """A number that says how to draw at random. Outside of a server it may be any whole number."""


class Count(WholeNumber, frozen=True, kw_only=True):
    """A number of sentences, or `all` for the maximum."""

    def schema(self, limits: Limits) -> Schema:
        return {"anyOf": [{"enum": [ALL]}, super().schema(limits)], "default": self.default(limits)}

    def read(self, name: str, text: str, limits: Limits) -> int:
        return self.bounds(limits)[1] if text == ALL else super().read(name, text, limits)


class Offset(WholeNumber, frozen=True, kw_only=True):
    """A position in a ranking, below the maximum depth of pages."""

    def bounds(self, limits: Limits) -> tuple[int, int]:
        return self.low, limits.max_depth - 1


class Share(Type, frozen=True, kw_only=True):
    """A share from `low` to 1, which `parse` reads."""

    low: float
    usual: float
    parse: Callable[[str], float]

    def schema(self, limits: Limits) -> Schema:
        return {"type": "number", "minimum": self.low, "maximum": 1, "default": self.usual}

    def read(self, name: str, text: str, limits: Limits) -> float:
        return self.parse(text)

    def default(self, limits: Limits) -> float:
        return self.usual

    def annotation(self) -> str:
        return "float"


_SMALLEST_MILLISECONDS = 10**11
"""Smallest absolute number that is read as milliseconds. Smaller ones are more often a year, a day such as
20240131, or seconds."""


class Day(Type, frozen=True, kw_only=True):
    """A day, a month or a year, read as the moment that a filter compares with.

    `edge`: its first moment, its last moment, or the last one before it.
    """

    edge: Literal["first", "last", "before"]

    def schema(self, limits: Limits) -> Schema:
        return {"type": "string", "examples": ["2017-03-01", "2017"]}

    def read(self, name: str, text: str, limits: Limits) -> int:
        return self.read_value(f"argument {name!r}", text)

    def read_value(self, label: str, value: Any) -> int:
        """The moment that a person or a program wrote. A number of four digits is a year.

        Raises UsageError, whose message begins with `label`.
        """
        if isinstance(value, SupportsIndex) and not isinstance(value, bool):
            value = index(value)
            if 1000 <= value <= 9999:
                value = str(value)
            elif abs(value) < _SMALLEST_MILLISECONDS:
                raise UsageError(
                    f"{label} is a date such as '2024-01-31', a year, or milliseconds since 1970, "
                    f"not {value!r}"
                )
        moment = filters.read_moment(
            label, value, parse_date_end if self.edge == "last" else parse_date_start
        )
        return moment - (self.edge == "before")

    def write(self, value: Any) -> str:
        return format_moment(value + (self.edge == "before"))

    def annotation(self) -> str:
        return "Moment"


class Texts(Text, frozen=True):
    """One text of limited length, or several."""

    def read_value(self, label: str, value: Any) -> tuple[str, ...]:
        """The texts that a program wrote. Raises UsageError, whose message begins with `label`."""
        return filters.read_texts(label, value)

    def annotation(self) -> str:
        return "Texts"


class FilePath(Text, frozen=True, kw_only=True):
    """The path of a file or folder. The command line refuses the other kind."""

    kind: Literal["file", "folder", "any"] = "file"

    def annotation(self) -> str:
        return "str | PathLike[str]"


class FilePaths(FilePath, frozen=True, kw_only=True):
    """The path of a file, or several."""

    def annotation(self) -> str:
        return "str | PathLike[str] | Iterable[str | PathLike[str]]"


class Stream(Text, frozen=True, kw_only=True):
    """The path of a file, or `-` for standard input or output."""

    is_input: bool = True


class Pairs(Texts, frozen=True, kw_only=True):
    """Pairs such as `desk=Berlin`. A program may write a mapping from keys to texts.

    `annotated`: the type of the keyword's value in Python.
    """

    annotated: str = "Mapping[str, Texts] | Texts"

    def read_value(self, label: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, Mapping):
            return filters.read_texts(label, value)
        return tuple(
            f"{k}={text}" for k, v in value.items() for text in filters.read_texts(f"{label}, {k!r}", v)
        )

    def annotation(self) -> str:
        return self.annotated


class Weighted(Text, frozen=True):
    """A name with settings, as in `variants:0.2`. A program may write several, or a mapping."""

    def annotation(self) -> str:
        return "RankingTexts"


class Parts(Text, frozen=True):
    """A whole ranking: its name, its file, or what is in it."""

    def annotation(self) -> str:
        return "Ranking | Mapping[str, Any] | str | Path"


class Structure(Type, frozen=True, kw_only=True):
    """A value of a JSON body that no address has, with its JSON Schema."""

    shape: Schema

    def schema(self, limits: Limits) -> Schema:
        return self.shape

    def annotation(self) -> str:
        return "Any"


class FieldName(Type, frozen=True, kw_only=True):
    """A field, or a key of the metadata as `meta.desk`."""

    names: tuple[str, ...]

    def schema(self, limits: Limits) -> Schema:
        return {"anyOf": [{"enum": list(self.names)}, META_FIELD]}

    def read(self, name: str, text: str, limits: Limits) -> str:
        if text not in self.names and not (text.startswith(META_PREFIX) and text != META_PREFIX):
            raise unknown(name, text, self.names)
        return text


class LanguageCode(Type, frozen=True):
    """The code of a language."""

    def schema(self, limits: Limits) -> Schema:
        return {"type": "string", "pattern": "^[A-Za-z0-9]+([-_][A-Za-z0-9]+)*$", "examples": ["de"]}

    def read(self, name: str, text: str, limits: Limits) -> str:
        if not query.is_valid(query.ValueKind.CODE, text, False):
            raise UsageError(f"argument {name!r} must be a code such as de, not {text!r}")
        return text


class LanguageCodes(Type, frozen=True):
    """The codes of several languages, separated by commas, or `all`."""

    def schema(self, limits: Limits) -> Schema:
        code = "[A-Za-z0-9]+([-_][A-Za-z0-9]+)*"
        return {"type": "string", "pattern": f"^{code}(,{code})*$", "examples": ["all", "de,ar"]}

    def read(self, name: str, text: str, limits: Limits) -> tuple[str, ...]:
        try:
            return query.read_languages(text)
        except UsageError as error:
            raise UsageError(f"argument {name!r}: {error}") from None


META_FIELD: Schema = {"type": "string", "pattern": "^meta[.].", "examples": ["meta.desk"]}


def read_whole(text: str) -> int | None:
    """The whole number that a text is; None for any other text, and for a number beyond UNLIMITED."""
    number = int(text) if re.fullmatch("-?[0-9]{1,10}", text) else None
    return None if number is None or abs(number) > UNLIMITED else number


def parse_whole(name: str, text: str, low: int, high: int) -> int:
    """A whole number within the bounds. Raises UsageError."""
    number = read_whole(text)
    if number is None or not low <= number <= high:
        raise UsageError(f"argument {name!r} must be a whole number from {low} to {high}, not {text!r}")
    return number
