"""TREC runs: `qid Q0 sentence_id rank score tag` lines."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esr.engines.index import Hit
from esr.errors import UsageError
from esr.evaluation import files

Scores = dict[str, dict[str, float]]
"""Scores by topic and sentence."""

_FORM = "qid Q0 sentence_id rank score tag"


class Run(NamedTuple):
    """What a system answered. `tag` is None if the file has several tags, or no line."""

    tag: str | None
    scores: Scores


def read(path: str | Path) -> Run:
    """A run, of any system, in the file's order; the file may be packed with gzip.

    As for every evaluator it is the scores that tell the order: lines may stand in any order, and ranks
    are not looked at. Raises InputError for a bad line, or a sentence that stands twice in a topic.
    """
    scores: Scores = {}
    tags: set[str] = set()
    for line in files.read_lines(path):
        words = line.text.split()
        if len(words) != 6:
            raise files.malformed_line(path, line, _FORM)
        topic, _, sentence, _, number, tag = words
        try:
            score = float(number)
        except ValueError:
            raise files.malformed_line(path, line, f"{_FORM} with a number as score") from None
        if math.isnan(score):
            raise files.malformed_line(path, line, f"{_FORM} with a number as score")
        answers = scores.setdefault(topic, {})
        if sentence in answers:
            raise files.line_error(
                path, line, f"sentence {sentence} stands twice in topic {topic}: leave one"
            )
        answers[sentence] = score
        tags.add(tag)
    return Run(tags.pop() if len(tags) == 1 else None, scores)


def distinct(paths: Iterable[str]) -> list[str]:
    """The paths without those that name a file once more: a baseline may be among the runs."""
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def names(read: Mapping[str, Run]) -> dict[str, str]:
    """What the runs of these paths are called: by their tags, or by their paths if two have the same tag."""
    tags = Counter(run.tag for run in read.values())
    if None in tags or max(tags.values()) > 1:
        return {path: path for path in read}
    return {path: str(run.tag) for path, run in read.items()}


def ranked(scores: Mapping[str, float]) -> list[str]:
    """A topic's sentences, best first, as trec_eval sorts: in single precision, ties by id, last first."""
    with np.errstate(over="ignore"):
        return sorted(scores, key=lambda sentence: (np.float32(scores[sentence]), sentence), reverse=True)


def lines(topic: str, hits: Iterable[Hit], tag: str) -> Iterator[str]:
    """A topic's lines. Scores fall strictly: equal ones are set apart by the smallest step of a double.

    So whoever sorts by score sees this very order. trec_eval reads scores in single precision, where so
    small a step is none, and orders such ties by id, the last first; a larger step would falsify scores.
    """
    last = math.inf
    for rank, hit in enumerate(hits, 1):
        score = hit.score if hit.score < last else math.nextafter(last, -math.inf)
        last = score
        yield f"{topic} Q0 {hit.sentence_id} {rank} {score!r} {tag}\n"


def check_tag(tag: str) -> str:
    """A run's tag: one word. Raises UsageError."""
    if not tag or len(tag.split()) != 1 or tag.strip() != tag:
        raise UsageError(f"a tag is one word, not {tag!r}")
    return tag
