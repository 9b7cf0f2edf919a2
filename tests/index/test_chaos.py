"""Loads that are killed at random moments, and switches under steady queries."""

from __future__ import annotations

import random
import threading
import time
from contextlib import closing

import pytest

import esr
from esr.index.factory import open_delivery, open_generations
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, load, located
from tests.support.endurance import only_long, rounds
from tests.support.index_contents import index_contents, states
from tests.support.processes import ForkedProcess, load_news

OLD = [document("old", "An old flood.", "A river.")]
NEWS = list(random_documents(0, 300, seed=5))
SMALL_STEPS = {
    "esr.folder.write.segment_writer:FULL_TERMS": 400,
    "esr.elastic.write.actions:CHUNK_SENTENCES": 25,
}
"""So that there are many moments to be killed at."""


def start(where: str) -> ForkedProcess:
    return ForkedProcess(load_news, where, NEWS, SMALL_STEPS)


def kill_and_resume(where: str, loads: int, kills: int) -> int:
    """Kill each of some loads several times at random moments. Returns how many kills left a broken load.

    The serving index is always that of a complete load, and in the end that of one that nobody killed.
    """
    undisturbed, old = f"{where}-undisturbed", f"{where}-old"
    load(old, OLD)
    load(undisturbed, OLD)
    started = time.perf_counter()
    start(undisturbed).finish()
    duration = time.perf_counter() - started
    expected = index_contents(undisturbed)
    possible = [index_contents(old), expected]
    rng = random.Random()
    broken = 0
    for _ in range(loads):
        load(where, OLD, if_exists="replace", keep=0)
        for _ in range(kills):
            loader = start(where)
            time.sleep(rng.uniform(0, 0.7 * duration))
            loader.kill()
            contents = index_contents(where)
            assert contents in possible
            if "broken" in states(where):
                broken += 1
            else:  # too late or too early: the machine has less or more to do than before
                duration *= 0.9 if contents == expected else 1.1
        start(where).finish()
        assert index_contents(where) == expected
        assert "broken" not in states(where)
    return broken


@pytest.mark.endurance
def test_a_loader_that_is_killed_three_times_is_resumed_to_the_same_index(anywhere: str) -> None:
    kill_and_resume(anywhere, 1, 3)


@only_long
@pytest.mark.endurance
def test_a_loader_that_is_killed_many_times_is_resumed_to_the_same_index(anywhere: str) -> None:
    broken = kill_and_resume(anywhere, rounds(25), 2)
    assert broken >= rounds(5) / 2, "no load was killed in the middle: the test shows nothing"


class Queries:
    """Fifty queries a second, by threads with an index open each. An answer must be of one collection."""

    RATE, THREADS = 50, 5

    def __init__(self, where: str, collections: list[list[Document]]) -> None:
        self._where = where
        self._expected = [self._answers(documents) for documents in collections]
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(self.THREADS)]
        self.count = 0
        self.problems: list[str] = []
        self.seen: set[int] = set()

    def _answers(self, documents: list[Document]) -> list[tuple[str, float]]:
        """The answers of an index with these documents alone, on the same engine."""
        other = f"{self._where}-alone"
        load(other, documents, if_exists="replace", keep=0)
        with open_searcher(other) as searcher:
            return self._search(searcher)

    def _search(self, searcher: esr.ranking.searcher.Searcher) -> list[tuple[str, float]]:
        answer = searcher.search("flood bank", 20)
        assert not answer.incomplete, answer.incomplete
        return [(hit.sentence_id, round(hit.score, 4)) for hit in answer.hits]

    def _run(self) -> None:
        with open_searcher(self._where) as searcher:
            while not self._ended.is_set():
                started = time.monotonic()
                try:
                    hits = self._search(searcher)
                except Exception as error:
                    self.problems.append(repr(error))
                    continue
                self.count += 1
                if hits in self._expected:
                    self.seen.add(self._expected.index(hits))
                else:
                    self.problems.append(f"mixed: {hits[:3]}" if hits else "empty")
                time.sleep(max(0.0, self.THREADS / self.RATE - (time.monotonic() - started)))

    def __enter__(self) -> Queries:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)


@pytest.mark.endurance
def test_switches_are_invisible_to_fifty_queries_a_second(anywhere: str) -> None:
    """Loads, deliveries and rollbacks: no error, no empty answer, no answer of two collections."""
    first, second = list(random_documents(0, 60, seed=1)), list(random_documents(60, 90, seed=2))
    added = document("added", "A flood at the bank.", "Flood.")
    load(anywhere, first)
    with Queries(anywhere, [first, second, [*second, added]]) as queries:
        for _ in range(3):
            load(anywhere, second, if_exists="replace", keep=2)
            time.sleep(0.3)
            open_delivery(anywhere, LoadOptions(keep=2)).append(located([added]))
            time.sleep(0.3)
            with closing(open_generations(anywhere)) as generations:
                generations.rollback()
            time.sleep(0.3)
            load(anywhere, first, if_exists="replace", keep=2)
            time.sleep(0.3)
    assert not queries.problems, queries.problems[:5]
    assert queries.seen == {0, 1, 2}
    assert queries.count > 100
