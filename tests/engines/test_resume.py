"""A load that was cut off is taken up again, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

import esr
from esr.documents import Document, Located
from esr.engines.elasticsearch.load import sender
from esr.engines.factory import LoadOptions, open_generations, open_writer
from esr.engines.segments.writer import folder_writer as embedded
from esr.engines.segments.writer import segment_builder as build
from esr.errors import EsrError, UsageError
from tests.engines.elasticsearch.support import document, load, located

OLD = [document("old", "An old flood.")]
NEWS = [document(f"n{n}", f"Flood number {n}.", "A river.", "Relief.") for n in range(60)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment and a chunk are full after a few documents."""
    monkeypatch.setattr(build, "FULL_TERMS", 30)
    monkeypatch.setattr(sender, "CHUNK_SENTENCES", 9)


def cut_off(
    where: str, monkeypatch: pytest.MonkeyPatch, news: list[Document] = NEWS, **options: object
) -> int:
    """Stop a load in the middle, as Ctrl-C does. Returns how many parts it had written."""
    parts = 0

    def stopping(real: object) -> object:
        def write(*given: object) -> object:
            nonlocal parts
            if parts == 4:
                raise KeyboardInterrupt
            parts += 1
            return real(*given)  # type: ignore[operator]

        return write

    with monkeypatch.context() as patch:
        if where.startswith("http"):
            patch.setattr(sender, "send_chunk", stopping(sender.send_chunk))
        else:
            patch.setattr(embedded.checkpoint, "write", stopping(embedded.checkpoint.write))
        with pytest.raises(KeyboardInterrupt):
            load(where, news, **options)
    return parts


def states(where: str) -> list[str]:
    with closing(open_generations(where)) as at:
        return [each.state for each in at.all()]


def held(where: str) -> list[Document]:
    with esr.open(where) as searcher:
        index = searcher.index
        return index.documents_at(range(index.status()["documents"]))


def counted(monkeypatch: pytest.MonkeyPatch, where: str) -> list[str]:
    """The ids of documents that are written from now on, when all is done."""
    written: list[str] = []
    if where.startswith("http"):
        send = sender.send_chunk
        monkeypatch.setattr(
            sender,
            "send_chunk",
            lambda c, chunk: (written.extend(e.document.id for e in chunk), send(c, chunk))[1],
        )
    else:
        add = build.SegmentBuilder.add
        monkeypatch.setattr(
            build.SegmentBuilder, "add", lambda self, d, *more: (written.append(d.id), add(self, d, *more))[1]
        )
    return written


@pytest.mark.parametrize("before", [False, True], ids=["first load", "replacing"])
def test_a_load_that_was_cut_off_is_taken_up_where_it_was(
    anywhere: str, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    if before:
        load(anywhere, OLD)
    cut_off(anywhere, monkeypatch, if_exists="replace")
    assert "loading" in states(anywhere) or "broken" in states(anywhere)
    if before:
        assert held(anywhere) == OLD
    with monkeypatch.context() as patch:
        written = counted(patch, anywhere)
        report = load(anywhere, NEWS, if_exists="replace", resume=True)
    assert (report.documents, report.sentences) == (60, 180)
    assert 0 < len(written) < 60
    assert held(anywhere) == NEWS
    assert states(anywhere) == (["serving", "kept"] if before else ["serving"])


def test_an_appending_load_is_taken_up_too(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(anywhere, OLD)
    cut_off(anywhere, monkeypatch, OLD + NEWS, if_exists="append")
    assert held(anywhere) == OLD
    report = load(anywhere, OLD + NEWS, if_exists="append", resume=True)
    assert (report.unchanged, report.sentences) == (1, 180)
    assert held(anywhere) == OLD + NEWS


def test_to_resume_where_nothing_was_cut_off_is_to_load(anywhere: str) -> None:
    load(anywhere, NEWS, resume=True)
    with pytest.raises(UsageError, match="there is an index"):
        load(anywhere, NEWS, resume=True)
    load(anywhere, OLD, resume=True, if_exists="replace")
    assert held(anywhere) == OLD


def test_what_was_cut_off_is_not_mixed_with_other_documents(
    anywhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded engine says so. Elasticsearch looks for a load of these documents, and begins one."""
    cut_off(anywhere, monkeypatch)
    for other in (NEWS[:3] + OLD + NEWS[4:], NEWS[:2]):
        if anywhere.startswith("http"):
            load(anywhere, other, resume=True, if_exists="replace")
            assert held(anywhere) == other
        else:
            with pytest.raises(EsrError, match="not those of the load that was cut off"):
                load(anywhere, other, resume=True)
            cut_off(anywhere, monkeypatch)


def test_a_load_without_resume_begins_anew(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off(anywhere, monkeypatch)
    load(anywhere, OLD)
    assert held(anywhere) == OLD


def test_a_load_with_other_options_is_another(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(tmp_path)
    cut_off(where, monkeypatch)
    with pytest.raises(UsageError, match="had other options"):
        load(where, NEWS, resume=True, analyzer="english")
    load(where, NEWS, resume=True)
    assert held(where) == NEWS


def test_what_was_cut_off_can_be_deleted(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(tmp_path)
    load(where, OLD)
    cut_off(where, monkeypatch, if_exists="replace")
    with closing(open_generations(where)) as at:
        broken, serving = at.all()
        assert (broken.state, serving.state, broken.documents) == ("broken", "serving", 18)
        assert broken.size_bytes > 0
        at.delete([broken.name])
        assert at.all() == [serving]


def test_enrichment_in_between_leaves_what_was_cut_off(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path)
    load(where, OLD)
    cut_off(where, monkeypatch, if_exists="replace")
    with esr.open(where) as searcher, searcher.index.enrichment():
        pass
    with monkeypatch.context() as patch:
        written = counted(patch, where)
        load(where, NEWS, if_exists="replace", resume=True)
    assert len(written) < 60
    assert held(where) == NEWS


def test_a_source_that_fails_leaves_nothing_to_take_up(anywhere: str) -> None:
    load(anywhere, OLD)

    def broken() -> Iterator[Located]:
        yield from located(NEWS[:40])
        raise EsrError("broken")

    with pytest.raises(EsrError, match="broken"):
        open_writer(anywhere, LoadOptions("replace")).load(broken())
    assert states(anywhere) == ["serving"]
