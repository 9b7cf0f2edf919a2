from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from benchmarks.speed import timing
from benchmarks.speed.timing import p50, p95, time_interleaved, warm_up


class Clock:
    """A clock that only a search moves."""

    now = 0.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


def test_every_peer_answers_a_query_before_the_next_query() -> None:
    searched: list[tuple[str, str]] = []
    searches = {name: lambda query, name=name: searched.append((name, query)) for name in "ab"}
    time_interleaved(searches, ["x", "y"], rounds=2)
    assert [query for _, query in searched] == ["x", "x", "y", "y"] * 3
    assert all({name for name, _ in searched[at : at + 2]} == {"a", "b"} for at in range(0, len(searched), 2))


def test_the_first_round_does_not_count(clock: Clock) -> None:
    seconds = iter([0.1, 0.02])
    times = time_interleaved({"a": lambda query: clock.pass_by(next(seconds))}, ["x"], rounds=1)
    assert times == {"a": [20.0]}


@pytest.mark.parametrize(("seconds", "queries"), [(0.0, "x"), (2.5, "xyx")])
def test_a_warm_up_asks_every_peer_until_its_time_is_over(clock: Clock, seconds: float, queries: str) -> None:
    searched: list[tuple[str, str]] = []

    def search(peer: str, query: str) -> None:
        searched.append((peer, query))
        clock.pass_by(0.5)

    warm_up({peer: partial(search, peer) for peer in "ab"}, ["x", "y"], seconds)
    assert searched == [(peer, query) for query in queries for peer in "ab"]


def test_percentiles_are_computed_over_queries() -> None:
    assert p50([1.0, 2.0, 9.0]) == 2.0
    assert p95(list(range(101))) == 95.0
