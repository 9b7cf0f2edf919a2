"""Parameters estimated by the likelihood of held-out words."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest

from esr.errors import UsageError
from esr.lab.estimation import compute_likelihoods, sample_sentences
from esr.models.adjustment import Adjustment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.lab.tuning.conftest import documents

ALL = 60  # as many sentences as there are documents: one of each is sample


def test_the_likelihood_of_dir_predicts_each_word_from_the_others(searcher: Searcher) -> None:
    mu = 7.0
    counts = Counter(word for d in documents() for s in d.sentences for word in s.text.split())
    total = counts.total()
    by_id = {s.id: s.text.split() for d in documents() for s in d.sentences}
    sample = sample_sentences(searcher.index, ALL, seed=0)
    sums, words = 0.0, 0
    for sentence in sample:
        terms = by_id[sentence.id]
        for word in terms:
            p = counts[word] / total
            sums += log((terms.count(word) - 1 + mu * p) / (len(terms) - 1 + mu))
            words += 1
    table = compute_likelihoods(searcher.index, [Ranking("dir", params={"mu": mu})], ALL)
    assert table[0] == pytest.approx(sums / words, rel=1e-12)


def test_context_raises_the_likelihood(searcher: Searcher) -> None:
    settings = [Ranking("2si", "document", {"mu": 5.0, "lambda": share}) for share in (0.0, 0.5)]
    without, with_context = compute_likelihoods(searcher.index, settings, ALL)
    assert with_context > without


def test_the_same_seed_gives_the_same_figures(searcher: Searcher) -> None:
    settings = [Ranking("3mm", "both")]
    tables = [compute_likelihoods(searcher.index, settings, 20, seed) for seed in (4, 4, 5)]
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])


def test_a_model_without_probabilities_is_rejected(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="bm25 has no probabilities"):
        compute_likelihoods(searcher.index, [Ranking("bm25")], 10)


def test_priors_and_features_make_no_difference(searcher: Searcher) -> None:
    features = (Adjustment("len", "log"),)
    settings = [Ranking("dir"), Ranking("dir", priors={"length": 1.0}), Ranking("dir", features=features)]
    alone, with_prior, with_feature = (
        compute_likelihoods(searcher.index, [setting], 10)[0] for setting in settings
    )
    assert alone == with_prior == with_feature


def test_the_weight_of_a_feature_cannot_be_estimated(searcher: Searcher) -> None:
    settings = [Ranking("dir", features=(Adjustment("len", "log", {"w": w}),)) for w in (0.1, 1.0)]
    with pytest.raises(UsageError, match=r"tells nothing of features.*--from pseudo-topics"):
        compute_likelihoods(searcher.index, settings, 10)
