"""What keys see: the table of all operations and pages by kinds of keys, made from the registries of both."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from esr.access.grants import Grant, GrantFile, changing, hash_key, read_grants
from esr.access.restricted import parse_restriction
from esr.cli import main
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import EsrError, UsageError
from esr.following.alerts.atom import text_digest
from esr.following.exports import CITATIONS
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.view import restrict
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.rerank_context import VectorWeights
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import load
from tests.support.fake_enricher import write_tiny_encoder
from tests.webui.access.conftest import MARK, SECRET, Caller, Server, text_of
from webui.access.guard import METRICS, OPEN, check
from webui.api.operations import OPERATIONS
from webui.app import create_app
from webui.running.problems import Unauthorized
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

SENTENCE_PATHS = {"/explain", "/similar", *(f"/sentence.{each.suffix}" for each in CITATIONS.values())}
HIDDEN_TEXT = "The storm hit Zanzuton hard."
QUOTED = "“The storm hit”, “storms are” and “the storm of”"
"""Quotations from sentences of both kinds, without the mark."""


def routes(app: Flask) -> list[tuple[str, str]]:
    """The paths and methods of everything that needs a grant."""
    return [
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        if rule.endpoint not in OPEN and rule.endpoint != METRICS
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def arguments(path: str, method: str, document: str = "v0") -> dict[str, Any]:
    """What makes a route answer from an index."""
    name = path.removeprefix("/api/v1").removesuffix(".json")
    if name == "/check":
        checked = {"text": QUOTED}
        kind = "body" if path.startswith("/api") else "form"
        return checked if method == "GET" else {kind: checked}
    if method == "POST":
        body: dict[str, Any] = (
            {"q": "storm"} if name == "/search" else {"queries": [{"id": "1", "query": "storm"}]}
        )
        return {"body": body} if path.startswith("/api") else {"form": {"queries": "storm"}}
    given: dict[str, Any] = {"q": "storm"}
    if name in SENTENCE_PATHS:
        given["id"] = f"{document}.s0"
    elif name in ("/document", "/document.csv", "/documents"):
        given["id"] = document
    elif name == "/sentence":
        given = {"id": document, "says": text_digest(HIDDEN_TEXT)}
    elif name in ("/name", "/names/page"):
        given = {"name": "Zanzton" if document == "h0" else "Avonton"}
    elif name == "/contrast":
        given["part"] = "goalkeeper"
    elif name == "/values":
        given = {"field": "source"}
    elif name == "/analyze":
        given = {"text": "storm"}
    elif name in ("/models", "/status", "/openapi.json"):
        given = {}
    return {key: value for key, value in given.items() if key != "q" or "/similar" not in path}


def test_an_index_of_restricted_senders_is_read_by_nobody_outside_of_their_requests(
    server: Server, locations: dict[str, str]
) -> None:
    server.add("somebody")
    settings = Settings(access=str(server.file))
    indexes = ServedIndexes.at(locations, settings)
    app = create_app(indexes, settings)
    with (
        open_searcher(locations["news"]) as searcher,
        app.test_request_context(),
        pytest.raises(Unauthorized, match="nobody is logged in"),
    ):
        indexes.guard.restrict(searcher.index)


@pytest.mark.slow
def test_a_key_of_one_index_gets_nothing_of_another_from_any_operation_or_page(
    server: Server, locations: dict[str, str]
) -> None:
    keys = {"all": server.add("all"), "news": server.add("n", "--index", "news")}
    app = server.app(locations)
    client = app.test_client()
    whole, one = (Caller(client, keys[name]) for name in ("all", "news"))
    assert len(routes(app)) > 40
    assert {path for path, _ in routes(app)} >= {f"/api/v1{o.path}" for o in OPERATIONS.values()}
    answers = 0
    for path, method in routes(app):
        given = arguments(path, method, "h0")
        answered = whole(path, method, **given, index="other")
        answers += answered.status_code in (200, 302)
        for name in ("other", "nosuch", "OTHER", "news,other", "../other", "%6Fther"):
            refused = one(path, method, **given, index=name)
            assert refused.status_code == 403, (path, name)
            assert "zanzuton" not in text_of(refused)
        twice = one(f"{path}?index=other&index=news", method, **({} if method == "GET" else given))
        assert twice.status_code == 403, path  # the first counts, as where the index is opened
        for caller in (Caller(client, None), Caller(client, "esr_" + "a" * 43)):
            assert caller(path, method, **given).status_code == 401, path
    assert answers > 38  # the others ask no index, or this engine has no answer
    # The first index that the key may search is the one of an address that names none.
    second = Caller(client, server.add("o", "--index", "other"))
    assert "zanzuton" in text_of(second("/api/v1/search", q="storm"))
    assert "avonton" not in text_of(second("/search", q="storm"))


PROBES: Mapping[str, list[dict[str, Any]]] = {
    "search": [
        {"q": "zanz*"},
        {"q": "zanzword storm"},
        {"q": "storm", "source": "Zanz Post"},
        {"q": "storm", "author": "Zanz Writer"},
        {"q": "storm", "meta": "desk=Zanz desk"},
        {"q": "storm", "meta": "Zanzkey=x"},
        {"q": "storm", "entity": "Zanzton"},
        {"q": "storm", "document": "h0"},
        {"q": "storm -avonton"},
        {"q": "storm", "sort": "date"},
        {"q": "storm", "novel": "yes"},
        {"q": "storm", "group": "document"},
        {"q": "storm", "window": "3", "fields": "text,metadata,permalink"},
        {"q": "storm", "candidates": "all", "k": "50"},
        {"q": "storm", "context": "document", "candidates": "context", "k": "50"},
        {"q": "storm", "boost": "prf"},
    ],
    "complete": [
        {"q": text}
        for text in (
            "zanz",
            "loc:zanz",
            "source:zanz",
            "author:zanz",
            "section:zanz",
            "meta.zanz",
            "meta.desk:",
            "place:zanz",
        )
    ],
    "values": [
        {"field": field}
        for field in (
            "source",
            "author",
            "section",
            "keyword",
            "meta",
            "meta.desk",
            "entity",
            "meta.Zanzukey",
        )
    ],
    "explain": [{"q": "zanz*", "id": "v0.s0"}, {"q": "storm", "id": "h0.s0"}],
    "document": [{"id": "h0"}, {"id": "h1", "q": "storm"}],
    "documents": [{"id": "h0"}],
    "similar": [{"id": "h0.s0"}, {"id": "v0.s0"}],
    "names": [{"q": "storm", "k": "50"}, {"prefix": "zanz"}, {"entity": "Zanzton"}],
    "name": [{"name": "Avonton"}, {"name": "location:Zanzton"}, {"name": "zanz"}],
    "page": [{"name": "Avonton"}, {"name": "Zanzton"}],
    "quotes": [{"q": "storm"}, {"speaker": "Zanzton"}, {}],
    "statements": [{"name": "Zanzton"}, {"name": "Avonton", "about": "storm"}],
    "evidence": [{"q": "storm"}, {"q": "zanz storm", "order": "oldest"}],
    "collocations": [{"q": "storm", "min_count": "1", "window": "0"}, {"q": "zanz*", "min_count": "1"}],
    "keyness": [{"q": "storm", "min_count": "1"}, {"q": "zanz*", "min_count": "1"}],
    "contrast": [{"q": "storm", "part": "goalkeeper", "min_count": "1"}],
    "frequencies": [{"q": "storm", "by": "source"}, {"q": "zanz*"}],
    "facets": [{"q": "storm", "size": "50"}, {"q": "storm", "field": "meta.desk"}],
    "timeline": [{"q": "storm", "also": "zanz*", "peaks": "3"}],
}
"""Addresses that would show what is hidden if the filter missed one way to it."""


@pytest.mark.slow
def test_a_key_with_a_filter_never_sees_what_is_outside_it(server: Server, either: dict[str, str]) -> None:
    keys = {
        "whole": server.add("whole"),
        "filtered": server.add("f", "--filter", 'source:"Sports Post"'),
        "excluding": server.add("e", "--filter", '-source:"zanzu post"'),
        "meta": server.add("m", "--filter", 'meta.desk:"Sports desk" after:2017 author:"sports writer"'),
    }
    app = server.app(either)
    client = app.test_client()
    seen, is_folder = 0, "://" not in either["news"]
    for path, method in routes(app):
        if not (is_folder or path.startswith("/api/")):
            continue
        name = path.rpartition("/")[2].partition(".")[0]
        first = arguments(path, method)
        probes = [first, arguments(path, method, "h0")]
        if method == "GET":
            searches = PROBES["search"] if path == f"/api/v1/{name}" else PROBES["search"][:4]
            own = PROBES.get(name, searches if "q" in first and "id" not in first else [])
            probes += [{**({} if name in PROBES else first), **probe} for probe in own][
                : None if is_folder else 3
            ]
        for given in probes:
            whole = text_of(Caller(client, keys["whole"])(path, method, **given))
            seen += MARK in whole
            for kind in ("filtered", "excluding", "meta") if given is first else ("filtered",):
                response = Caller(client, keys[kind])(path, method, **given)
                assert response.status_code < 500, (path, given, response.get_data(as_text=True))
                assert MARK not in text_of(response), (kind, path, given)
    assert seen > (60 if is_folder else 20)  # the probes find what is hidden, with a key that may see it


@pytest.mark.slow
def test_a_key_with_a_filter_searches_the_rest_exactly(server: Server, either: dict[str, str]) -> None:
    whole, filtered = server.add("whole"), server.add("f", "--filter", 'source:"sports POST"')
    client = server.app(either).test_client()

    def ask(key: str, path: str, **given: Any) -> Any:
        response = Caller(client, key)(f"/api/v1{path}", **given)
        assert response.status_code == 200, response.get_data(as_text=True)
        return json.loads(response.data)

    searches = ({"q": "storm"}, {"q": "storm", "candidates": "all"}, {"q": "stor*", "model": "bm25"})
    for given in searches:
        filter = {"source": "Sports Post"}
        asked, own = ask(whole, "/search", k=50, **given, **filter), ask(filtered, "/search", k=50, **given)
        places = [[(hit["sentence_id"], hit["score"]) for hit in answer["hits"]] for answer in (asked, own)]
        assert places[0] == places[1]
        assert asked["total"] == own["total"]
        assert asked["query"]["all_words"] == own["query"]["all_words"]
    values = {value["value"]: value["count"] for value in ask(filtered, "/values", field="source")["values"]}
    assert values == {"Sports Post": 6}
    assert [v["value"] for v in ask(filtered, "/values", field="entity")["values"]] == ["Avonton"]
    assert [v["value"] for v in ask(filtered, "/values", field="meta")["values"]] == ["Sportskey", "desk"]
    assert [c["text"] for c in ask(filtered, "/complete", q="goalk")["completions"]] == ["goalkeeper"]
    suggested = ask(filtered, "/search", q="golkeeper")["query"]["suggestions"]
    assert [a["text"] for each in suggested for a in each["alternatives"]] == ["goalkeeper"]
    assert len(ask(filtered, "/documents", id=["v0", "v1"])["documents"]) == 2
    assert ask(filtered, "/documents", id=["v0", "h1"])["missing"] == ["h1"]


@pytest.mark.slow
def test_hidden_sentences_give_no_feedback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query's vector for a key depends on visible sentences alone, even if hidden ones are the best."""
    encoder = str(write_tiny_encoder(tmp_path / "tiny", 32))
    monkeypatch.setenv("ESR_ENCODER", encoder)
    ranking = Ranking.from_dict({"rerank": [{"signal": "meaning", "w": 8, "feedback": 1.0}]})
    shown, hidden = (
        ("the river rose", "flood water"),
        ("town storm town", "storm storm town", "the town storm"),
    )
    of_key, of_all = [], []
    for name, texts in (("one", hidden), ("two", tuple(f"{text} bank court wind" for text in hidden))):
        documents = [
            Document("h", tuple(Sentence(f"h.s{n}", text) for n, text in enumerate(texts)), source="Hidden"),
            Document("v", tuple(Sentence(f"v.s{n}", f"{text} storm") for n, text in enumerate(shown))),
        ]
        load(where := str(tmp_path / name), documents)
        with open_searcher(where) as searcher:
            run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
            weights = VectorWeights.of(ranking.rerank[0].settings())
            for_key = Searcher(restrict(searcher.index, parse_restriction("-source:Hidden")))
            prepared = for_key.prepare("storm town", ranking)
            assert {hit.sentence_id for hit in prepared.search(9).hits} == {"v.s0", "v.s1"}
            of_key.append(prepared.vectors.vector(weights))
            of_all.append(searcher.prepare("storm town", ranking).vectors.vector(weights))
    assert of_key[0] == of_key[1]
    assert of_all[0] != of_all[1] and of_all[0] != of_key[0], "hidden sentences are the best of the index"


def test_views_that_count_in_the_whole_index_are_refused_and_not_offered(
    server: Server, locations: dict[str, str]
) -> None:
    whole, filtered = server.add("whole"), server.add("f", "--filter", 'source:"Sports Post"')
    client = server.app(locations).test_client()
    for path, given in (("/name", {"name": "Avonton"}), ("/frequencies", {"q": "storm"})):
        assert Caller(client, whole)(path, **given).status_code == 200, path
        assert Caller(client, filtered)(path, **given).status_code == 403, path
    for path in ("/names", "/collocations", "/search"):
        pages = [Caller(client, key)(path, q="storm").get_data(as_text=True) for key in (whole, filtered)]
        assert "/name?" not in pages[1] and "/frequencies?" not in pages[1], path
        assert "/names?" in pages[1] and ("/name?" in pages[0]) == (path != "/collocations")
        assert all(("/frequencies?" in html) == (path == "/collocations") for html in pages[:1])


@pytest.mark.parametrize(
    "text",
    [
        "flood",
        "person:Ann",
        "source:A flood",
        "title:x",
        "before:soon",
        "",
        "sauce:A",
        "after:7d",
        "(source:A OR flood)",
        "(source:A -flood)",
    ],
)
def test_a_filter_names_fields_of_documents_only(server: Server, text: str) -> None:
    with pytest.raises(UsageError, match="cannot filter by"):
        parse_restriction(text)


# Keys


def test_a_key_ends_when_it_is_revoked_replaced_or_expired(server: Server, locations: dict[str, str]) -> None:
    old = server.add("expired")
    server.expire("expired", "2020-02")
    revoked, replaced = server.add("revoked"), server.add("replaced")
    client = server.app(locations).test_client()

    def status(key: str) -> int:
        return int(Caller(client, key)("/api/v1/search", q="storm").status_code)

    assert (status(old), status(revoked), status(replaced)) == (401, 200, 200)
    done = CliRunner().invoke(main, ["keys", "revoke", "revoked", "--file", str(server.file)])
    assert done.exit_code == 0
    new = server.add("replaced", "--replace")
    assert (status(revoked), status(replaced), status(new)) == (401, 401, 200)
    server.file.write_text("{")
    assert status(new) == 503  # who may search is not known
    server.file.unlink()
    assert status(new) == 503


@pytest.mark.parametrize(
    "header",
    [
        *("Bearer", "Bearer ", "Bearer esr_", "Bearer null", "bearer x" * 1_000, "Bearer é", "Bearer a,b"),
        *(
            "Bearer {hash}",
            "Bearer {key} x",
            "Bearer {key}0",
            "Bearer {upper}",
            "Basic {key}",
            "{key}",
            "Token {key}",
        ),
    ],
)
def test_a_malformed_key_is_refused_without_a_word_about_why(
    server: Server, locations: dict[str, str], header: str
) -> None:
    key = server.add("a")
    client = server.app(locations).test_client()
    header = header.format(key=key, hash=hash_key(key), upper=key.upper())
    response = client.get(
        "/api/v1/search?q=storm", headers={"Authorization": header.encode().decode("latin-1")}
    )
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert response.json["error"]["code"] == "unauthorized"
    assert key not in text_of(response)
    given = client.get("/api/v1/search?q=storm", headers={"Authorization": f"bearer {key}"})
    assert given.status_code == 200
    for place in (f"key={key}", f"api_key={key}", f"access_token={key}"):  # addresses are logged on their way
        assert client.get(f"/api/v1/search?q=storm&{place}").status_code == 401


def test_each_key_has_its_own_rate(server: Server, locations: dict[str, str]) -> None:
    slow, other = server.add("slow", "--rate", "2/minute"), server.add("other")
    client = server.app(locations).test_client()

    def status(key: str, path: str = "/api/v1/models") -> int:
        return int(Caller(client, key)(path).status_code)

    assert [status(slow) for _ in range(3)] == [200, 200, 429]
    assert [status(other) for _ in range(5)] == [200] * 5
    body = {"queries": [{"id": str(n), "query": "storm"} for n in range(3)]}
    assert Caller(client, slow)("/api/v1/batch", "POST", body=body).status_code in (400, 429)
    fast = server.app(locations, rate="1/minute").test_client()
    assert [Caller(fast, other)("/api/v1/models").status_code for _ in range(2)] == [200, 429]
    assert Caller(fast, slow)("/api/v1/models").status_code == 200


def test_strangers_at_the_address_of_a_key_do_not_use_up_its_rate(
    server: Server, locations: dict[str, str]
) -> None:
    keys = [server.add("own"), server.add("other")]
    server.add("anybody", "--kind", "anybody")
    client = server.app(locations, rate="2/minute").test_client()
    for key in (None, *keys):  # all have the address of the test
        caller = Caller(client, key)
        assert [caller("/api/v1/models").status_code for _ in range(3)] == [200, 200, 429]


def test_anybody_may_have_an_index_while_others_need_a_key(server: Server, locations: dict[str, str]) -> None:
    server.add("anybody", "--kind", "anybody", "--index", "news", "--filter", 'source:"Sports Post"')
    client = server.app(locations).test_client()
    anybody = Caller(client, None)
    assert "avonton" in text_of(anybody("/search", q="storm"))
    assert MARK not in text_of(anybody("/search", q="storm"))
    assert anybody("/search", q="storm", index="other").status_code == 403
    assert '<option value="other"' not in anybody("/").get_data(as_text=True)
    assert Caller(client, "wrong")("/search", q="storm").status_code == 401


def test_without_a_file_everybody_searches_everything_and_no_cookie_is_set(
    locations: dict[str, str],
) -> None:
    from webui.app import create_app
    from webui.running.served_indexes import ServedIndexes

    client = create_app(ServedIndexes.at(locations, Settings()), Settings()).test_client()
    for path in ("/", "/search?q=storm&index=other", "/metrics", "/api/v1/status"):
        response = client.get(path, headers={"Authorization": "Basic eA=="})
        assert (response.status_code, "Set-Cookie" in response.headers) == (200, False)
    assert client.get("/login").status_code == 404
    assert client.get("/readyz").json["indexes"] == {"news": "ok", "other": "ok"}


def test_metrics_are_for_keys_of_their_own_and_health_names_no_index(
    server: Server, locations: dict[str, str]
) -> None:
    search, metrics = server.add("search"), server.add("prometheus", "--kind", "metrics")
    client = server.app(locations).test_client()
    statuses = {
        name: [
            Caller(client, key)(path).status_code
            for path in ("/metrics", "/api/v1/models", "/readyz", "/healthz")
        ]
        for name, key in (("search", search), ("metrics", metrics), ("nobody", None))
    }
    assert statuses == {
        "search": [403, 200, 200, 200],
        "metrics": [200, 403, 200, 200],
        "nobody": [401, 401, 200, 200],
    }
    assert client.get("/readyz").json == {"status": "ok"}


def test_each_request_is_audited_without_its_query(
    server: Server, locations: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    key = server.add("newsletter", "--index", "news")
    for queries in (0, 1):
        client = server.app(locations, audit_queries=queries).test_client()
        caplog.clear()
        with caplog.at_level(logging.INFO, "webui.audit"):
            Caller(client, key)("/api/v1/search", q="storm")
            Caller(client, key)("/api/v1/search", q="storm", index="other")
            Caller(client, "wrong")("/api/v1/search", q="storm")
            Caller(client, None)("/healthz")
            Caller(client, key)("/api/v1/search", q="x" * 2_001)
            Caller(client, key)("/api/v1/dossiers/shared", token="storm")
        lines = [record.json_fields for record in caplog.records if record.name == "webui.audit"]
        assert [(line["who"], line["index"], line["status"]) for line in lines] == [
            ("newsletter", "news", 200),
            ("newsletter", None, 403),
            (None, None, 401),
            ("newsletter", "news", 400),
            ("newsletter", "news", 404),
        ]
        assert lines[0]["operation"] == "api.search"
        assert ["storm" in str(line) for line in lines] == [bool(queries)] * 3 + [False] * 2
        assert lines[3].get("query", "") == ("q=" + "x" * 1_998) * queries, "a long one does not fill the log"
        assert key not in str(lines)


# The file


def test_the_file_is_for_its_owner_only_and_holds_no_key(server: Server) -> None:
    os.umask(old := os.umask(0))
    os.umask(0)
    try:
        key = server.add("a")
    finally:
        os.umask(old)
    assert server.file.stat().st_mode & 0o777 == 0o600
    assert key not in server.file.read_text()
    assert [*server.file.parent.glob("*.new")] == []


def test_grants_that_are_added_at_once_are_all_kept(server: Server) -> None:
    def add(n: int) -> None:
        with changing(server.file) as grants:
            grants[f"g{n}"] = Grant(f"g{n}", "elsewhere")

    threads = [threading.Thread(target=add, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_grants(server.file).by_name) == 20


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"\xff", b'{"format": 2, "grants": []}'),
        b'{"format": 1, "grants": [{"name": "a", "kind": "key"}]}',
        b'{"format": 1, "grants": [{"name": "a", "kind": "elsewhere"}, {"name": "a", "kind": "elsewhere"}]}',
        b'{"format": 1, "grants": [{"name": "a", "kind": "elsewhere", "filter": "flood"}]}',
        b'{"format": 1, "grants": [{"name": "a", "kind": "elsewhere", "index": "news"}]}',
        b'{"format": 1, "grants": [{"name": "*", "kind": "anybody"}]}',
    ],
)
def test_a_file_that_is_not_understood_grants_nothing(server: Server, content: bytes) -> None:
    server.file.write_bytes(content)
    with pytest.raises(EsrError):
        GrantFile(server.file).read()


@pytest.mark.parametrize("path", ["/", "/search?q=storm", "/login", "/api/v1/search?q=storm"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer esr_x"}])
def test_a_damaged_file_answers_one_message_until_it_is_repaired(
    server: Server,
    locations: dict[str, str],
    path: str,
    headers: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.add("a")
    client = server.app(locations, secret_file=server.secret()).test_client()
    good = server.file.read_bytes()
    before = client.get(path, headers=headers).status_code
    server.file.write_bytes(good[:-20])
    answer = client.get(path, headers=headers)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "cannot read who may search" in answer.text and str(server.file) not in answer.text
    (line,) = (record.getMessage() for record in caplog.records if record.levelname == "ERROR")
    assert line.startswith(f"access_unreadable: cannot read {server.file}")
    assert client.get("/healthz").status_code == 200
    server.file.write_bytes(good)
    assert client.get(path, headers=headers).status_code == before != 503


def test_a_grant_for_an_index_that_is_not_served_keeps_no_server_from_starting(
    server: Server, locations: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    key = server.add("a", "--index", "nosuch")
    check(Settings(access=str(server.file)), ["news", "old"])
    (warning,) = caplog.messages
    assert "the grant 'a' is for an index 'nosuch', which is not served: served are news, old" in warning
    caller = Caller(server.app(locations).test_client(), key)
    assert caller("/api/v1/search", q="storm").status_code == 403


def test_mistakes_in_a_new_grant_are_told_at_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*options: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["keys", "add", "x", "--file", str(server.file), *options])
        return done.exit_code, done.stderr

    code, message = add("--expires", "2020-01-01")
    assert code and "--expires 2020-01-01 is in the past" in message
    monkeypatch.setenv("ESR_INDEX", "news=a old=b")
    code, message = add("--index", "newz")
    assert code and "'newz'" in message and "news" in message
    assert not server.file.exists()
    assert add("--index", "old")[0] == 0
    monkeypatch.setenv("ESR_INDEX", "https://localhost:9200/news")
    code, message = add("--index", "newz", "--replace")
    assert code == 0 and "note: nothing here says whether 'newz' is served" in message


def test_only_who_sees_a_whole_index_is_told_that_nobody_looked_for_copies(
    server: Server, locations: Mapping[str, str]
) -> None:
    keys = [server.add("all"), server.add("part", "--filter", 'source:"Sports Post"')]
    client = server.app(locations).test_client()
    pages = [Caller(client, key)("/collection") for key in keys]
    assert ["copies were not looked for" in page.text for page in pages] == [True, False]
    assert [page.status_code for page in pages] == [200, 200]


def test_mistakes_are_reported_before_the_server_starts(server: Server, tmp_path: Path) -> None:
    server.add("a", "--index", "news")
    access, secret, short = str(server.file), server.secret(), server.secret("short", "x")
    oidc = {"oidc_issuer": "https://id.example", "oidc_client": "esr", "oidc_secret_file": secret}
    check(Settings(access=access, secret_file=secret, **oidc), ["news"])
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"access": str(tmp_path / "none")}, "cannot read"),
        ({"secret_file": secret}, "without ESR_ACCESS"),
        ({"access": access, "secret_file": short}, "too short"),
        ({"access": access, "secret_file": str(tmp_path / "none")}, "cannot read the secret"),
        ({"access": access, **oidc}, "ESR_SECRET_FILE"),
        ({"access": access, "secret_file": secret, **oidc, "oidc_issuer": "http://id.example"}, "https"),
        ({"access": access, "user_header": "X-User"}, "ESR_USER_HEADER_FROM"),
        ({"access": access, "user_header": "X-User", "user_header_from": "10.0.0.1/8"}, "has host bits"),
    ]
    for settings, message in mistakes:
        with pytest.raises(EsrError, match=message):
            check(Settings(**settings), ["news"])
    server.add_person("ann", "correct horse")
    with pytest.raises(UsageError, match="ESR_SECRET_FILE"):
        check(Settings(access=access), ["news"])
    assert len(SECRET) >= 32
