"""Several loaders share one delivery, each a slice: nothing is switched to before all of it is there."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from esr.documents import Document
from esr.engines.elasticsearch.load import sender, slice_writer
from esr.engines.factory import LoadOptions, open_delivery, open_generations
from esr.engines.index import LoadReport
from esr.errors import EsrError, UsageError
from tests.engines.elasticsearch.support import document, fresh, load, located
from tests.engines.holding import documents, everything
from tests.engines.test_parity import random_documents

ROOT = Path(__file__).resolve().parents[2]
OLD = [document("old", "An old flood.", "A river.")]
NEWS = list(random_documents(0, 60, seed=5))
KILLED = """
import os, signal, sys
from esr.engines.elasticsearch.load import sender
from tests.engines.elasticsearch.support import load
from tests.engines.test_slices import NEWS
sender.CHUNK_SENTENCES = 10
real, sent = sender.send_chunk, []
def send(*given):
    if len(sent) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    sent.append(1)
    return real(*given)
sender.send_chunk = send
load(sys.argv[1], NEWS, if_exists="replace", slice=(int(sys.argv[2]), 3))
"""


def sliced(where: str, place: int, of: int, some: list[Document] = NEWS, **options: Any) -> LoadReport:
    return load(where, some, if_exists="replace", slice=(place, of), **options)


def states(where: str) -> list[str]:
    with closing(open_generations(where)) as at:
        return [each.state for each in at.all()]


def as_loaded_at_once(where: str, some: list[Document] = NEWS) -> bool:
    with fresh(where.rpartition("/")[0]) as other:
        load(other, some)
        return everything(where) == everything(other)


def test_a_folder_takes_no_slices(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one writer, so load all of it by one load"):
        sliced(str(tmp_path), 1, 2)


def test_slices_are_not_appended() -> None:
    with pytest.raises(UsageError, match="use esr append"):
        load("http://localhost:1/news", NEWS, if_exists="append", slice=(1, 2))


@pytest.mark.elasticsearch
class TestElasticsearch:
    """What only an engine has that several machines can write to."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> Iterator[str]:
        with fresh(elasticsearch_url) as where:
            yield where

    def test_the_last_slice_switches_and_none_before(self, where: str) -> None:
        load(where, OLD)
        for place in (1, 3):
            report = sliced(where, place, 3)
            assert 0 < report.documents < 60
            assert "of 60 documents of all slices are loaded" in report.notes[0]
            assert documents(where) == OLD
            assert states(where) == ["loading", "serving"]
        (said, kept) = sliced(where, 2, 3).notes
        assert said == "all slices are loaded: they are served now"
        assert "is kept" in kept
        assert states(where) == ["serving", "kept"]
        assert as_loaded_at_once(where)

    def test_slices_at_once_make_one_generation(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first slice is the last to begin: the others wait for it."""
        monkeypatch.setattr(slice_writer, "_POLL_SECONDS", 0.05)
        monkeypatch.setattr(sender, "CHUNK_SENTENCES", 20)
        with ThreadPoolExecutor(4) as pool:
            reports = list(pool.map(lambda place: sliced(where, place, 4), (4, 3, 2, 1)))
        assert sum(report.documents for report in reports) == 60
        assert any("served now" in note for report in reports for note in report.notes)
        assert states(where) == ["serving"]
        assert as_loaded_at_once(where)

    def test_a_slice_that_was_killed_is_given_again(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, OLD)
        for place in (1, 2):
            command = [sys.executable, "-c", KILLED, where, str(place)]
            killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
        sliced(where, 3, 3)
        sent: list[str] = []
        send = sender.send_chunk
        monkeypatch.setattr(
            sender,
            "send_chunk",
            lambda c, chunk: (sent.extend(e.document.id for e in chunk), send(c, chunk))[1],
        )
        assert documents(where) == OLD
        first = sliced(where, 1, 3)
        assert documents(where) == OLD
        second = sliced(where, 2, 3)
        assert 0 < len(sent) < first.documents + second.documents
        assert states(where) == ["serving", "kept"]
        assert as_loaded_at_once(where)

    def test_other_loads_meanwhile_leave_it_alone(self, where: str) -> None:
        load(where, OLD)
        sliced(where, 1, 2)
        load(where, OLD, if_exists="replace", keep=0)
        open_delivery(where, LoadOptions(keep=0)).append(located([document("more", "Hail.")]))
        assert states(where) == ["serving", "loading"]
        sliced(where, 2, 2)
        assert as_loaded_at_once(where)

    def test_a_slice_of_other_documents_waits_for_its_own_first(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(slice_writer, "WAIT", 0.1)
        sliced(where, 1, 2)
        for other, of in ((NEWS[:-1], 2), (NEWS, 3)):
            with pytest.raises(EsrError, match=f"slice 1/{of} of these documents has not begun"):
                sliced(where, 2, of, other)
        sliced(where, 2, 2)
        assert as_loaded_at_once(where)

    def test_two_slices_that_are_last_switch_once(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, OLD)
        sliced(where, 1, 2)
        serve = slice_writer.serve

        def twice(*given: Any) -> None:
            serve(*given)
            serve(*given)

        monkeypatch.setattr(slice_writer, "serve", twice)
        sliced(where, 2, 2)
        assert states(where) == ["serving", "kept"]
        assert documents(where) == NEWS

    def test_what_is_served_already_is_not_loaded_again(self, where: str) -> None:
        for place in (1, 2, 1, 2):
            notes = sliced(where, place, 2).notes
        assert notes == ["all slices are loaded and served already: there was nothing to do"]
        assert states(where) == ["serving"]
        open_delivery(where, LoadOptions()).append(located([replace(NEWS[3], title="Another")]))
        for place in (1, 2):
            sliced(where, place, 2)
        assert documents(where) == NEWS

    def test_a_document_that_is_refused_stops_the_switch(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, OLD)
        refuse = document("x" * 40, "Flood.", source="s" * 40_000)  # longer than a keyword can be
        sliced_places = [place for place in (1, 2) if slice_writer.hash64(refuse.id) % 2 == place - 1]
        aside: list[str] = []
        for place in (1, 2):
            options = {"set_aside": lambda document, why: aside.append(document.id)}
            if place in sliced_places:
                with pytest.raises(EsrError, match="leave them out of the delivery"):
                    sliced(where, place, 2, [*NEWS, refuse], **options)
            else:
                sliced(where, place, 2, [*NEWS, refuse], **options)
        assert aside == [refuse.id]
        assert documents(where) == OLD
