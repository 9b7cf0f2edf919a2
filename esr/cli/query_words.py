"""How a query was read, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from esr.queries.understanding import ReadGroup, Reading
from esr.ranking.query_report import QueryReport

_TOLD: tuple[Reading, ...] = ("required", "excluded", "ignored")


def describe_query(report: QueryReport, unseen: Sequence[str]) -> Iterator[str]:
    """What is worth saying: nothing about a query of words that are all searched for."""
    phrases = [f"{reading}: {texts}" for reading in _TOLD if (texts := _texts(report.groups, reading))]
    if phrases:
        yield " · ".join(phrases)
    for note in report.notes:
        yield f"Character {note.start + 1}: {note.message}"
    if rest := report.without_suggestions(unseen):
        yield f"In no document: {', '.join(rest)}."
    for suggestion in report.suggestions:
        alternatives = ", ".join(f"{word.text} ({word.sentences:,})" for word in suggestion.alternatives)
        yield f"Did you mean, for {suggestion.word}: {alternatives}?"


def _texts(groups: Sequence[ReadGroup], reading: Reading) -> str:
    return ", ".join(each.label for each in groups if each.reading == reading)
