"""Killed loads and enrichments, switches under steady queries, and nodes that are killed or freeze."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import esr
from esr.elastic.connection import REQUEST_TIMEOUT
from esr.elastic.write import actions, writer
from esr.folder.write import segment_writer
from esr.index.factory import is_elasticsearch, open_delivery, open_generations
from esr.index.questions import Summary
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.conftest import without_node
from tests.index.test_parity import random_documents
from tests.support.base import Node, NoNode
from tests.support.elasticsearch import document, fresh, http, load, located
from tests.support.fake_enricher import FakeEnricher, build_slow_enricher
from tests.support.index_contents import enrich, expected, index_contents, read_enrichment, states
from tests.support.node import Cluster
from tests.support.processes import ForkedProcess, load_news, run_esr
from tests.support.runs import IS_LONG, only_long, rounds

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


KILLS = rounds(20)
OFTEN_STORED = {
    "esr.index.runs.enrichment_run:BATCH_SECONDS": 0.03,
    "esr.cli.enrich:Enricher": build_slow_enricher,
}


def start_enrichment(where: str) -> ForkedProcess:
    return ForkedProcess(run_esr, ["enrich", "--index", where], OFTEN_STORED)


def count_enriched(where: str) -> int:
    if where.startswith("http"):
        http("POST", f"{where}*/_refresh")
    with open_searcher(where) as searcher:
        return sum(entry["documents"] for entry in searcher.index.status(Summary())["enrichment"])


def kill_and_resume_enrichment(where: str, documents: list[Document]) -> None:
    """Kill, check and start again; then let it finish, and compare with what the enricher returns."""
    rng = random.Random()
    stages = []
    with open_searcher(where) as searcher:
        analyzer, loaded = searcher.index.analyzer, read_enrichment(searcher.index, documents)
    expected_enrichment = {k: v for d in documents for k, v in expected(FakeEnricher(), d, analyzer).items()}
    for _ in range(KILLS):
        before = count_enriched(where)
        stages.append(before)
        process = start_enrichment(where)
        while count_enriched(where) == before and process.is_running:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()
        assert count_enriched(where) >= before
        with open_searcher(where) as searcher:
            stored = read_enrichment(searcher.index, documents)
            hits = searcher.search("flood", 10, model="bm25").hits
            assert len(hits) == 10
        # Before it is enriched, a sentence has what the load stored.
        assert [k for k in loaded if stored[k] not in (loaded[k], expected_enrichment[k])] == []
    assert len(set(stages)) > KILLS / 2, "no run was killed in the middle: the test shows nothing"
    assert "documents were already enriched" in start_enrichment(where).finish(300)
    count_enriched(where)
    with open_searcher(where) as searcher:
        assert read_enrichment(searcher.index, documents) == expected_enrichment
        assert enrich(searcher.index).documents == 0


@pytest.mark.endurance
def test_a_killed_enrichment_of_a_folder_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 6000)
    documents = list(random_documents(0, 900, seed=4))
    where = tmp_path / "killed"
    load(str(where), documents)
    kill_and_resume_enrichment(str(where), documents)
    with open_searcher(str(where)) as searcher:
        segments = searcher.index.status(Summary())["segments"]
    assert segments > 2
    assert len(list((where / "layers").iterdir())) == segments, "one layer per segment, and no other files"


@pytest.mark.endurance
def test_a_killed_enrichment_of_elasticsearch_is_resumed(elasticsearch_url: str) -> None:
    documents = list(random_documents(0, 900, seed=4))
    with fresh(elasticsearch_url) as where:
        load(where, documents[:700], shards=2)
        load(where, documents[700:], if_exists="append")
        kill_and_resume_enrichment(where, documents)


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


# Three real nodes, each of which is killed or freezes.


FAULT_DETECTION: dict[str, object] = {
    f"cluster.fault_detection.{who}_check.{name}": value
    for who in ("leader", "follower")
    for name, value in (("interval", "1s"), ("timeout", "2s"), ("retry_count", 2))
}
"""As docs/cluster.md advises, so that the cluster removes a frozen node within seconds."""
BEFORE = [document("old", "A flood at the bank.", "A river.")]


def kill(cluster: Cluster, node: Node) -> None:
    node.kill()
    time.sleep(4)
    node.start()


def freeze(cluster: Cluster, node: Node) -> None:
    node.pause()
    time.sleep(10)
    node.resume()


def hosts(cluster: Cluster) -> str:
    """The hosts, as in a location."""
    return ",".join(url.removeprefix("http://") for url in cluster.urls)


def wait_until_green(cluster: Cluster) -> None:
    """Wait until all nodes are there and every shard has its replica."""
    cluster.wait(deadline=300)  # a busy machine takes its time to start a node
    parameters = "wait_for_status=green&wait_for_nodes=3&timeout=60s"
    assert not http("GET", f"{cluster.url}/_cluster/health?{parameters}")["timed_out"]


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[Cluster]:
    """A cluster for all these tests: they leave it intact."""
    try:
        cluster = Cluster.start(nodes=3, heap="512m", settings=FAULT_DETECTION, deadline=300)
    except NoNode as error:
        without_node(str(error))
    else:
        with cluster:
            yield cluster


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.parametrize(("harm", "by"), [(kill, None), (kill, "month"), (freeze, None)])
def test_any_node_may_be_killed_or_freeze_while_it_is_loaded_and_searched(
    three_nodes: Cluster, monkeypatch: pytest.MonkeyPatch, harm: Callable[..., None], by: str | None
) -> None:
    cluster = three_nodes
    where = f"http://{hosts(cluster)}/{harm.__name__}-{by or 'whole'}"
    shards = 3 if by is None else 1
    assert is_elasticsearch(where)
    monkeypatch.setattr(Queries, "RATE", 10)
    monkeypatch.setattr(actions, "CHUNK_SENTENCES", 25)
    monkeypatch.setattr(writer, "LOAD_TIMEOUT", 27)  # 9 s for each node, less than it is frozen
    news = list(random_documents(0, 60, seed=3))
    load(where, BEFORE, shards=shards, replicas=1, by=by)
    reference = f"{where}-right"
    load(reference, news, shards=shards, replicas=1, by=by)
    wait_until_green(cluster)
    expected = index_contents(reference)
    with Queries(where, [BEFORE, news]) as queries:
        for node in cluster.nodes if IS_LONG else cluster.nodes[:1]:
            broken: list[bool] = []

            def break_it(documents: int, of: int, node: Node = node, broken: list[bool] = broken) -> None:
                if not broken:
                    broken.append(True)
                    harm(cluster, node)

            report = load(
                where,
                news,
                if_exists="replace",
                shards=shards,
                replicas=1,
                by=by,
                resume=True,
                workers=4,
                on_progress=break_it,
            )
            assert broken and report.documents == len(news)
            wait_until_green(cluster)
            assert index_contents(where) == expected
    assert not queries.problems, queries.problems[:5]
    assert queries.seen == {0, 1}
    assert queries.count > 50


@pytest.mark.elasticsearch
@pytest.mark.endurance
def test_an_index_can_be_opened_while_a_node_is_down_and_the_node_comes_back(three_nodes: Cluster) -> None:
    where = f"http://{hosts(three_nodes)}/gone"
    load(where, BEFORE, replicas=1)
    wait_until_green(three_nodes)
    first, second, third = three_nodes.nodes
    first.kill()
    try:
        with open_searcher(where) as searcher:
            assert [hit.sentence_id for hit in searcher.search("flood").hits] == ["old.s0", "old.s1"]
        health = f"{second.url}/_cluster/health?wait_for_nodes=2&timeout=60s"
        assert http("GET", health)["number_of_nodes"] == 2
    finally:
        first.start()
    three_nodes.wait(deadline=300)
    assert http("GET", f"{third.url}/_cluster/health")["number_of_nodes"] == 3
    assert REQUEST_TIMEOUT / 3 >= 10, "one node has enough time for a search"
