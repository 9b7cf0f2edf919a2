from __future__ import annotations

from typing import Any

import pytest

from benchmarks.speed.figures import Figures
from benchmarks.speed.goals import GOALS


def measured(part: str, **figure: Any) -> Figures:
    return Figures([{"part": part, "commit": "c", **figure}])


def row(figures: Figures, what: str) -> tuple[str, ...]:
    (found,) = (goal for goal in GOALS if goal.what == what)
    return found.row(figures)[2:]


def test_nothing_is_met_that_was_not_measured() -> None:
    assert {goal.row(Figures([]))[2:] for goal in GOALS} == {("not measured", "")}


@pytest.mark.parametrize(("ms", "said"), [(1.0, ("0.5 ×", "**no**")), (0.8, ("0.4 ×", "yes"))])
def test_a_ratio_is_held_to_the_most_it_may_be(ms: float, said: tuple[str, str]) -> None:
    times = {"esr": [ms] * 3, "bm25s": [2.0] * 3, "tantivy": [9.0] * 3}
    found = measured("latency", key=100, times=times)
    assert row(found, "embedded, top 100, p50, over bm25s") == said


@pytest.mark.parametrize(("answered", "said"), [(598, ("2.99 ×", "**no**")), (600, ("3 ×", "yes"))])
def test_a_rate_is_held_to_the_least_it_may_be(answered: int, said: tuple[str, str]) -> None:
    runs = {
        "esr": [{"answered": answered, "seconds": 2.0}],
        "elasticsearch": [{"answered": 100, "seconds": 1.0}],
    }
    found = measured("throughput", runs=runs)
    assert row(found, "queries a second, 16 clients, over plain Elasticsearch BM25") == said


def test_without_elasticsearch_there_is_no_ratio_to_it() -> None:
    found = measured("throughput", runs={"esr": [{"answered": 1, "seconds": 1.0}]})
    assert row(found, "queries a second, 16 clients, over plain Elasticsearch BM25")[0] == "not measured"


def test_growth_is_taken_of_one_run_with_both_sizes() -> None:
    what = "growth: 10 times the sentences, top 10, p50"
    small = measured("growth", key="10 1x 3x", k=10, sizes=[1, 3], times={"esr 1": [1.0], "esr 3": [2.0]})
    assert row(small, what)[0] == "not measured"
    large = measured("growth", key="10 1x 10x", k=10, sizes=[1, 10], times={"esr 1": [1.0], "esr 10": [3.0]})
    assert row(large, what) == ("3 ×", "yes")


def test_what_reranking_adds_is_beyond_a_first_stage_of_as_many() -> None:
    found = measured("rerank", times={"all signals": [25.0], "first stage": [16.0], "top 10": [1.0]})
    assert row(found, "reranking 1,000 candidates by all signals, added, p50") == ("9 ms", "yes")


def test_loads_and_sizes_are_compared_with_tantivys() -> None:
    loads = {"esr": [{"seconds": 4.0, "bytes": 30}], "tantivy": [{"seconds": 3.0, "bytes": 10}]}
    found = measured("loading", loads=loads)
    assert row(found, "lexical load, embedded, over tantivy's rate") == ("0.75 ×", "yes")
    assert row(found, "index size, embedded, over tantivy's") == ("3 ×", "**no**")


def test_both_indexes_of_elasticsearch_count() -> None:
    found = measured("elasticsearch", bytes={"sentences": 15, "documents": 4, "plain": 10}, times={})
    assert row(found, "Elasticsearch, index over a plain text mapping") == ("1.9 ×", "yes")
