"""Loaders that are killed at random moments, and switches under steady queries."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

import esr
from esr.documents import Document
from esr.engines.factory import LoadOptions, open_delivery, open_generations
from tests.engines.elasticsearch.support import document, load, located
from tests.engines.holding import everything
from tests.engines.test_parity import random_documents

ROOT = Path(__file__).resolve().parents[2]
OLD = [document("old", "An old flood.", "A river.")]
NEWS = list(random_documents(0, 300, seed=5))
LOADER = """
import sys
from esr.engines.segments.writer import segment_builder as build
from esr.engines.elasticsearch.load import sender
from tests.engines.elasticsearch.support import load
from tests.engines.test_chaos import NEWS
build.FULL_TERMS = 400
sender.CHUNK_SENTENCES = 25
print("begun", flush=True)
load(sys.argv[1], NEWS, if_exists="replace", resume=True)
"""


def started(where: str) -> subprocess.Popen[str]:
    loader = subprocess.Popen(
        [sys.executable, "-c", LOADER, where],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert loader.stdout and loader.stdout.readline() == "begun\n"
    return loader


def finished(loader: subprocess.Popen[str]) -> None:
    _, complaint = loader.communicate(timeout=120)
    assert loader.returncode == 0, complaint


def states(where: str) -> list[str]:
    with closing(open_generations(where)) as at:
        return [each.state for each in at.all()]


def killed_and_resumed(where: str, loads: int, kills: int) -> int:
    """Kill the loaders of some loads so often, at random moments. Returns how many left a part of a load.

    What is served is always a whole load. In the end it is what a load that nobody killed gives.
    """
    right, old = f"{where}-right", f"{where}-old"
    load(old, OLD)
    load(right, OLD)
    begun = time.perf_counter()
    finished(started(right))
    whole = time.perf_counter() - begun
    wanted = everything(right)
    possible = [everything(old), wanted]
    chance = random.Random()
    broken = 0
    for _ in range(loads):
        load(where, OLD, if_exists="replace", keep=0)
        for _ in range(kills):
            loader = started(where)
            time.sleep(chance.uniform(0, 0.7 * whole))
            loader.send_signal(signal.SIGKILL)
            loader.communicate()
            assert everything(where) in possible
            broken += "broken" in states(where)
        finished(started(where))
        assert everything(where) == wanted
        assert "broken" not in states(where)
    return broken


@pytest.mark.endurance
def test_a_loader_that_is_killed_three_times_is_resumed_to_the_same_index(anywhere: str) -> None:
    killed_and_resumed(anywhere, 1, 3)


@pytest.mark.endurance
def test_a_loader_that_is_killed_fifty_times_is_resumed_to_the_same_index(anywhere: str) -> None:
    assert killed_and_resumed(anywhere, 25, 2) > 5, "no kill came in the middle: the test shows nothing"


class Queries:
    """Fifty queries a second, by threads that each have an index open. Answers must be of one collection."""

    RATE, THREADS = 50, 5

    def __init__(self, where: str, whole: list[list[Document]]) -> None:
        self._where = where
        self._right = [self._answers(each) for each in whole]
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(self.THREADS)]
        self.asked = 0
        self.problems: list[str] = []
        self.seen: set[int] = set()

    def _answers(self, documents: list[Document]) -> list[tuple[str, float]]:
        """What a collection of these alone answers, by the same engine."""
        place = f"{self._where}-alone"
        load(place, documents, if_exists="replace", keep=0)
        with esr.open(place) as searcher:
            return self._shown(searcher)

    def _shown(self, searcher: esr.Searcher) -> list[tuple[str, float]]:
        answer = searcher.search("flood bank", 20)
        assert not answer.incomplete, answer.incomplete
        return [(hit.sentence_id, round(hit.score, 4)) for hit in answer.hits]

    def _ask(self) -> None:
        with esr.open(self._where) as searcher:
            while not self._ended.is_set():
                begun = time.monotonic()
                try:
                    found = self._shown(searcher)
                except Exception as error:
                    self.problems.append(repr(error))
                    continue
                self.asked += 1
                if found in self._right:
                    self.seen.add(self._right.index(found))
                else:
                    self.problems.append(f"mixed: {found[:3]}" if found else "empty")
                time.sleep(max(0.0, self.THREADS / self.RATE - (time.monotonic() - begun)))

    def __enter__(self) -> Queries:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)


@pytest.mark.endurance
def test_switching_under_fifty_queries_a_second_is_never_seen(anywhere: str) -> None:
    """Loads, deliveries and rollbacks: no error, no empty answer, no answer of two collections."""
    first, second = list(random_documents(0, 60, seed=1)), list(random_documents(60, 90, seed=2))
    came = document("came", "A flood at the bank.", "Flood.")
    load(anywhere, first)
    with Queries(anywhere, [first, second, [*second, came]]) as queries:
        for _ in range(3):
            load(anywhere, second, if_exists="replace", keep=2)
            time.sleep(0.3)
            open_delivery(anywhere, LoadOptions(keep=2)).append(located([came]))
            time.sleep(0.3)
            with closing(open_generations(anywhere)) as at:
                at.rollback()
            time.sleep(0.3)
            load(anywhere, first, if_exists="replace", keep=2)
            time.sleep(0.3)
    assert not queries.problems, queries.problems[:5]
    assert queries.seen == {0, 1, 2}
    assert queries.asked > 100
