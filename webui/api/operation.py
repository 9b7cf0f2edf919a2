"""What an operation of the API is, as data: its route and its description are both made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esr.ranking.searcher import Searcher
from webui.arguments.search_request import Values
from webui.running.settings import Settings

BASE = "/api/v1"
Schema = Mapping[str, Any]
ERRORS = {
    400: "Something in the request cannot be used; `field` names it.",
    404: "What the request names is not there.",
    405: "The address takes another method.",
    409: "The index changed since the page before: ask for the first page again.",
    413: "The body is too large.",
    415: "The body is not JSON, or does not say so.",
    429: "Too many requests came from this client; `Retry-After` says when to try again.",
    500: "A fault of the server; it is in its log.",
    503: "The engine does not answer, is overloaded or has no index; try again after `Retry-After`.",
}
"""Statuses of errors and what they mean."""
_ANY = (400, 405, 429, 500, 503)


@dataclass(frozen=True)
class Parameter:
    """An argument of an address. `repeated` ones may be given more than once."""

    name: str
    description: str
    schema: Schema
    required: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Call:
    """What a handler gets: the index of the request, the limits, and the arguments."""

    searcher: Searcher
    settings: Settings
    values: Values

    def one(self, name: str) -> str | None:
        """The value of an argument that may be given once."""
        return self.values[name][0] if name in self.values else None


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked. `parameters` and `body` depend on the limits.

    `answer` names a schema of `schemas.py`. `errors` are statuses of ERRORS beside those of any operation.
    `other` are media types of other answers than JSON. `deadline` names the setting that bounds its time.
    `twin`: where the same answer stands beside the page that shows it.
    """

    name: str
    method: str
    path: str
    summary: str
    handler: Callable[[Call], Any]
    answer: str
    parameters: Callable[[Settings], Sequence[Parameter]]
    body: Callable[[Settings], Schema] | None = None
    errors: tuple[int, ...] = ()
    other: tuple[str, ...] = ()
    deadline: str = "deadline"
    twin: str | None = None

    @property
    def statuses(self) -> list[int]:
        """All statuses of its errors."""
        return sorted({*_ANY, *self.errors, *((413, 415) if self.body else ())})
