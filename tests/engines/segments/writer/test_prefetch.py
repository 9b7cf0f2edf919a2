"""What is read ahead comes as if each document were read when its turn came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.documents import Document, Located
from esr.engines.index import Description
from esr.engines.segments.writer import prefetch as ahead
from esr.engines.segments.writer.prefetch import coming
from esr.errors import InputError
from tests.support.folder_index import document, load

NEWS = [document(f"n{n}", *[f"storm number {n}"] * (n % 4), title=f"title {n}") for n in range(20)]
PLAIN = Description("plain", title=True)


@pytest.mark.parametrize("size", [1, 300, 2**19], ids=["one by one", "a few", "all at once"])
def test_documents_come_in_order_with_what_is_prepared_of_them(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(ahead, "BATCH_BYTES", size)
    found = list(coming(NEWS, PLAIN, lambda document: document.id != "n7"))
    assert [(each.where, each.document) for each in found] == NEWS
    assert [each.document.id for each in found if not each.prepared] == ["n7"]
    for each in found:
        if prepared := each.prepared:
            news = each.document
            terms = [prepared.batch.terms[n] for n in prepared.batch.term_ids[prepared.numbers].tolist()]
            assert " ".join(terms) == " ".join([*(s.text for s in news.sentences), news.title or ""])
            assert prepared.terms == 3 * len(news.sentences)


def broken_after(documents: list[Located]) -> Iterator[Located]:
    yield from documents
    raise InputError("news.jsonl:21", "broken")


def test_what_is_wrong_is_told_when_its_turn_comes() -> None:
    found = coming(broken_after(NEWS), PLAIN)
    assert [next(found).document.id for _ in NEWS] == [each.document.id for each in NEWS]
    with pytest.raises(InputError, match=r"^news\.jsonl:21: broken"):
        next(found)


def test_of_two_problems_the_first_stops_the_load(where: Path) -> None:
    with pytest.raises(InputError, match=r"^news\.jsonl:n3: document id 'n3' stands twice"):
        load(where, broken_after([*NEWS, NEWS[3]]))
    assert not where.exists()


def test_what_fails_here_is_told_as_it_is(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = ahead.Preparing.of_documents
    calls: list[int] = []

    def fail_once(self: ahead.Preparing, documents: list[Document], codes: list[bytes]) -> ahead.Batch:
        calls.append(len(codes))
        if len(calls) == 2:
            raise MemoryError("no more")
        return prepare(self, documents, codes)

    monkeypatch.setattr(ahead, "BATCH_BYTES", 300)
    monkeypatch.setattr(ahead.Preparing, "of_documents", fail_once)
    with pytest.raises(MemoryError, match="no more"):
        load(where, NEWS)
    assert not where.exists()
