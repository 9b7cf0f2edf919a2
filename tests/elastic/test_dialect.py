"""What OpenSearch is sent in place of what Elasticsearch is sent. test_servers.py runs it on real nodes."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from esr import resources
from esr.elastic.api_keys import issue_api_key
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import ELASTICSEARCH, OPENSEARCH
from esr.elastic.documents import indexed_field
from esr.elastic.meta import Load
from esr.elastic.requests import msearch, search
from esr.elastic.write.enrichment import replace_parts, send_updates
from esr.errors import EsrError, IndexUnusable, UsageError
from esr.index.writer import Description
from esr.plans.plan import FieldName
from tests.support.web_servers import answer, serving

SCRIPTS = resources.list_names("scripts", ".painless")
FOREIGN = ("_termStats", "dotProduct", "0x")
"""What scripts of OpenSearch do not know."""
TEMPLATES = ["components/esr-sentences", "components/esr-documents", "indices/esr-documents"]
FOREIGN_TYPES = ("sparse_vector", "flattened", "dense_vector", "allow_auto_create")


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_keeps_what_opensearch_does_not_know(name: str) -> None:
    source = resources.read_text(f"scripts/{name}.painless")
    assert ELASTICSEARCH.scripts(name, source) == {name: source}
    translated = OPENSEARCH.scripts(name, source)
    assert (name in translated) is (name not in OPENSEARCH.missing_scripts)
    assert not [part for part in FOREIGN for text in translated.values() if part in text]
    assert not translated or OPENSEARCH.scripts(name, translated[name]) == {name: translated[name]}


@pytest.mark.parametrize(
    "path", ["components/esr-sentences", "components/esr-documents", "indices/esr-sentences"]
)
def test_no_template_keeps_a_type_that_opensearch_does_not_know(path: str) -> None:
    template = resources.load_json(f"{path}.json")
    assert ELASTICSEARCH.template(template) is template
    translated = json.dumps(OPENSEARCH.template(template))
    assert not [name for name in FOREIGN_TYPES if name in translated]


def test_a_script_gets_the_term_of_its_query_and_the_fields_in_order() -> None:
    own = {"bool": {"must": [{"term": {"context": "flood"}}], "should": [{"term": {"text": "flood"}}]}}
    script = {"id": "esr-mixture-list-v1", "params": {"numbers": [1]}}
    inner = {"script_score": {"query": own, "script": script}}
    outer = {"id": "esr-score-v2", "params": {"offset": 2}}
    query = {"bool": {"should": [inner], "filter": [{"term": {"text": "other"}}]}}
    body = {"query": {"script_score": {"query": query, "script": outer}}}
    translated = OPENSEARCH.search(body)["query"]["script_score"]
    assert translated["script"] == outer, "it counts nothing"
    (clause,) = translated["query"]["bool"]["should"]
    params = clause["script_score"]["script"]["params"]
    assert params == {"numbers": [1], "fields": ["text", "context"], "term": "flood"}
    assert ELASTICSEARCH.search(body) is body


@pytest.mark.parametrize("script", ["esr-mixture-v2", "esr-mixture-list-v1", "esr-saturation-v1"])
def test_terms_by_language_are_counted_by_a_script_of_their_own(script: str) -> None:
    """Scripts of other indices stay as they are, also while an earlier version of esr stores its own."""
    names: tuple[FieldName, ...] = ("document", "sentence", "surrounding")
    fields = {name: indexed_field(name, "de|flut") for name in names}
    query = {"bool": {"should": [{"term": {field: "de|flut"}} for field in fields.values()]}}
    body = {"query": {"script_score": {"query": query, "script": {"id": script}}}}
    translated = OPENSEARCH.search(body)["query"]["script_score"]["script"]
    nested = [fields["sentence"], fields["surrounding"], fields["document"]]
    assert translated["params"] == {"term": "de|flut", "fields": nested}
    scripts = OPENSEARCH.scripts(script, resources.read_text(f"scripts/{script}.painless"))
    assert translated["id"] != script
    for id, inner in ((script, ["text", "surrounding"]), (translated["id"], nested[:2])):
        assert re.findall(r"termFreq\('([^']+)'", scripts[id]) == inner


def test_a_weight_is_found_under_the_name_that_it_is_stored_under() -> None:
    entry = OPENSEARCH.entry({"lifts": {"3.14": 1.0, " ": 2.0}, "metadata": {"desk": ["Berlin"]}})
    assert entry["metadata_values"] == ["desk\x1fBerlin"]
    clause = {"term": {"lifts": {"value": "3.14", "boost": 4.0}}}
    query = OPENSEARCH.search({"bool": {"should": [clause, {"term": {"text": "3.14"}}]}})
    first, second = query["bool"]["should"]
    (name,) = (name for name in entry["lifts"] if name != " ")
    assert first == {"rank_feature": {"field": f"lifts.{name}", "linear": {}, "boost": 4.0}}
    assert "." not in name and second == {"term": {"text": "3.14"}}


def test_the_template_that_an_index_stores_names_what_opensearch_counts() -> None:
    """The clients fill it in, and know no dialect."""
    load = Load("news-1-esr-sentences", Description("english", True), is_complete=True, owner="")
    for dialect, fields in ((ELASTICSEARCH, None), (OPENSEARCH, ["text", "surrounding", "context"])):
        stored = json.loads(load.as_meta(dialect)["esr"]["request"])
        params = stored["clause"]["script_score"]["script"]["params"]
        assert (params.get("term"), params.get("fields")) == (fields and "$term", fields)
        counted = stored["statistics"]["occurrences"]["query"]["script_score"]["script"]["params"]
        assert counted == {"term": "$term", "fields": ["text"]}


class Server(ThreadingHTTPServer):
    """Answers as OpenSearch does, with or without the header that says so. `taken` are the requests."""

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.headers = headers
        self.version = "2.19.6"
        self.first_requests: threading.Barrier | None = None
        """Where requests in a form that it refuses wait for each other."""
        self.page: int | None = None
        """The status with which a proxy in front of it answers searches by a page, if it does."""
        self.content = ("text/html", b"<html>Not now</html>")
        self.taken: list[tuple[str, str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        kind = self.headers.get("Content-Type") or ""
        if "vnd.elasticsearch" in kind:
            if self.server.first_requests is not None:
                self.server.first_requests.wait(10)
            self._refuse(kind)
            return
        self.server.taken.append((self.command, self.path, body))
        if self.server.page is not None and "_search" in self.path:
            kind, page = self.server.content
            answer(page, self.server.page, kind)(self)
        elif self.path == "/":
            self._answer(200, {"version": {"distribution": "opensearch", "number": self.server.version}})
        elif "point_in_time" in self.path:
            self._answer(200, {"pit_id": "p"})
        elif self.path.startswith("/_bulk"):
            refused = {"_id": "a", "status": 400, "error": {"type": "mapper_exception", "reason": "too long"}}
            self._answer(200, {"errors": True, "items": [{"update": refused}]})
        else:
            whole = {"_shards": {"total": 1, "failed": 0}, "hits": {"hits": []}, "timed_out": False}
            is_many = self.path.startswith("/_msearch")
            self._answer(200, {"responses": [whole] * (body.count("\n") // 2)} if is_many else whole)

    do_POST = do_PUT = do_DELETE = do_GET

    def _refuse(self, kind: str) -> None:
        if "X-Elastic-Product" in self.server.headers:  # an older one
            error = {"type": "media_type_header_exception", "reason": "Invalid media-type value"}
            self._answer(400, {"error": error, "status": 400})
        else:
            self._answer(406, {"error": f"Content-Type header [{kind}] is not supported", "status": 406})

    def _answer(self, status: int, body: Any) -> None:
        answer(json.dumps(body), status, "application/json", **self.server.headers)(self)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(params=[{}, {"X-OpenSearch-Version": "OpenSearch/3.9.0 (opensearch)"}], ids=["2.19", "3"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with serving(Server(request.param)) as server:
        yield server


@pytest.fixture
def cluster(server: Server) -> Iterator[Cluster]:
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        yield cluster


def test_the_first_request_is_sent_again_as_opensearch_takes_it(server: Server, cluster: Cluster) -> None:
    search(cluster, index="news", query={"term": {"lifts": "a"}})
    search(cluster, index="news", query={"term": {"lifts": "b"}})
    assert cluster.dialect is OPENSEARCH
    bodies = [json.loads(body) for _, path, body in server.taken if "_search" in path]
    names = [body["query"]["rank_feature"]["field"] for body in bodies]
    assert names == ["lifts.a", "lifts.b"]


@pytest.mark.parametrize(
    "server", [{}, {"X-OpenSearch-Version": "3"}, {"X-Elastic-Product": "Elasticsearch"}], indirect=True
)
def test_first_requests_of_several_threads_are_all_sent_again(server: Server, cluster: Cluster) -> None:
    server.first_requests = threading.Barrier(3)
    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(search, cluster, index="news", size=n) for n in range(3)]
        assert [answer.result()["hits"]["hits"] for answer in answers] == [[], [], []]
    sizes = [json.loads(body)["size"] for _, path, body in server.taken if "_search" in path]
    assert sorted(sizes) == [0, 1, 2]


def test_named_scores_are_asked_for_one_search_at_a_time(server: Server, cluster: Cluster) -> None:
    plain = [{"index": "a"}, {"query": {"match_all": {}}}, {"index": "b"}, {"size": 0}]
    assert len(msearch(cluster, plain)) == 2
    named = [{"index": "c", "search_type": "dfs_query_then_fetch"}, {"query": {"match_all": {"_name": "x"}}}]
    assert len(msearch(cluster, [*plain, *named])) == 3
    paths = [path for _, path, _ in server.taken if path != "/"]
    names = "include_named_queries_score=true"
    assert paths[0] == "/_msearch"
    assert paths[1:] == [f"/{index}/_search?{names}" for index in "ab"] + [
        f"/c/_search?{names}&search_type=dfs_query_then_fetch"
    ]


@pytest.mark.parametrize(
    "content", [("text/html", b"<html>Not now</html>"), ("application/json", b'{"error": "no"}')]
)
@pytest.mark.parametrize(("status", "message"), [(200, "is not Elasticsearch"), (502, "not ready")])
def test_the_page_of_a_proxy_is_no_answer_to_one_search_of_several(
    server: Server, cluster: Cluster, status: int, message: str, content: tuple[str, bytes]
) -> None:
    assert cluster.dialect is OPENSEARCH
    server.page, server.content = status, content
    with pytest.raises(EsrError, match=message):
        msearch(cluster, [{"index": "c"}, {"query": {"match_all": {"_name": "x"}}}])


def test_points_in_time_are_opened_and_closed_where_opensearch_has_them(
    server: Server, cluster: Cluster
) -> None:
    assert cluster.dialect is OPENSEARCH
    answer = cluster.client.open_point_in_time(index="news", keep_alive="1m")
    cluster.client.close_point_in_time(id=answer["id"])
    (opened, closed) = server.taken[-2:]
    assert opened[:2] == ("POST", "/news/_search/point_in_time?keep_alive=1m")
    assert closed == ("DELETE", "/_search/point_in_time", '{"pit_id":["p"]}')


def test_messages_name_the_server(server: Server, cluster: Cluster) -> None:
    cluster.check_version()
    assert cluster.server() == "OpenSearch 2.19.6"
    server.version = "2.11.0"
    with pytest.raises(IndexUnusable, match=r"OpenSearch at .* has version 2\.11: esr needs 2\.19 or later"):
        cluster.check_version()


def test_a_refusal_names_the_server(cluster: Cluster) -> None:
    with pytest.raises(EsrError, match=r"^OpenSearch rejected the enrichment of a: .*too long"):
        send_updates(cluster, [replace_parts("i", "a", ["entities:1"], {})])


def test_keys_are_refused_where_there_are_none(server: Server, cluster: Cluster) -> None:
    with pytest.raises(UsageError, match=r"OpenSearch .* has no API keys"):
        issue_api_key(cluster.where, {})
