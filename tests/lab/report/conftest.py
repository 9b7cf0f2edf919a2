"""Three made-up runs on six made-up topics."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from esr.batch.runs import Scores
from esr.lab.measures import Qrels
from esr.lab.results import RunEvaluation, evaluate_runs

TOPICS = tuple(f"t{n}" for n in range(6))


@pytest.fixture
def qrels() -> Qrels:
    return {topic: {"a": 1, "b": 1, "c": 0} for topic in TOPICS}


@pytest.fixture
def runs() -> Mapping[str, Scores]:
    """`good` has all relevant sentences first; `base` misses one of two; `odd` wins, ties and loses."""
    orders = {"base": ["acb"] * 6, "good": ["abc"] * 6, "odd": ["abc", "acb", "acb", "cab", "cab", "c"]}
    return {
        run: {
            topic: {sentence: -float(rank) for rank, sentence in enumerate(order)}
            for topic, order in zip(TOPICS, by_topic, strict=True)
        }
        for run, by_topic in orders.items()
    }


@pytest.fixture
def results(qrels: Qrels, runs: Mapping[str, Scores]) -> list[RunEvaluation]:
    return evaluate_runs(["AP", "P@1"], qrels, runs, baseline="base")
