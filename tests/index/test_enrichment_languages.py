"""When the tools of one language change, only its documents are enriched again, on both engines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from esr.folder.format import manifest
from esr.folder.write import segment_writer
from esr.index import enrichment_run
from esr.ranking.searcher import open_searcher
from esr.text.document import PARTS
from tests.support.elasticsearch import document, load
from tests.support.fake_enricher import FakeEnricher
from tests.support.stored_enrichment import enrich, expected, read_enrichment

pytestmark = pytest.mark.slow

LANGUAGES = ("en", "fr", None, "de", "fr-CA", "EN-gb", "French")
DOCUMENTS = [
    replace(
        document(f"n{n}", *(f"storm {n} {m}" for m in range(n % 4))), language=LANGUAGES[n % len(LANGUAGES)]
    )
    for n in range(40)
]
FRENCH = [d.id for d in DOCUMENTS if d.language in ("fr", "fr-CA", "French")]
NAMELESS = [d.id for d in DOCUMENTS if d.language is None]
ENGLISH = [d.id for d in DOCUMENTS if d.language in ("en", "EN-gb")]
TOOLS = {"model en": "1", "lexicon": "1", "spacy": "1"}


def assert_stored(where: str, variants: Mapping[str, str], default: str) -> None:
    """Each document has the enrichment of its variant."""
    with open_searcher(where) as searcher:
        expected_enrichment = {
            name: enrichment
            for d in DOCUMENTS
            for name, enrichment in expected(
                FakeEnricher(variant=variants.get(d.id, default)), d, searcher.index.analyzer
            ).items()
        }
        stored = read_enrichment(searcher.index, DOCUMENTS)
        assert {name: stored[name] for name in stored if stored[name] != expected_enrichment[name]} == {}


def run(where: str, tools: Mapping[str, str], variant: str = "", **options: object) -> list[str]:
    """The ids of the documents that were enriched. Checks the report."""
    enricher = FakeEnricher(tools=tools, variant=variant, **options)  # type: ignore[arg-type]
    with open_searcher(where) as searcher:
        report = enrich(searcher.index, enricher)
    assert report.already == len(DOCUMENTS) - report.documents
    return enricher.enriched_ids


@pytest.fixture
def where(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An index of all documents, each with the enrichment by TOOLS."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 60)
    load(anywhere, DOCUMENTS)
    assert len(run(anywhere, TOOLS)) == len(DOCUMENTS)
    assert run(anywhere, TOOLS) == []
    return anywhere


def test_a_new_model_reads_the_documents_in_its_language(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 3)
    with_french = {**TOOLS, "model fr": "1"}
    assert run(where, with_french, variant="+") == FRENCH
    assert_stored(where, dict.fromkeys(FRENCH, "+"), "")
    assert run(where, with_french) == []
    assert run(where, TOOLS, variant="-") == FRENCH, "without the model"
    assert_stored(where, dict.fromkeys(FRENCH, "-"), "")


def test_english_tools_matter_to_english_documents_and_those_that_count_as_such(where: str) -> None:
    assert run(where, {**TOOLS, "model en": "2"}, variant="2") == ENGLISH
    assert run(where, {**TOOLS, "model en": "2", "lexicon": "2"}, variant="3", parts=PARTS) == ENGLISH
    by_default = {**TOOLS, "model en": "2", "lexicon": "2", "language": "en"}
    assert run(where, by_default, variant="4") == NAMELESS
    assert_stored(where, dict.fromkeys(ENGLISH, "3") | dict.fromkeys(NAMELESS, "4"), "")


def test_another_tool_of_all_languages_reads_all_documents(where: str) -> None:
    assert len(run(where, {**TOOLS, "enrichment": "2"}, variant="2")) == len(DOCUMENTS)
    assert_stored(where, {}, "2")


def test_an_interrupted_run_over_one_language_resumes(where: str) -> None:
    with_french = {**TOOLS, "model fr": "1"}
    half = FakeEnricher(tools=with_french, variant="1")
    with open_searcher(where) as searcher:
        enrich(searcher.index, half, slice=(1, 2))
    assert 0 < len(half.enriched_ids) < len(FRENCH)
    rest = run(where, with_french, variant="2")
    assert sorted(half.enriched_ids + rest) == sorted(FRENCH)
    assert_stored(where, dict.fromkeys(half.enriched_ids, "1") | dict.fromkeys(rest, "2"), "")


def test_parts_of_one_language_are_enriched_one_by_one(where: str) -> None:
    with_french = {**TOOLS, "model fr": "1"}
    assert run(where, with_french, parts=("parse",)) == FRENCH
    assert run(where, with_french, parts=("parse",)) == []
    assert run(where, with_french, parts=("entities", "parse")) == FRENCH
    assert run(where, with_french) == FRENCH
    assert run(where, with_french) == []
    assert_stored(where, {}, "")


def test_a_run_over_one_language_leaves_few_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents between those that were enriched become part of the new layers."""
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 1)
    where = tmp_path / "index"
    load(str(where), DOCUMENTS)
    run(str(where), TOOLS)
    largest = 0

    def step(documents: int) -> None:
        nonlocal largest
        largest = max(largest, len(manifest.read_manifest(where).layers))

    with open_searcher(str(where)) as searcher:
        enrich(searcher.index, FakeEnricher(tools={**TOOLS, "model fr": "1"}), on_progress=step)
    commit = manifest.read_manifest(where)
    assert len(commit.layers) == 1 and len(commit.recipes) == 1 and largest <= 5
