from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.fake_index import FakeIndex

Q = "q=earthquake+relief+China"


def json(client: FlaskClient, address: str) -> Any:
    response = client.get(address)
    assert response.status_code == 200, response.text
    assert response.mimetype == "application/json"
    return response.json


def rows(client: FlaskClient, address: str) -> list[dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 200 and response.mimetype == "text/csv"
    assert "attachment" in response.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(response.get_data(as_text=True).lstrip("\ufeff"))))


def test_each_page_links_to_the_same_answer_as_json(real: FlaskClient) -> None:
    for path, query in (
        ("search", Q),
        ("document", f"{Q}&id=earthquake-relief"),
        ("explain", f"{Q}&id=earthquake-relief.s0"),
        ("compare", f"{Q}&vs.model=bm25"),
    ):
        assert json(real, f"/{path}.json?{query}")
        assert f'href="/{path}.json?' in real.get(f"/{path}?{query}").text


@pytest.mark.parametrize("model", ["2si", "tdsr", "mrf_fdm"])
def test_the_scores_of_a_document_are_those_of_the_search(real: FlaskClient, model: str) -> None:
    found = json(real, f"/search.json?{Q}&model={model}&k=100&document=earthquake-relief")
    scores = {hit["sentence_id"]: hit["score"] for hit in found["hits"]}
    assert len(scores) >= 5
    document = json(real, f"/document.json?{Q}&model={model}&id=earthquake-relief")
    for sentence in document["sentences"]:
        if sentence["id"] in scores:
            assert sentence["score"] == pytest.approx(scores[sentence["id"]], abs=1e-5)


def test_the_table_of_a_document_has_its_sentences_in_order(real: FlaskClient) -> None:
    found = rows(real, f"/document.csv?{Q}&id=earthquake-relief")
    assert [row["position"] for row in found] == [str(n) for n in range(len(found))]


def test_a_comparison_says_what_moved(real: FlaskClient) -> None:
    found = json(real, f"/compare.json?{Q}&vs.model=bm25")
    ranks = {hit["sentence_id"]: hit["rank"] for hit in found["right"]["hits"]}
    for hit in found["left"]["hits"]:
        assert hit["other"] == ranks.get(hit["sentence_id"])
        assert hit["moved"] == (None if hit["other"] is None else hit["other"] - hit["rank"])
    assert found["right"]["ranking"]["model"] == "bm25"
    table = rows(real, f"/compare.csv?{Q}&vs.model=bm25")
    assert [row["side"] for row in table].count("left") == len(found["left"]["hits"])


@pytest.mark.parametrize("path", ["search?", "search.json?", "search.csv?", "compare?vs.model=dir&"])
def test_a_second_stage_of_nothing_shows_an_empty_answer(real: FlaskClient, path: str) -> None:
    response = real.get(f"/{path}q=%2Bearthquake+-earthquake&rerank=bm25:1")
    assert response.status_code == 200, response.text


def test_the_reason_in_words_comes_before_any_number(real: FlaskClient) -> None:
    for address in (f"/explain?{Q}&id=earthquake-relief.s0", f"/compare?{Q}&vs.model=bm25"):
        page = real.get(address).text.split("<main", 1)[1]
        reason = re.search(r'<p class="reason">(All|Both|One|Two) [a-z ]*words', page)
        assert reason, address
        assert not re.search(r"[−-]\d+\.\d+", page[: reason.start()])
    assert ">Balanced</h2>" in real.get(f"/compare?{Q}&vs.model=bm25").text
    assert ">Words alone</h2>" in real.get(f"/compare?{Q}&vs.model=bm25").text
    assert "score −" not in real.get(f"/compare?{Q}&vs.model=bm25").text


def test_the_run_of_a_search_is_its_ranking(real: FlaskClient) -> None:
    ids = [hit["sentence_id"] for hit in json(real, f"/search.json?{Q}&k=20")["hits"]]
    run = real.get(f"/search.run?{Q}&k=20").text.splitlines()
    assert [line.split()[2] for line in run] == ids


@pytest.mark.parametrize("path", ["/document", "/document.json", "/explain", "/explain.json"])
@pytest.mark.parametrize("given", ["", "&id=nowhere", "&id=%00", "&id=" + "x" * 400])
def test_an_unknown_id_is_a_clear_error(real: FlaskClient, path: str, given: str) -> None:
    response = real.get(f"{path}?{Q}{given}")
    assert 400 <= response.status_code < 500
    assert "Traceback" not in response.text


def test_spreadsheet_formulas_are_escaped(real: FlaskClient) -> None:
    table = real.get("/search.csv?q=pilot&k=3").text
    assert all(not row.startswith(("=", "+", "@")) for row in table.splitlines())


@pytest.mark.parametrize("path", ["/search", "/search.json", "/compare?vs.model=bm25&", "/api/v1/search"])
@pytest.mark.parametrize("ranking", ["model=tdsr", "rerank=mrf_sdm:2", "rerank=meaning:50"])
def test_a_ranking_that_the_index_cannot_answer_is_an_error_and_not_offered(
    client: FlaskClient, index: FakeIndex, path: str, ranking: str
) -> None:
    index.is_parsed = False
    response = client.get(f"{path}{'' if path.endswith('&') else '?'}q=storm&{ranking}")
    noun, part = ("vectors", "vectors") if "meaning" in ranking else ("parses", "parse")
    assert response.status_code == 400
    assert f"has no {noun}: run esr enrich --only {part}" in response.text
    form = client.get("/").text
    assert 'value="tdsr"' not in form and 'value="meaning"' not in form and 'value="mrf_fidm"' in form
    assert "Words and meaning" not in form
