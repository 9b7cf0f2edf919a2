"""What the address of a timeline asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from msgspec import structs

from esr.errors import unknown
from esr.following.periods import INTERVALS, Interval
from webui.arguments.query_string import Arguments
from webui.arguments.search_request import SearchRequest, parse_search
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

Scale = Literal["count", "rate"]
SCALES: dict[Scale, str] = {"count": "sentences", "rate": "per million sentences"}
MAX_QUERIES = 6
"""Queries of one timeline: more lines cannot be told apart."""


@dataclass(frozen=True)
class TimelineRequest:
    """A search and the other queries beside it, each with the same filters."""

    search: SearchRequest
    others: Sequence[SearchRequest]
    interval: Interval | None
    scale: Scale

    @property
    def searches(self) -> list[SearchRequest]:
        return [self.search, *self.others]


def parse_timeline(arguments: Arguments, settings: Settings) -> TimelineRequest:
    """The timeline of these arguments. Raises RequestError."""
    search = parse_search(arguments, settings)
    others = arguments.get("also", ())
    if len(others) >= MAX_QUERIES:
        raise RequestError(
            f"a timeline has {len(others) + 1} queries: at most {MAX_QUERIES} are allowed", "also"
        )
    interval = _parse_choice("interval", arguments, INTERVALS)
    scale = _parse_choice("scale", arguments, tuple(SCALES)) or "count"
    return TimelineRequest(
        search,
        [structs.replace(search, query=query) for query in others],
        cast("Interval | None", interval),
        cast(Scale, scale),
    )


def _parse_choice(name: str, arguments: Arguments, choices: Sequence[str]) -> str | None:
    value = arguments[name][0] if name in arguments else None
    if value is not None and value not in choices:
        with blame_argument(name):
            raise unknown(name, value, choices)
    return value
