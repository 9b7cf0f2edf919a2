from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from esr.errors import UsageError
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import load
from tests.support.fake_index import FakeIndex
from webui.app import create_app
from webui.pages.batch import parse_queries
from webui.running.settings import Settings


def post(client: FlaskClient, address: str = "/batch", status: int = 200, **fields: object) -> str:
    response = client.post(address, data=fields, content_type="multipart/form-data")
    assert response.status_code == status, response.text
    return response.text


def test_lines_are_queries_numbered_from_one() -> None:
    assert [(t.id, t.query()) for t in parse_queries("a storm\n\n  b \n", "it")] == [
        ("1", "a storm"),
        ("2", "b"),
    ]


@pytest.mark.parametrize("text", ["t1\ta storm\n", '{"id": "t1", "query": "a storm"}'])
def test_topic_files_keep_their_ids(text: str) -> None:
    assert [(t.id, t.query()) for t in parse_queries(text, "it")] == [("t1", "a storm")]


@pytest.mark.parametrize("text", ["", " \n\t\n", "t1\ta\nno tab", "t1\ta\nt1\tb"])
def test_a_text_that_is_no_list_of_queries_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        parse_queries(text, "it")


def test_the_table_and_the_run_have_what_single_searches_find(real: FlaskClient) -> None:
    ids = [
        hit["sentence_id"]
        for hit in (real.get("/search.json?q=ferry&k=4&model=bm25&fold=no&passages=no").json or {})["hits"]
    ]
    table = post(real, "/batch?model=bm25", queries="q1\tferry\nq2\tearthquake", k="4")
    rows = list(csv.DictReader(io.StringIO(table.lstrip("\ufeff"))))
    assert [row["sentence_id"] for row in rows if row["id"] == "q1"] == ids
    assert {row["query"] for row in rows} == {"ferry", "earthquake"}
    run = post(real, "/batch?model=bm25", queries="q1\tferry\nq2\tearthquake", k="4", **{"as": "run"})
    assert [line.split()[2] for line in run.splitlines() if line.startswith("q1 ")] == ids


def test_many_queries_require_all_words_where_the_address_does(real: FlaskClient) -> None:
    query = "relief China"
    single = real.get("/search.json?q=relief+China&require=all&k=50&fold=no&passages=no").json or {}
    table = post(real, "/batch?require=all", queries=query, k="50")
    rows = list(csv.DictReader(io.StringIO(table.lstrip("\ufeff"))))
    assert {row["sentence_id"] for row in rows} == {hit["sentence_id"] for hit in single["hits"]}
    assert 0 < len(rows) < len(list(csv.DictReader(io.StringIO(post(real, queries=query, k="50")))))


def test_many_queries_are_ranked_without_lowering_furniture_as_runs_of_the_command_line_are(
    tmp_path: Path,
) -> None:
    texts = ("A storm came to the coast on Monday.", "The town was quiet again.", "READ MORE: Storm, storm")
    sentences = tuple(Sentence(f"a.s{n}", text) for n, text in enumerate(texts))
    load(str(tmp_path / "index"), [Document("a", sentences)])
    with open_searcher(str(tmp_path / "index")) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        ranked = [hit.sentence_id for hit in searcher.search("storm", 9).hits]
        listed = (client.get("/search.json?q=storm&passages=no").json or {})["hits"]
        run = post(client, queries="storm", **{"as": "run"})
        body = {"queries": [{"id": "1", "query": "storm"}], "format": "run"}
        of_api = client.post("/api/v1/batch", json=body).text
    assert ranked[0] == "a.s2" and listed[0]["sentence_id"] == "a.s0"
    for text in (run, of_api):
        assert [line.split()[2] for line in text.splitlines()] == ranked


def test_the_filters_of_the_address_apply_to_each_query(real: FlaskClient) -> None:
    table = post(real, "/batch?source=Northern+Wire", queries="earthquake\nferry")
    rows = list(csv.DictReader(io.StringIO(table.lstrip("\ufeff"))))
    assert {row["source"] for row in rows} == {"Northern Wire"}


@pytest.mark.parametrize(("address", "is_literal"), [("/batch", False), ("/batch?literal=yes", True)])
def test_queries_are_read_as_a_single_search_reads_them(
    real: FlaskClient, address: str, is_literal: bool
) -> None:
    query = "earthquake -relief"
    syntax = "&literal=yes" if is_literal else ""
    answer = real.get(f"/search.json?q={query}{syntax}&k=100&fold=no&passages=no").json or {}
    single = [hit["text"] for hit in answer["hits"]]
    rows = list(csv.DictReader(io.StringIO(post(real, address, queries=query).lstrip("\ufeff"))))
    assert sorted(row["text"] for row in rows) == sorted(single)
    assert any("relief" in text for text in single) == is_literal


def test_the_page_of_many_queries_is_reached_with_the_syntax_of_the_search(real: FlaskClient) -> None:
    links = re.findall(r'href="(/batch[^"]*)"', real.get("/search?q=earthquake&literal=yes").text)
    assert links
    assert all("literal=yes" in link for link in links), links


def test_an_uploaded_file_takes_precedence_over_pasted_text(real: FlaskClient) -> None:
    run = post(real, queries="x\tstorm", file=(io.BytesIO(b"y\tferry\n"), "t.tsv"), **{"as": "run"})
    assert {line.split()[0] for line in run.splitlines()} == {"y"}


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"queries": ""}, "There is no query"),
        ({"queries": "of\nthe"}, "Query &#39;1&#39;: the query has only stop words"),
        ({"queries": "storm", "k": "0"}, "whole number from 1 to 1000"),
        ({"queries": "storm", "as": "xml"}, "choose csv or run"),
        ({"queries": "storm\x00"}, "control character"),
        ({"queries": "\n".join(["storm"] * 101)}, "101 queries: at most 100"),
        ({"queries": "no tab <script>alert(1)</script>\nt1\tstorm"}, "&lt;script"),
        ({"file": (io.BytesIO(b"\xff\xfe"), "t.tsv")}, "not UTF-8"),
    ],
)
def test_the_page_says_what_is_wrong(real: FlaskClient, fields: dict[str, object], message: str) -> None:
    html = post(real, status=400, **fields)
    assert message in html and "<script>alert" not in html


def test_a_query_that_cannot_be_searched_for_does_not_stop_the_others(real: FlaskClient) -> None:
    queries = "q1\tferry\nq2\tthe of\nq3\tearth\x00quake\nq4\tearthquake"
    table = real.post("/batch", data={"queries": queries, "k": "1"})
    assert (table.status_code, table.headers["X-Skipped"]) == (200, "q2, q3")
    rows = list(csv.DictReader(io.StringIO(table.text.lstrip("\ufeff"))))
    assert [row["id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert [bool(row["sentence_id"]) for row in rows] == [True, False, False, True]
    assert rows[1]["incomplete"].startswith("not searched: the query has only stop words")
    assert "control character" in rows[2]["incomplete"]


def test_a_topic_without_a_title_does_not_stop_the_others(real: FlaskClient) -> None:
    queries = '{"id": "q1", "desc": "floods"}\n{"id": "q2", "title": "earthquake"}'
    table = real.post("/batch", data={"queries": queries, "k": "1"})
    assert (table.status_code, table.headers["X-Skipped"]) == (200, "q1")
    rows = list(csv.DictReader(io.StringIO(table.text.lstrip("\ufeff"))))
    assert [(row["id"], bool(row["sentence_id"])) for row in rows] == [("q1", False), ("q2", True)]
    assert "has no title" in rows[0]["incomplete"]


def test_the_page_asks_before_it_makes_a_run_without_some_of_the_queries(
    real: FlaskClient,
) -> None:
    fields = {"queries": "q1\tferry\nq2\tthe of", "as": "run"}
    html = post(real, status=400, **fields)
    assert "q2" in html and "the query has only stop words" in html and 'name="anyhow"' in html
    run = real.post("/batch", data=fields | {"anyhow": "yes"})
    assert (run.status_code, run.headers["X-Skipped"]) == (200, "q2")
    assert {line.split()[0] for line in run.text.splitlines()} == {"q1"}


def test_programs_get_what_is_wrong_with_many_queries_as_json(real: FlaskClient) -> None:
    for fields, field in (({"queries": "ferry", "k": "1001"}, "k"), ({"queries": "x\n" * 101}, "queries")):
        answer = real.post("/batch", data=fields, headers={"Accept": "*/*"})
        assert (answer.status_code, answer.mimetype) == (400, "application/json")
        assert answer.json is not None and answer.json["error"]["field"] == field


MISSING = "1 of 2 shards failed"


def client_of_incomplete(index: FakeIndex) -> FlaskClient:
    """A client of an index whose answers are incomplete."""
    index.incomplete = MISSING
    return create_app(Searcher(index), Settings(access_log=0)).test_client()


def test_incomplete_answers_are_reported_before_a_file_is_made(index: FakeIndex) -> None:
    client = client_of_incomplete(index)
    html = post(client, status=503, queries="a\tstorm\nb\tflood")
    assert 'role="alert"' in html and "These answers are incomplete" in html
    assert html.count(MISSING) == 2
    html = post(client, status=503, file=(io.BytesIO(b"a\tstorm & rain\n"), "t.tsv"), k="7")
    assert "This answer is incomplete" in html
    # What was uploaded can be sent again without choosing the file again.
    assert ">a\tstorm &amp; rain\n</textarea>" in html and 'value="7"' in html
    assert 'name="anyhow"' in html


def test_a_file_of_incomplete_answers_says_so(index: FakeIndex) -> None:
    client = client_of_incomplete(index)
    fields = {"queries": "a\tstorm\nb\tzyx", "anyhow": "yes"}
    table = client.post("/batch", data=fields)
    assert table.headers["X-Incomplete"] == "a"  # b is no word of the index: there was nothing to ask
    assert "queries-incomplete.csv" in table.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(table.text.lstrip("\ufeff"))))
    assert rows and {row["incomplete"] for row in rows} == {MISSING}
    run = client.post("/batch", data=fields | {"as": "run"})
    assert "queries-incomplete.run" in run.headers["Content-Disposition"]
    assert {line.split()[5] for line in run.text.splitlines()} == {"esr-incomplete"}
    index.records.clear()
    rows = list(csv.DictReader(io.StringIO(client.post("/batch", data=fields).text.lstrip("\ufeff"))))
    assert rows == []


def test_hostile_ids_of_queries_are_escaped(index: FakeIndex) -> None:
    html = post(
        client_of_incomplete(index), status=503, queries="a<script>alert(1)</script>\tstorm\ncafé\tflood"
    )
    assert "a&lt;script&gt;alert(1)" in html and "<script>alert" not in html
    answer = client_of_incomplete(index).post("/batch", data={"queries": "café\tstorm", "anyhow": "yes"})
    assert answer.headers["X-Incomplete"] == "caf?"


def test_complete_answers_need_no_confirmation_and_their_file_has_no_mark(client: FlaskClient) -> None:
    for form, name in (("csv", "queries.csv"), ("run", "queries.run")):
        answer = client.post("/batch", data={"queries": "storm", "as": form})
        assert answer.status_code == 200
        assert f'"{name}"' in answer.headers["Content-Disposition"]
        assert "X-Incomplete" not in answer.headers and "incomplete" not in answer.text.splitlines()[-1]


@pytest.mark.parametrize("path", ["search.csv?q=storm", "search.run?q=storm", "compare.csv?q=storm"])
def test_other_files_of_incomplete_answers_say_so_too(index: FakeIndex, path: str) -> None:
    complete = create_app(Searcher(index), Settings(access_log=0)).test_client().get(path)
    assert "X-Incomplete" not in complete.headers
    assert "incomplete" not in complete.headers["Content-Disposition"]
    answer = client_of_incomplete(index).get(path)
    assert answer.headers["X-Incomplete"] == MISSING
    assert "-incomplete." in answer.headers["Content-Disposition"]


def test_a_large_upload_is_rejected(searcher: Searcher) -> None:
    client = create_app(searcher, Settings(access_log=0, body_bytes=1000)).test_client()
    assert "too large" in post(client, status=413, queries="x" * 2000)


def test_a_bad_ranking_in_the_address_is_an_error_before_any_query_is_given(real: FlaskClient) -> None:
    assert real.get("/batch?model=nowhere").status_code == 400
