"""Resuming an interrupted load, on both engines."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from esr.elastic.write import actions, writer
from esr.errors import EsrError, UsageError
from esr.folder.write import folder_writer, segment_writer
from esr.index.factory import open_delivery, open_generations, open_writer
from esr.index.questions import Summary
from esr.index.writer import LoadOptions, LoadReport
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, load, located
from tests.support.index_contents import documents, index_contents, states

OLD = [document("old", "An old flood.")]
NEWS = [document(f"n{n}", f"Flood number {n}.", "A river.", "Relief.") for n in range(60)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment and a chunk are full after a few documents."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 30)
    monkeypatch.setattr(actions, "CHUNK_SENTENCES", 9)


def interrupt(
    where: str, monkeypatch: pytest.MonkeyPatch, news: list[Document] = NEWS, **options: object
) -> int:
    """Stop a load in the middle, as Ctrl-C does. Returns how many parts it had written."""
    parts = 0

    def stop_after_four(write: object) -> object:
        def interruptible(*args: object) -> object:
            nonlocal parts
            if parts == 4:
                raise KeyboardInterrupt
            parts += 1
            return write(*args)  # type: ignore[operator]

        return interruptible

    with monkeypatch.context() as patch:
        if where.startswith("http"):
            patch.setattr(actions, "send_chunk", stop_after_four(actions.send_chunk))
        else:
            patch.setattr(folder_writer, "write_checkpoint", stop_after_four(folder_writer.write_checkpoint))
        with pytest.raises(KeyboardInterrupt):
            load(where, news, **options)
    return parts


def in_paragraphs(document: Document) -> Document:
    """The same document, each sentence in a paragraph of its own."""
    sentences = (replace(sentence, paragraph=n) for n, sentence in enumerate(document.sentences))
    return replace(document, sentences=tuple(sentences))


def documents_of(where: str) -> list[Document]:
    with open_searcher(where) as searcher:
        index = searcher.index
        return index.documents(positions=range(index.status(Summary())["documents"]))


def record_written_ids(monkeypatch: pytest.MonkeyPatch, where: str) -> list[str]:
    """A list that receives the ids of the documents that are written from now on."""
    written_ids: list[str] = []
    if where.startswith("http"):
        send = actions.send_chunk
        monkeypatch.setattr(
            actions,
            "send_chunk",
            lambda c, chunk: (written_ids.extend(e.document.id for e in chunk), send(c, chunk))[1],
        )
    else:
        add = segment_writer.SegmentBuilder.add
        monkeypatch.setattr(
            segment_writer.SegmentBuilder,
            "add",
            lambda self, d: (written_ids.append(d.document.id), add(self, d))[1],
        )
    return written_ids


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("before", [False, True], ids=["first load", "replacing"])
def test_an_interrupted_load_is_resumed_where_it_was(
    anywhere: str, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    if before:
        load(anywhere, OLD)
    interrupt(anywhere, monkeypatch, if_exists="replace")
    assert "loading" in states(anywhere) or "broken" in states(anywhere)
    if before:
        assert documents_of(anywhere) == OLD
    with monkeypatch.context() as patch:
        written_ids = record_written_ids(patch, anywhere)
        report = load(anywhere, NEWS, if_exists="replace", resume=True)
    assert (report.documents, report.sentences) == (60, 180)
    assert 0 < len(written_ids) < 60
    assert documents_of(anywhere) == NEWS
    assert states(anywhere) == (["serving", "kept"] if before else ["serving"])


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_append_is_resumed_too(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(anywhere, OLD)
    interrupt(anywhere, monkeypatch, OLD + NEWS, if_exists="append")
    assert documents_of(anywhere) == OLD
    report = load(anywhere, OLD + NEWS, if_exists="append", resume=True)
    assert (report.unchanged, report.sentences) == (1, 180)
    assert documents_of(anywhere) == OLD + NEWS


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_resuming_without_an_interrupted_load_just_loads(anywhere: str) -> None:
    load(anywhere, NEWS, resume=True)
    with pytest.raises(UsageError, match="there is an index"):
        load(anywhere, NEWS, resume=True)
    load(anywhere, OLD, resume=True, if_exists="replace")
    assert documents_of(anywhere) == OLD


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_load_is_not_resumed_with_other_documents(
    anywhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded engine refuses. Elasticsearch finds no load of these documents, and starts one."""
    interrupt(anywhere, monkeypatch)
    for other in (NEWS[:3] + OLD + NEWS[4:], NEWS[:2], [*NEWS[:3], in_paragraphs(NEWS[3]), *NEWS[4:]]):
        if anywhere.startswith("http"):
            load(anywhere, other, resume=True, if_exists="replace")
            assert documents_of(anywhere) == other
        else:
            with pytest.raises(UsageError, match="not those of the interrupted load"):
                load(anywhere, other, resume=True)
            assert states(anywhere) == ["broken"], "the interrupted load stays"


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_load_without_resume_starts_over(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(anywhere, monkeypatch)
    load(anywhere, OLD)
    assert documents_of(anywhere) == OLD


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_load_is_not_resumed_with_other_options(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path)
    interrupt(where, monkeypatch)
    with pytest.raises(UsageError, match="had other options"):
        load(where, NEWS, resume=True, analyzer="english")
    assert states(where) == ["broken"], "the interrupted load stays"
    load(where, NEWS, resume=True)
    assert documents_of(where) == NEWS


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_load_can_be_deleted(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(tmp_path)
    load(where, OLD)
    interrupt(where, monkeypatch, if_exists="replace")
    with closing(open_generations(where)) as generations:
        broken, serving = generations.all()
        assert (broken.state, serving.state, broken.documents) == ("broken", "serving", 18)
        assert broken.size_bytes > 0
        generations.delete([broken.name])
        assert generations.all() == [serving]


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_enrichment_leaves_an_interrupted_load_alone(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path)
    load(where, OLD)
    interrupt(where, monkeypatch, if_exists="replace")
    with open_searcher(where) as searcher, searcher.index.enrichment():
        pass
    with monkeypatch.context() as patch:
        written_ids = record_written_ids(patch, where)
        load(where, NEWS, if_exists="replace", resume=True)
    assert len(written_ids) < 60
    assert documents_of(where) == NEWS


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_failed_load_leaves_nothing_to_resume(anywhere: str) -> None:
    load(anywhere, OLD)

    def broken() -> Iterator[Located]:
        yield from located(NEWS[:40])
        raise EsrError("broken")

    with pytest.raises(EsrError, match="broken"):
        open_writer(anywhere, LoadOptions("replace")).load(broken())
    assert states(anywhere) == ["serving"]


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_rollback_from_a_resumed_load_goes_back_to_what_was_delivered_meanwhile(
    anywhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Elasticsearch its indices have an older name, and the load says what that means."""
    load(anywhere, OLD)
    interrupt(anywhere, monkeypatch, if_exists="replace")
    open_delivery(anywhere, LoadOptions()).append(located([document("late", "A late flood.")]))
    with closing(open_generations(anywhere)) as index:
        (delivered,) = (g.name for g in index.all() if g.state == "serving")
        report = load(anywhere, NEWS, if_exists="replace", resume=True)
        must_name = any(f"esr rollback --to {delivered} goes back" in note for note in report.notes)
        index.rollback(delivered if must_name else None)
    assert {stored.id for stored in documents_of(anywhere)} == {"old", "late"}


# Several loaders share one delivery, each a slice: the switch waits until all slices are complete.


ROOT = Path(__file__).resolve().parents[2]
SLICES_OLD = [document("old", "An old flood.", "A river.")]
SLICES_NEWS = list(random_documents(0, 60, seed=5))
KILLED = """
import os, signal, sys
from esr.elastic.write import actions
from tests.support.elasticsearch import load
from tests.index.test_resume import SLICES_NEWS
actions.CHUNK_SENTENCES = 10
real, sent = actions.send_chunk, []
def send(*args):
    if len(sent) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    sent.append(1)
    return real(*args)
actions.send_chunk = send
load(sys.argv[1], SLICES_NEWS, if_exists="replace", slice=(int(sys.argv[2]), 3))
"""


def load_slice(
    where: str, number: int, count: int, documents: list[Document] = SLICES_NEWS, **options: Any
) -> LoadReport:
    return load(where, documents, if_exists="replace", slice=(number, count), **options)


def equals_fresh_load(where: str, documents: list[Document] = SLICES_NEWS) -> bool:
    with fresh(where.rpartition("/")[0]) as other:
        load(other, documents)
        return index_contents(where) == index_contents(other)


def test_a_folder_takes_no_slices(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one writer, so load everything in one run"):
        load_slice(str(tmp_path), 1, 2)


def test_slices_cannot_be_appended() -> None:
    with pytest.raises(UsageError, match="a slice cannot be appended"):
        load("http://localhost:1/news", SLICES_NEWS, if_exists="append", slice=(1, 2))


@pytest.mark.elasticsearch
class TestElasticsearch:
    """Only Elasticsearch takes writes of several machines."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> Iterator[str]:
        with fresh(elasticsearch_url) as where:
            yield where

    def test_only_the_last_slice_switches(self, where: str) -> None:
        load(where, SLICES_OLD)
        for number in (1, 3):
            report = load_slice(where, number, 3)
            assert 0 < report.documents < 60
            assert "of 60 documents of all slices are loaded" in report.notes[0]
            assert documents(where) == SLICES_OLD
            assert states(where) == ["loading", "serving"]
        (switch_note, kept_note) = load_slice(where, 2, 3).notes
        assert switch_note == "all slices are loaded: they are served now"
        assert "is kept" in kept_note
        assert states(where) == ["serving", "kept"]
        assert equals_fresh_load(where)

    def test_slices_with_impacts_are_loaded_beside_the_same_without(self, where: str) -> None:
        for mixture in (None, Ranking().mixture()):
            reports = [load_slice(where, n, 2, precomputed_mixture=mixture) for n in (1, 2)]
            assert "all slices are loaded: they are served now" in reports[-1].notes
        assert "there was nothing to do" in load_slice(where, 1, 2, precomputed_mixture=mixture).notes[0]

    def test_concurrent_slices_make_one_generation(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first slice starts last: the others wait for it."""
        monkeypatch.setattr(writer, "SLICE_POLL_SECONDS", 0.05)
        monkeypatch.setattr(actions, "CHUNK_SENTENCES", 20)
        with ThreadPoolExecutor(4) as pool:
            reports = list(pool.map(lambda number: load_slice(where, number, 4), (4, 3, 2, 1)))
        assert sum(report.documents for report in reports) == 60
        assert any("served now" in note for report in reports for note in report.notes)
        assert states(where) == ["serving"]
        assert equals_fresh_load(where)

    @pytest.mark.endurance
    def test_a_killed_slice_can_be_repeated(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, SLICES_OLD)
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
        assert documents(where) == SLICES_OLD
        first = load_slice(where, 1, 3)
        assert documents(where) == SLICES_OLD
        second = load_slice(where, 2, 3)
        assert 0 < len(sent) < first.documents + second.documents
        assert states(where) == ["serving", "kept"]
        assert equals_fresh_load(where)

    def test_other_loads_leave_unfinished_slices_alone(self, where: str) -> None:
        load(where, SLICES_OLD)
        load_slice(where, 1, 2)
        load(where, SLICES_OLD, if_exists="replace", keep=0)
        open_delivery(where, LoadOptions(keep=0)).append(located([document("more", "Hail.")]))
        assert states(where) == ["serving", "loading"]
        load_slice(where, 2, 2)
        assert equals_fresh_load(where)

    def test_a_slice_waits_for_the_first_slice_of_the_same_documents(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writer, "WAIT", 0.1)
        load_slice(where, 1, 2)
        for other, total in ((SLICES_NEWS[:-1], 2), (SLICES_NEWS, 3)):
            with pytest.raises(EsrError, match=f"slice 1/{total} of these documents has not begun"):
                load_slice(where, 2, total, other)
        load_slice(where, 2, 2)
        assert equals_fresh_load(where)

    def test_two_slices_that_finish_together_switch_once(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, SLICES_OLD)
        load_slice(where, 1, 2)
        serve = writer.serve

        def twice(*args: Any) -> None:
            serve(*args)
            serve(*args)

        monkeypatch.setattr(writer, "serve", twice)
        load_slice(where, 2, 2)
        assert states(where) == ["serving", "kept"]
        assert documents(where) == SLICES_NEWS

    def test_slices_that_are_serving_are_not_loaded_again(self, where: str) -> None:
        for number in (1, 2, 1, 2):
            notes = load_slice(where, number, 2).notes
        assert notes == ["all slices are loaded and served already: there was nothing to do"]
        assert states(where) == ["serving"]
        open_delivery(where, LoadOptions()).append(located([replace(SLICES_NEWS[3], title="Another")]))
        for number in (1, 2):
            load_slice(where, number, 2)
        assert documents(where) == SLICES_NEWS

    def test_a_rejected_document_prevents_the_switch(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, SLICES_OLD)
        rejected = document("x" * 40, "Flood.", source="s" * 40_000)  # longer than a keyword can be
        rejecting = [number for number in (1, 2) if writer.hash64(rejected.id) % 2 == number - 1]
        aside: list[str] = []
        for number in (1, 2):
            options = {"set_aside": lambda document, reason: aside.append(document.id)}
            if number in rejecting:
                with pytest.raises(EsrError, match="leave them out of the delivery"):
                    load_slice(where, number, 2, [*SLICES_NEWS, rejected], **options)
            else:
                load_slice(where, number, 2, [*SLICES_NEWS, rejected], **options)
        assert aside == [rejected.id]
        assert documents(where) == SLICES_OLD
