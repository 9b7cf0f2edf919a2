"""Resuming an interrupted load, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from msgspec.structs import replace

from esr.elastic.write import actions
from esr.errors import EsrError, UsageError
from esr.folder.write import segment_writer, session
from esr.index.factory import open_delivery, open_generations, open_writer
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located
from tests.support.elasticsearch import document, load, located
from tests.support.generation_states import states

pytestmark = pytest.mark.slow

OLD = [document("old", "An old flood.")]
NEWS = [document(f"n{n}", f"Flood number {n}.", "A river.", "Relief.") for n in range(60)]


@pytest.fixture(autouse=True)
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
            patch.setattr(session, "write_checkpoint", stop_after_four(session.write_checkpoint))
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
        return index.documents_at(range(index.status()["documents"]))


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


def test_an_interrupted_append_is_resumed_too(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(anywhere, OLD)
    interrupt(anywhere, monkeypatch, OLD + NEWS, if_exists="append")
    assert documents_of(anywhere) == OLD
    report = load(anywhere, OLD + NEWS, if_exists="append", resume=True)
    assert (report.unchanged, report.sentences) == (1, 180)
    assert documents_of(anywhere) == OLD + NEWS


def test_resuming_without_an_interrupted_load_just_loads(anywhere: str) -> None:
    load(anywhere, NEWS, resume=True)
    with pytest.raises(UsageError, match="there is an index"):
        load(anywhere, NEWS, resume=True)
    load(anywhere, OLD, resume=True, if_exists="replace")
    assert documents_of(anywhere) == OLD


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
            with pytest.raises(EsrError, match="not those of the interrupted load"):
                load(anywhere, other, resume=True)
            interrupt(anywhere, monkeypatch)


def test_a_load_without_resume_starts_over(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(anywhere, monkeypatch)
    load(anywhere, OLD)
    assert documents_of(anywhere) == OLD


def test_an_interrupted_load_is_not_resumed_with_other_options(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path)
    interrupt(where, monkeypatch)
    with pytest.raises(UsageError, match="had other options"):
        load(where, NEWS, resume=True, analyzer="english")
    load(where, NEWS, resume=True)
    assert documents_of(where) == NEWS


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


def test_a_failed_load_leaves_nothing_to_resume(anywhere: str) -> None:
    load(anywhere, OLD)

    def broken() -> Iterator[Located]:
        yield from located(NEWS[:40])
        raise EsrError("broken")

    with pytest.raises(EsrError, match="broken"):
        open_writer(anywhere, LoadOptions("replace")).load(broken())
    assert states(anywhere) == ["serving"]


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
