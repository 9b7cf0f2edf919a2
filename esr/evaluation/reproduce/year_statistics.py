"""Statistics of a year's data: the share of relevant sentences, and the lengths of sentences."""

from __future__ import annotations

from dataclasses import dataclass

from esr.evaluation.reproduce.year import Year


@dataclass(frozen=True)
class YearStatistics:
    """Counts of a year. The shares are of a topic's own sentences, micro (pooled) and macro (over topics).

    `sentence_length` is over the distinct sentences of the year, `relevant_length` over the relevant
    sentences of every topic. Lengths are in terms, without stop words.
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


def measure(year: Year) -> YearStatistics:
    """The statistics of a year's data. Judged sentences that the archive lacks are left out."""
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
