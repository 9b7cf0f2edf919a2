"""What an address asks for: the query, how to rank, what to filter, how to arrange."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from msgspec import Struct

from esr.documents import dates
from esr.documents.attributes import ATTRIBUTES, META
from esr.engines.filters import build_attribute_filters, can_be_counted
from esr.engines.index import FACET_FIELDS, NO_FILTERS, Filters
from esr.errors import EsrError, unknown
from esr.following.overlap import DEFAULT_THRESHOLD, parse_threshold
from esr.queries import ParsedQuery, literal, parse
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.arguments.arrangement import SORTS, Arrangement
from webui.arguments.query_string import Arguments, decode_arguments, parse_count
from webui.arguments.ranking_arguments import parse_ranking
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

_CHOICES = {"sort": tuple(SORTS), "group": ("document",), "fold": ("no",), "novel": ("yes",)}
"""The values of the arguments that say how to arrange."""

_RANKING, _ARRANGEMENT = Ranking(), Arrangement()
_FILTERS = frozenset(("from", "to", "source", "document", "entity", META, *ATTRIBUTES))
"""The arguments that filter."""


class SearchRequest(Struct, frozen=True, dict=True):
    """A search as an address asks for it."""

    query: str
    ranking: Ranking = _RANKING
    filters: Filters = NO_FILTERS
    k: int = 10
    arrangement: Arrangement = _ARRANGEMENT
    is_literal: bool = False
    require_all: bool = False
    facet: str | None = None
    """The field of which the page lists more values."""

    @cached_property
    def parsed(self) -> ParsedQuery:
        """What the query says: words alone, if it is literal."""
        return literal(self.query) if self.is_literal else parse(self.query)

    def prepare(self, searcher: Searcher) -> PreparedQuery:
        """The query as it is planned on an index. Raises UsageError."""
        return searcher.prepare(self.parsed, self.ranking, require_all=self.require_all)


def read_search(query_string: bytes, settings: Settings) -> SearchRequest:
    """The search of an address. Raises RequestError for the first thing that is wrong."""
    return parse_search(decode_arguments(query_string, settings), settings)


def parse_search(arguments: Arguments, settings: Settings) -> SearchRequest:
    """The search of these arguments. Arguments for other things are ignored."""
    first = {name: texts[0] for name, texts in arguments.items()}
    return SearchRequest(
        query=first.get("q", ""),
        ranking=parse_ranking(arguments),
        filters=parse_filters(arguments),
        k=parse_count("k", first.get("k"), settings.default_k, settings.max_k),
        arrangement=_parse_arrangement(first),
        is_literal=_is_set("syntax", "none", first),
        require_all=_is_set("require", "all", first),
        facet=_parse_facet(first.get("facet")),
    )


def parse_filters(arguments: Arguments) -> Filters:
    """The filters among the arguments. Raises RequestError."""
    if _FILTERS.isdisjoint(arguments):
        return NO_FILTERS
    first = _parse_moment("from", arguments, dates.parse_date_start)
    last = _parse_moment("to", arguments, dates.parse_date_end)
    if first is not None and last is not None and first > last:
        raise RequestError("the first day is after the last: swap from and to", "from")
    sources, documents, entities = (tuple(arguments.get(n, ())) for n in ("source", "document", "entity"))
    of_attributes = {name: arguments.get(name, ()) for name in ATTRIBUTES}
    with blame_argument(META):
        attributes = build_attribute_filters(of_attributes, arguments.get(META, ()))
    return Filters(first, last, sources, documents, entities, attributes)


def _parse_arrangement(first: Mapping[str, str]) -> Arrangement:
    for name, allowed in _CHOICES.items():
        if name in first and first[name] not in allowed:
            with blame_argument(name):
                raise unknown(name, first[name], allowed)
    return Arrangement(
        "date" if first.get("sort") == "date" else "score",
        "group" in first,
        "fold" not in first,
        "novel" in first,
        _parse_overlap(first.get("overlap")),
    )


def _parse_overlap(text: str | None) -> float:
    if text is None:
        return DEFAULT_THRESHOLD
    with blame_argument("overlap"):
        return parse_threshold(text)


def _is_set(name: str, value: str, first: Mapping[str, str]) -> bool:
    """Whether an argument has the only value that it may have. Raises RequestError for another."""
    if first.get(name, value) != value:
        with blame_argument(name):
            raise unknown(name, first[name], (value,))
    return name in first


def _parse_facet(name: str | None) -> str | None:
    with blame_argument("facet"):
        if name is not None and not can_be_counted(name):
            raise unknown("facet", name, FACET_FIELDS)
    return name


def _parse_moment(name: str, arguments: Arguments, parse: Callable[[str], int]) -> int | None:
    if name not in arguments:
        return None
    value = arguments[name][0]
    try:
        return parse(value)
    except (ValueError, OverflowError, EsrError):
        raise RequestError(
            f"argument {name!r} must be a date such as 2017-03-01, not {value!r}", name
        ) from None
