"""Statistics of a year's data, and what the smoothing of each model does to sentences of any length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from esr.lab.reproduce.data import ANALYZER, Year
from esr.text.analyzer import get_analyzer


@dataclass(frozen=True)
class YearStatistics:
    """Statistics of a year's data.

    Shares of relevant sentences are among the sentences of the topic's own documents: micro pools all topics,
    macro is the mean over topics. `sentence_length` is over the distinct sentences of the year,
    `relevant_length` over the relevant sentences of every topic. Lengths are in terms, without stop words.
    `without_relevant` counts the documents of topics that have no sentence relevant to the topic, among
    `topic_documents`. `once` is the share of the terms of sentences that occur in them once, `above` of those
    with p(t|d) > p(t), `far_above` of those with p(t|d) > 10 p(t). `kinds` counts topics by kind, and
    `named_titles` those with a name in the title, or is None if it is not known of all.
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
    without_relevant: int
    topic_documents: int
    once: float
    above: float
    far_above: float
    kinds: Mapping[str, int]
    named_titles: int | None


def measure_year(year: Year) -> YearStatistics:
    """Compute the statistics of a year. Judged sentences that are not in the archive are left out."""
    ranked, relevant, shares, lengths, without, pairs = 0, 0, [], [], 0, 0
    document_of = {s.id: d.id for d in year.documents for s in d.sentences}
    for task in year.tasks:
        sentences = set(year.sentences(task.topic))
        known_relevant = [sentence for sentence in task.relevant if sentence in sentences]
        ranked, relevant = ranked + len(sentences), relevant + len(known_relevant)
        lengths += [year.lengths[sentence] for sentence in known_relevant]
        if sentences:
            shares.append(len(known_relevant) / len(sentences))
        with_relevant = {document_of[sentence] for sentence in known_relevant}
        pairs += len(year.allowed[task.topic])
        without += len(set(year.allowed[task.topic]) - with_relevant)
    once, above, far_above = _measure_terms(year)
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
        without_relevant=without,
        topic_documents=pairs,
        once=once,
        above=above,
        far_above=far_above,
        kinds=dict(Counter(kind for topic in year.qrels if (kind := year.kinds.get(topic)))),
        named_titles=None
        if not year.qrels.keys() <= year.named_titles.keys()
        else sum(year.named_titles[topic] for topic in year.qrels),
    )


def _measure_terms(year: Year) -> tuple[float, float, float]:
    """Shares of the terms of sentences: that occur once, with p(t|d) > p(t), and with p(t|d) > 10 p(t)."""
    terms_of = get_analyzer(ANALYZER).terms
    in_sentences = [[Counter(terms_of(s.text)) for s in d.sentences] for d in year.documents]
    in_documents: list[Counter[str]] = [Counter() for _ in in_sentences]
    in_all: Counter[str] = Counter()
    for sentences, document in zip(in_sentences, in_documents, strict=True):
        for sentence in sentences:
            document.update(sentence)
        in_all.update(document)
    occurrences, number, once, above, far_above = in_all.total(), 0, 0, 0, 0
    for sentences, document in zip(in_sentences, in_documents, strict=True):
        size = document.total()
        # p(t|d) / p(t), for each term of the document
        ratios = {term: count * occurrences / (size * in_all[term]) for term, count in document.items()}
        for sentence in sentences:
            number += len(sentence)
            once += sum(count == 1 for count in sentence.values())
            above += sum(ratios[term] > 1 for term in sentence)
            far_above += sum(ratios[term] > 10 for term in sentence)
    number = max(number, 1)
    return once / number, above / number, far_above / number
