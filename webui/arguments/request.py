"""The query, ranking, filters and arrangement that the query string of an address asks for.

Arguments are checked against the rows of the table. Errors name the argument at fault. The limit on a query's
terms is checked before any engine is called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from unicodedata import category
from urllib.parse import parse_qsl, unquote_to_bytes

from msgspec import Struct, structs

from esr.arguments.argument import Alias, Argument
from esr.arguments.filters import read_filters
from esr.arguments.tables.hit_fields import DOCUMENT_FIELDS
from esr.arguments.tables.rankings import NAME
from esr.arguments.tables.table import FORMER_NAMES, PAGE, names_of, rows
from esr.arguments.types import Day
from esr.errors import UsageError, unknown
from esr.following.overlap import DEFAULT_THRESHOLD
from esr.following.timeline import Interval, Scale
from esr.index.filters import NO_FILTERS, Filters
from esr.query import ParsedQuery, across_languages, in_language, literal, parse
from esr.query.interpretation import Interpretation
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import DEFAULT, ENCODER_SECONDS, Ranking, choose_ranking, lower_furniture
from esr.ranking.searcher import Searcher
from esr.stdlib import cached_property
from esr.text.analyzer import Analyzer
from esr.text.attributes import META_PREFIX
from esr.text.dates import parse_date_start
from esr.text.written_dates import parse_typed_date
from webui.arguments.rankings import parse_ranking
from webui.running.problems import RequestError, blame_argument
from webui.running.settings import Settings


class Arguments(dict[str, Sequence[str]]):
    """The texts of the given arguments by name. `rows` describe them."""

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
        if not texts:
            return row.type.default(self._settings)
        with blame_argument(name):
            return row.read(texts[0], self._settings)

    def values_of(self, name: str) -> tuple[Any, ...]:
        """The distinct values of a repeatable argument, also separated by commas. Raises RequestError."""
        texts = (text.strip() for text in ",".join(self.get(name, ())).split(","))
        with blame_argument(name):
            return tuple(self._rows[name].read(text, self._settings) for text in dict.fromkeys(texts) if text)

    def with_defaults(self, **texts: str) -> Arguments:
        """These arguments, with defaults for those that are not given."""
        added = {name: [text] for name, text in texts.items() if name not in self}
        return Arguments({**self, **added}, self._settings, self._rows)

    def first(self, name: str) -> str:
        """The first text of an argument; empty if it is not given."""
        return self[name][0] if name in self else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names and texts, as in an address."""
        return [(name, text) for name, texts in self.items() for text in texts]


_MESSAGE_CHARS = 60  # maximum length of an unknown name
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tabs and line ends, and characters that set the direction of text."""


def decode_arguments(query_string: bytes, settings: Settings, *operations: str) -> Arguments:
    """The arguments of an address that the pages or `operations` take, without unsafe characters.

    Empty ones count as not given. Raises RequestError for the first error, also for a missing argument.
    """
    return decode_rows(query_string, settings, rows(*operations))


def decode_rows(query_string: bytes, settings: Settings, allowed: Mapping[str, Argument]) -> Arguments:
    """The same as `decode_arguments`, for arguments with these rows."""
    values: dict[str, list[str]] = {}
    for name, value in split_pairs(query_string, settings, allowed):
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


def split_pairs(
    query_string: bytes, settings: Settings, allowed: Mapping[str, Argument] = PAGE
) -> list[tuple[str, str]]:
    """Names and values in the order of the address, with the names of today. Raises RequestError.

    Dates are in ISO 8601, as links and charts compare them.
    """
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
    return [(name, write_date(name, text)) for name, text in rename_former(pairs, settings, allowed)]


_DAYS = frozenset(name for name, row in PAGE.items() if isinstance(row.type, Day))
_DATE_CHARS = 100
"""The length of a text from which on it is no date."""


def write_date(name: str, value: str) -> str:
    """The value, with a date that is written out, such as 22 March 2017, in ISO 8601."""
    text = value.strip()
    if name not in _DAYS or len(text) > _DATE_CHARS:
        return value
    try:
        parse_date_start(text)
    except ValueError:
        return parse_typed_date(text) or value
    return text


def rename_former(
    pairs: Sequence[tuple[str, str]], settings: Settings, allowed: Mapping[str, Argument] = PAGE
) -> list[tuple[str, str]]:
    """The pairs with former names of arguments replaced by those of today. Raises RequestError."""
    if not any(name in FORMER_NAMES for name, _ in pairs):
        return list(pairs)
    names = {name for name, _ in pairs}
    renamed = []
    for name, text in pairs:
        row, alias = _find_alias(name, text, allowed)
        if row is not None and alias is not None and text.strip():
            if row.name in names and not row.is_repeatable:
                raise RequestError(f"argument {name!r} is now {row.name!r}: give one of them", name)
            text = _rewrite(name, text.strip(), row, alias, settings)
        renamed.append((name if row is None else row.name, text))
    return renamed


def _find_alias(
    name: str, text: str, allowed: Mapping[str, Argument]
) -> tuple[Argument, Alias] | tuple[None, None]:
    for row in allowed.values():
        for alias in row.aliases:
            if alias.name == name and (alias.fits(text.strip()) if alias.fits else name not in allowed):
                return row, alias
    return None, None


def _rewrite(name: str, text: str, row: Argument, alias: Alias, settings: Settings) -> str:
    """The value of a former name as the argument takes it now."""
    former = alias.type_for(row.type)
    check_text(name, text, getattr(settings, former.chars))
    with blame_argument(name):
        value = former.read(name, text, settings)
    if alias.values:
        return alias.values[value]
    return text if former is row.type else row.type.write(value)


def check_text(name: str, value: str, max_chars: int) -> None:
    """Raise RequestError for a text that is too long or has control or direction characters."""
    label = "the query" if name == "q" else f"argument {name!r}"
    if len(value) > max_chars:
        raise RequestError(f"{label} has {len(value):,} characters: at most {max_chars:,} are allowed", name)
    if unwanted := _UNWANTED.search(value):
        kind = "control" if category(unwanted[0]) == "Cc" else "text direction"
        code = f"U+{ord(unwanted[0]):04X}"
        raise RequestError(f"{label} contains the {kind} character {code}: remove it", name)


def _find_row(name: str, allowed: Mapping[str, Argument]) -> Argument:
    """The row of an argument. Raises RequestError for an unknown one, with the nearest name."""
    row = allowed.get(name) or next(
        (r for r in allowed.values() if r.name.endswith(NAME) and name.startswith(r.name.removesuffix(NAME))),
        None,
    )
    if row is None:
        short = name[:_MESSAGE_CHARS]
        suggestion = next((r.name for r in allowed.values() if name.lower() in r.foreign_names), None)
        with blame_argument(short):
            if suggestion is not None:
                raise UsageError(f"unknown argument {short!r}: did you mean {suggestion!r}?")
            raise unknown("argument", short, allowed)
    return row


# Requests


class Arrangement(Struct, frozen=True):
    """How the sentences of an answer are ordered, grouped and folded.

    `group` groups the sentences of a document; `fold` folds those that repeat an earlier one. `novel` lists
    only what is new, oldest first. `overlap`: the share of a sentence that an earlier one must have to make
    it a repeat. `per_document`: the passages that a document may have, or None for the usual number.
    """

    sort: str = "score"
    group: bool = False
    fold: bool = True
    novel: bool = False
    overlap: float = DEFAULT_THRESHOLD
    passages: bool = True
    per_document: int | None = None

    @property
    def by_date(self) -> bool:
        """Whether the list has all sentences with all words, by date."""
        return self.sort != "score"

    @property
    def limit(self) -> int | None:
        """How many passages of a document are listed, None for the usual number."""
        return None if self.group or self.novel else self.per_document

    @property
    def joins(self) -> bool:
        """Whether sentences that are next to each other are one passage: in lists of the best ones."""
        return self.passages and self.sort == "score" and not self.group and not self.novel


_ARRANGEMENT = Arrangement(per_document=1)
_FILTERS = frozenset(names_of("filter"))


class SearchRequest(Struct, frozen=True, dict=True):
    """A search as an address asks for it."""

    query: str
    ranking: Ranking = DEFAULT
    filters: Filters = NO_FILTERS
    k: int = 10
    arrangement: Arrangement = _ARRANGEMENT
    is_literal: bool = False
    require_all: bool = False
    facet: str | None = None
    """The field whose values the page lists at length."""
    with_furniture: bool = False
    """Whether furniture is ranked as sentences are."""
    query_language: str | None = None
    """The language of the query, if the request names it."""
    languages: tuple[str, ...] = ()
    """The languages of the sentences to find; empty: only that of the query."""

    @cached_property
    def parsed(self) -> ParsedQuery:
        """The parsed query: only words if the query is literal."""
        query = literal(self.query) if self.is_literal else parse(self.query)
        return across_languages(in_language(query, self.query_language), self.languages)

    @property
    def language_field(self) -> str:
        """The argument that names the language of the query: the query itself may, by `language:`."""
        return "q" if self.query_language is None else "query_language"

    def prepare(self, searcher: Searcher) -> PreparedQuery:
        """The query, planned on an index. Raises UsageError."""
        snapshot = searcher.snapshot()
        return snapshot.prepare(self.parsed, self.ranking_on(snapshot), require_all=self.require_all)

    def own_terms(self, searcher: Searcher) -> tuple[Analyzer, Collection[str]]:
        """The analyzer of the query, and the terms of its words; no terms for an empty query.

        In an index by language, the analyzer is that of the query's language.
        """
        analyzer, words = self.own_words(searcher)
        return analyzer, tuple(chain.from_iterable(words))

    def own_words(self, searcher: Searcher) -> tuple[Analyzer, Collection[tuple[str, ...]]]:
        """The same, with those terms together that a word stands for."""
        with blame_argument(self.language_field):
            searcher = searcher.for_query(self.parsed)
        with blame_argument("q"):
            return searcher.index.analyzer, searcher.interpret(self.parsed).words if self.query else ()

    def ranking_on(self, searcher: Searcher) -> Ranking:
        """The ranking on an index. It lowers known furniture, unless the request says otherwise.

        The default one ranks by words and meaning, if the index has vectors.
        """
        ranking = self.ranking
        if self.arrangement.sort == "score" or self.arrangement.novel:
            ranking = choose_ranking(ranking, searcher.index, ENCODER_SECONDS)
        return ranking if self.with_furniture else lower_furniture(ranking, searcher.index)


def read_search(query_string: bytes, settings: Settings) -> SearchRequest:
    """The search of the address of a page. Raises RequestError for the first error."""
    return parse_search(decode_arguments(query_string, settings, "page"))


def parse_search(arguments: Arguments) -> SearchRequest:
    """The search of these arguments. Other arguments are ignored. Raises RequestError."""
    read = arguments.value
    # A list of single sentences has all of them, unless the request says otherwise.
    has_limit = read("passages") or "per_document" in arguments
    return SearchRequest(
        query=arguments.first("q"),
        ranking=parse_ranking(arguments),
        filters=parse_filters(arguments),
        k=read("k"),
        arrangement=Arrangement(
            read("sort"),
            group=read("group") is not None,
            fold=read("fold"),
            novel=read("novel"),
            overlap=read("overlap"),
            passages=read("passages"),
            per_document=read("per_document") if has_limit else None,
        ),
        is_literal=read("literal"),
        require_all=read("require") is not None,
        facet=read("facet"),
        with_furniture=read("furniture"),
        query_language=read("query_language"),
        languages=read("languages") or (),
    )


def parse_filters(arguments: Arguments) -> Filters:
    """The filters among the arguments. Raises RequestError."""
    if _FILTERS.isdisjoint(arguments):
        return NO_FILTERS
    return read_filters(
        {
            name: texts if PAGE[name].is_repeatable else texts[0]
            for name, texts in arguments.items()
            if name in _FILTERS
        },
        label="argument {!r}".format,
        blame=blame_argument,
    )


MAX_QUERIES = 6
"""Maximum number of queries in a timeline: more lines would be hard to distinguish."""


@dataclass(frozen=True)
class TimelineRequest:
    """A search and further queries, all with the same filters."""

    search: SearchRequest
    others: Sequence[SearchRequest]
    interval: Interval | None
    scale: Scale
    peaks: int

    @property
    def searches(self) -> list[SearchRequest]:
        return [self.search, *self.others]


def parse_timeline(arguments: Arguments) -> TimelineRequest:
    """The timeline of these arguments. Raises RequestError."""
    search, *others = parse_searches(arguments)
    return TimelineRequest(
        search, others, *(arguments.value(name) for name in ("interval", "scale", "peaks"))
    )


def parse_searches(arguments: Arguments) -> list[SearchRequest]:
    """The search of these arguments, and one for each further query. Raises RequestError."""
    search = parse_search(arguments)
    others = arguments.get("also", ())
    if len(others) >= MAX_QUERIES:
        raise RequestError(f"there are {len(others) + 1} queries: at most {MAX_QUERIES} are allowed", "also")
    return [search, *(structs.replace(search, query=query) for query in others)]


class HitShape(Struct, frozen=True):
    """The chosen fields of hits, or the usual ones if none are chosen; their windows and their budget.

    `window`: sentences before and after each hit; `budget`: maximum characters of all texts, or None.
    """

    fields: frozenset[str] = frozenset()
    window: int = 0
    budget: int | None = None

    @property
    def reads_documents(self) -> bool:
        """Whether the documents of the hits must be read."""
        return self.window > 1 or any(
            name in DOCUMENT_FIELDS or name.startswith(META_PREFIX) for name in self.fields
        )


_USUAL_SHAPE = HitShape()
_SHAPING = frozenset(("fields", "window", "budget"))


def parse_shape(arguments: Arguments) -> HitShape:
    """The shape of hits that these arguments ask for. Raises RequestError."""
    if _SHAPING.isdisjoint(arguments):
        return _USUAL_SHAPE
    return HitShape(
        frozenset(arguments.values_of("fields")), arguments.value("window"), arguments.value("budget")
    )


class SimilarRequest(Struct, frozen=True):
    """A search for sentences similar to one. `own_document`: whether those of its document are included."""

    search: SearchRequest
    sentence_id: str
    own_document: bool


def parse_similar(arguments: Arguments) -> SimilarRequest:
    """The search for similar sentences that these arguments ask for. Raises RequestError."""
    return SimilarRequest(parse_search(arguments), arguments.first("id"), arguments.value("own_document"))


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
