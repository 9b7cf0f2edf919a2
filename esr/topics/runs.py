"""Runs: the ranked sentences of topics, as files that trec_eval reads."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from esr.errors import UsageError
from esr.index.hits import Hit
from esr.topics.lines import line_error, malformed_line, read_lines

Scores = dict[str, dict[str, float]]
"""Scores by topic and sentence."""

_FORM = "qid Q0 sentence_id rank score tag"


class Run(NamedTuple):
    """A system's answers. `tag` is None if the file has several tags or no lines."""

    tag: str | None
    scores: Scores


def read_run(path: str | Path) -> Run:
    """Read a run of any system, in the file's order. The file may be compressed.

    As in every evaluation tool, scores determine the order: lines may be in any order, and ranks are ignored.
    Raises InputError for a malformed line, or a sentence that is duplicated in a topic.
    """
    scores: Scores = {}
    tags: set[str] = set()
    ids: dict[str, str] = {}  # one string for a sentence of many topics, which saves a third of the memory
    for line in read_lines(path):
        words = line.text.split()
        if len(words) != 6:
            raise malformed_line(path, line, _FORM)
        topic, _, sentence, _, number, tag = words
        try:
            score = float(number)
        except ValueError:
            raise malformed_line(path, line, f"{_FORM} with a number as the score") from None
        if math.isnan(score):
            raise malformed_line(path, line, f"{_FORM} with a number as the score")
        answers = scores.setdefault(topic, {})
        if sentence in answers:
            problem = f"sentence {sentence} is duplicated in topic {topic}: remove one of the lines"
            raise line_error(path, line, problem)
        answers[ids.setdefault(sentence, sentence)] = score
        tags.add(tag)
    return Run(tags.pop() if len(tags) == 1 else None, scores)


def remove_duplicates(paths: Iterable[str]) -> list[str]:
    """The paths without repetitions of a file. A baseline, for example, may be among the runs."""
    by_file: dict[str, str] = {}
    for path in paths:
        by_file.setdefault(os.path.realpath(path), path)
    return list(by_file.values())


def display_names(runs: Mapping[str, Run]) -> dict[str, str]:
    """Names of runs by path: their tags, or all their paths if a tag is missing or two are the same."""
    tags = Counter(run.tag for run in runs.values())
    if None in tags or max(tags.values()) > 1:
        return {path: path for path in runs}
    return {path: str(run.tag) for path, run in runs.items()}


def sort_sentences(scores: Mapping[str, float]) -> list[str]:
    """A topic's sentences in trec_eval's order: by score in single precision, ties by descending id."""
    with np.errstate(over="ignore"):
        return sorted(scores, key=lambda sentence: (np.float32(scores[sentence]), sentence), reverse=True)


def format_lines(topic: str, hits: Iterable[Hit], tag: str) -> Iterator[str]:
    """A topic's lines of a run. Scores decrease strictly: a tie is broken by the smallest step of a double.

    Sorting by score thus preserves this order. trec_eval reads scores in single precision, where this step
    vanishes, and orders such ties by descending id. A larger step would falsify the scores.
    """
    last = math.inf
    for rank, hit in enumerate(hits, 1):
        score = hit.score if hit.score < last else math.nextafter(last, -math.inf)
        last = score
        yield f"{topic} Q0 {hit.sentence_id} {rank} {score!r} {tag}\n"


def check_tag(tag: str) -> str:
    """Return the tag of a run if it is one word. Raises UsageError otherwise."""
    if not tag or len(tag.split()) != 1 or tag.strip() != tag:
        raise UsageError(f"a tag must be one word, not {tag!r}")
    return tag
