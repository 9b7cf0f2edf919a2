"""The ranking of searches that name none: by words and meaning where an index has vectors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner

import esr
from esr import encoders
from esr.cli.main import main
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import UsageError
from esr.index.runs.enrichment_run import run_enrichment
from esr.ranking.ranking import DEFAULT, Ranking, build_ranking, choose_ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage import query_encoder
from tests.ranking.test_query_kinds import DOCUMENTS
from tests.support.elasticsearch import load
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.index_contents import ENGINES, open_loaded
from webui.app import create_app

QUERY = "storm town"


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index with vectors on each engine."""
    folder: Path = tmp_path_factory.mktemp("default")
    encoder = str(write_tiny_encoder(folder / "tiny", 32, suits_hybrid=True))
    with pytest.MonkeyPatch.context() as patch, open_loaded(request, folder, DOCUMENTS) as searcher:
        patch.setenv("ESR_ENCODER", encoder)
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
        yield searcher


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> Event:
    """The encoder is loaded when this is set."""
    event, load_encoder = Event(), encoders.load_encoder

    def wait(name: str) -> Any:
        assert event.wait(60)
        return load_encoder(name)

    monkeypatch.setattr(query_encoder, "LOADS", {})
    monkeypatch.setattr(encoders, "load_encoder", wait)
    return event


def ask(where: str, *options: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["search", QUERY, "--index", where, "--json", *options])
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def scores(answer: dict[str, Any]) -> list[tuple[str, float]]:
    return [(hit["sentence_id"], hit["score"]) for hit in answer["hits"]]


def test_an_index_with_vectors_ranks_by_words_and_meaning(searcher: Searcher) -> None:
    where = searcher.index.where
    default, hybrid, words = ask(where), ask(where, "--ranking", "hybrid"), ask(where, "--ranking", "words")
    assert scores(default) == scores(hybrid) != scores(words)
    assert [answer["by_default"] for answer in (default, hybrid, words)] == ["hybrid", None, None]
    assert ask(where, "--sort", "date")["by_default"] is None, "dates need no encoder"
    assert ask(where, "--model", "bm25")["by_default"] is None
    best = default["hits"][0]["sentence_id"]
    explained = CliRunner().invoke(main, ["explain", QUERY, best, "--index", where, "--json"])
    assert json.loads(explained.stdout)["score"] == pytest.approx(default["hits"][0]["score"])
    client = create_app(searcher).test_client()
    page = client.get("/search", query_string={"q": QUERY}).get_data(as_text=True)
    assert "Ranking </span><b>Words and meaning</b>" in page and "ranked by words and meaning" in page
    page = client.get("/search", query_string={"q": QUERY, "model": "2si"}).get_data(as_text=True)
    assert "Ranking </span><b>With context</b>" in page and "ranked by 2si" in page
    for body in ({"q": QUERY}, {"q": QUERY, "ranking": {"model": "2si"}}):
        answer = client.post("/api/v1/search", json=body).get_json()
        assert scores(answer) == scores(words if "ranking" in body else hybrid)


def test_an_index_without_vectors_ranks_by_words(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, DOCUMENTS)
    answer = ask(where)
    assert (answer["by_default"], answer["no_meaning"]) == ("words", None)
    assert scores(answer) == scores(ask(where, "--ranking", "words"))


def test_an_encoder_that_hybrid_does_not_suit_leaves_words_as_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, where = str(write_tiny_encoder(tmp_path / "tiny", 32)), str(tmp_path / "index")
    load(where, DOCUMENTS)
    with open_searcher(where) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
    monkeypatch.setenv("ESR_ENCODER", encoder)
    answer = ask(where)
    assert (answer["by_default"], answer["no_meaning"]) == ("words", None)
    assert scores(answer) != scores(ask(where, "--ranking", "hybrid"))


def test_no_option_leaves_the_default_ranking_and_any_option_replaces_it() -> None:
    assert build_ranking() is DEFAULT is build_ranking(DEFAULT)
    for options in ({"ranking": "words"}, {"model": "2si"}, {"params": {"mu": 9}}, {"rerank_depth": 7}):
        assert type(build_ranking(**options)) is Ranking  # type: ignore[arg-type]


def test_until_the_encoder_is_loaded_words_rank_and_the_answer_says_so(
    searcher: Searcher, loading: Event
) -> None:
    where, said = searcher.index.where, "the encoder of queries is being loaded"
    with esr.open(where) as index:
        words, hits = index.search(QUERY, ranking="words"), index.search(QUERY)
        assert [hit.id for hit in hits] == [hit.id for hit in words]
        assert (hits.by_default, hits.no_meaning) == ("words", said)
        client = create_app(searcher).test_client()
        page = client.get("/search", query_string={"q": QUERY}).get_data(as_text=True)
        assert "Ranking </span><b>With context</b>" in page and said in page
        loading.set()
        assert choose_ranking(DEFAULT, searcher.index) == choose_ranking(DEFAULT, searcher.index, 0)
        hits = index.search(QUERY)
        assert (hits.by_default, hits.no_meaning) == ("hybrid", None)
    assert said not in client.get("/search", query_string={"q": QUERY}).get_data(as_text=True)


def test_a_batch_has_one_ranking_if_the_encoder_is_loaded_in_between(
    searcher: Searcher, loading: Event
) -> None:
    def read_queries() -> Iterator[str]:
        yield QUERY
        loading.set()
        choose_ranking(DEFAULT, searcher.index)
        yield QUERY

    with esr.open(searcher.index.where) as index:
        assert [hits.by_default for hits in index.batch(read_queries())] == ["words", "words"]
        assert [hits.by_default for hits in index.batch([QUERY])] == ["hybrid"]


def test_further_pages_are_by_the_ranking_of_the_first_if_the_encoder_is_loaded_in_between(
    searcher: Searcher, loading: Event
) -> None:
    client, asked = create_app(searcher).test_client(), {"q": QUERY, "fold": "no", "passages": "no"}

    def request(**arguments: object) -> Any:
        response = client.get("/api/v1/search", query_string={**asked, **arguments})
        assert response.status_code == 200, response.text
        return response.get_json()

    first, whole = request(k=1), request(k=2)
    (more,) = re.findall(
        r'href="(/search[^"]*)#[^"]*" rel="next"', client.get("/search?q=storm+town&k=1").text
    )
    loading.set()
    choose_ranking(DEFAULT, searcher.index)
    by_meaning = request(k=2)
    assert scores(by_meaning) != scores(whole)
    second = request(k=1, cursor=first["next"])
    assert scores(first) + scores(second) == scores(whole)
    assert (second["by_default"], second["no_meaning"]) == ("words", "the page before was, too")
    assert "ranked by 2si" in client.get(unescape(more)).text

    first = request(k=1)
    query_encoder.LOADS.clear()
    second = request(k=1, cursor=first["next"])
    assert scores(first) + scores(second) == scores(by_meaning)
    assert second["by_default"] == "hybrid"


def test_without_its_encoder_an_index_ranks_by_words_and_fetches_nothing(
    searcher: Searcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_encoder, "LOADS", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ESR_ENCODER", "bge-small-en-v1.5")
    monkeypatch.setattr(query_encoder, "suits_hybrid", lambda id: True)
    monkeypatch.setattr(encoders, "load_encoder", None)  # would fetch it
    answer = ask(searcher.index.where)
    assert answer["no_meaning"] == "the encoder bge-small-en-v1.5 is not on this machine yet"
    assert scores(answer) == scores(ask(searcher.index.where, "--ranking", "words"))
    with open_searcher(searcher.index.where) as opened, pytest.raises((UsageError, TypeError)):
        opened.search(QUERY, ranking="hybrid")
