"""`kill -9` of `esr enrich` at any moment, twenty times on each engine: only the last moments are lost."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from esr.folder.write import segment_writer
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import fresh, http, load
from tests.support.endurance import rounds
from tests.support.fake_enricher import FakeEnricher, build_slow_enricher
from tests.support.index_contents import enrich, expected, read_enrichment
from tests.support.processes import ForkedProcess, run_esr

KILLS = rounds(20)
SMALL_STEPS = {
    "esr.index.enrichment_run:BATCH_SECONDS": 0.03,
    "esr.cli.enrich:Enricher": build_slow_enricher,
}


def start(where: str) -> ForkedProcess:
    return ForkedProcess(run_esr, ["enrich", "--index", where], SMALL_STEPS)


def count_enriched(where: str) -> int:
    if where.startswith("http"):
        http("POST", f"{where}*/_refresh")
    with open_searcher(where) as searcher:
        return sum(entry["documents"] for entry in searcher.index.status()["enrichment"])


def kill_and_resume(where: str, documents: list[Document]) -> None:
    """Kill, check and start again; then let it finish, and compare with what the enricher returns."""
    rng = random.Random()
    stages = []
    with open_searcher(where) as searcher:
        analyzer, loaded = searcher.index.analyzer, read_enrichment(searcher.index, documents)
    expected_enrichment = {k: v for d in documents for k, v in expected(FakeEnricher(), d, analyzer).items()}
    for _ in range(KILLS):
        before = count_enriched(where)
        stages.append(before)
        process = start(where)
        while count_enriched(where) == before and process.is_running:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()
        assert count_enriched(where) >= before
        with open_searcher(where) as searcher:
            stored = read_enrichment(searcher.index, documents)
            hits = searcher.search("flood", 10, model="bm25").hits
            assert len(hits) == 10
        # Before it is enriched, a sentence has what the load stored.
        assert [k for k in loaded if stored[k] not in (loaded[k], expected_enrichment[k])] == []
    assert len(set(stages)) > KILLS / 2, "no run was killed in the middle: the test shows nothing"
    assert "documents were already enriched" in start(where).finish(300)
    count_enriched(where)
    with open_searcher(where) as searcher:
        assert read_enrichment(searcher.index, documents) == expected_enrichment
        assert enrich(searcher.index).documents == 0


@pytest.mark.endurance
def test_a_killed_enrichment_of_a_folder_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 6000)
    documents = list(random_documents(0, 900, seed=4))
    where = tmp_path / "killed"
    load(str(where), documents)
    kill_and_resume(str(where), documents)
    with open_searcher(str(where)) as searcher:
        segments = searcher.index.status()["segments"]
    assert segments > 2
    assert len(list((where / "layers").iterdir())) == segments, "one layer per segment, and no other files"


@pytest.mark.endurance
def test_a_killed_enrichment_of_elasticsearch_is_resumed(elasticsearch_url: str) -> None:
    documents = list(random_documents(0, 900, seed=4))
    with fresh(elasticsearch_url) as where:
        load(where, documents[:700], shards=2)
        load(where, documents[700:], if_exists="append")
        kill_and_resume(where, documents)
