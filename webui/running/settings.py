"""The settings of the page and the API, in one table: name, default, help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from esr.errors import UsageError

T = TypeVar("T", int, float, str)
PREFIX = "ESR_"


class Setting(NamedTuple):
    """One row of the table."""

    name: str
    default: int | float | str
    help: str
    least: float

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper()

    @property
    def shown(self) -> str:
        """The default, for people."""
        if isinstance(self.default, float):
            return f"{self.default:g}"
        return f"{self.default:,}" if self.default and isinstance(self.default, int) else str(self.default)


def _setting(default: T, help: str, least: float = 1) -> T:
    made: T = field(default=default, metadata={"help": help, "least": least})
    return made


@dataclass(frozen=True)
class Settings:
    """What the page and the API allow. Each field is one setting; its help stands beside it."""

    default_k: int = _setting(10, "sentences shown when a request does not say how many")
    max_k: int = _setting(100, "sentences that one request may ask for")
    more_k: int = _setting(10, "sentences that 'Show more' adds")
    max_depth: int = _setting(1_000, "how far down a ranking pages go: the largest offset + k")
    query_chars: int = _setting(2_000, "characters that a query may have")
    query_terms: int = _setting(200, "distinct terms that a query may have")
    value_chars: int = _setting(300, "characters that any other argument may have")
    arguments: int = _setting(120, "arguments that an address may have")
    address_bytes: int = _setting(8_000, "bytes of an address behind the question mark")
    body_bytes: int = _setting(1_000_000, "bytes of the body of a request")
    batch_queries: int = _setting(100, "queries of one batch")
    batch_k: int = _setting(1_000, "sentences a query of a batch may ask for")
    deadline: float = _setting(10.0, "seconds after which a request gives up on the engine", 0.1)
    batch_deadline: float = _setting(60.0, "seconds after which a batch gives up on the engine", 0.1)
    searches: int = _setting(8, "requests of one worker that an index works on at a time; others wait")
    threads: int = _setting(64, "requests of one worker at a time, waiting ones included", 4)
    workers: int = _setting(1, "processes of the server")
    rate: str = _setting("", "requests that a client may make, as in 60/minute; empty: no limit")
    proxies: int = _setting(0, "proxies in front that set X-Forwarded-For, -Proto, -Host and -Prefix", 0)
    access_log: int = _setting(1, "1: a line of JSON for each request on standard error; 0: none", 0)

    @classmethod
    def table(cls) -> list[Setting]:
        """All settings, for help texts and documents."""
        return [
            Setting(f.name, f.default, f.metadata["help"], f.metadata["least"])  # type: ignore[arg-type]
            for f in fields(cls)
        ]

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> Settings:
        """Settings with those changed that the environment names. Raises UsageError for a bad value."""
        given: dict[str, Any] = {}
        for row in cls.table():
            text = variables.get(row.variable, "").strip()
            if text:
                given[row.name] = _value(row, text)
        return cls(**given)


def _value(row: Setting, text: str) -> int | float | str:
    kind = type(row.default)
    if kind is str:
        return text
    what = "a whole number" if kind is int else "a number"
    try:
        value: int | float = kind(text)  # type: ignore[assignment]
    except ValueError:
        raise UsageError(f"{row.variable} is {what}, not {text!r}") from None
    if not row.least <= value <= 1e9:
        raise UsageError(f"{row.variable} is {what} of at least {row.least:g}, not {text}")
    return value
