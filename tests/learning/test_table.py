from __future__ import annotations

import numpy as np
import pytest

from esr.errors import UsageError
from esr.evaluation import measures
from esr.learning.gather import TopicSignals
from esr.learning.table import Table, measure_of
from esr.learning.validate import run
from tests.learning.making import topics


@pytest.mark.parametrize("name", ["AP", "nDCG", "nDCG@10"])
def test_figures_are_those_of_the_evaluator_over_the_whole_run(name: str) -> None:
    some = topics(30, below=40)
    table = Table(some, name)
    scores = table.first + np.random.default_rng(1).normal(size=table.first.shape)
    qrels = {each.topic: dict(each.grades_of) for each in some}
    wanted = measures.evaluate([name], qrels, run(table, scores))[name]
    assert table.figures(scores).tolist() == pytest.approx([wanted[each.topic] for each in some], abs=1e-12)


def test_equal_scores_keep_the_first_stages_order() -> None:
    table = Table(topics(30), "AP")
    assert table.figures(np.zeros(table.first.shape)).tolist() == table.figures(table.first).tolist()


def test_a_topic_without_candidates_or_with_few_has_its_figure() -> None:
    none = TopicSignals("a", "x", (), np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.int64), {"s": 1})
    few = TopicSignals(
        "b", "y", ("s", "u"), np.array([2.0, 1.0]), np.ones((2, 1)), np.array([0, 1]), {"u": 1}
    )
    table = Table([none, few], "AP")
    assert table.figures(table.first).tolist() == [0.0, 0.5]
    assert run(table, table.first) == {"a": {}, "b": {"s": 2.0, "u": 1.0}}


@pytest.mark.parametrize("name", ["RR", "nDCG@0", "ap", "nDCG@x", ""])
def test_other_measures_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot learn for"):
        measure_of(name)
