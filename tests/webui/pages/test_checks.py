"""The page that checks quotations, and its operation of the API."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient

from esr.evidence.contrast import Contrast, Rule
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.elasticsearch import load
from tests.support.quoted_corpus import make_documents
from webui.app import create_app
from webui.pages.claims import use_contrast
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

EXACT, NEAR = "an historic moment from which there can be no turning back", "the House rose for dinner"
TEXT = f"“{EXACT}”, “{NEAR}” and “wheat never fell <b>at all</b> in my garden”"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("checks") / "index")
    load(where, make_documents())
    return where


@pytest.fixture(scope="module")
def client(folder: str) -> Iterator[FlaskClient]:
    with open_searcher(folder) as searcher:
        yield create_app(searcher, Settings(access_log=0, query_chars=300)).test_client()


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_a_text_is_answered_with_a_verdict_for_each_quotation_and_an_address_to_keep(
    client: FlaskClient,
) -> None:
    posted = client.post("/check", data={"text": TEXT})
    assert posted.status_code == 200
    page = posted.get_data(as_text=True)
    verdicts = [words(heading) for heading in re.findall(r'<h2 class="state">.*?</h2>', page, re.DOTALL)]
    assert verdicts == ["1 Exact in 2 sources, nearly in 1 more", "2 Nearly: 1 word differs", "3 Not found"]
    assert '<del class="differ">dinner</del>' in page and '<ins class="differ">lunch</ins>' in page
    assert "<b>at all</b>" not in page
    assert "Theresa May certain" in words(page) and "29 March 2017" in page
    kept = unescape(next(iter(re.findall(r'href="([^"]*)">Permanent link', page))))
    again = client.get(kept).get_data(as_text=True)
    assert again.partition("<ol")[2] == page.partition("<ol")[2]
    links = set(re.findall(r'href="(/sentence\?id=bbc&[^"]*)"', page))
    assert {client.get(unescape(link)).location.partition("#")[2] for link in links} == {"s1", "s2"}


def test_one_click_puts_the_words_found_in_the_place_of_the_wrong_ones(client: FlaskClient) -> None:
    page = client.post("/check", data={"text": TEXT}).get_data(as_text=True)
    assert re.findall(r'name="use" value="(\d)"', page) == ["2"]
    used = client.post("/check", data={"text": TEXT, "use": "2"}).get_data(as_text=True)
    assert "the House rose for lunch" in used and "rose for dinner" not in used
    assert 'name="use"' not in used
    missing = "an historic moment which there can be no no turning back"
    (near,) = client.post("/api/v1/check", json={"text": missing}).get_json()["quotations"]
    assert near["verdict"] == "near"
    used = client.post("/check", data={"text": f"“{missing}”", "use": "1"}).get_data(as_text=True)
    assert f"“{EXACT}”" in words(used).replace("“ ", "“").replace(" ”", "”") or "Exact in" in used
    for number in ("9", "0000000010", "9" * 5_000):
        assert client.post("/check", data={"text": TEXT, "use": number}).status_code == 400


def test_a_claim_of_stop_words_stays_in_its_form_with_the_reason(client: FlaskClient) -> None:
    answer = client.get("/evidence?q=the of")
    page = answer.get_data(as_text=True)
    assert answer.status_code == 400 and 'role="alert"' in page and "the of</textarea>" in page
    assert client.get("/evidence.json?q=the of").status_code == 400


def test_a_claim_can_take_the_number_date_or_name_of_a_sentence() -> None:
    def use(rule: Rule, claimed: str) -> str | None:
        return use_contrast("Two provinces sent two teams in May.", Contrast(rule, 0, 3, "April", claimed))

    assert use("date", "May") == "Two provinces sent two teams in April."
    assert use("negation", "May") is None and use("number", "") is None


def test_a_text_that_cannot_be_checked_stays_in_the_form_with_the_reason(client: FlaskClient) -> None:
    answer = client.post("/check", data={"text": "… !"})
    assert answer.status_code == 400
    page = answer.get_data(as_text=True)
    assert "The quotation has no word." in page and "… !</textarea>" in page
    assert (
        client.post("/check", data={}, headers={"Accept": "application/json"}).get_json()["error"]["field"]
        == "text"
    )
    assert "<form" in client.get("/check").get_data(as_text=True)
    linked = client.get("/check?text=…")
    assert linked.status_code == 400 and "The quotation has no word." in linked.get_data(as_text=True)
    long = client.post("/check", data={"text": "word " * 30_000})
    assert long.status_code == 400 and "at most 50,000 are allowed" in long.get_data(as_text=True)


def test_the_api_answers_an_address_and_a_body_alike_with_permalinks(client: FlaskClient) -> None:
    found = client.get("/api/v1/check", query_string={"text": TEXT[:300]})
    assert found.status_code == 200
    assert client.post("/api/v1/check", json={"text": TEXT}).json == found.json
    exact, near, unknown = found.get_json()["quotations"]
    assert [q["verdict"] for q in (exact, near, unknown)] == ["exact", "near", "none"]
    first = exact["first"]
    assert (first["source"], first["date"], exact["speaker"]) == ("bbc.co.uk", "2017-03-29", "Theresa May")
    address = urlsplit(first["permalink"])
    assert client.get(f"{address.path}?{address.query}").location.endswith("/document?id=bbc#s1")
    assert unknown["first"] is None and unknown["nearest"][0]["permalink"]


def test_the_links_of_a_check_lead_into_its_index(folder: str) -> None:
    with open_searcher(folder) as searcher:

        def use() -> Searcher:
            return Searcher(searcher.index, owns_index=False)

        served = ServedIndexes({"first": use, "second": use}, Settings())
        client = create_app(served, Settings(access_log=0)).test_client()
        page = unescape(client.get("/check", query_string={"text": EXACT, "index": "second"}).text)
    cited = re.findall(r'href="(/sentence[?.][^"]*)"', page)
    assert len(cited) > 1 and all("index=second" in address for address in cited), cited


def test_a_draft_is_checked_from_the_form_a_file_and_the_api(client: FlaskClient) -> None:
    draft = "Teresa May flew home. Prices rose 3 percent in Russia. She said “an historic moment”."
    page = client.post("/check", data={"text": draft, "draft": "yes"}).get_data(as_text=True)
    assert "Teresa May 0 sentences → Theresa May 3 sentences" in words(page)
    assert "3 percent – the evidence has 5 percent" in words(page)
    upload = {"file": (io.BytesIO(f"# {draft}".encode()), "draft.md")}
    sent = client.post("/check", data=upload).get_data(as_text=True)
    assert sent.partition('class="found"')[2] == page.partition('class="found"')[2]
    found = client.post("/api/v1/check", json={"text": draft, "draft": True}).get_json()
    assert [name["text"] for name in found["names"]] == ["Teresa May", "Russia"]
    assert found["sentences"][1]["evidence"][0]["permalink"].startswith("http://localhost/sentence?id=dw")
    for name, content, reason in (
        ("a.exe", b"x", "none of"),
        ("a.txt", b"\xe9", "not UTF-8"),
        ("a.docx", b"x", "file"),
    ):
        refused = client.post("/check", data={"file": (io.BytesIO(content), name)})
        assert refused.status_code == 400
        assert reason in words(refused.get_data(as_text=True)) and "/tmp" not in refused.get_data(
            as_text=True
        )


def test_each_quotation_counts_as_a_query(folder: str) -> None:
    with open_searcher(folder) as searcher:
        client = create_app(searcher, Settings(access_log=0, rate="4/minute")).test_client()
        assert client.post("/check", data={"text": TEXT}).status_code == 200
        assert client.post("/check", data={"text": TEXT}).status_code == 429
