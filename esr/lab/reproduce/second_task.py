"""The track's second task: given a topic's relevant sentences in their order, find those that are new."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from esr.lab.reproduce.year import ANALYZER, Year
from esr.plugin.provisional import find_overlaps, get_analyzer, group_repeats, rarity

# The track's second task: given a topic's relevant sentences in their order, find those that are new.
# docs/formulas.md has the measure of overlap (G.1), and precision, recall and F (G.2).


THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
EVERYTHING = "everything"
"""The baseline that takes all sentences as new."""


class NewFigures(NamedTuple):
    """Precision, recall and F of one topic, or their means over topics."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class SecondTask:
    """The figures of a year: `judged` relevant sentences are the input, of which `new` are judged new.

    `figures` has a value for each threshold, such as 0.8, and for EVERYTHING. `not_relevant` lists the
    sentences that are judged new but not relevant; these are not in the input.
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
    relevant = {
        topic: [sentence for sentence in dict.fromkeys(year.sentences(topic)) if sentence in grades]
        for topic, grades in year.qrels.items()
    }
    overlaps = {
        topic: find_overlaps([terms[sentence] for sentence in sentences], lambda needed: weights)
        for topic, sentences in relevant.items()
    }
    new = {topic: year.new.get(topic, frozenset()) for topic in relevant}
    figures = {EVERYTHING: average(judge(set(relevant[topic]), new[topic]) for topic in relevant)}
    for threshold in THRESHOLDS:
        retrieved = {
            topic: {sentences[group[0]] for group in group_repeats(overlaps[topic], threshold)}
            for topic, sentences in relevant.items()
        }
        figures[f"{threshold:g}"] = average(judge(retrieved[topic], new[topic]) for topic in relevant)
    return SecondTask(
        topics=len(relevant),
        judged=sum(map(len, relevant.values())),
        new=sum(len(new[topic].intersection(relevant[topic])) for topic in relevant),
        not_relevant=[f"{t} {s}" for t in relevant for s in sorted(new[t].difference(year.qrels[t]))],
        figures=figures,
    )


def judge(retrieved: set[str], new: frozenset[str]) -> NewFigures:
    """Precision, recall and F of the sentences of a topic that were found to be new."""
    matched = len(retrieved & new)
    precision = matched / len(retrieved) if retrieved else 0.0
    recall = matched / len(new) if new else 0.0
    f = 2.0 * precision * recall / (precision + recall) if matched else 0.0
    return NewFigures(precision, recall, f)


def average(figures: Iterator[NewFigures]) -> NewFigures:
    """The means over topics."""
    columns = list(zip(*figures, strict=True))
    return NewFigures(*(math.fsum(column) / len(column) for column in columns))
