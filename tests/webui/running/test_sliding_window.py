from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier

import pytest

from esr.ranking.searcher import Searcher
from tests.webui.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.settings import Settings
from webui.running.sliding_window import Window


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_is_too_much_is_told_until_enough_has_left_the_window() -> None:
    clock = Clock()
    window = Window(":memory:", 3, 60, clock)
    assert window.hit("a", 2) == 0
    clock.now += 10
    assert window.hit("a") == 0
    assert window.hit("a") == 50  # until the first two are gone
    assert window.hit("a", 3) == 60  # until all are
    assert window.hit("b", 3) == 0
    clock.now += 50
    assert window.hit("a", 2) == 0
    assert window.hit("a") == 10


def test_more_than_the_rate_at_once_is_never_let_through() -> None:
    assert Window(":memory:", 3, 60, Clock()).hit("a", 4) == 60


def test_what_has_left_the_window_is_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    window = Window(str(tmp_path / "w"), 1, 60, clock)
    for n in range(50):
        window.hit(str(n))
    clock.now += 60
    window.hit("a")
    with sqlite3.connect(tmp_path / "w") as other:
        assert other.execute("SELECT count(*) FROM hits").fetchone() == (1,)


def let_through(path: str, together: Barrier) -> int:
    """How many of a thread pool's hits a process of its own gets through."""
    window = Window(path, 800, 60)
    together.wait(60)
    with ThreadPoolExecutor(4) as pool:
        return sum(again == 0 for again in pool.map(lambda _: window.hit("a"), range(800)))


@pytest.mark.slow
def test_processes_and_threads_count_together(tmp_path: Path) -> None:
    spawning = get_context("spawn")
    with spawning.Manager() as manager, ProcessPoolExecutor(2, spawning) as pool:
        together = manager.Barrier(2)
        jobs = [pool.submit(let_through, str(tmp_path / "w"), together) for _ in range(2)]
        assert sum(job.result() for job in jobs) == 800


def test_requests_are_answered_where_they_cannot_be_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = create_app(Searcher(FakeIndex(STORM)), Settings(rate="1/minute", access_log=0)).test_client()
    assert client.get("/api/v1/models").status_code == 200
    assert client.get("/api/v1/models").status_code == 429

    def broken(*args: object) -> float:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(Window, "hit", broken)
    assert client.get("/api/v1/models").status_code == 200
