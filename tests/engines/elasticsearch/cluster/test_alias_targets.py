"""A search whose node dies goes on at one that just came back, and knows only what was there before.

A real node answers under two names. Behind the second, requests and answers are changed to those of a node
that missed the last load: aliases lead to the indices before it, and the new names stand for what these hold.
test_cluster_chaos.py freezes real nodes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from elastic_transport import ConnectionError, Urllib3HttpNode
from elastic_transport._node import NodeApiResponse

import esr
from esr.engines.elasticsearch.cluster import requests
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.errors import EngineUnreachable, EsrError
from tests.support.elasticsearch import document, http, load

pytestmark = pytest.mark.elasticsearch
OLD = [document("old", "A flood at the bank.", "A river.")]
NEW = [document("new", "The bank rises above the river.", "Flood relief.", "A flood, a bank, a flood.")]
Hits = list[tuple[str, float]]


class TwoNodes:
    """`127.0.0.1` dies after some requests; `localhost` has missed the last load until it was asked twice
    where an alias leads."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new
        self.requests_left = 10**6
        self.stale_answers = 2
        self.stale_searches = 0

    def perform(
        self,
        send: Callable[..., Any],
        node: Urllib3HttpNode,
        method: str,
        target: str,
        body: Any,
        **options: Any,
    ) -> Any:
        if node.config.host == "127.0.0.1":
            self.requests_left -= 1
            if self.requests_left < 0:
                raise ConnectionError("this node is dead")
            return send(node, method, target, body, **options)
        if self.stale_answers <= 0:
            return send(node, method, target, body, **options)
        if "/_alias/" in target:
            self.stale_answers -= 1
            answer = send(node, method, target, body, **options)
            old_answer = {
                index: value for index, value in json.loads(answer.body).items() if self._new in index
            }
            changed = json.dumps(old_answer).replace(self._new, self._old)
            return NodeApiResponse(answer.meta, changed.encode())
        self.stale_searches += 1
        body = body and body.replace(self._new.encode(), self._old.encode())
        return send(node, method, target.replace(self._new, self._old), body, **options)


@pytest.fixture
def two_nodes(where: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TwoNodes, str]]:
    """The nodes, and a location that names both."""
    load(where, OLD, keep=1)
    load(where, NEW, if_exists="replace", keep=1)
    parts = urlsplit(where)
    base, alias = f"{parts.scheme}://{parts.netloc}", parts.path.strip("/")
    old, new = sorted(
        name.removesuffix("-esr-sentences")
        for name in http("GET", f"{base}/{alias}-*-esr-sentences/_settings")
    )
    nodes = TwoNodes(old, new)
    send = Urllib3HttpNode.perform_request

    def perform(self: Urllib3HttpNode, method: str, target: str, body: Any = None, **options: Any) -> Any:
        return nodes.perform(send, self, method, target, body, **options)

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", perform)
    monkeypatch.setattr(requests, "PAUSES", (0.01, 0.01, 0.01))
    yield nodes, f"http://127.0.0.1:{parts.port},localhost:{parts.port}/{alias}"


@contextmanager
def opened_at_the_first(where: str) -> Iterator[esr.Searcher]:
    """A searcher whose next search begins at the node that dies."""
    with esr.open(where) as searcher:
        cluster = searcher.index.cluster  # type: ignore[attr-defined]
        cluster.switch_node()
        while "127.0.0.1" not in cluster.client.info().meta.node.host:
            cluster.switch_node()
        cluster.switch_node()
        cluster.client.info()
        yield searcher


def search(searcher: esr.Searcher) -> Hits:
    answer = searcher.search("flood bank", 10)
    return [(hit.sentence_id, hit.score) for hit in answer.hits]


def answers(nodes: TwoNodes, where: str) -> list[Hits | EsrError]:
    """What a search answers whose node dies before its first request, its second, and so on."""
    collected: list[Hits | EsrError] = []
    while not collected or nodes.requests_left < 0:
        nodes.requests_left, nodes.stale_answers = 10**6, 0
        with opened_at_the_first(where) as searcher:
            nodes.requests_left, nodes.stale_answers = len(collected), 2
            try:
                collected.append(search(searcher))
            except EsrError as error:
                collected.append(error)
        assert len(collected) < 30
    return collected


def test_no_answer_is_mixed_of_two_loads(two_nodes: tuple[TwoNodes, str]) -> None:
    nodes, where = two_nodes
    nodes.stale_answers = 0
    with esr.open(where) as searcher:
        expected = search(searcher)
    found = answers(nodes, where)
    assert len(found) > 3, "no search died in its middle"
    assert nodes.stale_searches, "the node that came back was never asked"
    # A search that begins at the node that came back is of the old collection, whole.
    assert all(hits == expected for hits in found[1:]), found


def test_without_the_question_where_aliases_lead_answers_would_be_mixed(
    two_nodes: tuple[TwoNodes, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cluster, "is_current", lambda self, node: True)
    nodes, where = two_nodes
    nodes.stale_answers = 0
    with esr.open(where) as searcher:
        expected = search(searcher)
    assert any(hits != expected for hits in answers(nodes, where)[1:])


def test_a_node_that_stays_behind_is_an_error_and_no_answer(two_nodes: tuple[TwoNodes, str]) -> None:
    nodes, where = two_nodes
    nodes.stale_answers = 0
    with opened_at_the_first(where) as searcher:
        nodes.requests_left, nodes.stale_answers = 2, 10**6
        with pytest.raises(EngineUnreachable, match="search again"):
            search(searcher)
