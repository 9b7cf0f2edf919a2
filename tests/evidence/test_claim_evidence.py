"""The evidence for a claim, on both engines, and the same in the command, the API and the page."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from math import log
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

import esr
from esr.ranking.searcher import open_searcher
from esr.ranking.second_stage import query_encoder
from esr.text.document import CERTAIN, Document, Quote
from esr.threads import OnceByKey
from tests.cli.conftest import call
from tests.support.elasticsearch import document, load
from tests.support.fake_enricher import write_tiny_cross_encoder, write_tiny_encoder
from tests.support.index_contents import ENGINES, open_corpus
from webui.api.schemas import SCHEMAS
from webui.app import create_app

CLAIM = "The travel ban affects seven countries"
TEXTS = {
    "wire": ("wire.example", "2017-02-01", "The travel ban affects seven countries in Africa and Asia."),
    "copy": ("daily.example", "2017-02-03", "In Asia and Africa, the travel ban affects seven countries."),
    "court": ("court.example", "2017-03-16", "The new travel ban affects only six countries."),
    "aide": ("wire.example", "2017-02-02", "“No, the travel ban does not affect countries,” said Ann Lee."),
    "talk": ("talk.example", None, "Many spoke of the travel ban."),
    "rain": ("talk.example", "2017-02-01", "It rained in the hills."),
}


def make_documents() -> Iterator[Document]:
    for id, (source, date, text) in TEXTS.items():
        made = document(id, text, date=date, source=source, title="News", language="en")
        if id == "aide":
            quote = Quote(0, 45, "Ann Lee", "ann lee", "said", CERTAIN)
            made = replace(made, sentences=(replace(made.sentences[0], quotes=(quote,)),))
        if id == "court":
            quote = Quote(0, 20, "He", None, "said")
            made = replace(made, sentences=(replace(made.sentences[0], quotes=(quote,)),))
        yield made
    for number in range(20):
        yield document(
            f"other{number}", f"Wheat grew well in the year {1900 + number}.", source="farm.example"
        )


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("claims") / "index")
    load(where, make_documents())
    return where


@pytest.fixture(scope="module", params=ENGINES)
def index(request: pytest.FixtureRequest) -> Iterator[esr.Index]:
    """The corpus on each engine, which no test changes."""
    with open_corpus(request, lambda where: load(where, make_documents())) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(folder: str) -> Iterator[FlaskClient]:
    with open_searcher(folder) as searcher:
        yield create_app(searcher).test_client()


def test_sentences_are_grouped_and_copies_folded_into_the_first(index: esr.Index) -> None:
    found = index.evidence(CLAIM)
    assert {group: [text.document_id for text in texts] for group, texts in found.groups().items()} == {
        "says_so": ["wire"],
        "says_otherwise": ["court", "aide"],
        "near": ["talk"],
    }
    (said,) = found.says_so
    assert [copy.document_id for copy in said.copies] == ["copy"] and said.sources == 2
    assert (found.sentences, found.texts, found.sources) == (5, 4, 4)
    court, aide = found.says_otherwise
    assert [(c.rule, c.text, c.claimed) for c in court.contrasts] == [("number", "six", "seven")]
    assert [c.rule for c in aide.contrasts] == ["negation"]
    assert (aide.speaker, aide.certainty) == ("Ann Lee", "certain")
    assert (court.speaker, court.certainty) == (None, None), "a pronoun is nobody's name"
    rarity = {"travel": 5, "ban": 5, "affects": 4, "seven": 2, "countries": 4}
    weights = {word: log((26 + 1) / (0.5 + number)) for word, number in rarity.items()}
    assert court.share == pytest.approx(1 - weights["seven"] / sum(weights.values()), abs=0.00005)
    assert [(point.claimed, [(v.text, v.sources) for v in point.values]) for point in found.points()] == [
        ("seven", [("six", ["court.example"])])
    ]
    assert found.columns()["copies"] == [1, 0, 0, 0]


def test_stored_copies_are_folded_also_where_the_ranking_does_not_reach_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(str(tmp_path / "index"), make_documents())
    edited = "Ministers said that the travel ban affects seven countries of the African and Asian continents."
    early, late = (
        document(id, edited, date=date, source=f"{id}.example", language="en")
        for id, date in (("early", "2017-01-01"), ("late", "2017-01-02"))
    )
    with esr.open(tmp_path / "index") as index:
        index.append([to_builtins(late), to_builtins(early)])
        index.enrich("reuse")
        found = index.evidence(CLAIM)
        limited = index.evidence(CLAIM, after="2017-01-02", before="2017-01-03")
        monkeypatch.setattr("esr.evidence.claim_evidence.CANDIDATES", 1)
        (alone,) = index.evidence(edited).says_so
    assert (alone.document_id, [copy.document_id for copy in alone.copies]) == ("early", ["late"])
    ministers = next(text for text in found.says_so if text.document_id == "early")
    assert [copy.document_id for copy in ministers.copies] == ["late"] and ministers.sources == 2
    assert [(text.document_id, len(text.copies)) for text in limited.says_so] == [("late", 0)]


def test_texts_come_in_the_order_in_which_they_appeared_and_pass_the_filters(index: esr.Index) -> None:
    found = index.evidence(CLAIM, order="oldest")
    assert [text.document_id for text in found.says_otherwise] == ["aide", "court"]
    late = index.evidence(CLAIM, after="2017-02-02")
    assert [text.document_id for text in late.says_so] == ["copy"] and not late.says_so[0].copies
    assert len(index.evidence(CLAIM, 1).says_otherwise) == 1
    assert index.evidence("Zyx garble affects qwerty").texts == 0
    assert set(index.evidence("Zyx affects qwerty").unseen) == {"Zyx", "qwerty"}


@pytest.mark.parametrize(
    ("claim", "options", "message"),
    [
        ("the", {}, "only stop words"),
        (CLAIM, {"order": "newest"}, "unknown order 'newest'"),
        (CLAIM, {"afer": "2017"}, "did you mean 'after'"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(folder: str, claim: str, options: dict, message: str) -> None:  # type: ignore[type-arg]
    with esr.open(folder) as index, pytest.raises(esr.UsageError, match=message):
        index.evidence(claim, **options)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["contradiction", "entailment", "neutral"], r"tiny: rather (?P<says>supports|contradicts) it"),
        ([], r"tiny: (?P<says>)[+-]"),
    ],
)
def test_command_api_and_page_have_the_opinion_of_a_cross_encoder_with_its_name(
    folder: str,
    client: FlaskClient,
    labels: list[str],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = str(write_tiny_cross_encoder(tmp_path / "tiny", labels=labels))
    monkeypatch.setattr("esr.encoders.loaded_models.cross_encoders", OnceByKey())
    with esr.open(folder) as index:
        found = index.evidence(CLAIM, cross_encoder=model)
        assert index.evidence(CLAIM).opinion_by is None
        monkeypatch.setenv("ESR_ENTAILMENT", model)
        expected = json.loads(json.dumps(index.evidence(CLAIM).as_dict()))
    assert expected == json.loads(json.dumps(found.as_dict()))
    assert (found.opinion_by, found.is_entailment) == ("tiny", bool(labels))
    address = f"evidence?q={CLAIM.replace(' ', '+')}"
    assert client.get(f"/api/v1/{address}").json == expected
    texts = [text for group in found.groups().values() for text in group]
    for page in (call("evidence", CLAIM, "--index", Path(folder)).stdout, client.get(f"/{address}").text):
        says = [match["says"] for match in re.finditer(shown, page)]
        if labels:
            assert says == ["supports" if (text.opinion or 0) > 0 else "contradicts" for text in texts]
        assert len(says) == len(texts) == 4


def test_without_the_encoder_of_an_index_words_find_the_evidence_and_the_answer_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, encoder = tmp_path / "index", str(write_tiny_encoder(tmp_path / "tiny", 32, suits_hybrid=True))
    monkeypatch.setattr(query_encoder, "LOADS", {})
    load(str(where), make_documents())
    with esr.open(where) as index:
        by_words = index.evidence(CLAIM)
        index.enrich("vectors", encoder=encoder)
        monkeypatch.setenv("ESR_ENCODER", encoder)
        assert index.evidence(CLAIM).no_meaning is None
        monkeypatch.setenv("ESR_ENCODER", str(tmp_path / "nowhere"))
        monkeypatch.setattr(query_encoder, "suits_hybrid", lambda id: True)
        found = index.evidence(CLAIM)
        assert found.no_meaning and "nowhere" in found.no_meaning
        assert found == replace(by_words, no_meaning=found.no_meaning)
        client = create_app(index.searcher).test_client()
        address = f"evidence?q={CLAIM.replace(' ', '+')}"
        assert client.get(f"/api/v1/{address}").json["no_meaning"] == found.no_meaning
        assert "Ranked by words alone:" in client.get(f"/{address}").text
        assert "found by words alone" in call("evidence", CLAIM, "--index", where).stdout


def test_command_api_and_page_have_the_evidence_of_python(folder: str, client: FlaskClient) -> None:
    with esr.open(folder) as index:
        expected = json.loads(json.dumps(index.evidence(CLAIM, order="oldest").as_dict()))
    arguments = ("evidence", CLAIM, "--order", "oldest", "--index", Path(folder))
    assert json.loads(call(*arguments, "--format", "json").stdout) == expected
    address = f"evidence?q={CLAIM.replace(' ', '+')}&order=oldest"
    answer = client.get(f"/api/v1/{address}").json
    assert answer == expected
    assert client.get(f"/{address.replace('?', '.json?')}").json == expected
    Draft202012Validator({**SCHEMAS["Evidence"], "components": {"schemas": SCHEMAS}}).validate(answer)
    rows = list(csv.DictReader(io.StringIO(call(*arguments, "--format", "csv").stdout)))
    assert [(row["group"], row["document_id"], row["rules"]) for row in rows] == [
        ("says_so", "wire", ""),
        ("says_otherwise", "aide", "negation"),
        ("says_otherwise", "court", "number"),
        ("near", "talk", ""),
    ]
    table = client.get(f"/{address.replace('?', '.csv?')}").text
    assert list(csv.DictReader(io.StringIO(table.removeprefix("\ufeff")))) == rows
    text = call(*arguments).stdout
    for part in (
        "Says otherwise (2 texts)",
        "number: “six”, another number for the same unit; the claim has “seven”",
        "wire.example, 2017-02-02, aide.s0, Ann Lee",
        "also daily.example, 2017-02-03, copy.s0",
        "5 sentences, 4 texts of 4 sources",
    ):
        assert part in text
    assert "Nothing near the claim" in call("evidence", "Zyx garble", "--index", Path(folder)).stdout


def test_the_page_marks_what_differs_and_names_the_rule(client: FlaskClient) -> None:
    html = client.get(f"/evidence?q={CLAIM.replace(' ', '+')}").text
    assert (
        '<span class="differ contrast" title="another number for the same unit; the claim has “seven”">six<'
        in html
    )
    assert "<b>Negation:</b> only one of them negates this" in html
    assert "One copy, 2 sources in all" in html and "said by" in html
    assert "5 sentences of 4 sources; 4 texts without their copies" in html
    assert '<th scope="row" dir="auto">seven</th>' in html
    assert "which is right is yours to judge" in html
    empty = client.get("/evidence").text
    assert '<textarea id="claim"' in empty and "Says so" not in empty
    nothing = client.get("/evidence?q=Zyx+garble").text
    assert "No sentence has enough of the claim" in nothing and '<details class="change" open>' in nothing
    assert client.get("/evidence?q=the").status_code == 400
    escaped = client.get("/evidence?q=%3Cb%3Etravel+ban%3C/b%3E").text
    assert "<b>travel ban</b>" not in escaped
