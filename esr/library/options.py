"""The keywords of the Python API, with the names and meanings of the command line's options.

Searches take `SearchOptions`, functions that read documents `ReadOptions`, and functions that make an index
`LoadOptions`. None stands for an option that is not given. `esr.library.keywords` has their types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, NamedTuple, TypedDict

import numpy as np

from esr import models
from esr.arguments.argument import PYTHON, hints
from esr.arguments.filters import filters_of, read_filters
from esr.arguments.reading import reading_of
from esr.arguments.tables.rankings import ranking_of
from esr.deprecation import warn_of_former_name
from esr.errors import EsrError, UsageError, unknown
from esr.index.filters import NO_FILTERS, Filters
from esr.library.keywords import (
    EnrichKeywords,
    FilterKeywords,
    ModelParameters,
    NewIndexKeywords,
    RankingKeywords,
    ReadingKeywords,
    SourceKeywords,
    WritingKeywords,
)
from esr.query import ParsedQuery, across_languages, in_language, literal, parse
from esr.ranking.ranking import DEFAULT, Ranking, build_ranking


class SearchOptions(FilterKeywords, ReadingKeywords, RankingKeywords, ModelParameters, total=False):
    """How a search is limited, and how it ranks. All options may be left out.

    Filters: `after` and `before` are dates as in the query language ("2017", "2017-03", "2017-03-15"), dates
    or datetimes of Python, or years as numbers, in UTC: `after` includes the date, `before` does not. `to`, a
    former name, does. `source`, `author`, `section`, `keyword`, `document` and `entity` are one text or
    several; a sentence needs one of them. `meta` maps keys of the metadata to such texts. `entity` may name a
    type: "person:Angela Merkel".

    Query: `require="all"` requires every word in the sentence. `literal=True` reads the query as words,
    without syntax. `query_language` is the language of the query, such as "de", for an index by language; by
    default, it is detected from its words.

    Ranking: `ranking` is the name of a ranking that esr ships, a file, or the contents of one. `model`,
    `context`, `prior`, `feature`, `boost`, `rerank`, `rerank_depth` and `candidates` take precedence over it;
    they are as on the command line: `prior="length:0.5"` or `prior={"length": 0.5}`. All others are
    parameters of the model, such as `mu=50`; `lambda_` is the parameter lambda.
    """


_ROWS = (*filters_of(PYTHON), *ranking_of(PYTHON), *reading_of(PYTHON))
FILTERS = tuple(name for row in filters_of(PYTHON) for name, _ in row.names(PYTHON))
RANKING = tuple(filter(None, (row.name_at(PYTHON) for row in ranking_of(PYTHON))))
QUERY = tuple(row.name for row in reading_of(PYTHON))


class SearchSettings(NamedTuple):
    """The options of a search, parsed."""

    ranking: Ranking
    filters: Filters
    require_all: bool
    literal: bool
    language: str | None = None
    languages: tuple[str, ...] = ()

    def parse(self, query: str | ParsedQuery) -> ParsedQuery:
        """Parse a query as the options say."""
        if not isinstance(query, ParsedQuery):
            query = literal(query) if self.literal else parse(query)
        return across_languages(in_language(query, self.language), self.languages)

    def read(self, query: str) -> str | ParsedQuery:
        """The query for `prepare`, parsed only if languages are given."""
        return query if self.language is None and not self.languages else self.parse(query)


def _parameter_names(by_name: Mapping[str, models.Model]) -> frozenset[str]:
    return frozenset(parameter.name for model in by_name.values() for parameter in model.parameters)


def read_search_options(options: Mapping[str, Any], *accepted: str) -> SearchSettings:
    """Parse the options of a search. Raises UsageError for an unknown option or a bad value.

    `accepted` are the other keywords of the call, which a hint may name.
    """
    check_flags(options)
    stated = {name: value for name, value in options.items() if value is not None}
    if not stated:
        return SearchSettings(DEFAULT, NO_FILTERS, False, False)
    for row in _ROWS:
        for message in row.deprecations(stated, PYTHON, repr):
            warn_of_former_name(message)
    filters = {name: stated.pop(name) for name in FILTERS if name in stated}
    ranking = {name: stated.pop(name) for name in RANKING if name in stated}
    require, literal = stated.pop("require", None), stated.pop("literal", False)
    language = stated.pop("query_language", None)
    if language is not None and not isinstance(language, str):
        raise UsageError(f"query_language is a code such as 'de', not {language!r}")
    if require not in (None, "all"):
        raise UsageError(f"require is 'all' or None, not {require!r}")
    if stated:
        params = {_parameter(name): value for name, value in stated.items()}
        known = _parameter_names(models.MODELS.built_in)
        if not known.issuperset(params):
            known = _parameter_names(models.MODELS)
        for name in stated:
            if _parameter(name) not in known:
                raise _unknown_option(name, (*FILTERS, *RANKING, *QUERY, *known, *accepted))
        ranking["params"] = params
    with named_as_keywords():
        return SearchSettings(
            build_ranking(**ranking) if ranking else DEFAULT,
            read_filters(filters),
            require == "all",
            literal,
            language,
        )


def chooses_ranking(options: Mapping[str, Any]) -> bool:
    """Whether options of a search name a ranking, or a part of one."""
    others = {*FILTERS, *QUERY}
    return any(value is not None and name not in others for name, value in options.items())


class ReadOptions(SourceKeywords, total=False):
    """How documents are read, as with `esr load` and `esr append`. All options may be left out.

    `mapping` names the columns of fields: `{"text": "body"}`. `set` gives every document a value of a field
    or of its metadata: `{"source": "Wire", "meta.desk": "Berlin"}`. `id` makes ids of "url", "content" or
    "row". `day_first` says how to read dates such as 05/03/2024. `detect_language` detects the language of
    documents without one. `same_id` and `duplicates` say what happens to documents with the same id, or the
    same text. `bad_documents` is a file that lists the documents that cannot be read; without it, the first
    of them is an error. `allow_empty_documents` is the percentage of documents that may have no sentence,
    50 by default.

    The others are for files: `format`, `base`, `include`, `exclude`, `strict`, `encoding`, `delimiter`,
    `quote`, `columns`, `max_expansion` and `max_unpacked` (in GiB).
    """


class WriteOptions(WritingKeywords, total=False):
    """How a new generation is written. All options may be left out.

    `keep` is the number of earlier generations that are kept for a rollback, 1 by default. `workers` is the
    number of concurrent bulk requests (Elasticsearch only).
    """


class AppendOptions(ReadOptions, WriteOptions, total=False):
    """The options of `append`: those of `ReadOptions` and of `WriteOptions`."""


class LoginOptions(TypedDict, total=False):
    """The login to Elasticsearch. It takes precedence over the variables ESR_API_KEY, ESR_USER and so on.

    `api_key`, or `user` and `password`; `ca_file` is a file (PEM) with the certificates to trust, and
    `insecure=True` does not verify the certificate.
    """

    api_key: str | None
    user: str | None
    password: str | None
    ca_file: str | PathLike[str] | None
    insecure: bool | None


class LoadOptions(AppendOptions, LoginOptions, NewIndexKeywords, total=False):
    """The options of `create` and `load`: those of `append`, of the login, and of a new index.

    `if_exists` is "fail" (default), "replace" (a new generation, which is served when it is complete) or
    "append". `analyzer` says how text becomes terms; by default, a sample of the documents decides. `title`
    counts the terms of titles (default). `by` divides the index by "year", "quarter", "month" or "week".
    `resume` continues an interrupted load of the same documents. `shards`, `replicas`, `merge`, `impacts`
    and `profile` are for Elasticsearch. `meaning=False` fits no table of vectors to the documents; True fits
    one in any case, and raises UsageError if something is missing.
    """


class EnrichOptions(EnrichKeywords, total=False):
    """How `enrich` computes, as with `esr enrich`. All options may be left out.

    `spacy_model` are names of installed models, each used for its language. `lexicon` are your own word lists
    for subjectivity and polarity, `subjectivity` the rule for subjective sentences. `encoder` makes the
    vectors: a name, `hf:OWNER/NAME`, the address of a server, or a folder; `title_weight` is how much of a
    vector is the sentence with its title before it. `sample` is the number of sentences to which a table is
    fitted. With `vector_index`, Elasticsearch then makes an index of the vectors. `aliases` is a file with
    names that are one.
    """


def check_names(options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise UsageError for an unknown option, with the nearest known one, or for a flag that is not one."""
    names = tuple(known)
    for name in options:
        if name not in names:
            raise _unknown_option(name, names)
    check_flags(options)


def check_flags(options: Mapping[str, Any]) -> None:
    """Raise UsageError for a flag that is neither True nor False, such as literal="no"."""
    for name, value in options.items():
        if name in _FLAGS:
            check_flag(name, value)


def check_flag(name: str, value: Any) -> None:
    """Raise UsageError unless the value is True, False, or None for a flag that is not given."""
    if value is not None and not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name} is True or False, not {value!r}")


_ELSEWHERE = {
    **dict.fromkeys(("limit", "n", "size", "top_k", "topk", "num_results", "max_results"), "k"),
    **dict.fromkeys(("start", "skip"), "offset"),
    **hints(filters_of(PYTHON)),
    "from": "after",
    **hints(reading_of(PYTHON)),
}
"""Options by the names that other programs give them."""
_SIMILAR = 0.7
"""Least similarity of an option that a hint names: shorter names agree by chance in half of their letters."""


def _unknown_option(name: str, known: Iterable[str]) -> UsageError:
    return unknown("option", name, known, elsewhere=_ELSEWHERE, similarity=_SIMILAR)


def _parameter(keyword: str) -> str:
    """The parameter of a model for its keyword: `lambda_` is the parameter lambda."""
    return "lambda" if keyword == "lambda_" else keyword


_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_TYPES: Mapping[str, Any] = {
    name: annotation
    for options in (SearchOptions, LoadOptions, EnrichOptions)
    for name, annotation in options.__annotations__.items()
}
_KEYWORDS = frozenset(_TYPES)
_FLAGS = frozenset(
    name for name, type in _TYPES.items() if getattr(type, "__forward_arg__", type) == "bool | None"
)


def name_keywords(text: str) -> str:
    """A message of the command line with keywords for its options, such as if_exists for --if-exists."""

    def name(option: re.Match[str]) -> str:
        keyword = option[1].replace("-", "_")
        return keyword if keyword in _KEYWORDS else option[0]

    return _OPTION.sub(name, text)


@contextmanager
def named_as_keywords() -> Iterator[None]:
    """Make errors of the block name keywords instead of options of the command line."""
    try:
        yield
    except EsrError as error:
        error.args = tuple(name_keywords(arg) if isinstance(arg, str) else arg for arg in error.args)
        raise


def value_of(options: Mapping[str, Any], name: str, default: Any) -> Any:
    """The value of an option, or the default if it is not given."""
    value = options.get(name)
    return default if value is None else value
