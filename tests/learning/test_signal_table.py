from __future__ import annotations

import numpy as np
import pytest

from esr.errors import UsageError
from esr.evaluation import measures
from esr.learning.cross_validation import build_run
from esr.learning.signal_table import SignalTable, parse_measure
from esr.learning.topic_signals import TopicSignals
from tests.learning.samples import topics


@pytest.mark.parametrize("name", ["AP", "nDCG", "nDCG@10"])
def test_figures_equal_those_of_the_evaluator_over_the_full_run(name: str) -> None:
    sample = topics(30, below=40)
    table = SignalTable(sample, name)
    scores = table.first_scores + np.random.default_rng(1).normal(size=table.first_scores.shape)
    qrels = {topic.topic: dict(topic.judgements) for topic in sample}
    expected = measures.evaluate([name], qrels, build_run(table, scores))[name]
    assert table.compute_figures(scores).tolist() == pytest.approx(
        [expected[topic.topic] for topic in sample], abs=1e-12
    )


def test_equal_scores_keep_the_order_of_the_first_stage() -> None:
    table = SignalTable(topics(30), "AP")
    assert (
        table.compute_figures(np.zeros(table.first_scores.shape)).tolist()
        == table.compute_figures(table.first_scores).tolist()
    )


def test_topics_with_few_or_no_candidates_are_measured() -> None:
    empty = TopicSignals("a", "x", (), np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.int64), {"s": 1}, {})
    few = TopicSignals(
        "b", "y", ("s", "u"), np.array([2.0, 1.0]), np.ones((2, 1)), np.array([0, 1]), {"u": 1}, {}
    )
    table = SignalTable([empty, few], "AP")
    assert table.compute_figures(table.first_scores).tolist() == [0.0, 0.5]
    assert build_run(table, table.first_scores) == {"a": {}, "b": {"s": 2.0, "u": 1.0}}


@pytest.mark.parametrize("name", ["RR", "nDCG@0", "ap", "nDCG@x", ""])
def test_other_measures_are_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="cannot learn for"):
        parse_measure(name)
