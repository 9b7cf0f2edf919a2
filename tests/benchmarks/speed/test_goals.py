from __future__ import annotations

from typing import Any

import pytest

from benchmarks.speed.figures import Figures
from benchmarks.speed.goals import GOALS


def figures_of(part: str, **figure: Any) -> Figures:
    return Figures([{"part": part, "commit": "c", **figure}])


def row(figures: Figures, name: str) -> tuple[str, ...]:
    (goal,) = (goal for goal in GOALS if goal.name == name)
    return goal.row(figures)[2:]


def test_a_goal_without_figures_is_not_measured() -> None:
    assert {goal.row(Figures([]))[2:] for goal in GOALS} == {("not measured", "")}


@pytest.mark.parametrize(("ms", "expected"), [(1.0, ("0.5 ×", "**no**")), (0.8, ("0.4 ×", "yes"))])
def test_a_ratio_is_compared_with_its_maximum(ms: float, expected: tuple[str, str]) -> None:
    times = {"esr": [ms] * 3, "bm25s": [2.0] * 3, "tantivy": [9.0] * 3}
    figures = figures_of("latency", key=100, times=times)
    assert row(figures, "embedded, top 100, p50, over bm25s") == expected


@pytest.mark.parametrize(("answered", "expected"), [(158, ("0.79 ×", "**no**")), (160, ("0.8 ×", "yes"))])
def test_a_rate_is_compared_with_its_minimum(answered: int, expected: tuple[str, str]) -> None:
    runs = {
        "esr": [{"answered": answered, "seconds": 2.0}],
        "elasticsearch": [{"answered": 100, "seconds": 1.0}],
    }
    figures = figures_of("throughput", runs=runs)
    assert row(figures, "queries a second, 16 clients, over plain Elasticsearch BM25") == expected


def test_without_elasticsearch_there_is_no_ratio_to_it() -> None:
    figures = figures_of("throughput", runs={"esr": [{"answered": 1, "seconds": 1.0}]})
    assert row(figures, "queries a second, 16 clients, over plain Elasticsearch BM25")[0] == "not measured"


def test_growth_needs_a_figure_with_both_sizes() -> None:
    name = "growth: 10 times the sentences, top 10, p50"
    small = figures_of("growth", key="10 1x 3x", k=10, sizes=[1, 3], times={"esr 1": [1.0], "esr 3": [2.0]})
    assert row(small, name)[0] == "not measured"
    large = figures_of(
        "growth", key="10 1x 10x", k=10, sizes=[1, 10], times={"esr 1": [1.0], "esr 10": [3.0]}
    )
    assert row(large, name) == ("3 ×", "yes")


def test_the_time_of_reranking_is_added_to_a_first_stage_of_the_same_depth() -> None:
    figures = figures_of("rerank", times={"all signals": [25.0], "first stage": [16.0], "top 10": [1.0]})
    assert row(figures, "reranking 1,000 candidates by all signals, added, p50") == ("9 ms", "yes")


def test_loads_and_sizes_are_compared_with_those_of_tantivy() -> None:
    loads = {"esr": [{"seconds": 4.0, "bytes": 30}], "tantivy": [{"seconds": 3.0, "bytes": 10}]}
    figures = figures_of("loading", loads=loads)
    assert row(figures, "lexical load, embedded, over tantivy's rate") == ("0.75 ×", "yes")
    assert row(figures, "index size, embedded, over tantivy's") == ("3 ×", "**no**")


def test_both_indexes_of_elasticsearch_count() -> None:
    figures = figures_of("elasticsearch", bytes={"sentences": 15, "documents": 4, "plain": 10}, times={})
    assert row(figures, "Elasticsearch, index over a plain text mapping") == ("1.9 ×", "yes")


def test_the_goals_at_scale_are_of_ten_times_the_documents() -> None:
    ms = {name: {"p50": p50, "p95": 9.0} for name, p50 in (("esr, top 10", 6.0), ("match, top 100", 2.0))}
    name = "Elasticsearch, 5 million sentences, top 10, p50, over native BM25 top 100"
    of_scale = {"part": "scale, Elasticsearch", "commit": "c", "exhaustive": 0}
    ten = {**of_scale, "key": "10x, 1 node, 1 shard", "ms": {**ms, "esr, top 100": ms["esr, top 10"]}}
    assert row(Figures([ten]), name) == ("3 ×", "**no**")
    assert row(Figures([{**ten, "key": "20x, 1 node, 1 shard"}]), name)[0] == "not measured"


def test_headlines_as_they_come_have_goals_of_their_own() -> None:
    times = {"esr, top 10": [3.0], "esr, top 100": [9.0], "match, top 100": [2.0]}
    stored = {"sentences": 3, "documents": 1, "plain": 1}
    figures = figures_of("elasticsearch", key="headlines", times=times, bytes=stored)
    asked = "top 10, p50, over native BM25 top 100"
    assert row(figures, f"Elasticsearch, headlines as they come, {asked}") == ("1.5 ×", "yes")
    assert row(figures, f"Elasticsearch, 2 to 6 terms, {asked}")[0] == "not measured"
