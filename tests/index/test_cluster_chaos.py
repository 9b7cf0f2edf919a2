"""Three real nodes, each of which is killed or freezes during a load and under steady queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from esr.elastic.cluster import REQUEST_TIMEOUT
from esr.elastic.write import actions, writer
from esr.index.factory import is_elasticsearch
from esr.ranking.searcher import open_searcher
from tests.conftest import without_node
from tests.index.test_chaos import Queries
from tests.index.test_parity import random_documents
from tests.support.base import Node, NoNode
from tests.support.elasticsearch import document, http, load
from tests.support.endurance import IS_LONG
from tests.support.index_contents import index_contents
from tests.support.node import Cluster

pytestmark = [pytest.mark.elasticsearch, pytest.mark.endurance]
FAULT_DETECTION: dict[str, object] = {
    f"cluster.fault_detection.{who}_check.{name}": value
    for who in ("leader", "follower")
    for name, value in (("interval", "1s"), ("timeout", "2s"), ("retry_count", 2))
}
"""As docs/cluster.md advises, so that the cluster removes a frozen node within seconds."""
OLD = [document("old", "A flood at the bank.", "A river.")]


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


@pytest.mark.parametrize("harm", [kill, freeze])
def test_any_node_may_be_killed_or_freeze_while_it_is_loaded_and_searched(
    three_nodes: Cluster, monkeypatch: pytest.MonkeyPatch, harm: Callable[..., None]
) -> None:
    cluster = three_nodes
    where = f"http://{hosts(cluster)}/{harm.__name__}"
    assert is_elasticsearch(where)
    monkeypatch.setattr(Queries, "RATE", 10)
    monkeypatch.setattr(actions, "CHUNK_SENTENCES", 25)
    monkeypatch.setattr(writer, "LOAD_TIMEOUT", 27)  # 9 s for each node, less than it is frozen
    news = list(random_documents(0, 60, seed=3))
    load(where, OLD, shards=3, replicas=1)
    reference = f"{where}-right"
    load(reference, news, shards=3, replicas=1)
    wait_until_green(cluster)
    expected = index_contents(reference)
    with Queries(where, [OLD, news]) as queries:
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
                shards=3,
                replicas=1,
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


def test_an_index_can_be_opened_while_a_node_is_down_and_the_node_comes_back(three_nodes: Cluster) -> None:
    where = f"http://{hosts(three_nodes)}/gone"
    load(where, OLD, replicas=1)
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
