"""What can go wrong with a server: one clear error for each, and nothing missing goes unreported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from esr.elastic import documents
from esr.elastic.cluster import Cluster
from esr.elastic.connection import REQUEST_TIMEOUT, SEARCH_TIMEOUT
from esr.elastic.login import with_advice
from esr.elastic.requests import search
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, UsageError
from esr.index.contract import read_document
from esr.index.factory import open_writer
from esr.index.limits import within
from esr.index.questions import Records
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, http, indices, load, make_failing_load, record_timeouts
from tests.support.web_servers import serving

DOCUMENTS = [document(f"d{n}", f"A flood in town {n}.", "A river.", "The bank of it.") for n in range(40)]


@contextmanager
def stand_in(status: int, body: Any, headers: dict[str, str] | None = None) -> Iterator[str]:
    """A server that answers everything alike."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            defaults = {"Content-Type": "text/html" if isinstance(body, str) else "application/json"}
            self.send_response(status)
            for name, value in {**defaults, "Content-Length": str(len(text)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

        def log_message(self, *args: Any) -> None:
            pass

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/news"


def search_and_load(where: str) -> list[Callable[[], Any]]:
    """Opens the location to search it, and to load into it."""
    return [lambda: open_searcher(where), lambda: open_writer(where, LoadOptions())]


ELASTIC = {"X-elastic-product": "Elasticsearch"}
MEDIA_TYPE = {
    "error": {
        "root_cause": [],
        "type": "media_type_header_exception",
        "reason": "Invalid media-type value on headers [Accept]",
        "caused_by": {
            "type": "status_exception",
            "reason": "A compatible version is required, compatible-with=9",
        },
    },
    "status": 400,
}


def test_a_search_that_runs_out_of_time_in_a_script_is_not_a_bad_request() -> None:
    cause = {"type": "script_exception", "caused_by": {"type": "time_exceeded_exception", "reason": None}}
    shards = [{"shard": 0, "reason": cause | {"reason": "runtime error"}}]
    failed = {"type": "search_phase_execution_exception", "reason": "all", "failed_shards": shards}
    with stand_in(400, {"error": failed, "status": 400}, ELASTIC) as where:
        cluster = Cluster(where)
        with pytest.raises(EngineUnreachable, match="did not answer in time"), cluster.translate_errors():
            cluster.client.search(index="news")


def test_a_blocked_index_says_who_may_have_blocked_it_and_until_when() -> None:
    advice = with_advice("index [news-1] blocked by: [FORBIDDEN/8/index write (api)];")
    assert "remove its setting index.blocks.write if you have set it" in advice
    assert "A delivery blocks it for seconds" in advice and advice.endswith("after 15 minutes")


@pytest.mark.parametrize("status", [400, 500])  # Elasticsearch 9 and, before it, all others
@pytest.mark.parametrize(
    ("headers", "message"),
    [
        (
            ELASTIC,
            r"for Elasticsearch, which takes 1,277 clauses: leave some out, or give its nodes more memory",
        ),
        (
            {"X-OpenSearch-Version": "3"},
            r"for OpenSearch, .* or raise its setting indices\.query\.bool\.max_cl",
        ),
    ],
)
def test_a_search_of_too_many_words_is_wrong_itself(
    status: int, headers: dict[str, str], message: str
) -> None:
    reason = "Query contains too many nested clauses; maxClauseCount is set to 1277"
    shards = [{"shard": 0, "reason": {"type": "too_many_nested_clauses", "reason": reason}}]
    failed = {"type": "search_phase_execution_exception", "reason": "all", "failed_shards": shards}
    body = {"error": {**failed, "root_cause": [shards[0]["reason"]]}, "status": status}
    with (
        stand_in(status, body, headers) as where,
        closing(Cluster(where)) as cluster,
        pytest.raises(UsageError, match=message),
    ):
        search(cluster, index="news")


@pytest.mark.parametrize(
    "status, body, headers, message",
    [
        (400, MEDIA_TYPE, ELASTIC, "too old: esr needs 8.19 or later"),
        (200, "<h1>It works</h1>", {}, "not Elasticsearch 8.19 or later.*: it answered 200 without"),
        (302, "", {"Location": "/login"}, "not Elasticsearch 8.19 or later.*: it answered 302 without"),
        (404, "<h1>Not found</h1>", {}, "not Elasticsearch 8.19 or later"),
        (403, {"no": "entry"}, {}, "not Elasticsearch 8.19 or later"),
    ],
)
def test_another_server_than_elasticsearch_is_refused(
    status: int, body: Any, headers: dict[str, str], message: str
) -> None:
    with stand_in(status, body, headers) as where:
        for call in search_and_load(where):
            with pytest.raises(IndexUnusable, match=message):
                call()


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        ({"message": "no route matched"}, {}, IndexUnusable),
        ({"error": {"code": 404, "message": "not found"}}, {}, IndexUnusable),
        ({"error": "alias [news] missing", "status": 404}, ELASTIC, IndexMissing),
        ({"error": "alias [news] missing", "status": 404}, {"X-OpenSearch-Version": "3"}, IndexMissing),
    ],
)
def test_an_alias_is_missing_only_if_the_server_itself_says_so(
    body: Any, headers: dict[str, str], expected: type[EsrError]
) -> None:
    """Without aliases, a switch would add indices to those that are served, and remove none."""
    with (
        stand_in(404, body, headers) as where,
        closing(Cluster(where)) as cluster,
        pytest.raises(expected),
        cluster.translate_errors(),
    ):
        cluster.look_up_targets()


def test_an_old_version_is_not_loaded_into() -> None:
    with (
        stand_in(200, {"version": {"number": "8.17.3"}}, ELASTIC) as where,
        pytest.raises(IndexUnusable, match=r"has version 8\.17: esr needs 8\.19 or later"),
    ):
        open_writer(where, LoadOptions())


@pytest.mark.parametrize(
    "status, message",
    [
        (401, "requires a login: set ESR_API_KEY"),
        (413, "rejects a request for its size: .*client_max_body_size"),
        (429, "is overloaded or not ready"),
    ],
)
def test_what_a_proxy_answers_for_the_server_is_told(status: int, message: str) -> None:
    with stand_in(status, "<h1>No</h1>") as where:
        for call in search_and_load(where):
            with pytest.raises(EsrError, match=message):
                call()


def test_a_closed_index_is_named() -> None:
    name = "news-1-esr-sentences"
    closed = {"type": "index_closed_exception", "reason": "closed", "index": name}
    with stand_in(400, {"error": {**closed, "root_cause": [closed]}, "status": 400}, ELASTIC) as where:
        for call in search_and_load(where):
            with pytest.raises(IndexUnusable, match=f"^{name} is closed: open it with POST {name}/_open$"):
                call()


@pytest.mark.parametrize("status", [429, 503])
def test_an_overloaded_server_is_reported(status: int) -> None:
    body = {"error": {"type": "busy", "reason": "too many requests"}, "status": status}
    with stand_in(status, body, ELASTIC) as where:
        for call in search_and_load(where):
            with pytest.raises(EngineUnreachable, match="overloaded or not ready: too many requests"):
                call()


def test_a_refused_connection_is_reported() -> None:
    for call in search_and_load("http://127.0.0.1:9/news"):
        with pytest.raises(
            EngineUnreachable, match=r"cannot reach Elasticsearch at http://127\.0\.0\.1:9: check"
        ):
            call()


@pytest.mark.parametrize(
    "where", ["http://localhost:9200", "http://localhost:9200/", "http://localhost:9200/A",
              "http://localhost/a b/c", "http://localhost:9200/a*", "http://localhost:x/a", "http:///a", "http://localhost:9200/_all"]
)  # fmt: skip
def test_a_malformed_location_is_a_usage_error(where: str) -> None:
    for call in search_and_load(where):
        with pytest.raises(UsageError, match="http"):
            call()


def test_a_password_is_not_shown() -> None:
    for where in (
        "http://me:secret@127.0.0.1:9/news",
        "http://me:secret@127.0.0.1:9/BAD",
        "http://me:secret@h:x/a",
        "http://me:a/secret@h/a",
        "ftp://me:secret@h/a",
    ):
        with pytest.raises(EsrError) as raised:
            open_searcher(where)
        assert "secret" not in str(raised.value)


def test_a_missing_alias_is_a_missing_index(where: str) -> None:
    with pytest.raises(IndexMissing, match=r"there is no index at .*: make one with esr load"):
        open_searcher(where)


def test_an_alias_that_was_removed_is_a_missing_index(where: str) -> None:
    load(where, DOCUMENTS)
    url, _, alias = where.rpartition("/")
    with open_searcher(where) as searcher:
        searcher.search("flood")
        for index in indices(url, alias):
            http("DELETE", f"{url}/{index}")
        with pytest.raises(IndexMissing, match="there is no index"):
            searcher.search("flood")
        with pytest.raises(IndexMissing, match="there is no index"):
            searcher.index.statistics(["river"])


def test_documents_that_are_read_too_slowly_are_no_missing_index(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elasticsearch keeps what is read for some minutes after each page. Here somebody else closes it."""
    monkeypatch.setattr(documents, "PAGE_SIZE", 1)
    load(where, DOCUMENTS)
    with closing(Cluster(where)) as cluster:
        begin, begun = cluster.client.open_point_in_time, []

        def record(**request: Any) -> Any:
            begun.append(begin(**request))
            return begun[0]

        monkeypatch.setattr(cluster.client, "open_point_in_time", record)
        read = documents.read_documents(cluster)
        assert next(read) == DOCUMENTS[0]
        cluster.client.close_point_in_time(id=begun[0]["id"])
        with pytest.raises(EsrError, match="has closed the read in progress: start again"):
            next(read)


def test_unknown_ids_are_refused(where: str) -> None:
    load(where, DOCUMENTS)
    with open_searcher(where) as searcher:
        with pytest.raises(UsageError, match="no sentence 'x'"):
            searcher.index.read(["d1.s0", "x"], Records())
        with pytest.raises(UsageError, match="no document 'x'"):
            read_document(searcher.index, "x")


def test_a_shard_that_fails_makes_the_answer_incomplete(where: str) -> None:
    """Behind the alias is also an entry without the lengths that the scripts need: its shard fails."""
    load(where, DOCUMENTS)
    url, _, _ = where.rpartition("/")
    actions = make_failing_load(where, "20990101t000000000000")
    with open_searcher(where) as searcher:
        assert searcher.search("flood").incomplete is None
        http("POST", f"{url}/_aliases", {"actions": actions})
        answer = searcher.search("flood", 100)
    assert answer.incomplete == "1 of 2 shards failed"
    assert {hit.sentence_id for hit in answer.hits} >= {f"d{n}.s0" for n in range(40)}


def test_a_missing_script_makes_the_index_unusable(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(where, DOCUMENTS)
    monkeypatch.setattr("esr.elastic.search.plan_query.LENGTH_LIST_SCRIPT", "esr-gone-v1")
    with open_searcher(where) as searcher, pytest.raises(IndexUnusable, match="lacks a stored script"):
        searcher.search("flood")


def test_a_search_that_takes_too_long_is_incomplete(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(where, DOCUMENTS)
    with open_searcher(where) as searcher:
        real = searcher.index.cluster.client.search  # type: ignore[attr-defined]

        def answer_late(**request: Any) -> Any:
            answer = real(**request)
            answer.body["timed_out"] = True
            return answer

        monkeypatch.setattr(searcher.index.cluster.client, "search", answer_late)  # type: ignore[attr-defined]
        assert searcher.search("flood").incomplete == "the search took longer than 20 seconds"


def test_a_search_waits_longer_than_elasticsearch_may_search() -> None:
    """A search gives up after the time that Elasticsearch itself may take, and is not tried again."""
    assert SEARCH_TIMEOUT < REQUEST_TIMEOUT <= 30
    for hosts, attempts in (("a:1", 1), ("a:1,b:1", 2), ("a:1,b:1,c:1,d:1", 3)):
        with closing(Cluster(f"http://{hosts}/news")) as cluster:
            assert cluster.search_seconds == pytest.approx(cluster.answer_seconds() * 2 / 3, abs=0.001)
            with within(6.0):
                assert cluster.search_seconds <= 4.0 / attempts


@pytest.mark.endurance
def test_a_node_that_hangs_or_dies_is_reported(
    start_elasticsearch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two nodes, the shards on both, no copies. First one hangs, then one is killed, then all are."""
    nodes = start_elasticsearch(nodes=2)
    where = f"{nodes.url}/news"
    load(where, DOCUMENTS, shards=4)
    for index in indices(nodes.url, "news"):
        settings = {"index": {"auto_expand_replicas": False, "number_of_replicas": 0}}
        http("PUT", f"{nodes.url}/{index}/_settings", settings)
    others = (Cluster.__init__.__defaults__ or ())[1:]
    monkeypatch.setattr(Cluster.__init__, "__defaults__", (3, *others))
    with open_searcher(where) as searcher:
        complete = searcher.search("flood", 100)
        assert (complete.total, complete.incomplete) == (120, None)

        nodes.nodes[0].pause()
        with monkeypatch.context() as patch:
            timeouts = record_timeouts(patch)
            with pytest.raises(EngineUnreachable, match=r"Elasticsearch at .* failed: Connection timed out"):
                searcher.search("flood")
        assert timeouts == [pytest.approx(3)], "a hanging node gets one request"
        nodes.nodes[0].resume()
        nodes.wait()
        monkeypatch.setattr(Cluster.__init__, "__defaults__", (30, *others))

    with open_searcher(where) as searcher:
        searcher.search("flood")
        monkeypatch.setattr("esr.elastic.statistics.MAX_AGE", 1e9)
        nodes.nodes[1].kill()
        part = searcher.search("flood", 100)
        assert part.incomplete and part.incomplete.endswith("of 4 shards failed")
        assert 0 < part.total < 120
        with pytest.raises(EsrError, match="is not fully available"):
            searcher.index.statistics(["river"])  # wrong statistics would make every score wrong
        nodes.nodes[0].kill()
        with pytest.raises(EngineUnreachable, match="cannot reach Elasticsearch"):
            searcher.search("flood")
