"""Requests to the nodes of a cluster: routing, failover, media types and JSON.

`TwoNodes` is one real node under two names. Requests and responses of the second are changed to those of a
node that missed the last load: aliases lead to the indices before it, and the new names stand for their
content. A search whose node dies continues at such a node. tests/index/test_chaos.py freezes real nodes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from elastic_transport import (
    ConnectionError,
    NodeConfig,
    Urllib3HttpNode,
)
from elasticsearch.exceptions import SerializationError
from elasticsearch.serializer import JsonSerializer

import esr
from esr.elastic import requests, statistics, vocabulary
from esr.elastic import vocabulary as values
from esr.elastic.cluster import Cluster
from esr.elastic.connection import AliasTargets, FastJsonSerializer, StickyNodeSelector
from esr.elastic.dialect import is_answer
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.statistics import AliasStatistics
from esr.elastic.vocabulary import NameReader, ValueReader
from esr.elastic.write.delivery import ElasticsearchDelivery
from esr.elastic.write.maintenance import ElasticsearchGenerations, ElasticsearchPriors
from esr.errors import EngineUnreachable, EsrError, IndexUnusable
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, http, load
from tests.support.web_servers import serving


@pytest.mark.parametrize(
    "open_index",
    [
        ElasticsearchIndex,
        ElasticsearchGenerations,
        ElasticsearchPriors,
        lambda where: ElasticsearchDelivery(where, LoadOptions()),
    ],
)
def test_an_index_that_does_not_open_leaves_no_connections(
    open_index: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Cluster] = []
    monkeypatch.setattr(Cluster, "close", lambda cluster: closed.append(cluster))
    with pytest.raises(EngineUnreachable):
        open_index("http://localhost:9/news")
    assert len(closed) == 1


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
            return answer._replace(body=changed.encode())
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
def opened_at_the_first(where: str) -> Iterator[esr.ranking.searcher.Searcher]:
    """A searcher whose next search begins at the node that dies."""
    with open_searcher(where) as searcher:
        cluster = searcher.index.cluster  # type: ignore[attr-defined]
        cluster.switch_node()
        while "127.0.0.1" not in cluster.client.info().meta.node.host:
            cluster.switch_node()
        cluster.switch_node()
        cluster.client.info()
        yield searcher


def search(searcher: esr.ranking.searcher.Searcher) -> Hits:
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


@pytest.mark.elasticsearch
def test_no_answer_is_mixed_of_two_loads(two_nodes: tuple[TwoNodes, str]) -> None:
    nodes, where = two_nodes
    nodes.stale_answers = 0
    with open_searcher(where) as searcher:
        expected = search(searcher)
    found = answers(nodes, where)
    assert len(found) > 3, "no search died in its middle"
    assert nodes.stale_searches, "the node that came back was never asked"
    # A search that begins at the node that came back is of the old collection, whole.
    assert all(hits == expected for hits in found[1:]), found


@pytest.mark.elasticsearch
def test_without_the_question_where_aliases_lead_answers_would_be_mixed(
    two_nodes: tuple[TwoNodes, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cluster, "is_current", lambda self, node: True)
    nodes, where = two_nodes
    nodes.stale_answers = 0
    with open_searcher(where) as searcher:
        expected = search(searcher)
    assert any(hits != expected for hits in answers(nodes, where)[1:])


@pytest.mark.elasticsearch
def test_a_node_that_stays_behind_is_an_error_and_no_answer(two_nodes: tuple[TwoNodes, str]) -> None:
    nodes, where = two_nodes
    nodes.stale_answers = 0
    with opened_at_the_first(where) as searcher:
        nodes.requests_left, nodes.stale_answers = 2, 10**6
        with pytest.raises(EngineUnreachable, match="search again"):
            search(searcher)


REFUSED = {"error": {"type": "media_type_header_exception", "reason": "Invalid media-type"}, "status": 400}
NEWER, PLAIN = "application/vnd.elasticsearch+json; compatible-with=9", "application/json"


class Server(ThreadingHTTPServer):
    """Notes the media types that it is asked for and sent, and knows only some of them."""

    known: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.sent: list[str | None] = []
        self.paths: list[str] = []


ANY_ANSWER = {
    "version": {"number": "8.19.14"},
    "_shards": {"total": 1, "failed": 0},
    "hits": {"hits": []},
}
"""What answers the requests of these tests, whichever it is."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    kind = PLAIN

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(self.headers["Accept"])
        self.server.sent.append(self.headers.get("Content-Type"))
        self.server.paths.append(self.path)
        is_known = self.headers["Accept"] in self.server.known
        text = json.dumps(ANY_ANSWER if is_known else REFUSED).encode()
        self.send_response(200 if is_known else 400)
        for name, value in (("X-elastic-product", "Elasticsearch"), ("Content-Type", self.kind)):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


def test_a_server_is_asked_once_for_a_form_that_it_does_not_have(server: Server) -> None:
    server.known = (PLAIN,)
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        assert cluster.version() == (8, 19)
        cluster.client.search(index="news", query={"match_all": {}})
        cluster.client.bulk(operations=[{"delete": {"_id": "1"}}], index="news")
    assert server.asked == [NEWER, PLAIN, PLAIN, PLAIN]
    assert server.sent[2:] == ["application/json", "application/x-ndjson"]


def test_a_server_of_the_clients_version_is_asked_for_its_form(server: Server) -> None:
    server.known = (NEWER,)
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        cluster.version()
        cluster.client.search(index="news", query={"match_all": {}})
    assert server.asked == [NEWER, NEWER]


def test_a_server_is_asked_under_the_path_of_its_proxy(server: Server) -> None:
    server.known = (NEWER,)
    where = f"http://127.0.0.1:{server.server_address[1]}/search/de/news"
    with closing(Cluster(where)) as cluster:
        cluster.version()
        cluster.client.search(index=cluster.alias)
        assert cluster.where == where
    assert server.paths == ["/search/de/", "/search/de/news/_search"]


@pytest.mark.parametrize(
    ("request_line", "body", "expected"),
    [
        ("GET /", {"version": {"number": "9.4.3"}}, True),
        ("GET /", {}, False),
        ("GET /", {"version": "9"}, False),
        ("POST /news/_search?size=1", ANY_ANSWER, True),
        ("POST /news/_search", None, False),
        ("POST /news/_search", [], False),
        ("POST /news/_search", {"hits": {"hits": []}}, False),
        ("POST /news/_search", {**ANY_ANSWER, "hits": []}, False),
        ("POST /news/_search", {**ANY_ANSWER, "_shards": {"total": 1}}, False),
        ("POST /_msearch", {"responses": [ANY_ANSWER, {"error": {}, "status": 400}]}, True),
        ("POST /_msearch", {"responses": [{}]}, False),
        ("POST /_msearch", {"error": "login"}, False),
        ("GET /news/_mapping", {"news-1": {"mappings": {}}}, True),
        ("GET /news/_mapping", {"error": "login"}, False),
        ("GET /_alias/news", {"news-1": {"aliases": {}}}, True),
        ("GET /_alias/news", {"status": "ok"}, False),
        ("PUT /news-1/_settings", {"acknowledged": True}, True),
        ("POST /_aliases", {"acknowledged": True}, True),
        ("POST /_bulk", "a page", False),
    ],
)
def test_json_that_is_no_answer_to_a_request_is_told_apart(
    request_line: str, body: Any, expected: bool
) -> None:
    method, _, target = request_line.partition(" ")
    assert is_answer(method, target, body) == expected


def test_a_page_in_place_of_an_answer_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.known = (NEWER,)
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        cluster.version()
        monkeypatch.setattr(Handler, "kind", "text/html")
        with pytest.raises(IndexUnusable, match="it answered 200 without"), cluster.translate_errors():
            cluster.client.search(index="news")


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
    with open_searcher(f"http://127.0.0.1:{parts.port},localhost:{parts.port}{parts.path}") as searcher:
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


@pytest.mark.parametrize(
    "text",
    [
        '{"hits": [{"_score": 1.25, "sort": [-3.5e-7, 12]}], "timed_out": false, "max": null}',
        '["ä𝒳", "\\u00e4\\ud835\\udcb3", "\\ud800"]',
        "[123456789012345678901234567890, 1e400]",
        "{}",
    ],
)
def test_an_answer_is_what_python_reads(text: str) -> None:
    assert FastJsonSerializer().loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize("text", ["{", "[1,]"])
def test_what_is_no_json_is_an_error_of_the_client(text: str) -> None:
    with pytest.raises(SerializationError):
        FastJsonSerializer().loads(text.encode())


def test_a_page_that_a_proxy_calls_json_is_its_text() -> None:
    assert FastJsonSerializer().loads(b"<h1>502 Bad Gateway</h1>") == "<h1>502 Bad Gateway</h1>"


@pytest.mark.parametrize(
    "request_body",
    [
        {"query": {"term": {"text": {"value": "ä𝒳", "boost": 0.1}}}, "size": 10, "track_total_hits": False},
        {"params": {"numbers": [1e-300, 12345678901234567890, -0.0, 9.070897348695905e-05, True, None]}},
        {"tuple": (1, 2), "quoted": 'a "b" \\ \n', "half a surrogate pair": "\ud800"},
        {"numpy": [np.float64(0.5), np.int64(3), np.float32(0.25)]},
    ],
)
def test_a_request_says_what_python_writes(request_body: dict[str, Any]) -> None:
    written = FastJsonSerializer().dumps(request_body).decode("utf-8", "surrogatepass")
    assert json.loads(written) == json.loads(JsonSerializer().dumps(request_body))


def test_what_json_does_not_have_is_an_error_of_the_client() -> None:
    with pytest.raises(SerializationError):
        FastJsonSerializer().dumps({"object": object()})


# What readers cache may be cleared by another thread at any moment: they answer with what they have read.


class _ClearedAtOnce:
    """A reader whose caches another thread finds too old as soon as something is in them."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("_features", "_aliases") and value is not None:
            self._expire()  # type: ignore[attr-defined]


class _ClearedStatistics(_ClearedAtOnce, AliasStatistics):
    pass


class _ClearedNames(_ClearedAtOnce, NameReader):
    pass


@pytest.fixture
def expire_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (vocabulary, statistics):
        monkeypatch.setattr(module, "MAX_AGE", -1.0)


@pytest.mark.usefixtures("expire_at_once")
def test_features_that_are_cleared_at_once_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "read_features", lambda _cluster: ["length"])
    with closing(Cluster("http://localhost:9/news")) as cluster:
        assert _ClearedStatistics(cluster).features() == ["length"]


@pytest.mark.usefixtures("expire_at_once")
def test_aliases_that_are_cleared_at_once_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary.meta, "aliased_loads", lambda _cluster: [])
    with closing(Cluster("http://localhost:9/news")) as cluster:
        assert _ClearedNames(cluster).aliases is vocabulary.NO_ALIASES


@pytest.mark.usefixtures("expire_at_once")
def test_keys_of_metadata_that_are_typed_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "read_value_counts", lambda _cluster, _name: [("desk", 1)])
    with closing(Cluster("http://localhost:9/news")) as cluster:
        reader = ValueReader(cluster, is_pinned=True)
        tables = {id(reader.values(f"meta.{key}")) for key in ("desk", "DESK", "Desk", *map(str, range(50)))}
    assert len(tables) == 2


# Threads that see the alias at different loads


class WatchedTargets(AliasTargets):
    """Targets that let something happen while they are compared."""

    meanwhile: Callable[[], Any] | None = None

    def __ne__(self, other: object) -> bool:
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        return tuple(self) != tuple(other)  # type: ignore[call-overload]


def test_a_snapshot_is_of_the_load_that_its_thread_saw_whatever_another_one_sees_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another thread may see the next load at a node which this thread does not ask."""

    class Reported:
        where, description, analyzer, alias = "http://es/news", None, None, "news"
        targets = WatchedTargets("news-1", "news-1-documents")
        closed_on_error = translate_errors = nullcontext

        def switch_node(self) -> None:
            pass

        def look_up_targets(self, *, in_part: bool = False) -> AliasTargets:
            return self.targets

        def pin(self, targets: AliasTargets) -> Any:
            return SimpleNamespace(where=self.where, alias=targets.sentences)

    cluster = Reported()
    monkeypatch.setattr("esr.elastic.index.Cluster", lambda where: cluster)
    monkeypatch.setattr(
        "esr.elastic.index.OpenedAlias",
        lambda cluster, is_pinned=False: SimpleNamespace(cluster=cluster, description=None, analyzer=None),
    )
    index = ElasticsearchIndex("http://es/news")

    def see_next_load() -> None:
        cluster.targets = WatchedTargets("news-2", "news-2-documents")
        assert index.snapshot().cluster.alias == "news-2"

    assert index.snapshot().cluster.alias == "news-1"
    cluster.targets.meanwhile = see_next_load
    assert index.snapshot().cluster.alias == "news-1"
    assert index.snapshot().cluster.alias == "news-2"
