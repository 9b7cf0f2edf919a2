"""Requests that belong together go to one node. test_cluster_chaos.py freezes real nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from elastic_transport import NodeConfig, Urllib3HttpNode

import esr
from esr.engines.elasticsearch.cluster.node_selector import StickyNodeSelector
from tests.support.elasticsearch import document, load

Hosts = list[str]


@pytest.fixture
def requested_hosts(monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """The hosts of all requests, in order."""
    hosts: Hosts = []
    send = Urllib3HttpNode.perform_request

    def record(self: Urllib3HttpNode, *arguments: object, **options: object) -> object:
        hosts.append(self.config.host)
        return send(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", record)
    return hosts


@pytest.fixture
def nodes() -> Iterator[list[Urllib3HttpNode]]:
    nodes = [Urllib3HttpNode(NodeConfig("http", f"node{n}", 9200)) for n in range(3)]
    yield nodes
    for node in nodes:
        node.close()


@pytest.mark.elasticsearch
def test_each_search_uses_one_node_and_the_next_search_another(where: str, requested_hosts: Hosts) -> None:
    load(where, [document("news", "A flood at the bank.", "A river.")])
    parts = urlsplit(where)
    assert parts.hostname == "127.0.0.1"
    with esr.open(f"http://127.0.0.1:{parts.port},localhost:{parts.port}{parts.path}") as searcher:
        first_hosts = []
        for query in ("flood", "bank", "river", "flood bank"):
            requested_hosts.clear()
            assert searcher.search(query).hits
            assert len(requested_hosts) > 1 and len(set(requested_hosts)) == 1
            first_hosts += requested_hosts[:1]
    assert set(first_hosts) == {"127.0.0.1", "localhost"}
    assert all(before != after for before, after in pairwise(first_hosts))


def test_a_thread_stays_with_a_node_until_it_fails(nodes: list[Urllib3HttpNode]) -> None:
    selector = StickyNodeSelector([node.config for node in nodes])
    first = selector.select(nodes)
    assert [selector.select(nodes) for _ in range(5)] == [first] * 5
    left = [node for node in nodes if node is not first]
    second = selector.select(left)
    assert second in left
    assert selector.select(nodes) is second, "the node that failed is available again"


def test_threads_begin_with_different_nodes(nodes: list[Urllib3HttpNode]) -> None:
    selector = StickyNodeSelector([node.config for node in nodes])
    selected = []
    for _ in nodes:
        thread = threading.Thread(target=lambda: selected.append(selector.select(nodes)))
        thread.start()
        thread.join()
    assert sorted(map(id, selected)) == sorted(map(id, nodes))
