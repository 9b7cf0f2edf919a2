"""How many sentences the page says there are: those that match the query, apart from those that are ranked.

A ranking with context also ranks sentences that hold no word of the query but stand near one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.query_report import QueryReport

Match = Literal["conditions", "one word", "all words", "any word"]
"""What makes a sentence match: all that the query requires, or the words that it has."""


class AnswerCounts(NamedTuple):
    """`matching` sentences match by `match`, and `with_all` of them hold every word; `ranked` are candidates.

    `matching` is None if it is not known, `with_all` if it is not worth saying.
    """

    match: Match
    matching: int | None
    with_all: int | None
    ranked: int


def count_answer(
    answer: Answer, prepared: PreparedQuery, report: QueryReport, by_date: bool = False
) -> AnswerCounts:
    """The counts of an answer. `by_date`: it lists all sentences that match, and no others."""
    if by_date:
        return AnswerCounts("all words", None, None, answer.total)
    all_words, any_word = report.counts
    matching = answer.total if prepared.interpretation.decides_candidates else any_word
    match = _match(prepared, report, matching)
    is_known = match in ("one word", "all words") or all_words == matching
    return AnswerCounts(match, matching, None if is_known else all_words, answer.total)


def _match(prepared: PreparedQuery, report: QueryReport, matching: int | None) -> Match:
    interpretation = prepared.interpretation
    if interpretation.decides_candidates and not interpretation.parsed.is_plain:
        return "conditions"
    if len(report.terms) == 1:
        return "one word"
    return "all words" if report.counts.all_words == matching else "any word"
