from __future__ import annotations

import time

from benchmarks.speed.timing import p50, p95, time_interleaved, warm_up


def test_every_peer_answers_a_query_before_the_next_query() -> None:
    searched: list[tuple[str, str]] = []
    searches = {name: lambda query, name=name: searched.append((name, query)) for name in "ab"}
    time_interleaved(searches, ["x", "y"], rounds=2)
    assert [query for _, query in searched] == ["x", "x", "y", "y"] * 3
    assert all({name for name, _ in searched[at : at + 2]} == {"a", "b"} for at in range(0, len(searched), 2))


def test_the_first_round_does_not_count() -> None:
    turns = iter([0.1, 0.0])
    times = time_interleaved({"a": lambda query: time.sleep(next(turns))}, ["x"], rounds=1)
    assert len(times["a"]) == 1
    assert times["a"][0] < 50


def test_a_warm_up_asks_every_peer_until_its_time_is_over() -> None:
    searched: list[tuple[str, str]] = []
    searches = {name: lambda query, name=name: searched.append((name, query)) for name in "ab"}
    warm_up(searches, ["x", "y"], seconds=0.0)
    assert searched == [("a", "x"), ("b", "x")]
    warm_up(searches, ["x", "y"], seconds=0.01)
    assert searched[2:8] == [(peer, query) for query in "xyx" for peer in "ab"]


def test_percentiles_are_computed_over_queries() -> None:
    assert p50([1.0, 2.0, 9.0]) == 2.0
    assert p95(list(range(101))) == 95.0
