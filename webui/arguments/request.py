"""What an address asks for, parsed and checked: query, ranking, filters and arrangement, or a timeline.

Errors name the argument at fault. The limit on a query's terms is checked before any engine is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from msgspec import Struct, structs

from esr.errors import EsrError, unknown
from esr.following.novelty import DEFAULT_THRESHOLD, parse_threshold
from esr.following.timeline import INTERVALS, Interval
from esr.index.filters import FACET_FIELDS, NO_FILTERS, Filters, build_attribute_filters, can_be_counted
from esr.query import ParsedQuery, literal, parse
from esr.query.interpretation import Interpretation
from esr.ranking.furniture import lower_furniture
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text import dates
from esr.text.document import ATTRIBUTES, META
from webui.arguments.query_string import Arguments, decode_arguments, parse_count
from webui.arguments.rankings import parse_ranking
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

Sort = Literal["score", "date"]
SORTS: dict[Sort, str] = {"score": "best first", "date": "newest first"}


class Arrangement(Struct, frozen=True):
    """How the sentences of an answer are ordered, grouped and folded.

    `group` groups the sentences of a document; `fold` folds those that repeat an earlier one. `novel` lists
    only what is new, oldest first. `overlap`: the share of a sentence that an earlier one must have to make
    it a repeat.
    """

    sort: Sort = "score"
    group: bool = False
    fold: bool = True
    novel: bool = False
    overlap: float = DEFAULT_THRESHOLD
    passages: bool = True

    @property
    def joins(self) -> bool:
        """Whether sentences that stand next to each other are one passage: in lists of the best ones."""
        return self.passages and self.sort == "score" and not self.group and not self.novel


_CHOICES = {
    "sort": tuple(SORTS),
    "group": ("document",),
    "fold": ("no",),
    "novel": ("yes",),
    "passages": ("no",),
}
"""The allowed values of the arguments for the arrangement."""

_RANKING, _ARRANGEMENT = Ranking(), Arrangement()
_FILTERS = frozenset(("from", "to", "source", "document", "entity", META, *ATTRIBUTES))
"""Arguments that filter."""


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
    """The field whose values the page lists at length."""
    with_furniture: bool = False
    """Whether furniture is ranked as sentences are."""

    @cached_property
    def parsed(self) -> ParsedQuery:
        """The parsed query, which consists of words alone if it is literal."""
        return literal(self.query) if self.is_literal else parse(self.query)

    def prepare(self, searcher: Searcher) -> PreparedQuery:
        """The query, planned on an index. Raises UsageError."""
        snapshot = searcher.snapshot()
        return snapshot.prepare(self.parsed, self.ranking_on(snapshot), require_all=self.require_all)

    def ranking_on(self, searcher: Searcher) -> Ranking:
        """The ranking on an index, which lowers the furniture that it knows unless asked otherwise."""
        return self.ranking if self.with_furniture else lower_furniture(self.ranking, searcher.index)


def read_search(query_string: bytes, settings: Settings) -> SearchRequest:
    """The search of an address. Raises RequestError for the first error."""
    return parse_search(decode_arguments(query_string, settings), settings)


def parse_search(arguments: Arguments, settings: Settings) -> SearchRequest:
    """The search of these arguments. Other arguments are ignored. Raises RequestError."""
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
        with_furniture=_is_set("furniture", "yes", first),
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
        "passages" not in first,
    )


def _parse_overlap(text: str | None) -> float:
    if text is None:
        return DEFAULT_THRESHOLD
    with blame_argument("overlap"):
        return parse_threshold(text)


def _is_set(name: str, value: str, first: Mapping[str, str]) -> bool:
    """Whether an argument is given. Raises RequestError if it is not `value`, the only one allowed."""
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


Scale = Literal["count", "rate"]
SCALES: dict[Scale, str] = {"count": "sentences", "rate": "per million sentences"}
MAX_QUERIES = 6
"""Maximum number of queries in a timeline. More lines cannot be told apart."""


@dataclass(frozen=True)
class TimelineRequest:
    """A search and further queries, all with the same filters."""

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


def check_query(
    searcher: Searcher, query: ParsedQuery, settings: Settings, field: str = "q"
) -> Interpretation:
    """Interpret a query. Raises RequestError if it asks for nothing or has too many terms."""
    with blame_argument(field):
        interpretation = searcher.interpret(query)
    terms = len(interpretation.counts)
    if terms > settings.query_terms:
        limit = settings.query_terms
        raise RequestError(f"the query has {terms} distinct terms: at most {limit} are allowed", field)
    return interpretation
