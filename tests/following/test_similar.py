"""More like a sentence: the same and what goes on from it, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import esr
from esr.engines.enrichment_run import run_enrichment
from esr.enrichment.enricher import Enricher
from esr.enrichment.sentence_vectors import VectorSettings
from esr.errors import UsageError
from esr.following.similar import find_similar, prepare_similar
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import MAX_TERMS, Searcher
from tests.support.elasticsearch import document, load
from tests.support.tiny_encoder import write_tiny_encoder
from webui.app import create_app

NEWS = [
    document(
        "a", "A tunnel fire closed the Brenner railway.", "Nobody was hurt.", "The Brenner railway reopened."
    ),
    document("b", "The Brenner railway was closed by a fire in a tunnel.", "Trains were late."),
    document("c", "A railway strike ended.", "The the of."),
    document("d", *(f"Fire number {n} burned in the tunnel." for n in range(30))),
]


@pytest.fixture
def searcher(anywhere: str) -> Iterator[Searcher]:
    load(anywhere, NEWS, analyzer="english-stem")
    with esr.open(anywhere) as opened:
        yield opened


def ids(searcher: Searcher, sentence: str, k: int = 3, own_document: bool = False) -> list[str]:
    return [hit.sentence_id for hit in find_similar(searcher, sentence, k, own_document=own_document).hits]


def test_the_same_news_elsewhere_comes_first_and_its_own_document_by_choice(searcher: Searcher) -> None:
    assert ids(searcher, "a.s0")[0] == "b.s0"
    assert not any(id.startswith("a.") for id in ids(searcher, "a.s0", 30))
    with_own = ids(searcher, "a.s0", 30, own_document=True)
    assert "a.s0" not in with_own and "a.s2" in with_own


def test_a_long_document_of_its_own_does_not_crowd_out_the_others(searcher: Searcher) -> None:
    found = ids(searcher, "d.s3", 3)
    assert len(found) == 3 and not any(id.startswith("d.") for id in found)
    assert len(ids(searcher, "d.s3", 20, own_document=True)) == 20


def test_the_words_that_say_most_are_searched_for(searcher: Searcher) -> None:
    prepared, document_id = prepare_similar(searcher, "a.s0")
    assert document_id == "a"
    assert "brenner" in prepared.counts and len(prepared.counts) <= 8


def test_a_sentence_of_more_words_than_a_query_may_have_has_similar_ones(anywhere: str) -> None:
    text = " ".join(["Brenner"] * 4 + [f"word{n}" for n in range(MAX_TERMS)])
    load(anywhere, [document("a", text), document("b", "Brenner"), document("c", "Rain")], analyzer="plain")
    with esr.open(anywhere) as searcher:
        assert ids(searcher, "a.s0") == ["b.s0"]


def test_a_sentence_without_words_and_an_unknown_one_are_errors(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match=r"'c\.s1' has no words to compare it by"):
        find_similar(searcher, "c.s1")
    with pytest.raises(UsageError, match="no sentence 'x'"):
        find_similar(searcher, "x")


def test_by_meaning_the_same_in_other_words_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = str(write_tiny_encoder(tmp_path / "tiny", 32))
    monkeypatch.setenv("ESR_ENCODER", encoder)
    news = [document("a", "Hurricane relief."), document("b", "Relief storm."), document("c", "Relief bank.")]
    where = str(tmp_path / "index")
    load(where, news, analyzer="english-stem")
    with esr.open(where) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
    with esr.open(where) as searcher:
        by_meaning = Ranking.from_dict({"rerank": [{"signal": "meaning", "w": 10.0}]})
        hits = find_similar(searcher, "a.s0", ranking=by_meaning).hits
        assert [hit.sentence_id for hit in hits] == ["b.s0", "c.s0"]
        words = find_similar(searcher, "a.s0").hits
        assert words[0].score == words[1].score  # both have one of its words
        client = create_app(esr.open(where)).test_client()
        assert "By words and meaning" in client.get("/similar?id=a.s0").text
        assert "By words alone" in client.get("/similar?id=a.s0&rerank=meaning:10").text
