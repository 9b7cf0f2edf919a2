"""Estimates parameters from the collection alone, without judgements.

`compute_likelihoods` is the textbook method: the likelihood of held-out words (Zhai & Lafferty 2002 for mu).
Its parameters retrieve sentences badly (docs/results.md), so it only serves as a reference. `generate_tasks`
generates pseudo-topics from the collection, on which parameters are tuned as on judged topics.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.lab.tuner import Task
from esr.plugin import Document, Mixture, PlanTerm, Sentence, Statistics, UsageError
from esr.plugin.provisional import (
    Analyzer,
    Array,
    CollectionStatistics,
    Evidence,
    EvidenceOf,
    Plan,
    Ranking,
    concatenate,
    score_sentences,
)
from esr.plugin.provisional import EngineIndex as Index

# By the likelihood of held-out words


class _HeldOut(NamedTuple):
    """Held-out words: their numbers of occurrences, p(t|C), and the evidence without one occurrence.

    Arrays have the shape (n,), for n pairs of a sentence and one of its terms. The evidence has one term.
    """

    occurrences: Array
    background: Array
    evidence: Evidence


def compute_likelihoods(
    index: Index, settings: Sequence[Ranking], sentences: int, seed: int = 0
) -> npt.NDArray[np.float64]:
    """The mean log likelihood of a held-out word under each setting, of shape (settings,).

    Each word of a sentence is held out in turn, and the model predicts it from the rest of the sentence, its
    context and the collection. Expectation maximisation would converge to the maximum of this likelihood; the
    settings of a grid are tried instead.

    Priors, features and further stages have no effect. Raises UsageError for a model without probabilities,
    and for settings that differ in more than the parameters of the model.
    """
    if any(replace(setting, params=settings[0].params) != settings[0] for setting in settings):
        raise UsageError(
            "the likelihood of words tells nothing of features, signals and boosts: give their parameters, "
            "or use --from pseudo-topics"
        )
    plans = [_plan_single_term(setting) for setting in settings]
    sample = sample_sentences(index, sentences, seed)
    held_out = [
        words
        for sentence in sample
        if (words := _hold_out(index, settings[0], sentence.id, sentence.text)) is not None
    ]
    if not held_out:
        raise UsageError(f"{index.where} has no words: parameters cannot be estimated from it")
    occurrences = np.concatenate([words.occurrences for words in held_out])
    background = np.concatenate([words.background for words in held_out])
    evidence = concatenate([words.evidence for words in held_out])
    means = []
    for plan in plans:
        # Counts are divided by p(t|C), and the single term has p = 1: its score is log p(t|s) - log p(t|C).
        gains = score_sentences(plan, evidence)
        means.append(float(np.average(gains + np.log(background), weights=occurrences)))
    return np.array(means)


def sample_sentences(index: Index, number: int, seed: int) -> list[Sentence]:
    """A random sentence from each of `number` random documents, or of all documents if there are fewer."""
    generator = random.Random(seed)
    total = index.statistics([]).collection.documents
    documents = index.documents(positions=sorted(generator.sample(range(total), min(total, number))))
    return [generator.choice(document.sentences) for document in documents if document.sentences]


def _plan_single_term(setting: Ranking) -> Plan:
    """A plan of the model alone, with a single term."""
    plan = setting.plan({}, Statistics(CollectionStatistics(), {}))
    if not isinstance(plan.transform, Mixture):
        raise UsageError(
            f"{setting.model} has no probabilities, so words have no likelihood: use --from pseudo-topics"
        )
    return replace(plan, terms=(PlanTerm("", 1.0, 1.0),), static_scores=())


def _hold_out(index: Index, ranking: Ranking, sentence_id: str, text: str) -> _HeldOut | None:
    """A sentence's held-out words, or None if it has no terms.

    Holding a word out lowers its count and the length by 1.
    """
    counts = Counter(index.analyzer.terms(text))
    if not counts:
        return None
    terms = ranking.plan(counts, index.statistics(list(counts))).terms
    evidence = index.read([sentence_id], EvidenceOf([term.term for term in terms]))
    p = np.array([term.background for term in terms])
    rest = Evidence(
        {field: ((field_counts[:, 0] - 1.0) / p)[None, :] for field, field_counts in evidence.counts.items()},
        {field: np.repeat(length - 1.0, len(terms)) for field, length in evidence.lengths.items()},
        {},
    )
    return _HeldOut(np.array([float(counts[term.term]) for term in terms]), p, rest)


# On pseudo-topics


FOREIGN_SHARE = 0.5
"""The share of words drawn from other documents."""
KEPT_SHARES = (0.6, 0.8, 1.0)
"""Shares of the sentence's own words among the other words, each for a third of the topics."""
LENGTHS = range(3, 11)
"""Numbers of words drawn for a topic. A word drawn twice counts once."""
PSEUDO_TOPICS, LIKELIHOOD = "pseudo-topics", "likelihood"
"""What parameters are estimated from."""
DEFAULT_NUMBER = 300
"""The default number of pseudo-topics. Settings chosen on other samples of this size are as good."""
_MIN_TERMS = 5
"""The minimum number of distinct terms of a source sentence: users seldom look for shorter ones."""
_DOCUMENTS_PER_TOPIC = 4
"""Documents sampled for each topic: one as its source, the others for foreign words."""
_TRIES = 20

Words = list[str]


class _Source(NamedTuple):
    """A document, with the words of each sentence that survive analysis."""

    document: Document
    words: list[Words]


def generate_tasks(index: Index, number: int, seed: int = 0) -> list[Task]:
    """Pseudo-topics from a random sample of documents, the same for a seed on any engine.

    A user who looks for a sentence remembers some of its words and some words around it, and phrases the rest
    differently. Each pseudo-topic is therefore generated from one sentence, its only relevant one. Half of
    its words are drawn from other documents: the user's own phrasing. Of the other half, a share is drawn
    from the sentence, and the rest from its neighbours and its document. Without the foreign half, the
    sentence's own words identify it, and little smoothing seems best (docs/evaluation.md).

    Raises UsageError if no sentence of the collection is long enough.
    """
    generator = random.Random(seed)
    total = index.statistics([]).collection.documents
    positions = generator.sample(range(total), min(total, _DOCUMENTS_PER_TOPIC * number))
    sources = [
        _Source(document, [_select_words(index.analyzer, s.text) for s in document.sentences])
        for document in index.documents(positions=sorted(positions))
    ]
    sources = [source for source in sources if any(source.words)]
    tasks: list[Task] = []
    for _ in range(_TRIES * number) if sources else ():
        source = generator.choice(sources)
        position = generator.randrange(len(source.words))
        if len(index.analyzer.terms(" ".join(set(source.words[position])))) < _MIN_TERMS:
            continue
        share = KEPT_SHARES[len(tasks) % len(KEPT_SHARES)]
        query = dict.fromkeys(_draw_words(generator, sources, source.words, position, share))
        name = f"pseudo-{len(tasks) + 1}"
        tasks.append(Task(name, " ".join(query), (source.document.sentences[position].id,)))
        if len(tasks) == number:
            return tasks
    if not tasks:
        raise UsageError(
            f"{index.where} has no sentence with {_MIN_TERMS} terms: parameters cannot be estimated from it"
        )
    return tasks


def _draw_words(
    generator: random.Random, sources: Sequence[_Source], words: Sequence[Words], position: int, share: float
) -> Iterator[str]:
    """Draw the words of a query for the sentence at a position. Repetitions are possible."""
    neighbours = (position - 1, position + 1)
    near = [word for n in neighbours if 0 <= n < len(words) for word in words[n]]
    rest = [word for n, sentence in enumerate(words) if n != position for word in sentence]
    for _ in range(generator.choice(LENGTHS)):
        if generator.random() < FOREIGN_SHARE:
            candidates = [word for sentence in generator.choice(sources).words for word in sentence]
        elif generator.random() < share or not rest:
            candidates = sorted(set(words[position]))
        else:
            candidates = near if near and generator.random() < 0.5 else rest
        yield generator.choice(candidates)


def _select_words(analyzer: Analyzer, text: str) -> Words:
    """The words of a text that survive analysis, as they are written. A bigram counts as a word."""
    return [text[token.start : token.end] for token in analyzer.tokens(text)]
