"""Batches of queries over the API, as JSON, as a run and as a table."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from esr.folder.index import FolderSnapshot
from esr.ranking.answers import COLUMNS
from esr.ranking.searcher import open_searcher
from esr.topics.runs import read_run
from tests.support.page_corpus import get, ids, post
from webui.app import create_app
from webui.running.settings import Settings

TWO = [{"id": "1", "query": "storm"}, {"id": "2", "query": "flood bridge"}]
ALONE: dict[str, Any] = {"folded": [], "passage": [], "more": 0, "reason": None}
"""What a hit of a list has further, if it stands alone."""


@pytest.mark.slow
def test_each_query_gets_the_answer_of_a_search(client: FlaskClient) -> None:
    ranking = {"model": "dir", "params": {"mu": 9}}
    body = {"queries": TWO, "k": 3, "ranking": ranking, "filters": {"document": ["a", "b"]}}
    answers = post(client, body).json["answers"]
    assert [answer["id"] for answer in answers] == ["1", "2"]
    for query, answer in zip(TWO, answers, strict=True):
        alone = get(
            client,
            "/search",
            q=query["query"],
            k=3,
            model="dir",
            params__mu=9,
            fold="no",
            passages="no",
            document=["a", "b"],
        )
        assert [hit | ALONE for hit in answer["hits"]] == alone["hits"]
        assert answer["total"] == alone["total"]


@pytest.mark.slow
def test_queries_are_in_the_query_language_unless_they_are_literal(client: FlaskClient) -> None:
    query = "storm -flood document OR bridge"
    for body, arguments in (({}, {}), ({"literal": False}, {}), ({"literal": True}, {"literal": "yes"})):
        (answer,) = post(client, {"queries": [{"id": "1", "query": query}], **body}).json["answers"]
        alone = get(client, "/search", q=query, fold="no", passages="no", **arguments)["hits"]
        assert [hit | ALONE for hit in answer["hits"]] == alone


@pytest.mark.slow
def test_a_query_that_cannot_be_searched_for_does_not_affect_the_others(client: FlaskClient) -> None:
    queries = [*TWO, {"id": "3", "query": "the"}, {"id": "4", "query": "a\x00"}]
    answers = post(client, {"queries": queries}).json["answers"]
    assert ["error" in answer for answer in answers] == [False, False, True, True]
    assert answers[2]["error"]["field"] == "queries.2.query"
    assert answers[3]["error"]["code"] == "bad_input"


@pytest.mark.slow
def test_a_batch_can_be_answered_with_a_run(client: FlaskClient, tmp_path: Any) -> None:
    answer = post(
        client, {"queries": [*TWO, {"id": "x", "query": "the"}], "k": 4, "format": "run", "tag": "mine"}
    )
    assert answer.mimetype == "text/plain"
    assert answer.headers["X-Skipped"] == "x"
    path = tmp_path / "a.run"
    path.write_text(answer.text)
    run = read_run(path).scores
    assert {query: list(scores) for query, scores in run.items()} == {
        query["id"]: ids(get(client, "/search", q=query["query"], k=4, fold="no", passages="no"))
        for query in TWO
    }
    assert read_run(path).tag == "mine"


@pytest.mark.slow
def test_a_batch_can_be_answered_with_csv(client: FlaskClient) -> None:
    answer = post(client, {"queries": TWO, "k": 2, "format": "csv"})
    assert answer.mimetype == "text/csv"
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert tuple(rows[0]) == ("id", "query", *COLUMNS, "incomplete")
    assert [[row[0], row[2]] for row in rows[1:]] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]


@pytest.mark.slow
def test_a_table_has_a_line_for_a_query_that_cannot_be_searched_for(client: FlaskClient) -> None:
    queries = [*TWO, {"id": "3", "query": "the"}]
    answer = post(client, {"queries": queries, "k": 1, "format": "csv"})
    assert answer.headers["X-Skipped"] == "3"
    *_, last = csv.reader(io.StringIO(answer.text))
    assert last[:2] == ["3", "the"]
    assert last[-1].startswith("not searched: the query has only stop words")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, None),
        ([], None),
        ({"queries": []}, "queries"),
        ({"queries": TWO[:1] * 2}, "queries"),
        ({"queries": TWO * 51}, "queries"),
        ({"queries": [{"id": "a b", "query": "x"}]}, "queries.0.id"),
        ({"queries": [{"id": "a\n", "query": "x"}]}, "queries.0.id"),
        ({"queries": [{"id": "a"}]}, "queries.0"),
        ({"queries": [{"id": "a", "query": 3}]}, "queries.0.query"),
        ({"queries": TWO, "k": 1001}, "k"),
        ({"queries": TWO, "k": True}, "k"),
        ({"queries": TWO, "format": "xml"}, "format"),
        ({"queries": TWO, "tag": "a b"}, "tag"),
        ({"queries": TWO, "tag": "a\n"}, "tag"),
        ({"queries": TWO, "ranking": {"model": "dri"}}, "ranking"),
        ({"queries": TWO, "ranking": {"depth": 1001}}, "ranking"),
        ({"queries": TWO, "ranking": {"features": [{"feature": "nosuch", "form": "linear"}]}}, "ranking"),
        ({"queries": TWO, "filters": {"from": "x"}}, "from"),
        ({"queries": TWO, "filters": {"sauce": ["x"]}}, "filters"),
        ({"queries": TWO, "query": "x"}, None),
    ],
)
def test_an_error_names_what_is_wrong_with_a_body(client: FlaskClient, body: Any, field: str | None) -> None:
    error = post(client, body, 400).json["error"]
    assert (error["code"], error["field"]) == ("bad_input", field)
    assert len(error["message"]) < 400


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"queries": NaN}', "\ufeff{}", "1e999999", "\x00"])
def test_a_body_that_is_not_json_is_rejected(client: FlaskClient, text: str) -> None:
    answer = client.post("/api/v1/batch", data=text.encode(), content_type="application/json")
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == "bad_input"
    assert answer.json["error"]["field"] is None


@pytest.mark.slow
def test_a_body_of_another_type_or_too_large_a_size_is_rejected(client: FlaskClient) -> None:
    assert client.post("/api/v1/batch", data="x=1").status_code == 415
    large = json.dumps({"queries": [{"id": "a", "query": "x" * 1_100_000}]})
    answer = client.post("/api/v1/batch", data=large, content_type="application/json")
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")
    assert client.get("/api/v1/batch").status_code == 405
    assert client.get("/api/v1/batch").headers["Allow"] == "POST"


@pytest.mark.slow
def test_a_batch_counts_as_many_requests_as_it_has_queries(where: str) -> None:
    client = create_app(open_searcher(where), Settings(rate="5/minute")).test_client()
    post(client, {"queries": TWO})
    post(client, {"queries": TWO})
    assert post(client, {"queries": TWO}, 429).json["error"]["code"] == "too_many_requests"


@pytest.mark.slow
def test_a_batch_that_the_rate_never_allows_is_told_the_limit(where: str) -> None:
    client = create_app(open_searcher(where), Settings(rate="2/minute")).test_client()
    queries = [*TWO, {"id": "3", "query": "storm"}]
    assert post(client, {"queries": queries}, 400).json["error"] == {
        "code": "bad_input",
        "message": "There are 3 queries: at most 2 in 60 s are allowed.",
        "field": "queries",
    }
    page = client.post("/batch", data={"queries": "storm\nflood\nrain"})
    assert (page.status_code, "at most 2 in 60 s are allowed" in page.text) == (400, True)


@pytest.mark.slow
def test_a_batch_has_a_deadline(where: str) -> None:
    client = create_app(open_searcher(where), Settings(batch_deadline=0.01)).test_client()
    queries = [{"id": str(n), "query": "storm flood"} for n in range(100)]
    error = post(client, {"queries": queries, "k": 1000}, 503).json["error"]
    assert error["code"] == "engine_unreachable"


@pytest.mark.slow
def test_files_name_incomplete_answers(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def search_incompletely(index: FolderSnapshot, *args: Any, **kwargs: Any) -> Any:
        return replace(search(index, *args, **kwargs), incomplete="1 of 3 shards failed")

    search = FolderSnapshot.search
    monkeypatch.setattr(FolderSnapshot, "search", search_incompletely)
    run = post(client, {"queries": TWO, "format": "run", "tag": "mine"})
    assert run.headers["X-Incomplete"] == "1, 2"
    assert {line.split()[-1] for line in run.text.splitlines()} == {"mine-incomplete"}
    table = post(client, {"queries": TWO, "format": "csv"})
    assert {row[-1] for row in csv.reader(io.StringIO(table.text))} == {"incomplete", "1 of 3 shards failed"}
    assert post(client, {"queries": TWO}).json["answers"][0]["incomplete"] == "1 of 3 shards failed"
