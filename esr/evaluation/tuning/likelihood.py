"""The textbook estimation of parameters without judgements: the likelihood of held-out words.

Each word of a sentence is held out in turn, and the model predicts it from the rest of the sentence, its
context and the collection (Zhai & Lafferty 2002 for mu). Expectation maximisation converges to the maximum
of this likelihood; here every setting of a grid is tried. It serves as a reference only: it explains text,
and retrieves sentences badly (docs/results.md).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.documents import Sentence
from esr.engines.index import Index
from esr.errors import UsageError
from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Array, Evidence, concatenate
from esr.plans.plan import Mixture, Plan, PlanTerm
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking


class _HeldOut(NamedTuple):
    """Words of sentences: their numbers of occurrences, p(t|C), and the evidence without one occurrence.

    Arrays have the shape (n,), for n pairs of a sentence and one of its terms; the evidence has one term.
    """

    occurrences: Array
    background: Array
    evidence: Evidence


def compute_likelihoods(
    index: Index, settings: Sequence[Ranking], sentences: int, seed: int = 0
) -> npt.NDArray[np.float64]:
    """The mean log likelihood of a held-out word under each setting, of shape (settings,).

    Priors, features and further stages make no difference. Raises UsageError for a model without
    probabilities, and for settings that differ in more than the parameters of the model.
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
        # Counts divided by p(t|C) give one term with p = 1: the score is log p(t|s) - log p(t|C).
        gains = score_sentences(plan, evidence)
        means.append(float(np.average(gains + np.log(background), weights=occurrences)))
    return np.array(means)


def sample_sentences(index: Index, number: int, seed: int) -> list[Sentence]:
    """A random sentence from each of `number` random documents, or from all if there are fewer."""
    generator = random.Random(seed)
    total = index.statistics([]).collection.documents
    documents = index.documents_at(sorted(generator.sample(range(total), min(total, number))))
    return [generator.choice(document.sentences) for document in documents if document.sentences]


def _plan_single_term(setting: Ranking) -> Plan:
    """The model's part of the plan alone."""
    plan = setting.plan({}, Statistics(CollectionStatistics(), {}))
    if not isinstance(plan.transform, Mixture):
        raise UsageError(
            f"{setting.model} has no probabilities, so words have no likelihood: use --from pseudo-topics"
        )
    return replace(plan, terms=(PlanTerm("", 1.0, 1.0),), statics=())


def _hold_out(index: Index, ranking: Ranking, sentence_id: str, text: str) -> _HeldOut | None:
    """A sentence's words, or None if it has none. Each held-out word reduces its count and the length."""
    counts = Counter(index.analyzer.terms(text))
    if not counts:
        return None
    terms = ranking.plan(counts, index.statistics(list(counts))).terms
    evidence = index.evidence([term.term for term in terms], [sentence_id])
    p = np.array([term.background for term in terms])
    rest = Evidence(
        {field: ((field_counts[:, 0] - 1.0) / p)[None, :] for field, field_counts in evidence.counts.items()},
        {field: np.repeat(length - 1.0, len(terms)) for field, length in evidence.lengths.items()},
        {},
    )
    return _HeldOut(np.array([float(counts[term.term]) for term in terms]), p, rest)
