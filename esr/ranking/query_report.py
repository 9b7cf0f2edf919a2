"""What a search makes of a query, for people: how it is read, how many sentences match, what is misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from esr.engines.index import Filters
from esr.errors import EsrError
from esr.plans.condition import Condition, HasTerm, all_of, any_of
from esr.queries.notes import Note
from esr.queries.understanding import ReadGroup, read_groups
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.spelling import Suggestion, correct, suggest


class MatchCounts(NamedTuple):
    """How many sentences hold all wanted words, and how many any of those that are ranked.

    They satisfy what the query requires and excludes, and the filters. Both are None without ranked words.
    """

    all_words: int | None
    any_word: int | None


class QueryReport(Struct, frozen=True):
    """How a query was read, and what came of it.

    `terms` are those of its words. `corrected` is the query with the best suggestions, None without any.
    """

    terms: tuple[str, ...]
    groups: tuple[ReadGroup, ...]
    notes: tuple[Note, ...]
    counts: MatchCounts
    suggestions: tuple[Suggestion, ...]
    corrected: str | None

    def without_suggestions(self, words: Iterable[str]) -> Sequence[str]:
        """The words for which no others are suggested."""
        suggested = {suggestion.word for suggestion in self.suggestions}
        return [word for word in words if word not in suggested]

    def as_dict(self) -> Mapping[str, Any]:
        """The report as JSON: `{"groups", "notes", "all_words", "any_word", "suggestions", "corrected"}`.

        Places are offsets into the query, in characters (code points).
        """
        return {
            "groups": [group.as_dict() for group in self.groups],
            "notes": [{"start": n.start, "end": n.end, "message": n.message} for n in self.notes],
            **self.counts._asdict(),
            "suggestions": [suggestion.as_dict() for suggestion in self.suggestions],
            "corrected": self.corrected,
        }


def report_query(prepared: PreparedQuery, filters: Filters) -> QueryReport:
    """The report on a query that was prepared. Where the engine fails, it lacks counts and suggestions."""
    report = report_reading(prepared)
    try:
        counts, suggestions = count_matches(prepared, filters), suggest(prepared)
    except EsrError:  # beside an answer they are not worth an error
        return report
    corrected = correct(prepared.interpretation.parsed.text, suggestions)
    return replace(report, counts=counts, suggestions=suggestions, corrected=corrected)


def report_reading(prepared: PreparedQuery) -> QueryReport:
    """The part of the report that needs no engine: no counts and no suggestions."""
    parsed, analyzer = prepared.interpretation.parsed, prepared.index.analyzer
    groups = tuple(read_groups(parsed, analyzer, prepared.interpretation.require_all))
    terms = tuple(prepared.interpretation.counts)
    return QueryReport(terms, groups, parsed.notes, MatchCounts(None, None), (), None)


def count_matches(prepared: PreparedQuery, filters: Filters) -> MatchCounts:
    """The counts of a query's words."""
    terms = [HasTerm(term) for term in prepared.interpretation.counts]
    if not terms:
        return MatchCounts(None, None)
    condition = prepared.interpretation.condition
    others: list[Condition] = [] if condition is None else [condition]
    every, some = prepared.interpretation.all_words, all_of([any_of(terms), *others])
    assert every is not None
    assert some is not None
    return MatchCounts(*prepared.index.count([every, some], filters))
