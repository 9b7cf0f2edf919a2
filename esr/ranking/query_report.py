"""Reports on a query for its author: how it was read, how many sentences match, what may be misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, structs
from msgspec.structs import replace

from esr.errors import EsrError
from esr.index.filters import Filters
from esr.index.questions import MainEncoder
from esr.index.view import chosen_language
from esr.query.interpretation import ReadGroup, read_groups
from esr.query.query import Note
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.speakers import QuotedSpeaker, find_quoted
from esr.ranking.spelling import Suggestion, correct, suggest
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from esr.ranking import across
else:
    across = import_lazily("esr.ranking.across")


class MatchCounts(NamedTuple):
    """How many sentences match the query, and how many of them have all wanted words.

    They also pass the filters. Both numbers are None if they are unknown, and for a query of stop words
    alone. `PreparedQuery.matching` says which sentences match.
    """

    matching: int | None
    all_words: int | None


class QueryReport(Struct, frozen=True):
    """How a query was read, and what it matches.

    `terms` are the terms of its words. `corrected` is the query with the best suggestions, None without any.
    `quoted` is the speaker that it asks about, if the index quotes them.
    `language` is the language in which an index by language was searched, None in any other index or for a
    query without words. `other_languages` are others that have all of its words. `found_languages` are those
    of the sentences that were searched for, if the search names them. `compares_languages`: whether the index
    has vectors by which sentences in other languages can be found.
    """

    terms: tuple[str, ...]
    groups: tuple[ReadGroup, ...]
    notes: tuple[Note, ...]
    counts: MatchCounts
    suggestions: tuple[Suggestion, ...]
    corrected: str | None
    quoted: QuotedSpeaker | None = None
    language: str | None = None
    other_languages: tuple[str, ...] = ()
    found_languages: tuple[str, ...] = ()
    compares_languages: bool = False

    def as_dict(self) -> Mapping[str, Any]:
        """The report as JSON: `{"groups", "notes", "matching", "all_words", "any_word", "suggestions",
        "corrected", "quoted"}`, and of an index by language `"language"`, `"other_languages"` and
        `"found_languages"`.

        Positions are offsets into the query, in characters (code points). `any_word` is the former name of
        `matching`.
        """
        return {
            "groups": [group.as_dict() for group in self.groups],
            "notes": [{"start": n.start, "end": n.end, "message": n.message} for n in self.notes],
            **self.counts._asdict(),
            "any_word": self.counts.matching,
            "suggestions": [suggestion.as_dict() for suggestion in self.suggestions],
            "corrected": self.corrected,
            "quoted": None if self.quoted is None else structs.asdict(self.quoted),
            "language": self.language,
            "other_languages": list(self.other_languages),
            "found_languages": list(self.found_languages),
        }


def report_query(prepared: PreparedQuery, filters: Filters) -> QueryReport:
    """Report on a prepared query. If the engine fails, the report has no counts and no suggestions."""
    report = report_reading(prepared)
    try:
        counts, suggestions = count_matches(prepared, filters), suggest(prepared)
        quoted = find_quoted(prepared, filters)
    except EsrError:  # the answer is still useful without them
        return report
    corrected = correct(prepared.interpretation.parsed.text, suggestions)
    report = replace(report, counts=counts, suggestions=suggestions, corrected=corrected, quoted=quoted)
    return _report_languages(report, prepared) if report.language is not None else report


def _report_languages(report: QueryReport, prepared: PreparedQuery) -> QueryReport:
    """The report of a query in an index by language with the languages of the sentences to find."""
    index, languages = prepared.index, prepared.interpretation.languages
    if languages:
        return replace(report, found_languages=tuple(across.find_groups(index, languages)))
    return replace(report, compares_languages=across.is_multilingual(index.status(MainEncoder())))


def report_reading(prepared: PreparedQuery) -> QueryReport:
    """The part of the report that needs no engine: no counts, no suggestions."""
    parsed, analyzer = prepared.interpretation.parsed, prepared.index.analyzer
    groups = tuple(read_groups(parsed, analyzer, prepared.interpretation.require_all))
    terms = tuple(prepared.interpretation.counts)
    report = QueryReport(terms, groups, parsed.notes, MatchCounts(None, None), (), None)
    if not analyzer.mark:
        return report
    language, others = chosen_language(prepared.index)
    return replace(report, language=language, other_languages=others)


def count_matches(prepared: PreparedQuery, filters: Filters) -> MatchCounts:
    """Count the sentences that match a query, and those of them with all of its words."""
    if prepared.matching is None:
        return MatchCounts(None, None)
    return MatchCounts(*prepared.index.count([prepared.matching, prepared.all_words], filters))
