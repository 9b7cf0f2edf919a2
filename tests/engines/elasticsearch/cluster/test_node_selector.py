"""What belongs together is asked of one node. tests/engines/test_cluster_chaos.py freezes real ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from elastic_transport import NodeConfig, Urllib3HttpNode

import esr
from esr.engines.elasticsearch.cluster.node_selector import StickyNodeSelector
from tests.engines.elasticsearch.support import document, load

Asked = list[str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The hosts that are asked, request by request."""
    hosts: Asked = []
    send = Urllib3HttpNode.perform_request

    def noted(self: Urllib3HttpNode, *arguments: object, **options: object) -> object:
        hosts.append(self.config.host)
        return send(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", noted)
    return hosts


@pytest.fixture
def nodes() -> Iterator[list[Urllib3HttpNode]]:
    made = [Urllib3HttpNode(NodeConfig("http", f"node{n}", 9200)) for n in range(3)]
    yield made
    for node in made:
        node.close()


@pytest.mark.elasticsearch
def test_each_search_asks_one_node_and_the_next_search_another(where: str, asked: Asked) -> None:
    load(where, [document("news", "A flood at the bank.", "A river.")])
    parts = urlsplit(where)
    assert parts.hostname == "127.0.0.1"
    with esr.open(f"http://127.0.0.1:{parts.port},localhost:{parts.port}{parts.path}") as searcher:
        turns = []
        for query in ("flood", "bank", "river", "flood bank"):
            asked.clear()
            assert searcher.search(query).hits
            assert len(asked) > 1 and len(set(asked)) == 1
            turns += asked[:1]
    assert set(turns) == {"127.0.0.1", "localhost"}
    assert all(before != after for before, after in pairwise(turns))


def test_a_thread_stays_with_a_node_until_it_fails(nodes: list[Urllib3HttpNode]) -> None:
    selector = StickyNodeSelector([node.config for node in nodes])
    first = selector.select(nodes)
    assert [selector.select(nodes) for _ in range(5)] == [first] * 5
    left = [node for node in nodes if node is not first]
    second = selector.select(left)
    assert second in left
    assert selector.select(nodes) is second, "the one that failed is there again"


def test_threads_begin_with_different_nodes(nodes: list[Urllib3HttpNode]) -> None:
    selector = StickyNodeSelector([node.config for node in nodes])
    chosen = []
    for _ in nodes:
        thread = threading.Thread(target=lambda: chosen.append(selector.select(nodes)))
        thread.start()
        thread.join()
    assert sorted(map(id, chosen)) == sorted(map(id, nodes))
