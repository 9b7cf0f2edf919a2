from __future__ import annotations

import csv
import io

import pytest
from flask.testing import FlaskClient

from esr.errors import UsageError
from esr.ranking.searcher import Searcher
from tests.webui.fake_index import FakeIndex
from webui.app import create_app
from webui.pages.batch import read
from webui.running.settings import Settings


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


LACKS = "1 of 2 shards failed"


def partly(index: FakeIndex) -> FlaskClient:
    """A client of an index that answers only in part."""
    index.incomplete = LACKS
    return create_app(Searcher(index), Settings(access_log=0)).test_client()


def test_answers_that_lack_something_are_told_before_a_file_is_made(index: FakeIndex) -> None:
    client = partly(index)
    html = ask(client, status=503, queries="a\tstorm\nb\tflood")
    assert 'role="alert"' in html and "These answers are not complete" in html
    assert html.count(LACKS) == 2
    html = ask(client, status=503, file=(io.BytesIO(b"a\tstorm & rain\n"), "t.tsv"), k="7")
    assert "This answer is not complete" in html
    # What was uploaded can be sent again without choosing the file again.
    assert ">a\tstorm &amp; rain\n</textarea>" in html and 'value="7"' in html
    assert 'name="anyhow"' in html


def test_a_file_of_answers_that_lack_something_says_so(index: FakeIndex) -> None:
    client = partly(index)
    given = {"queries": "a\tstorm\nb\tzyx", "anyhow": "yes"}
    table = client.post("/batch", data=given)
    assert table.headers["X-Incomplete"] == "a"  # b is no word of the index: there was nothing to ask
    assert "queries-incomplete.csv" in table.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(table.text.lstrip("\ufeff"))))
    assert rows and {row["incomplete"] for row in rows} == {LACKS}
    run = client.post("/batch", data=given | {"as": "run"})
    assert "queries-incomplete.run" in run.headers["Content-Disposition"]
    assert {line.split()[5] for line in run.text.splitlines()} == {"esr-incomplete"}
    index.records.clear()
    rows = list(csv.DictReader(io.StringIO(client.post("/batch", data=given).text.lstrip("\ufeff"))))
    assert rows == []


def test_hostile_ids_of_queries_come_out_escaped(index: FakeIndex) -> None:
    html = ask(partly(index), status=503, queries="a<script>alert(1)</script>\tstorm\ncafé\tflood")
    assert "a&lt;script&gt;alert(1)" in html and "<script>alert" not in html
    answer = partly(index).post("/batch", data={"queries": "café\tstorm", "anyhow": "yes"})
    assert answer.headers["X-Incomplete"] == "caf?"


def test_a_whole_answer_needs_no_second_question_and_its_file_no_mark(client: FlaskClient) -> None:
    for form, name in (("csv", "queries.csv"), ("run", "queries.run")):
        answer = client.post("/batch", data={"queries": "storm", "as": form})
        assert answer.status_code == 200
        assert f'"{name}"' in answer.headers["Content-Disposition"]
        assert "X-Incomplete" not in answer.headers and "incomplete" not in answer.text.splitlines()[-1]


@pytest.mark.parametrize("path", ["search.csv?q=storm", "search.run?q=storm", "compare.csv?q=storm"])
def test_other_files_of_answers_that_lack_something_say_so_too(index: FakeIndex, path: str) -> None:
    whole = create_app(Searcher(index), Settings(access_log=0)).test_client().get(path)
    assert "X-Incomplete" not in whole.headers
    assert "incomplete" not in whole.headers["Content-Disposition"]
    answer = partly(index).get(path)
    assert answer.headers["X-Incomplete"] == LACKS
    assert "-incomplete." in answer.headers["Content-Disposition"]


def test_a_large_upload_is_refused(searcher: Searcher) -> None:
    client = create_app(searcher, Settings(access_log=0, body_bytes=1000)).test_client()
    assert "too large" in ask(client, status=413, queries="x" * 2000)


def test_a_bad_ranking_in_the_address_is_an_error_before_any_query_is_given(real: FlaskClient) -> None:
    assert real.get("/batch?model=nowhere").status_code == 400
