"""What a year's data look like: how many sentences are relevant, and how long sentences are."""

from __future__ import annotations

from dataclasses import dataclass

from esr.evaluation.reproduce.year import Year


@dataclass(frozen=True)
class Shape:
    """Counts of a year. The shares are of a topic's own sentences, micro (pooled) and macro (of topics).

    `sentence_length` is over the year's sentences, each once; `relevant_length` over the relevant ones of
    every topic. Lengths are in terms, stop words removed.
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


def measure(year: Year) -> Shape:
    """The shape of a year's data. Judged sentences that the archive lacks are left out."""
    ranked, relevant, shares, lengths = 0, 0, [], []
    for task in year.tasks:
        own = set(year.sentences(task.topic))
        known = [sentence for sentence in task.relevant if sentence in own]
        ranked, relevant = ranked + len(own), relevant + len(known)
        lengths += [year.lengths[sentence] for sentence in known]
        if own:
            shares.append(len(known) / len(own))
    return Shape(
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
