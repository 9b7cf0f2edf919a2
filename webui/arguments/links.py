"""Links of the pages: addresses in which some of a page's arguments are changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote_plus

from flask import request, url_for

from esr import models
from esr.arguments.argument import Group
from esr.arguments.tables.rankings import VERSUS, is_ranking_argument
from esr.arguments.tables.table import PAGE, REPEATABLE, names_of, rows
from esr.corpus.concordance import split_node
from esr.errors import UsageError
from esr.query import literal, parse
from esr.stdlib import cached_property
from esr.text.dates import format_moment, parse_date_end, parse_date_start
from webui.arguments.request import split_pairs
from webui.running.settings import Settings

Pairs = Sequence[tuple[str, str]]
"""Arguments in the order of the address: names and values."""


@dataclass(frozen=True)
class Links:
    """The arguments of a page, and addresses in which some of them are changed."""

    arguments: Pairs
    _starts: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def to(self, endpoint: str = "results", /, **changes: str | None) -> str:
        """This or another page with some arguments changed; None removes an argument."""
        if len(changes) == 1 and "id" in changes and changes["id"] is not None:
            return self._start(endpoint) + _quote(changes["id"])
        encoded = {name: None if value is None else _encode(name, value) for name, value in changes.items()}
        return _join(endpoint, [text for _, text in change_arguments(self._encoded, **encoded)])

    @cached_property
    def _encoded(self) -> list[tuple[str, str]]:
        """The names of the arguments, each with its encoded pair of the query string."""
        return [(name, _encode(name, value)) for name, value in self.arguments]

    def _start(self, endpoint: str) -> str:
        """The common beginning of addresses with an id, cached since each hit has several."""
        start = self._starts.get(endpoint)
        if start is None:
            start = self._starts[endpoint] = _address(endpoint, change_arguments(self.arguments, id=""))
        return start

    def only(self, endpoint: str, *names: str) -> str:
        """A page with these arguments and no others."""
        return _address(endpoint, [pair for pair in self.arguments if pair[0] in names])

    def home(self) -> str:
        """The first page of the index."""
        return _address("home", [pair for pair in self.arguments if pair[0] == "index"])

    def without(self, group: Group, endpoint: str = "results") -> str:
        """A page without the arguments of a group."""
        return self.to(endpoint, **dict.fromkeys(names_of(group)))

    def first(self, name: str) -> str | None:
        """The first value of an argument, or None."""
        return next((value for n, value in self.arguments if n == name), None)

    @property
    def has_node(self) -> bool:
        """Whether the query has a word or a phrase, which some views show in context."""
        return _has_node(self.first("q") or "", self.first("literal") == "yes")

    def with_value(self, name: str, value: str, /, **changes: str | None) -> str:
        """The results with one more value of a repeatable argument, and with other arguments changed."""
        return _address("results", [*change_arguments(self.arguments, **changes), (name, value)])

    def without_value(self, name: str, value: str, endpoint: str = "results") -> str:
        return _address(endpoint, [pair for pair in self.arguments if pair != (name, value)])

    def during(self, endpoint: str, period: str, /, **changes: str | None) -> str:
        """A page of the days of a period (a day, week, month or year) within the dates of this page."""
        after, before = self.first("after"), self.first("before")
        if not after or parse_date_start(after) < parse_date_start(period):
            after = period
        if not before or parse_date_start(before) > parse_date_end(period):
            before = end_of(period)
        return self.to(endpoint, **changes | {"after": after, "before": before})

    def without_query(self, place: int, endpoint: str) -> str:
        """A page without the other query at this position."""
        others = [n for n, (name, _) in enumerate(self.arguments) if name == "also"]
        return _address(endpoint, [pair for n, pair in enumerate(self.arguments) if n != others[place]])

    def with_other_value(self, name: str, value: str, other: str) -> str:
        """The results with `value` replaced by `other`."""
        return _address("results", [(n, other if (n, v) == (name, value) else v) for n, v in self.arguments])

    def toggle(self, values: Mapping[str, str], is_selected: bool) -> str:
        """The results without these values if selected, else with them. Unrepeatable ones are replaced."""
        if is_selected:
            selected = set(values.items())
            return _address("results", [pair for pair in self.arguments if pair not in selected])
        others = [pair for pair in self.arguments if pair[0] in REPEATABLE or pair[0] not in values]
        return _address("results", [*others, *values.items()])

    def with_ranking(self, ranking: Mapping[str, str], endpoint: str = "results") -> str:
        """A page with this ranking in place of the current one."""
        others = (pair for pair in self.arguments if not is_ranking_argument(pair[0]))
        return _address(endpoint, [*others, *ranking.items()])

    def with_versus(self, ranking: Mapping[str, str]) -> str:
        """The comparison with this second ranking, which always names its model."""
        others = (pair for pair in self.arguments if not pair[0].startswith(VERSUS))
        versus = {"model": models.DEFAULT.name, **ranking}
        return _address("compare", [*others, *((VERSUS + name, value) for name, value in versus.items())])

    def side(self, is_versus: bool) -> Links:
        """Links with the first or, if `is_versus`, the second ranking of a comparison."""
        shared = [pair for pair in self.arguments if not pair[0].startswith(VERSUS)]
        if is_versus:
            versus = [(n.removeprefix(VERSUS), v) for n, v in self.arguments if n.startswith(VERSUS)]
            shared = [*(pair for pair in shared if not is_ranking_argument(pair[0])), *versus]
        return Links(shared)


@lru_cache(1024)
def _has_node(query: str, is_literal: bool) -> bool:
    try:
        split_node(literal(query) if is_literal else parse(query))
    except UsageError:
        return False
    return True


def split_links(query_string: bytes, settings: Settings, taker: str, *names: str) -> tuple[Links, Links]:
    """Links with all arguments of the address of a page, and links to other pages.

    The latter omit `k`, the arguments `names`, and those that only the API's operation `taker` takes. Raises
    RequestError.
    """
    stated = [pair for pair in split_pairs(query_string, settings) if pair[1].strip()]
    left_out = {*(rows(taker).keys() - PAGE.keys()), "k", *names}
    return Links(stated), Links([pair for pair in stated if pair[0] not in left_out])


def change_arguments(arguments: Pairs, /, **changes: str | None) -> list[tuple[str, str]]:
    """The arguments with some changed, whatever they are called; None removes an argument."""
    unchanged = [(name, value) for name, value in arguments if name not in changes]
    return [*unchanged, *((name, value) for name, value in changes.items() if value is not None)]


def _address(endpoint: str, arguments: Pairs) -> str:
    return _join(endpoint, [_encode(name, value) for name, value in arguments])


def _join(endpoint: str, pairs: Sequence[str]) -> str:
    path = path_to(endpoint)
    return f"{path}?{'&'.join(pairs)}" if pairs else path


@lru_cache(4096)
def _encode(name: str, value: str) -> str:
    """A pair of a query string. Cached: a page has a hundred links, most of them with the same pairs."""
    return f"{_quote(name)}={_quote(value)}"


@lru_cache(4096)
def _quote(text: str) -> str:
    """A percent-encoded name or value. Cached: the same id is in several links of a hit."""
    return quote_plus(text, errors="replace")


def end_of(period: str) -> str:
    """The value of `before` for the end of a period: the beginning of the next one."""
    return format_moment(parse_date_end(period) + 1)


def path_to(endpoint: str) -> str:
    """The path of a page without variable parts, below the prefix of the current request."""
    return _path(endpoint, request.script_root)


@lru_cache(1024)
def _path(endpoint: str, prefix: str) -> str:
    return url_for(endpoint)
