"""Relevance judgements (qrels): `qid 0 sentence_id grade`, or the Novelty track's `N12 docno:num`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from esr.engines.index import Index
from esr.errors import InputError, UsageError
from esr.evaluation import files
from esr.evaluation.files import Line

Qrels = dict[str, dict[str, int]]
"""Grades by topic and sentence: above 0 is relevant, higher is better."""

MAX_GRADE = 1000
_TREC = "qid 0 sentence_id grade"
_NOVELTY = "qid docno:num"
_BATCH = 500


def read(path: str | Path) -> Qrels:
    """The judgements of a file, which may be compressed, in its order. The first line determines the format.

    Lines of the Novelty track have grade 1. Lines may be repeated. Raises InputError for a malformed line,
    conflicting grades of a sentence, or a file without judgements.
    """
    judgements: Qrels = {}
    is_novelty: bool | None = None
    for line in files.read_lines(path):
        words = line.text.split()
        if is_novelty is None:
            is_novelty = len(words) == 2
        topic, sentence, grade = (_parse_novelty if is_novelty else _parse_trec)(path, line, words)
        first_grade = judgements.setdefault(topic, {}).setdefault(sentence, grade)
        if first_grade != grade:
            problem = f"sentence {sentence} has two grades in topic {topic}, {first_grade} and {grade}"
            raise files.line_error(path, line, f"{problem}: remove one of the lines")
    if not judgements:
        raise InputError(str(path), f"contains no judgements: it needs lines of {_TREC}")
    return judgements


def _parse_trec(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    if len(words) != 4:
        raise files.malformed_line(path, line, _TREC)
    try:
        grade = int(words[3])
    except ValueError:
        raise files.malformed_line(path, line, f"{_TREC} with an integer as the grade") from None
    if abs(grade) > MAX_GRADE:
        raise files.malformed_line(path, line, f"a grade from -{MAX_GRADE} to {MAX_GRADE}")
    return words[0], words[2], grade


def _parse_novelty(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    document, _, number = words[-1].rpartition(":")
    if len(words) != 2 or not document or not number:
        raise files.malformed_line(path, line, _NOVELTY)
    return words[0], words[1], 1


def without_relevant(qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The topics without a relevant sentence, in which every run scores 0."""
    return [topic for topic, grades in qrels.items() if all(grade <= 0 for grade in grades.values())]


def unknown_sentences(qrels: Mapping[str, Mapping[str, int]], index: Index) -> list[str]:
    """The judged sentences that an index lacks, in the order of the qrels."""
    judged = list(dict.fromkeys(sentence for grades in qrels.values() for sentence in grades))
    return [
        sentence
        for start in range(0, len(judged), _BATCH)
        for sentence in _find_missing(judged[start : start + _BATCH], index)
    ]


def _find_missing(ids: list[str], index: Index) -> Iterator[str]:
    """The ids that the index lacks. An index only reports that any are missing, so they are bisected."""
    try:
        index.sentences(ids)
    except UsageError:
        if len(ids) == 1:
            yield ids[0]
            return
        yield from _find_missing(ids[: len(ids) // 2], index)
        yield from _find_missing(ids[len(ids) // 2 :], index)
