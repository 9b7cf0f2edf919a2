"""The track's second task: given a topic's relevant sentences in their order, find those that are new.

docs/formulas.md has the measure of overlap (G.1), and precision, recall and F (G.2). The module also computes
the statistics of a year's data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from esr.following.novelty import find_overlaps, group_repeats
from esr.lab.reproduce.data import ANALYZER, Year
from esr.models.idf import rarity
from esr.text.analyzer import get_analyzer

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
EVERYTHING = "everything"
"""The baseline, for which all sentences are new."""


class NewFigures(NamedTuple):
    """Precision, recall and F of one topic, or their means over topics."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class SecondTask:
    """The figures of a year: `judged` relevant sentences were given, of which `new` are judged new.

    `figures` are by threshold, such as 0.8, and of EVERYTHING. `not_relevant` has the sentences that are
    judged new but not relevant; these were not given.
    """

    topics: int
    judged: int
    new: int
    not_relevant: list[str]
    figures: Mapping[str, NewFigures]


def measure_second_task(year: Year) -> SecondTask | None:
    """The figures of a year, or None without judgements.

    Terms are weighted by their rarity in its documents.
    """
    if year.new is None:
        return None
    terms_of = get_analyzer(ANALYZER).terms
    terms = {s.id: frozenset(terms_of(s.text)) for d in year.documents for s in d.sentences}
    sf = Counter(term for of_sentence in terms.values() for term in of_sentence)
    weights = {term: rarity(len(terms), count) for term, count in sf.items()}
    given = {
        topic: [sentence for sentence in dict.fromkeys(year.sentences(topic)) if sentence in grades]
        for topic, grades in year.qrels.items()
    }
    overlaps = {
        topic: find_overlaps([terms[sentence] for sentence in sentences], lambda needed: weights)
        for topic, sentences in given.items()
    }
    new = {topic: year.new.get(topic, frozenset()) for topic in given}
    figures = {EVERYTHING: average(judge(set(given[topic]), new[topic]) for topic in given)}
    for threshold in THRESHOLDS:
        found = {
            topic: {sentences[group[0]] for group in group_repeats(overlaps[topic], threshold)}
            for topic, sentences in given.items()
        }
        figures[f"{threshold:g}"] = average(judge(found[topic], new[topic]) for topic in given)
    return SecondTask(
        topics=len(given),
        judged=sum(map(len, given.values())),
        new=sum(len(new[topic].intersection(given[topic])) for topic in given),
        not_relevant=[f"{t} {s}" for t in given for s in sorted(new[t].difference(year.qrels[t]))],
        figures=figures,
    )


def judge(found: set[str], new: frozenset[str]) -> NewFigures:
    """Precision, recall and F of the sentences of a topic that were found to be new."""
    matched = len(found & new)
    precision = matched / len(found) if found else 0.0
    recall = matched / len(new) if new else 0.0
    f = 2.0 * precision * recall / (precision + recall) if matched else 0.0
    return NewFigures(precision, recall, f)


def average(figures: Iterator[NewFigures]) -> NewFigures:
    """The means over topics."""
    columns = list(zip(*figures, strict=True))
    return NewFigures(*(math.fsum(column) / len(column) for column in columns))


@dataclass(frozen=True)
class YearStatistics:
    """Statistics of a year's data.

    Shares of relevant sentences are among the sentences of the topic's own documents: micro pools all topics,
    macro is the mean over topics. `sentence_length` is over the distinct sentences of the year,
    `relevant_length` over the relevant sentences of every topic. Lengths are in terms, without stop words.
    """

    topics: int
    documents: int
    sentences: int
    ranked: int
    relevant: int
    relevant_micro: float
    relevant_macro: float
    sentence_length: float
    relevant_length: float


def measure_year(year: Year) -> YearStatistics:
    """Compute the statistics of a year. Judged sentences that are not in the archive are left out."""
    ranked, relevant, shares, lengths = 0, 0, [], []
    for task in year.tasks:
        sentences = set(year.sentences(task.topic))
        known_relevant = [sentence for sentence in task.relevant if sentence in sentences]
        ranked, relevant = ranked + len(sentences), relevant + len(known_relevant)
        lengths += [year.lengths[sentence] for sentence in known_relevant]
        if sentences:
            shares.append(len(known_relevant) / len(sentences))
    return YearStatistics(
        topics=len(year.tasks),
        documents=len(year.documents),
        sentences=len(year.lengths),
        ranked=ranked,
        relevant=relevant,
        relevant_micro=relevant / max(ranked, 1),
        relevant_macro=sum(shares) / max(len(shares), 1),
        sentence_length=sum(year.lengths.values()) / max(len(year.lengths), 1),
        relevant_length=sum(lengths) / max(len(lengths), 1),
    )
