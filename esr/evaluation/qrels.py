"""Judgements of relevance (qrels): `qid 0 sentence_id grade`, or the Novelty track's `N12 docno:num`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from esr.engines.index import Index
from esr.errors import InputError, UsageError
from esr.evaluation import files
from esr.evaluation.files import Line

Qrels = dict[str, dict[str, int]]
"""Grades by topic and sentence: above 0 is relevant, more is better."""

MAX_GRADE = 1000
_TREC = "qid 0 sentence_id grade"
_NOVELTY = "qid docno:num"
_BATCH = 500


def read(path: str | Path) -> Qrels:
    """The judgements of a file in its order, which may be packed with gzip. The first line tells the format.

    A line of the Novelty track is grade 1. A line may be repeated. Raises InputError for a bad line, two
    grades for a sentence, or a file without judgements.
    """
    found: Qrels = {}
    novelty: bool | None = None
    for line in files.read_lines(path):
        words = line.text.split()
        if novelty is None:
            novelty = len(words) == 2
        topic, sentence, grade = (_novelty if novelty else _trec)(path, line, words)
        before = found.setdefault(topic, {}).setdefault(sentence, grade)
        if before != grade:
            what = f"topic {topic} has two grades for sentence {sentence}, {before} and {grade}: leave one"
            raise files.line_error(path, line, what)
    if not found:
        raise InputError(str(path), f"has no judgements: give lines of {_TREC}")
    return found


def _trec(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    if len(words) != 4:
        raise files.malformed_line(path, line, _TREC)
    try:
        grade = int(words[3])
    except ValueError:
        raise files.malformed_line(path, line, f"{_TREC} with a whole number as grade") from None
    if abs(grade) > MAX_GRADE:
        raise files.malformed_line(path, line, f"a grade from -{MAX_GRADE} to {MAX_GRADE}")
    return words[0], words[2], grade


def _novelty(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    document, _, number = words[-1].rpartition(":")
    if len(words) != 2 or not document or not number:
        raise files.malformed_line(path, line, _NOVELTY)
    return words[0], words[1], 1


def without_relevant(qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The topics that have no relevant sentence: any run scores 0 there."""
    return [topic for topic, grades in qrels.items() if all(grade <= 0 for grade in grades.values())]


def unknown_sentences(qrels: Mapping[str, Mapping[str, int]], index: Index) -> list[str]:
    """The judged sentences that an index does not hold, in the order of the qrels."""
    judged = list(dict.fromkeys(sentence for grades in qrels.values() for sentence in grades))
    return [
        sentence
        for start in range(0, len(judged), _BATCH)
        for sentence in _missing(judged[start : start + _BATCH], index)
    ]


def _missing(ids: list[str], index: Index) -> Iterator[str]:
    """Those that the index does not hold. It only says that some are missing, so they are halved."""
    try:
        index.sentences(ids)
    except UsageError:
        if len(ids) == 1:
            yield ids[0]
            return
        yield from _missing(ids[: len(ids) // 2], index)
        yield from _missing(ids[len(ids) // 2 :], index)
