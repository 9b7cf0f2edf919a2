from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier

import pytest

from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.settings import Settings
from webui.running.sliding_window import SlidingWindow


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_hit_over_the_limit_says_when_enough_will_have_left_the_window() -> None:
    clock = Clock()
    window = SlidingWindow(":memory:", 3, 60, clock)
    assert window.hit("a", 2) == 0
    clock.now += 10
    assert window.hit("a") == 0
    assert window.hit("a") == 50  # until the first two are gone
    assert window.hit("a", 3) == 60  # until all are
    assert window.hit("b", 3) == 0
    clock.now += 50
    assert window.hit("a", 2) == 0
    assert window.hit("a") == 10


def test_a_cost_above_the_limit_is_never_allowed() -> None:
    assert SlidingWindow(":memory:", 3, 60, Clock()).hit("a", 4) == 60


def test_hits_outside_the_window_are_deleted(tmp_path: Path) -> None:
    clock = Clock()
    window = SlidingWindow(str(tmp_path / "w"), 1, 60, clock)
    for n in range(50):
        window.hit(str(n))
    clock.now += 60
    window.hit("a")
    with sqlite3.connect(tmp_path / "w") as other:
        assert other.execute("SELECT count(*) FROM hits").fetchone() == (1,)


def count_allowed(path: str, barrier: Barrier) -> int:
    """How many hits of a thread pool are allowed in a process of its own."""
    window = SlidingWindow(path, 800, 60)
    barrier.wait(60)
    with ThreadPoolExecutor(4) as pool:
        return sum(seconds == 0 for seconds in pool.map(lambda _: window.hit("a"), range(800)))


@pytest.mark.slow
def test_processes_and_threads_count_together(tmp_path: Path) -> None:
    spawning = get_context("spawn")
    with spawning.Manager() as manager, ProcessPoolExecutor(2, spawning) as pool:
        barrier = manager.Barrier(2)
        jobs = [pool.submit(count_allowed, str(tmp_path / "w"), barrier) for _ in range(2)]
        assert sum(job.result() for job in jobs) == 800


def test_requests_are_answered_where_they_cannot_be_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = create_app(Searcher(FakeIndex(STORM)), Settings(rate="1/minute", access_log=0)).test_client()
    assert client.get("/api/v1/models").status_code == 200
    assert client.get("/api/v1/models").status_code == 429

    def broken(*args: object) -> float:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(SlidingWindow, "hit", broken)
    assert client.get("/api/v1/models").status_code == 200
