from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from esr.cli import enrich as command
from esr.enrichment.enricher import DEFAULT_SETTINGS, VectorSettings, open_tones
from esr.errors import UsageError
from esr.index.questions import Parses, Records, Summary
from esr.ranking.searcher import open_searcher
from esr.text.sentence_enrichment import PARTS, REUSE, TABLE
from tests.cli.conftest import Esr
from tests.support.fake_enricher import FakeEnricher, write_tiny_encoder
from tests.support.index_contents import forget_keys

NEWS = "".join(
    json.dumps({"id": f"n{n}", "sentences": [{"text": f"storm {n} {m}"} for m in range(3)]}) + "\n"
    for n in range(9)
)
LACKING = "enrichment needs a tool that is not here"


@pytest.fixture
def news(tmp_path: Path) -> Path:
    path = tmp_path / "news.jsonl"
    path.write_text(NEWS)
    return path


def replace_enricher(monkeypatch: pytest.MonkeyPatch, make: Callable[..., FakeEnricher]) -> None:
    """Replace the enricher of `esr enrich`, and that of `esr load --enrich`."""
    monkeypatch.setattr("esr.cli.enrich.Enricher", make)
    monkeypatch.setattr("esr.enrichment.enricher.Enricher", make)


@pytest.fixture
def enricher_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Replaces the enricher with a fake one. Returns the arguments of its creation."""
    calls: list[tuple[object, ...]] = []

    def enricher(
        parts: tuple[str, ...] = command.DEFAULT_PARTS, *other: object, analyzer: str = ""
    ) -> FakeEnricher:
        calls.append((parts, *other))
        return FakeEnricher(parts)

    replace_enricher(monkeypatch, enricher)
    return calls


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    def enricher(*_: object, **__: object) -> FakeEnricher:
        raise UsageError(LACKING)

    replace_enricher(monkeypatch, enricher)


def test_it_reports_enriched_and_already_enriched_documents(
    esr: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where = tmp_path / "index"
    esr("load", news, "--index", where)
    first = esr("enrich", "--index", where, "--slice", "1/3")
    assert first.exit_code == 0, first.output
    assert first.stdout.startswith(f"enriched 3 documents with 9 sentences in {where} in ")
    assert "already" not in first.stdout
    second = esr("enrich", "--index", where)
    assert second.stdout.startswith("enriched 6 documents with 18 sentences")
    assert "3 documents were already enriched" in second.stdout
    assert esr("enrich", "--index", where).stdout.startswith("enriched 0 documents")


def test_the_status_shows_enriched_parts_and_tools(
    esr: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where = tmp_path / "index"
    esr("load", news, "--index", where)
    assert json.loads(esr("status", "--index", where, "--json").stdout)["enrichment"] == []
    esr("enrich", "--index", where, "--only", "parse", "--only", "features", "--slice", "2/2")
    assert "features     5 of 9 documents (fake 1)\nparse        5 of 9 documents (fake 1)\n" in (
        esr("status", "--index", where).stdout
    )


def test_load_can_enrich_too(esr: Esr, news: Path, tmp_path: Path, enricher_calls: object) -> None:
    where = tmp_path / "index"
    result = esr("load", news, "--index", where, "--enrich")
    assert result.stdout.splitlines()[0].startswith("loaded 9 documents")
    assert any(line.startswith("enriched 9 documents") for line in result.stdout.splitlines())
    loaded = esr("load", news, "--index", where, "--if-exists", "replace", "--enrich", "--json")
    assert json.loads(loaded.stdout)["documents"] == 9
    with open_searcher(str(where)) as searcher:
        assert searcher.index.status(Summary())["enrichment"][0]["documents"] == 9


def test_load_can_compute_some_parts(
    esr: Esr, esr_error: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where = tmp_path / "index"
    assert "unknown part 'poem'" in str(esr_error("load", news, "--index", where, "--enrich-only", "poem"))
    assert not where.exists()
    esr("load", news, "--index", where, "--enrich-only", "vectors,parse")
    with open_searcher(str(where)) as searcher:
        assert [entry["part"] for entry in searcher.index.status(Summary())["enrichment"]] == [
            "parse",
            "vectors",
        ]


def test_vectors_need_no_spacy_and_say_which_encoder_made_them(
    esr: Esr, news: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.enrichment.enricher.installed_models", lambda _: pytest.fail("asked for spaCy"))
    where, encoder = tmp_path / "index", write_tiny_encoder(tmp_path / "tiny")
    esr("load", news, "--index", where)
    result = esr("enrich", "--index", where, "--only", "vectors", "--encoder", encoder)
    assert result.exit_code == 0 and result.stdout.startswith("enriched 9 documents with 27 sentences")
    assert "9 of 9 documents (encoder tiny " in esr("status", "--index", where).stdout
    more = ("--only", "vectors", "--encoder", encoder, "--vector-index")
    again = esr("enrich", "--index", where, *more).stdout
    assert again.startswith("enriched 0 documents") and "a folder needs no index of vectors" in again
    retitled = ("--encoder", encoder, "--title-weight", 0.2)
    assert esr("enrich", "--index", where, "--only", "vectors", *retitled).stdout.startswith("enriched 9 doc")


def test_missing_tools_are_reported_before_anything_is_changed(
    esr_error: Esr, esr: Esr, news: Path, tmp_path: Path, lacking: None
) -> None:
    where = tmp_path / "index"
    assert esr_error("load", news, "--index", where, "--enrich") == LACKING
    assert not where.exists()
    esr("load", news, "--index", where)
    assert esr_error("enrich", "--index", where) == LACKING
    assert "there is no index" in str(esr_error("enrich", "--index", tmp_path / "none"))


def test_settings_reach_the_enricher(
    esr: Esr, news: Path, tmp_path: Path, enricher_calls: list[object]
) -> None:
    where = tmp_path / "index"
    esr("load", news, "--index", where)
    esr("enrich", "--index", where, "--only", "entities", "--spacy-model", "en", "--lexicon", "words")
    esr("enrich", "--index", where, "--only", "parse", "--spacy-model", "en", "--spacy-model", "fr")
    with_titles = ("--encoder", "bge-small-en-v1.5", "--title-weight", 0.2)
    esr("enrich", "--index", where, "--only", "vectors", *with_titles)
    vectors = VectorSettings("bge-small-en-v1.5", 0.2)
    assert enricher_calls == [
        (("entities",), ("en",), (Path("words"),), "score", "english-stem", DEFAULT_SETTINGS),
        (("parse",), ("en", "fr"), (), "score", "english-stem", DEFAULT_SETTINGS),
        (("vectors",), (), (), "score", "english-stem", vectors),
    ]


@pytest.mark.slow
def test_documents_are_enriched_by_the_models_of_their_languages(esr: Esr, tmp_path: Path) -> None:
    texts = {
        "fr": "Angela Merkel a visité Paris.",
        "de": "Angela Merkel besuchte Paris.",
        "en": "Angela Merkel visited Paris.",
        "hi": "एंजेला मर्केल पेरिस गईं।",
    }
    documents = [{"id": code, "language": code, "sentences": [{"text": t}]} for code, t in texts.items()]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    where = tmp_path / "index"
    esr("load", tmp_path / "news.jsonl", "--index", where, "--analyzer", "multilingual")
    lines = esr("enrich", "--index", where, "--workers", 2).stdout.splitlines()
    assert lines[1:] == [
        "2 documents were enriched without a model of their language: hi 1 (places by lists), "
        "de 1 (python -m spacy download de_core_news_sm)"
    ]
    with open_searcher(str(where)) as searcher:
        ids = [f"{code}.s0" for code in texts]
        records = dict(zip(texts, searcher.index.read(ids, Records()), strict=True))
        parses = dict(zip(texts, searcher.index.read(ids, Parses()), strict=True))
    assert {code for code, record in records.items() if record.entities} == {"fr", "en", "hi"}
    assert {code for code, parse in parses.items() if parse} == {"fr", "en"}
    # By the lexicon in English. By a classifier in others, if its encoder is on this machine.
    toned = {"en"} if open_tones() is None else {"en", "fr", "de"}
    assert {code for code, record in records.items() if "subj" in record.features} == toned
    assert {code for code, record in records.items() if "novelty" in record.features} == set(texts)
    assert records["fr"].entities == records["en"].entities
    again = esr("enrich", "--index", where).stdout.splitlines()
    assert again[0].startswith("enriched 0 documents") and again[1:] == ["4 documents were already enriched"]


@pytest.mark.parametrize("slice", ["3/2", "0/2", "1", "a/b", "1/0", "-1/2", ""])
def test_an_invalid_slice_is_rejected(
    esr_error: Esr, tmp_path: Path, enricher_calls: object, slice: str
) -> None:
    line = esr_error("enrich", "--index", tmp_path, f"--slice={slice}")
    assert line == f"--slice needs I/N, like 2/8 for the second of eight, not {slice!r}"


def test_an_unknown_part_is_rejected(esr_error: Esr, tmp_path: Path, enricher_calls: object) -> None:
    message = esr_error("enrich", "--index", tmp_path, "--only", "features,xyz")
    assert "xyz" in message and all(part in message for part in (*PARTS, TABLE, REUSE))


def test_search_filters_by_entity(esr: Esr, news: Path, tmp_path: Path, enricher_calls: object) -> None:
    where = tmp_path / "index"
    esr("load", news, "--index", where, "--enrich")
    unfiltered = json.loads(esr("search", "storm", "--index", where, "-k", 100, "--json").stdout)
    filtered = json.loads(
        esr("search", "storm", "--index", where, "--entity", "person:lukasz", "-k", 100, "--json").stdout
    )
    assert 0 < filtered["total"] < unfiltered["total"]
    for hit in filtered["hits"]:
        assert "Łukasz" in hit["entities"]["person"]
        assert hit["features"]["count"] == hit["features"]["big"] % 5


def test_a_table_of_aliases_groups_names_until_another_is_given(
    esr: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where, table = tmp_path / "index", tmp_path / "aliases.tsv"
    esr("load", news, "--index", where, "--enrich")

    def count(name: str) -> int:
        answer = esr("search", "storm", "--index", where, "--entity", name, "-k", 100, "--json").stdout
        return int(json.loads(answer)["total"])

    apart = count("Paris"), count("Ohio")
    table.write_text("Ohio\tParis\n", "utf-8")
    report = esr("enrich", "--index", where, "--aliases", table).stdout
    assert "the table of aliases is stored, names in it: 1" in report and "enriched 0 documents" in report
    assert count("Paris") == count("ohio") > max(apart)
    assert "the table" not in esr("enrich", "--index", where).stdout
    assert count("Paris") > max(apart)
    table.write_text("# none\n", "utf-8")
    esr("enrich", "--index", where, "--aliases", table)
    assert (count("Paris"), count("Ohio")) == apart


def test_a_bad_table_of_aliases_is_one_message_with_its_line(
    esr: Esr, esr_error: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where, table = tmp_path / "index", tmp_path / "aliases.tsv"
    esr("load", news, "--index", where)
    table.write_text("US\tUSA\nUK\n", "utf-8")
    assert str(esr_error("enrich", "--index", where, "--aliases", table)).startswith(f"{table}:2: ")


def test_names_of_an_older_version_are_grouped_without_enriching_again(
    esr: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where = tmp_path / "index"
    esr("load", news, "--index", where, "--enrich")
    older = "were stored by an older esr: run esr enrich"
    assert older not in esr("status", "--index", where).stdout
    forget_keys(str(where))
    assert f"names        of 9 documents {older}" in esr("status", "--index", where).stdout
    assert json.loads(esr("status", "--index", where, "--json").stdout)["unresolved_names"] == 9
    report = esr("enrich", "--index", where).stdout
    assert "enriched 0 documents" in report and "sentences were grouped" in report
    assert older not in esr("status", "--index", where).stdout
    assert "grouped" not in esr("enrich", "--index", where).stdout


def test_a_search_for_an_unknown_name_or_source_offers_the_nearest(
    esr: Esr, news: Path, tmp_path: Path, enricher_calls: object
) -> None:
    where = tmp_path / "index"
    esr("load", news, "--index", where, "--enrich")
    result = esr("search", "storm", "--index", where, "--entity", "Barak Obama", "--source", "nowhere")
    assert "unknown name 'Barak Obama': did you mean 'Barack Obama'?" in result.stderr
    assert "unknown source 'nowhere': " in result.stderr
    assert "unknown" not in result.stdout
