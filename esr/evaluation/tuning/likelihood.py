"""The textbook way to parameters without judgements: the likelihood of words that are left out.

Each word of a sentence is taken out in turn, and the model says how probable it is from what is left of the
sentence, its context and the collection (Zhai & Lafferty 2002 for mu). The weights that expectation
maximisation climbs to are where this likelihood is highest; here every setting of a grid is tried.
It is kept as a reference: it explains text, and finds sentences badly (docs/results.md).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents import Sentence
from esr.engines.index import Index
from esr.errors import UsageError
from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Array, Evidence, concatenate
from esr.plans.plan import Mixture, Plan, PlanTerm
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking


class _LeftOut(NamedTuple):
    """Words of sentences: how often each stands there, p(t|C), and what is left without one of them.

    Arrays have the shape (n,), n pairs of a sentence and a term of it; the evidence is of one term.
    """

    occurrences: Array
    background: Array
    evidence: Evidence


def table(
    index: Index, settings: Sequence[Ranking], sentences: int, seed: int = 0
) -> npt.NDArray[np.float64]:
    """Mean log likelihood of a word that is left out, of shape (settings,).

    Raises UsageError for a model that gives no probabilities.
    """
    plans = [_one_term(setting) for setting in settings]
    chosen = drawn(index, sentences, seed)
    words = [_left_out(index, settings[0], sentence.id, sentence.text) for sentence in chosen]
    found = [some for some in words if some is not None]
    if not found:
        raise UsageError(f"{index.where} has no words: parameters cannot be estimated from it")
    occurrences = np.concatenate([some.occurrences for some in found])
    background = np.concatenate([some.background for some in found])
    evidence = concatenate([some.evidence for some in found])
    means = []
    for plan in plans:
        # Counts over p(t|C) make it one term of p = 1: the score is log p(t|s) - log p(t|C).
        gains = score_sentences(plan, evidence)
        means.append(float(np.average(gains + np.log(background), weights=occurrences)))
    return np.array(means)


def drawn(index: Index, number: int, seed: int) -> list[Sentence]:
    """Sentences of as many documents, one of each, at random. All documents if there are no more."""
    chance = random.Random(seed)
    total = index.statistics([]).collection.documents
    documents = index.documents_at(sorted(chance.sample(range(total), min(total, number))))
    return [chance.choice(document.sentences) for document in documents if document.sentences]


def _one_term(setting: Ranking) -> Plan:
    plan = setting.plan({}, Statistics(CollectionStatistics(), {}))
    if not isinstance(plan.transform, Mixture):
        raise UsageError(
            f"{setting.model} gives no probabilities, so words have no likelihood: estimate it from topics"
        )
    return replace(plan, terms=(PlanTerm("", 1.0, 1.0),))


def _left_out(index: Index, ranking: Ranking, sentence_id: str, text: str) -> _LeftOut | None:
    """One sentence's words; None if it has none. Each word takes one occurrence and one of length away."""
    counts = Counter(index.analyzer.terms(text))
    if not counts:
        return None
    terms = ranking.plan(counts, index.statistics(list(counts))).terms
    whole = index.evidence([term.term for term in terms], [sentence_id])
    p = np.array([term.background for term in terms])
    left = Evidence(
        {field: ((found[:, 0] - 1.0) / p)[None, :] for field, found in whole.counts.items()},
        {field: np.repeat(length - 1.0, len(terms)) for field, length in whole.lengths.items()},
        {},
    )
    return _LeftOut(np.array([float(counts[term.term]) for term in terms]), p, left)
