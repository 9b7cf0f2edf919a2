"""Searches across languages in an index by language, by the vectors of a multilingual encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

import esr
from esr import encoders
from esr.cli.main import main
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import UsageError
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.view import restrict
from esr.plans.plan import DateRange
from esr.query import across_languages, in_language, literal, parse
from esr.ranking.across import OWN_MARGIN, is_multilingual
from esr.ranking.query_kinds import list_kinds
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import load
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.index_contents import ENGINES, open_loaded
from webui.app import create_app

# The encoder knows these words in any language, and takes "gale" and "hurricane" for "storm".
TEXTS = {
    "en": (
        "The storm rose over the river.",
        "A storm.",
        "Storm and flood in the town.",
        "The bank has money.",
    ),
    "de": ("Ein hurricane.", "gale und flood in der city.", "money und bank.", "food."),
    "ar": ("storm", "court", "water"),
}
DOCUMENTS = [
    Document(
        language,
        tuple(Sentence(f"{language}.s{n}", text) for n, text in enumerate(texts)),
        language=language,
        date="2024-05-01" if language == "ar" else "2020-05-01",
    )
    for language, texts in TEXTS.items()
]
QUERY = in_language(literal("storm"), "en")


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index by language with vectors on each engine."""
    folder: Path = tmp_path_factory.mktemp("across")
    encoder = str(write_tiny_encoder(folder / "tiny", 32, suits_hybrid=True))
    with (
        pytest.MonkeyPatch.context() as patch,
        open_loaded(request, folder, DOCUMENTS, analyzer="by-language") as searcher,
    ):
        patch.setenv("ESR_ENCODER", encoder)
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
        yield searcher


def search(
    searcher: Searcher, *languages: str, k: int = 20, ranking: str = "words"
) -> list[tuple[str, float]]:
    answer = searcher.search(across_languages(QUERY, languages), k, ranking=ranking)
    assert all(hit.record is not None for hit in answer.hits)
    return [(hit.sentence_id, hit.score) for hit in answer.hits]


def ids_of(hits: Sequence[tuple[str, float]], language: str = "") -> list[str]:
    return [id for id, _ in hits if id.startswith(language)]


def test_a_query_finds_what_other_languages_say(searcher: Searcher) -> None:
    found = search(searcher, "all")
    assert {"de.s0", "de.s1", "ar.s0"} < set(ids_of(found))
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_the_languages_are_mixed_by_how_near_their_sentences_are(searcher: Searcher) -> None:
    # "storm" says exactly what is asked, and "Ein hurricane." a little less than "A storm."
    assert ids_of(search(searcher, "all"))[:3] == ["ar.s0", "en.s1", "de.s0"]


def test_only_the_named_languages_are_found(searcher: Searcher) -> None:
    assert {id[:2] for id in ids_of(search(searcher, "de"))} == {"de"}
    assert {id[:2] for id in ids_of(search(searcher, "ar", "en"))} == {"ar", "en"}
    assert search(searcher, "ara", "English") == search(searcher, "ar", "en")
    assert search(searcher, "en") == search(searcher), "the language of the query alone is the usual search"


@pytest.mark.parametrize("ranking", ["words", "hybrid"])
def test_no_language_changes_its_order_beside_others(searcher: Searcher, ranking: str) -> None:
    alone, together = search(searcher, ranking=ranking), search(searcher, "all", ranking=ranking)
    assert ids_of(together, "en") == ids_of(alone)
    assert ids_of(together, "de") == ids_of(search(searcher, "de"))


def test_the_best_sentence_of_a_language_counts_as_its_nearest(searcher: Searcher) -> None:
    own = [score for id, score in search(searcher, "all") if id.startswith("en")]
    answer = searcher.search(QUERY, 20, ranking={"rerank": [{"signal": "meaning", "w": 10000}]})
    nearest = [hit.score / 10000 for hit in answer.hits]
    assert own == pytest.approx([score + OWN_MARGIN for score in nearest[: len(own)]], abs=0.01)


def test_the_first_hits_do_not_depend_on_their_number(searcher: Searcher) -> None:
    every = search(searcher, "all")
    for k in range(1, len(every)):
        assert search(searcher, "all", k=k) == every[:k]


def test_conditions_hold_in_every_language(searcher: Searcher) -> None:
    dated = across_languages(in_language(parse("storm after:2024"), "en"), ("all",))
    assert {hit.sentence_id[:2] for hit in searcher.search(dated, 20).hits} == {"ar"}
    phrase = across_languages(in_language(parse('"storm rose"'), "en"), ("all",))
    assert [hit.sentence_id for hit in searcher.search(phrase, 20, require_all=True).hits] == ["en.s0"]
    hidden = Searcher(restrict(searcher.index, DateRange(end=1_600_000_000_000)), owns_index=False)
    assert "ar" not in {id[:2] for id in ids_of(search(hidden, "all"))}


def test_what_cannot_be_searched_across_is_one_message(searcher: Searcher, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no document of .* is in the language fr: it has"):
        search(searcher, "fr")
    with pytest.raises(UsageError, match=r"write language:de in it"):
        searcher.search(across_languages(parse("after:2020"), ("de",)), 5)
    assert searcher.search(across_languages(parse("after:2020"), ("all",)), 5).hits
    refused = {"by-language": "has no vectors", "multilingual": "language:de in the query"}
    for analyzer, message in refused.items():
        where = str(tmp_path / analyzer)
        load(where, DOCUMENTS, analyzer=analyzer)
        with esr.open(where) as index, pytest.raises(UsageError, match=message):
            index.search("storm", languages="all")
    with esr.open(where) as index, pytest.raises(UsageError, match="codes such as de,ar"):
        index.search("storm", languages=["d e"])


def test_every_door_takes_the_languages(searcher: Searcher) -> None:
    where, expected = searcher.index.where, ids_of(search(searcher, "de", "ar", ranking="hybrid"))
    options = ["--query-language", "en", "--languages", "de,ar", "--no-passages", "-k", "20", "--json"]
    result = CliRunner().invoke(main, ["search", "storm", "--index", where, *options])
    assert result.exit_code == 0, result.output
    assert [hit["sentence_id"] for hit in json.loads(result.stdout)["hits"]] == expected
    with esr.open(where) as index:
        hits = index.search("storm", 20, query_language="en", languages=["de", "ar"])
    assert [hit.id for hit in hits] == expected
    client: FlaskClient = create_app(searcher).test_client()
    asked = "q=storm&query_language=en&languages=de,ar"
    answer = client.get(f"/api/v1/search?{asked}&passages=no&k=20").get_json()
    assert [hit["sentence_id"] for hit in answer["hits"]] == expected
    html = client.get(f"/search?{asked}").text
    assert "Ein hurricane." in html and "The storm rose" not in html
    assert "by meaning in Arabic, German" in html
    assert client.get("/search?q=storm&languages=d:e").status_code == 400


def test_encoders_of_one_language_do_not_compare_languages() -> None:
    ids = {
        "use-multilingual-v3 1": True,
        "all-minilm-l6-v2 1": False,
        "hf:intfloat/multilingual-e5-small@0a1b 1": True,
        "hf:BAAI/bge-small-en-v1.5@0a1b 1": False,
        "hf:somebody/unknown@0a1b 1": True,
        "./folder 1": True,
    }
    assert {id: is_multilingual(id) for id in ids} == ids
    assert not is_multilingual(None)


def test_the_page_offers_other_languages_where_vectors_compare_them(searcher: Searcher) -> None:
    html = create_app(searcher).test_client().get("/search?q=storm&query_language=en").text
    assert "languages=all" in html


def test_the_weights_of_hybrid_are_scaled_for_the_multilingual_encoder() -> None:
    assert encoders.KNOWN["use-multilingual-v3"].suits_hybrid
    for kind, text in {"question": "who is it?", "short": "storm"}.items():
        (signal,) = Ranking.from_file("hybrid").for_query(text, "use-multilingual-v3").rerank
        (usual,) = Ranking.from_file("hybrid").for_query(text, encoders.DEFAULT).rerank
        assert signal.weight == list_kinds()[kind].weights["w"] / 5 == usual.weight / 5
        assert {**signal.settings(), "w": usual.weight} == usual.settings()
