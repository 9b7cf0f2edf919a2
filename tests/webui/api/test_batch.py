from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

import esr
from esr.engines.embedded.index import EmbeddedIndex
from esr.evaluation import runs
from tests.webui.api.asking import get, ids, post
from webui.answers.downloads import COLUMNS
from webui.app import create_app
from webui.running.settings import Settings

TWO = [{"id": "1", "query": "storm"}, {"id": "2", "query": "flood bridge"}]


def test_each_query_gets_the_answer_of_a_search(client: FlaskClient) -> None:
    ranking = {"model": "dir", "params": {"mu": 9}}
    body = {"queries": TWO, "k": 3, "ranking": ranking, "filters": {"document": ["a", "b"]}}
    found = post(client, body).json["answers"]
    assert [each["id"] for each in found] == ["1", "2"]
    for query, answer in zip(TWO, found, strict=True):
        alone = get(client, "/search", q=query["query"], k=3, model="dir", params__mu=9, document=["a", "b"])
        assert answer["hits"] == alone["hits"]
        assert answer["total"] == alone["total"]


def test_a_query_that_cannot_be_searched_for_does_not_spoil_the_others(client: FlaskClient) -> None:
    queries = [*TWO, {"id": "3", "query": "the"}, {"id": "4", "query": "a\x00"}]
    found = post(client, {"queries": queries}).json["answers"]
    assert [("error" in each) for each in found] == [False, False, True, True]
    assert found[2]["error"]["field"] == "queries.2.query"
    assert found[3]["error"]["code"] == "bad_input"


def test_a_batch_can_be_a_run_file(client: FlaskClient, tmp_path: Any) -> None:
    answer = post(
        client, {"queries": [*TWO, {"id": "x", "query": "the"}], "k": 4, "format": "run", "tag": "mine"}
    )
    assert answer.mimetype == "text/plain"
    assert answer.headers["X-Skipped"] == "x"
    path = tmp_path / "a.run"
    path.write_text(answer.text)
    found = runs.read(path).scores
    assert {query: list(scores) for query, scores in found.items()} == {
        each["id"]: ids(get(client, "/search", q=each["query"], k=4)) for each in TWO
    }
    assert runs.read(path).tag == "mine"


def test_a_batch_can_be_a_table(client: FlaskClient) -> None:
    answer = post(client, {"queries": TWO, "k": 2, "format": "csv"})
    assert answer.mimetype == "text/csv"
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert tuple(rows[0]) == ("id", "query", *COLUMNS, "incomplete")
    assert [[row[0], row[2]] for row in rows[1:]] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, None),
        ([], None),
        ({"queries": []}, "queries"),
        ({"queries": TWO[:1] * 2}, "queries"),
        ({"queries": TWO * 51}, "queries"),
        ({"queries": [{"id": "a b", "query": "x"}]}, "queries.0.id"),
        ({"queries": [{"id": "a"}]}, "queries.0"),
        ({"queries": [{"id": "a", "query": 3}]}, "queries.0.query"),
        ({"queries": TWO, "k": 1001}, "k"),
        ({"queries": TWO, "k": True}, "k"),
        ({"queries": TWO, "format": "xml"}, "format"),
        ({"queries": TWO, "tag": "a b"}, "tag"),
        ({"queries": TWO, "ranking": {"model": "dri"}}, "ranking"),
        ({"queries": TWO, "ranking": {"depth": 1001}}, "ranking"),
        ({"queries": TWO, "ranking": {"features": [{"feature": "nosuch", "form": "linear"}]}}, "ranking"),
        ({"queries": TWO, "filters": {"from": "x"}}, "from"),
        ({"queries": TWO, "filters": {"sauce": ["x"]}}, "filters"),
        ({"queries": TWO, "query": "x"}, None),
    ],
)
def test_what_is_wrong_with_a_body_is_named(client: FlaskClient, body: Any, field: str | None) -> None:
    told = post(client, body, 400).json["error"]
    assert (told["code"], told["field"]) == ("bad_input", field)
    assert len(told["message"]) < 400


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"queries": NaN}', "\ufeff{}", "1e999999", "\x00"])
def test_a_body_that_is_not_json_is_refused(client: FlaskClient, text: str) -> None:
    answer = client.post("/api/v1/batch", data=text.encode(), content_type="application/json")
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == "bad_input"
    assert answer.json["error"]["field"] is None


def test_a_body_of_another_kind_or_size_is_refused(client: FlaskClient) -> None:
    assert client.post("/api/v1/batch", data="x=1").status_code == 415
    large = json.dumps({"queries": [{"id": "a", "query": "x" * 1_100_000}]})
    answer = client.post("/api/v1/batch", data=large, content_type="application/json")
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")
    assert client.get("/api/v1/batch").status_code == 405
    assert client.get("/api/v1/batch").headers["Allow"] == "POST"


def test_a_batch_counts_as_many_requests_as_it_has_queries(where: str) -> None:
    client = create_app(esr.open(where), Settings(rate="5/minute")).test_client()
    post(client, {"queries": TWO})
    post(client, {"queries": TWO})
    assert post(client, {"queries": TWO}, 429).json["error"]["code"] == "too_many_requests"


def test_a_batch_ends_in_its_time(where: str) -> None:
    client = create_app(esr.open(where), Settings(batch_deadline=0.01)).test_client()
    queries = [{"id": str(n), "query": "storm flood"} for n in range(100)]
    told = post(client, {"queries": queries, "k": 1000}, 503).json["error"]
    assert told["code"] == "engine_unreachable"


def test_answers_that_lack_something_are_named_beside_a_run(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def partly(index: EmbeddedIndex, *args: Any, **kwargs: Any) -> Any:
        return replace(whole(index, *args, **kwargs), incomplete="1 of 3 shards failed")

    whole = EmbeddedIndex.search
    monkeypatch.setattr(EmbeddedIndex, "search", partly)
    assert post(client, {"queries": TWO, "format": "run"}).headers["X-Incomplete"] == "1, 2"
    table = post(client, {"queries": TWO, "format": "csv"})
    assert {row[-1] for row in csv.reader(io.StringIO(table.text))} == {"incomplete", "1 of 3 shards failed"}
    assert post(client, {"queries": TWO}).json["answers"][0]["incomplete"] == "1 of 3 shards failed"
