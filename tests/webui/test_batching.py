from __future__ import annotations

import csv
import io

import pytest
from flask.testing import FlaskClient

from esr.errors import UsageError
from esr.ranking.searcher import Searcher
from webui.app import create_app
from webui.batching import read
from webui.settings import Settings


def ask(client: FlaskClient, address: str = "/batch", status: int = 200, **fields: object) -> str:
    response = client.post(address, data=fields, content_type="multipart/form-data")
    assert response.status_code == status, response.text
    return response.text


def test_lines_are_queries_numbered_from_one() -> None:
    assert [(t.id, t.query()) for t in read("a storm\n\n  b \n", "it")] == [("1", "a storm"), ("2", "b")]


@pytest.mark.parametrize("text", ["t1\ta storm\n", '{"id": "t1", "query": "a storm"}'])
def test_topic_files_keep_their_ids(text: str) -> None:
    assert [(t.id, t.query()) for t in read(text, "it")] == [("t1", "a storm")]


@pytest.mark.parametrize("text", ["", " \n\t\n", "t1\ta\nno tab", "t1\ta\nt1\tb"])
def test_what_is_no_list_of_queries_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read(text, "it")


def test_the_table_and_the_run_hold_what_single_searches_find(real: FlaskClient) -> None:
    ids = [hit["sentence_id"] for hit in (real.get("/search.json?q=ferry&k=4&model=bm25").json or {})["hits"]]
    table = ask(real, "/batch?model=bm25", queries="q1\tferry\nq2\tearthquake", k="4")
    rows = list(csv.DictReader(io.StringIO(table.lstrip("\ufeff"))))
    assert [row["sentence_id"] for row in rows if row["id"] == "q1"] == ids
    assert {row["query"] for row in rows} == {"ferry", "earthquake"}
    run = ask(real, "/batch?model=bm25", queries="q1\tferry\nq2\tearthquake", k="4", **{"as": "run"})
    assert [line.split()[2] for line in run.splitlines() if line.startswith("q1 ")] == ids


def test_the_filters_of_the_address_hold_for_each_query(real: FlaskClient) -> None:
    table = ask(real, "/batch?source=Northern+Wire", queries="earthquake\nferry")
    rows = list(csv.DictReader(io.StringIO(table.lstrip("\ufeff"))))
    assert {row["source"] for row in rows} == {"Northern Wire"}


def test_a_file_comes_before_what_was_pasted(real: FlaskClient) -> None:
    run = ask(real, queries="x\tstorm", file=(io.BytesIO(b"y\tferry\n"), "t.tsv"), **{"as": "run"})
    assert {line.split()[0] for line in run.splitlines()} == {"y"}


@pytest.mark.parametrize(
    "fields, told",
    [
        ({"queries": ""}, "There is no query"),
        ({"queries": "storm\nthe"}, "Query &#39;2&#39;: the query has only stop words"),
        ({"queries": "storm", "k": "0"}, "whole number from 1 to 1000"),
        ({"queries": "storm", "as": "xml"}, "csv or run"),
        ({"queries": "storm\x00"}, "control character"),
        ({"queries": "\n".join(["storm"] * 101)}, "101 queries: at most 100"),
        ({"queries": "no tab <script>alert(1)</script>\nt1\tstorm"}, "&lt;script"),
        ({"file": (io.BytesIO(b"\xff\xfe"), "t.tsv")}, "not UTF-8"),
    ],
)
def test_what_is_wrong_is_told_on_the_page(real: FlaskClient, fields: dict[str, object], told: str) -> None:
    html = ask(real, status=400, **fields)
    assert told in html and "<script>alert" not in html


def test_a_large_upload_is_refused(searcher: Searcher) -> None:
    client = create_app(searcher, Settings(access_log=0, body_bytes=1000)).test_client()
    assert "too large" in ask(client, status=413, queries="x" * 2000)


def test_a_bad_ranking_in_the_address_is_an_error_before_any_query_is_given(real: FlaskClient) -> None:
    assert real.get("/batch?model=nowhere").status_code == 400
