"""How far stored priors have drifted, and making them anew, on both engines."""

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
from esr.engines.priors import Drift, Refreshed
from esr.errors import EsrError, IndexMissing
from tests.engines.elasticsearch.support import document, fresh, http, load, located
from tests.engines.holding import STORED_PRIORS, everything
from tests.engines.test_parity import random_documents
from tests.enrichment.fake_enricher import FakeEnricher
from tests.enrichment.stored_enrichment import enrich

ROOT = Path(__file__).resolve().parents[2]
FIRST = list(random_documents(0, 30, seed=1))
MORE = list(random_documents(30, 30, seed=2))
KILLED = """
import os, signal, sys
from esr.cli import main
from esr.engines.elasticsearch.maintenance import priors
priors._BATCH = 20
real, sent = priors.send_bulk, []
def send(*given):
    found = real(*given)
    sent.append(1)
    if len(sent) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
priors.send_bulk = send
main(["refresh-priors", sys.argv[1]])
"""


def drift(where: str) -> list[Drift]:
    with closing(open_priors(where)) as priors:
        return priors.drift()


def refresh(where: str) -> Refreshed:
    with closing(open_priors(where)) as priors:
        return priors.refresh(lambda done, of: None)


def append(where: str, some: list[Document]) -> None:
    open_delivery(where, LoadOptions()).append(located(some))


def columns(where: str) -> dict[str, list[float]]:
    with esr.open(where) as searcher:
        index = searcher.index
        ids = [sentence.id for document in index.documents() for sentence in document.sentences]
        found = index.evidence([], ids).columns
        return {name: found[name].tolist() for name in STORED_PRIORS}


def test_after_refreshing_every_field_is_as_loaded_at_once(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, FIRST)
    append(anywhere, MORE)
    report = refresh(anywhere)
    if anywhere.startswith("http"):
        assert 0 < report.changed <= report.sentences
        assert [each.largest for each in drift(anywhere)] == [0.0]
        with fresh(anywhere.rpartition("/")[0]) as other:
            load(other, FIRST + MORE)
            assert everything(anywhere) == everything(other)
        assert refresh(anywhere).changed == 0
    else:
        assert (report.changed, drift(anywhere)) == (0, [])
        assert report.notes == ["an index folder makes its priors itself, exactly: there is nothing to do"]
        load(str(tmp_path / "other"), FIRST + MORE)
        assert everything(anywhere) == everything(str(tmp_path / "other"))


def test_there_is_no_drift_where_there_is_no_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing):
        open_priors(anywhere)


@pytest.mark.elasticsearch
class TestElasticsearch:
    """What only an engine that stores priors has."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> object:
        with fresh(elasticsearch_url) as where:
            yield where

    def test_an_append_shows_as_drift_of_what_stays(self, where: str) -> None:
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
        assert [each.largest for each in drift(where)] == [0.0]

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
        (whole,) = drift(where)
        monkeypatch.setattr(elasticsearch, "SAMPLE_SIZE", 40)
        (part,) = drift(where)
        assert 20 < part.sampled <= 40 < part.sentences == whole.sentences
        assert part.occurrence == pytest.approx(whole.occurrence, rel=0.5)
        assert drift(where) == [part]

    def test_enrichment_stays(self, where: str) -> None:
        load(where, FIRST)
        append(where, MORE)
        with esr.open(where) as searcher:
            enrich(searcher.index, FakeEnricher())
        before = everything(where, priors=False)
        refresh(where)
        assert everything(where, priors=False) == before

    def test_a_refresh_that_was_killed_is_taken_up(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, FIRST)
        append(where, MORE)
        old = columns(where)
        command = [sys.executable, "-c", KILLED, where]
        killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert [each.largest > 0.0 for each in drift(where)] == [True]
        http("POST", f"{where}/_refresh")  # what is not to be seen yet is sent again
        report = refresh(where)
        assert 0 < report.changed < report.sentences - 20
        changed = sum(a != b for a, b in zip(old["importance"], columns(where)["importance"], strict=True))
        assert changed > report.changed
        with fresh(where.rpartition("/")[0]) as other:
            load(other, FIRST + MORE)
            assert everything(where) == everything(other)

    def test_a_delivery_meanwhile_is_noticed(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, FIRST)
        append(where, MORE[:5])
        real = elasticsearch.ElasticsearchPriors._update
        came = iter([MORE[5:]])

        def meanwhile(*given: object) -> int:
            for some in came:
                append(where, some)
            return real(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(elasticsearch.ElasticsearchPriors, "_update", meanwhile)
        with pytest.raises(EsrError, match="was changed during the refresh: run esr refresh-priors again"):
            refresh(where)
        refresh(where)
        assert [each.largest for each in drift(where)] == [0.0]
