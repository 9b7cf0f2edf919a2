"""What somebody said over time, on both engines, and the same in the command, the API and the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import esr
from esr.corpus.statements import compare_wordings
from esr.index.names import Aliases
from esr.ranking.searcher import open_searcher
from esr.text.document import CERTAIN, PROBABLE, Document, Quote
from tests.cli.conftest import call
from tests.index.test_names import PERSON, RECIPE, enriched
from tests.support.elasticsearch import document, load
from tests.support.index_contents import ENGINES, open_corpus
from webui.api.schemas import SCHEMAS
from webui.app import create_app

ANN = ("Ann Lee", PERSON)
SAID = {
    "d": ("d.example", "2017-03-05", "“The harbour bridge will be open to all in May,”", CERTAIN),
    "a": ("a.example", "2017-02-01", "“The harbour bridge will be open to all in March,”", CERTAIN),
    "b": ("b.example", "2017-02-02", "“The harbour bridge will be open to all in March,”", CERTAIN),
    "c": ("c.example", "2017-02-03", "“Schools need more teachers than the city has,”", CERTAIN),
    "e": ("e.example", "2017-03-06", "“The harbour bridge will never open,”", PROBABLE),
}


def make_documents() -> Iterator[Document]:
    for id, (source, date, text, certainty) in SAID.items():
        made = document(id, f"{text} said Ann Lee.", date=date, source=source)
        quote = Quote(0, len(text), "Ann Lee", "ann lee", "said", certainty)
        yield replace(made, sentences=(replace(made.sentences[0], quotes=(quote,)),))
    for number in range(20):
        yield document(f"other{number}", f"Wheat grew well in the year {1900 + number}.")


def fill(where: str) -> None:
    load(where, make_documents())
    with open_searcher(where) as opened, opened.index.enrichment() as enrichment:
        enrichment.store(
            RECIPE, [(made.id, enriched([[ANN] if made.id in SAID else []])) for made in make_documents()]
        )
        enrichment.update_names(Aliases({}))
        enrichment.finish(RECIPE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("statements") / "index")
    fill(where)
    return where


@pytest.fixture(scope="module", params=ENGINES)
def index(request: pytest.FixtureRequest) -> Iterator[esr.Index]:
    """The corpus on each engine, which no test changes."""
    with open_corpus(request, fill) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(folder: str) -> Iterator[FlaskClient]:
    with open_searcher(folder) as searcher:
        yield create_app(searcher).test_client()


def test_statements_come_in_order_with_their_wordings_joined_and_copies_folded(index: esr.Index) -> None:
    said = index.statements("ann lee")
    assert (said.name, said.quotations, said.sentences) == ("Ann Lee", 4, 5)
    bridge, schools = said.statements
    assert [wording.quotation.document_id for wording in bridge.wordings] == ["a", "d"]
    assert [copy.document_id for copy in bridge.wordings[0].copies] == ["b"] and bridge.sources == 3
    assert [(p.kind, p.text) for p in bridge.wordings[1].changes] == [
        ("same", "“The harbour bridge will be open to all in"),
        ("removed", "March,”"),
        ("added", "May,”"),
    ]
    assert [wording.quotation.document_id for wording in schools.wordings] == ["c"]
    (about,) = index.statements("person:ann lee", about="teachers").statements
    assert about.wordings[0].quotation.document_id == "c"
    assert index.statements("Ann Lee", after="2017-03").quotations == 1
    assert index.statements("Ann Lee", about="harbour teachers").statements == []


def test_an_unknown_name_and_an_index_without_quotations_say_so(folder: str, tmp_path: Path) -> None:
    with esr.open(folder) as index, pytest.raises(esr.NotFound, match="Zyx"):
        index.statements("Zyx Garble")
    plain = esr.create(tmp_path / "plain", [{"id": "a", "text": "It rained."}])
    with plain, pytest.raises(esr.UsageError, match="esr enrich --only quotes"):
        plain.statements("Ann Lee")


def test_words_are_compared_without_case_and_marks() -> None:
    assert [(p.kind, p.text) for p in compare_wordings("“We will,” he", "we WILL not he")] == [
        ("same", "we WILL"),
        ("added", "not"),
        ("same", "he"),
    ]


def test_command_api_and_page_have_the_statements_of_python(folder: str, client: FlaskClient) -> None:
    with esr.open(folder) as index:
        expected = json.loads(json.dumps(index.statements("Ann Lee", about="bridge").as_dict()))
    arguments = ("name", "Ann Lee", "--about", "bridge", "--index", Path(folder))
    assert json.loads(call(*arguments, "--format", "json").stdout)["over_time"] == expected
    answer = client.get("/api/v1/names/statements?name=Ann+Lee&about=bridge").json
    assert answer == expected
    Draft202012Validator({**SCHEMAS["Statements"], "components": {"schemas": SCHEMAS}}).validate(answer)
    text = call(*arguments).stdout
    assert "what it said over time about bridge" in text
    assert "  2017-03-05 “The harbour bridge will be open to all in -March,”- +May,”+ (d.s0)" in text
    assert "(a.s0, 1 more time)" in text
    assert "over time" not in call("name", "Ann Lee", "--index", Path(folder)).stdout


def test_the_page_of_a_name_shows_statements_in_order_and_marks_changes(client: FlaskClient) -> None:
    html = client.get("/name?name=Ann+Lee").text
    assert "4 quotations whose speaker is certain, 2 statements" in html
    assert "<del>March,”</del> <ins>May,”</ins>" in html and "also in" in html
    assert html.index("in March,”") < html.index("Schools need")
    about = client.get("/name?name=Ann+Lee&about=teachers").text
    assert "Schools need" in about and "<del>March" not in about and 'value="teachers"' in about
    none = client.get("/name?name=Ann+Lee&about=zyx").text
    assert "No quotation whose speaker is certain has all of these words" in none and "Any subject" in none
    assert client.get("/name?name=Ann+Lee&about=the").status_code == 400


def test_the_command_lists_what_a_speaker_said_in_an_index_without_names(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    load(str(folder), make_documents())
    arguments = ("name", "Ann Lee", "--index", folder)
    assert "index has no names" in call(*arguments).stderr
    assert "2017-02-03 “Schools need more teachers" in call(*arguments, "--over-time").stdout
    assert "index has no names" in call("name", "Zyx Garble", "--over-time", "--index", folder).stderr
