"""Judgements (qrels): reading them, pools of sentences to judge, and the agreement of judges.

Judgements are lines of `qid 0 sentence_id grade`, or of the Novelty track's `N12 docno:num`. A pool has the
sentences to judge: the best of several runs, each once, in an order that reveals neither run nor rank. Kappa
measures the agreement of two sets of judgements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.plugin import InputError, UsageError
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import (
    Line,
    Records,
    Scores,
    hash64,
    is_dataset,
    line_error,
    malformed_line,
    read_entries,
    sort_sentences,
)
from esr.plugin.provisional import read_topic_lines as read_lines

Qrels = dict[str, dict[str, int]]
"""Grades by topic and sentence. Grades above 0 are relevant, and higher is better."""

MAX_GRADE = 1000
_TREC = "qid 0 sentence_id grade"
_NOVELTY = "qid docno:num"
_BATCH = 500


def read_qrels(path: str | Path) -> Qrels:
    """The judgements of a file, in its order, or of `ir_datasets:NAME`.

    The file may be compressed; its first line determines the format. Lines of the Novelty track have grade 1.
    A line may be repeated. Raises InputError for a malformed line, conflicting grades of a sentence, or a
    file without judgements.
    """
    judgements: Qrels = {}
    if is_dataset(path):
        for entry in read_entries(path, "qrels"):
            judgements.setdefault(entry.query_id, {})[entry.doc_id] = int(entry.relevance)
        return judgements
    is_novelty: bool | None = None
    for line in read_lines(path):
        words = line.text.split()
        if is_novelty is None:
            is_novelty = len(words) == 2
        topic, sentence, grade = (_parse_novelty if is_novelty else _parse_trec)(path, line, words)
        first_grade = judgements.setdefault(topic, {}).setdefault(sentence, grade)
        if first_grade != grade:
            problem = f"sentence {sentence} has two grades in topic {topic}, {first_grade} and {grade}"
            raise line_error(path, line, f"{problem}: remove one of the lines")
    if not judgements:
        raise InputError(str(path), f"contains no judgements: it needs lines of {_TREC}")
    return judgements


def _parse_trec(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    if len(words) != 4:
        raise malformed_line(path, line, _TREC)
    try:
        grade = int(words[3])
    except ValueError:
        raise malformed_line(path, line, f"{_TREC} with an integer as the grade") from None
    if abs(grade) > MAX_GRADE:
        raise malformed_line(path, line, f"a grade from -{MAX_GRADE} to {MAX_GRADE}")
    return words[0], words[2], grade


def _parse_novelty(path: str | Path, line: Line, words: Sequence[str]) -> tuple[str, str, int]:
    document, _, number = words[-1].rpartition(":")
    if len(words) != 2 or not document or not number:
        raise malformed_line(path, line, _NOVELTY)
    return words[0], words[1], 1


def find_topics_without_relevant(qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The topics without a relevant sentence. Every run scores 0 on them."""
    return [topic for topic, grades in qrels.items() if all(grade <= 0 for grade in grades.values())]


def find_unknown_sentences(qrels: Mapping[str, Mapping[str, int]], index: Index) -> list[str]:
    """The judged sentences that are not in the index, in the order of the qrels."""
    judged = list(dict.fromkeys(sentence for grades in qrels.values() for sentence in grades))
    return [
        sentence
        for start in range(0, len(judged), _BATCH)
        for sentence in _find_missing(judged[start : start + _BATCH], index)
    ]


def _find_missing(ids: list[str], index: Index) -> Iterator[str]:
    """The ids that are not in the index.

    An index only reports that some are missing, so the ids are bisected.
    """
    try:
        index.read(ids, Records())
    except UsageError:
        if len(ids) == 1:
            yield ids[0]
            return
        yield from _find_missing(ids[: len(ids) // 2], index)
        yield from _find_missing(ids[len(ids) // 2 :], index)


# Pools, and the agreement of judges

Pool = dict[str, list[str]]
"""Sentences by topic."""


def make_pool(runs: Sequence[Scores], depth: int, judged: Mapping[str, Mapping[str, int]] = {}) -> Pool:
    """The first `depth` sentences of each run by topic, without those that are judged already.

    Within a topic, sentences are sorted by a hash, so that the order depends on no run.
    """
    pool: Pool = {}
    for topic in dict.fromkeys(topic for run in runs for topic in run):
        best = {sentence for run in runs for sentence in sort_sentences(run.get(topic, {}))[:depth]}
        left = best - judged.get(topic, {}).keys()
        if left:
            pool[topic] = sorted(left, key=lambda sentence: (hash64(f"{topic}\n{sentence}"), sentence))
    return pool


def keep_judged(run: Scores, qrels: Mapping[str, Mapping[str, int]]) -> Scores:
    """The run without unjudged sentences. A judged topic without any judged sentence remains, empty."""
    return {
        topic: {sentence: score for sentence, score in scores.items() if sentence in qrels.get(topic, {})}
        for topic, scores in run.items()
    }


class Agreement(NamedTuple):
    """The agreement of two judges on the sentences that both judged. Kappas are NaN if all grades are equal.

    `counts[a, b]`: number of sentences with grade `grades[a]` by the first and `grades[b]` by the second
    judge. `kappa`: for relevant or not; `weighted`: for grades, weighted by their distance.
    """

    grades: Sequence[int]
    counts: npt.NDArray[np.int64]
    kappa: float
    weighted: float

    @property
    def sentences(self) -> int:
        return int(self.counts.sum())

    @property
    def agreed(self) -> float:
        """The share of the sentences that both call relevant, or both not."""
        return float(np.trace(_count_binary(self)) / self.sentences)


def measure_agreement(a: Qrels, b: Qrels) -> Agreement:
    """The agreement of two judges. Raises UsageError if they share no sentence of a topic."""
    pairs = list(_pair_grades(a, b))
    if not pairs:
        raise UsageError("the two have no sentence in common: both must judge the same topics and sentences")
    grades, places = np.unique(np.array(pairs), return_inverse=True)
    counts = np.zeros((len(grades), len(grades)), np.int64)
    np.add.at(counts, tuple(places.reshape(-1, 2).T), 1)
    agreement = Agreement(grades.tolist(), counts, np.nan, np.nan)
    distances = np.abs(grades[:, None] - grades[None, :])
    return agreement._replace(
        kappa=kappa(_count_binary(agreement), 1 - np.eye(2)), weighted=kappa(counts, distances)
    )


def kappa(counts: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """Cohen's weighted kappa (docs/formulas.md, I); NaN if the disagreement expected by chance is 0."""
    observed, weights = np.asarray(counts, float), np.asarray(weights, float)
    total = observed.sum()
    expected = np.outer(observed.sum(1), observed.sum(0)) / total
    chance = float((weights * expected).sum())
    return 1 - float((weights * observed).sum()) / chance if chance else float("nan")


def _count_binary(agreement: Agreement) -> npt.NDArray[np.int64]:
    """The (2, 2) counts of not relevant and relevant, by the first and the second judge."""
    sides = np.array(agreement.grades) > 0
    member = np.stack([~sides, sides]).astype(np.int64)
    return member @ agreement.counts @ member.T


def _pair_grades(a: Qrels, b: Qrels) -> Iterator[tuple[int, int]]:
    for topic, grades in a.items():
        theirs = b.get(topic, {})
        yield from ((grade, theirs[sentence]) for sentence, grade in grades.items() if sentence in theirs)
