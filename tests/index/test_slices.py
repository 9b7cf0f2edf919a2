"""Several loaders share one delivery, each a slice: the switch waits until all slices are complete."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from esr.elastic.write import actions, writer
from esr.errors import EsrError, UsageError
from esr.index.factory import open_delivery
from esr.index.writer import LoadOptions, LoadReport
from esr.ranking.ranking import Ranking
from esr.text.document import Document
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, load, located
from tests.support.generation_states import states
from tests.support.index_contents import documents, index_contents

ROOT = Path(__file__).resolve().parents[2]
OLD = [document("old", "An old flood.", "A river.")]
NEWS = list(random_documents(0, 60, seed=5))
KILLED = """
import os, signal, sys
from esr.elastic.write import actions
from tests.support.elasticsearch import load
from tests.index.test_slices import NEWS
actions.CHUNK_SENTENCES = 10
real, sent = actions.send_chunk, []
def send(*args):
    if len(sent) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    sent.append(1)
    return real(*args)
actions.send_chunk = send
load(sys.argv[1], NEWS, if_exists="replace", slice=(int(sys.argv[2]), 3))
"""


def load_slice(
    where: str, number: int, count: int, documents: list[Document] = NEWS, **options: Any
) -> LoadReport:
    return load(where, documents, if_exists="replace", slice=(number, count), **options)


def equals_fresh_load(where: str, documents: list[Document] = NEWS) -> bool:
    with fresh(where.rpartition("/")[0]) as other:
        load(other, documents)
        return index_contents(where) == index_contents(other)


def test_a_folder_takes_no_slices(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one writer, so load everything in one run"):
        load_slice(str(tmp_path), 1, 2)


def test_slices_cannot_be_appended() -> None:
    with pytest.raises(UsageError, match="a slice cannot be appended"):
        load("http://localhost:1/news", NEWS, if_exists="append", slice=(1, 2))


@pytest.mark.elasticsearch
class TestElasticsearch:
    """Only Elasticsearch takes writes of several machines."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> Iterator[str]:
        with fresh(elasticsearch_url) as where:
            yield where

    def test_only_the_last_slice_switches(self, where: str) -> None:
        load(where, OLD)
        for number in (1, 3):
            report = load_slice(where, number, 3)
            assert 0 < report.documents < 60
            assert "of 60 documents of all slices are loaded" in report.notes[0]
            assert documents(where) == OLD
            assert states(where) == ["loading", "serving"]
        (switch_note, kept_note) = load_slice(where, 2, 3).notes
        assert switch_note == "all slices are loaded: they are served now"
        assert "is kept" in kept_note
        assert states(where) == ["serving", "kept"]
        assert equals_fresh_load(where)

    def test_slices_with_lifts_are_loaded_beside_the_same_without(self, where: str) -> None:
        for mixture in (None, Ranking().mixture()):
            reports = [load_slice(where, n, 2, precomputed_mixture=mixture) for n in (1, 2)]
            assert "all slices are loaded: they are served now" in reports[-1].notes
        assert "there was nothing to do" in load_slice(where, 1, 2, precomputed_mixture=mixture).notes[0]

    def test_concurrent_slices_make_one_generation(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first slice starts last: the others wait for it."""
        monkeypatch.setattr(writer, "_SLICE_POLL_SECONDS", 0.05)
        monkeypatch.setattr(actions, "CHUNK_SENTENCES", 20)
        with ThreadPoolExecutor(4) as pool:
            reports = list(pool.map(lambda number: load_slice(where, number, 4), (4, 3, 2, 1)))
        assert sum(report.documents for report in reports) == 60
        assert any("served now" in note for report in reports for note in report.notes)
        assert states(where) == ["serving"]
        assert equals_fresh_load(where)

    @pytest.mark.endurance
    def test_a_killed_slice_can_be_repeated(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, OLD)
        for number in (1, 2):
            command = [sys.executable, "-c", KILLED, where, str(number)]
            killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
        load_slice(where, 3, 3)
        sent: list[str] = []
        send = actions.send_chunk
        monkeypatch.setattr(
            actions,
            "send_chunk",
            lambda c, chunk: (sent.extend(e.document.id for e in chunk), send(c, chunk))[1],
        )
        assert documents(where) == OLD
        first = load_slice(where, 1, 3)
        assert documents(where) == OLD
        second = load_slice(where, 2, 3)
        assert 0 < len(sent) < first.documents + second.documents
        assert states(where) == ["serving", "kept"]
        assert equals_fresh_load(where)

    def test_other_loads_leave_unfinished_slices_alone(self, where: str) -> None:
        load(where, OLD)
        load_slice(where, 1, 2)
        load(where, OLD, if_exists="replace", keep=0)
        open_delivery(where, LoadOptions(keep=0)).append(located([document("more", "Hail.")]))
        assert states(where) == ["serving", "loading"]
        load_slice(where, 2, 2)
        assert equals_fresh_load(where)

    def test_a_slice_waits_for_the_first_slice_of_the_same_documents(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writer, "WAIT", 0.1)
        load_slice(where, 1, 2)
        for other, total in ((NEWS[:-1], 2), (NEWS, 3)):
            with pytest.raises(EsrError, match=f"slice 1/{total} of these documents has not begun"):
                load_slice(where, 2, total, other)
        load_slice(where, 2, 2)
        assert equals_fresh_load(where)

    def test_two_slices_that_finish_together_switch_once(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, OLD)
        load_slice(where, 1, 2)
        serve = writer.serve

        def twice(*args: Any) -> None:
            serve(*args)
            serve(*args)

        monkeypatch.setattr(writer, "serve", twice)
        load_slice(where, 2, 2)
        assert states(where) == ["serving", "kept"]
        assert documents(where) == NEWS

    def test_slices_that_are_serving_are_not_loaded_again(self, where: str) -> None:
        for number in (1, 2, 1, 2):
            notes = load_slice(where, number, 2).notes
        assert notes == ["all slices are loaded and served already: there was nothing to do"]
        assert states(where) == ["serving"]
        open_delivery(where, LoadOptions()).append(located([replace(NEWS[3], title="Another")]))
        for number in (1, 2):
            load_slice(where, number, 2)
        assert documents(where) == NEWS

    def test_a_rejected_document_prevents_the_switch(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, OLD)
        rejected = document("x" * 40, "Flood.", source="s" * 40_000)  # longer than a keyword can be
        rejecting = [number for number in (1, 2) if writer.hash64(rejected.id) % 2 == number - 1]
        aside: list[str] = []
        for number in (1, 2):
            options = {"set_aside": lambda document, reason: aside.append(document.id)}
            if number in rejecting:
                with pytest.raises(EsrError, match="leave them out of the delivery"):
                    load_slice(where, number, 2, [*NEWS, rejected], **options)
            else:
                load_slice(where, number, 2, [*NEWS, rejected], **options)
        assert aside == [rejected.id]
        assert documents(where) == OLD
