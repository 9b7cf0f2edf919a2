"""The drift of stored priors, and refreshing them, on both engines."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import closing
from math import log
from pathlib import Path

import pytest

import esr
from esr.documents import Document
from esr.engines.elasticsearch.maintenance import priors as elasticsearch
from esr.engines.factory import LoadOptions, open_delivery, open_priors
from esr.engines.priors import Drift, RefreshReport
from esr.errors import EsrError, IndexMissing
from tests.engines.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, http, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import STORED_PRIORS, index_contents
from tests.support.stored_enrichment import enrich

ROOT = Path(__file__).resolve().parents[2]
FIRST = list(random_documents(0, 30, seed=1))
MORE = list(random_documents(30, 30, seed=2))
KILLED = """
import os, signal, sys
from esr.cli import main
from esr.engines.elasticsearch.maintenance import priors
priors._BATCH = 20
real, sent = priors.send_bulk, []
def send(*args):
    result = real(*args)
    sent.append(1)
    if len(sent) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
priors.send_bulk = send
main(["refresh-priors", sys.argv[1]])
"""


def drift(where: str) -> list[Drift]:
    with closing(open_priors(where)) as priors:
        return priors.drift()


def refresh(where: str) -> RefreshReport:
    with closing(open_priors(where)) as priors:
        return priors.refresh(lambda processed, total: None)


def append(where: str, documents: list[Document]) -> None:
    open_delivery(where, LoadOptions()).append(located(documents))


def columns(where: str) -> dict[str, list[float]]:
    with esr.open(where) as searcher:
        index = searcher.index
        ids = [sentence.id for document in index.documents() for sentence in document.sentences]
        columns = index.evidence([], ids).columns
        return {name: columns[name].tolist() for name in STORED_PRIORS}


def test_after_a_refresh_all_fields_are_as_if_loaded_at_once(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, FIRST)
    append(anywhere, MORE)
    report = refresh(anywhere)
    if anywhere.startswith("http"):
        assert 0 < report.changed <= report.sentences
        assert [load.largest for load in drift(anywhere)] == [0.0]
        with fresh(anywhere.rpartition("/")[0]) as other:
            load(other, FIRST + MORE)
            assert index_contents(anywhere) == index_contents(other)
        assert refresh(anywhere).changed == 0
    else:
        assert (report.changed, drift(anywhere)) == (0, [])
        assert report.notes == ["an index folder always computes its priors exactly: there is nothing to do"]
        load(str(tmp_path / "other"), FIRST + MORE)
        assert index_contents(anywhere) == index_contents(str(tmp_path / "other"))


def test_drift_needs_an_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing):
        open_priors(anywhere)


@pytest.mark.elasticsearch
class TestElasticsearch:
    """Only Elasticsearch stores priors."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> object:
        with fresh(elasticsearch_url) as where:
            yield where

    def test_an_append_makes_the_existing_priors_drift(self, where: str) -> None:
        """Two sentences of one term each: 1 of 2 occurrences, then 1 of 4."""
        load(where, [document("a", "flood", "storm")])
        (before,) = drift(where)
        assert (before.sentences, before.sampled, before.occurrence, before.largest) == (2, 2, 0.0, 0.0)
        append(where, [document("b", "river"), document("c", "hail")])
        (after,) = drift(where)
        assert (after.sentences, after.sampled) == (4, 4)
        assert after.occurrence == pytest.approx(log(2) / 2)  # two of four sentences are off by log 2
        assert after.mean == pytest.approx(log(2) / 2)
        assert after.largest == pytest.approx(log(2))
        refresh(where)
        assert [load.largest for load in drift(where)] == [0.0]

    def test_each_load_has_its_own_drift(self, where: str) -> None:
        load(where, FIRST)
        load(where, FIRST + MORE, if_exists="append")
        old, new = drift(where)
        assert old.load < new.load
        assert old.largest > 0.0
        assert new.largest == 0.0

    def test_large_loads_are_sampled(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, FIRST)
        append(where, MORE)
        (full,) = drift(where)
        monkeypatch.setattr(elasticsearch, "SAMPLE_SIZE", 40)
        (sample,) = drift(where)
        assert 20 < sample.sampled <= 40 < sample.sentences == full.sentences
        assert sample.occurrence == pytest.approx(full.occurrence, rel=0.5)
        assert drift(where) == [sample]

    def test_a_refresh_retains_enrichment(self, where: str) -> None:
        load(where, FIRST)
        append(where, MORE)
        with esr.open(where) as searcher:
            enrich(searcher.index, FakeEnricher())
        before = index_contents(where, priors=False)
        refresh(where)
        assert index_contents(where, priors=False) == before

    def test_a_killed_refresh_is_resumed(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, FIRST)
        append(where, MORE)
        old = columns(where)
        command = [sys.executable, "-c", KILLED, where]
        killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert [load.largest > 0.0 for load in drift(where)] == [True]
        http("POST", f"{where}/_refresh")  # what is not visible yet is sent again
        report = refresh(where)
        assert 0 < report.changed < report.sentences - 20
        changes = sum(a != b for a, b in zip(old["importance"], columns(where)["importance"], strict=True))
        assert changes > report.changed
        with fresh(where.rpartition("/")[0]) as other:
            load(other, FIRST + MORE)
            assert index_contents(where) == index_contents(other)

    def test_a_delivery_during_a_refresh_is_noticed(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, FIRST)
        append(where, MORE[:5])
        real = elasticsearch.ElasticsearchPriors._update
        deliveries = iter([MORE[5:]])

        def meanwhile(*args: object) -> int:
            for documents in deliveries:
                append(where, documents)
            return real(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(elasticsearch.ElasticsearchPriors, "_update", meanwhile)
        with pytest.raises(EsrError, match="was changed during the refresh: run esr refresh-priors again"):
            refresh(where)
        refresh(where)
        assert [load.largest for load in drift(where)] == [0.0]
