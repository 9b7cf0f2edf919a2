"""Documents that are read ahead arrive as if each were read when the load asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.errors import InputError
from esr.folder.write import prefetch
from esr.folder.write.batches import Batch, BatchBuilder
from esr.folder.write.prefetch import prepare
from esr.index.writer import Description
from esr.text.document import Document, Located
from tests.support.folder_index import document, load

NEWS = [document(f"n{n}", *[f"storm number {n}"] * (n % 4), title=f"title {n}") for n in range(20)]
PLAIN = Description("plain", title=True)


@pytest.mark.parametrize("size", [1, 300, 2**19], ids=["one by one", "a few", "all at once"])
def test_documents_arrive_in_order_with_the_payloads_that_are_needed(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(prefetch, "BATCH_BYTES", size)
    stream = list(prepare(NEWS, PLAIN, lambda document: document.id != "n7"))
    assert [(prepared.where, prepared.document) for prepared in stream] == NEWS
    assert [prepared.document.id for prepared in stream if not prepared.payload] == ["n7"]
    for prepared in stream:
        if payload := prepared.payload:
            news = prepared.document
            texts = " ".join([*(s.text for s in news.sentences), news.title or ""])
            for encoded, numbers in (
                (payload.batch.terms, payload.terms),
                (payload.batch.words, payload.words),
            ):
                assert " ".join(encoded.terms[n] for n in encoded.term_ids[numbers].tolist()) == texts
            assert payload.term_count == 3 * len(news.sentences)


def broken_after(documents: list[Located]) -> Iterator[Located]:
    yield from documents
    raise InputError("news.jsonl:21", "broken")


def test_an_error_of_the_source_follows_the_documents_before_it() -> None:
    stream = prepare(broken_after(NEWS), PLAIN)
    assert [next(stream).document.id for _ in NEWS] == [located.document.id for located in NEWS]
    with pytest.raises(InputError, match=r"^news\.jsonl:21: broken"):
        next(stream)


def test_of_two_problems_the_first_stops_the_load(where: Path) -> None:
    with pytest.raises(InputError, match=r"^news\.jsonl:n3: document id 'n3' is duplicated"):
        load(where, broken_after([*NEWS, NEWS[3]]))
    assert not where.exists()


def test_an_error_while_building_a_batch_is_raised_unchanged(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = BatchBuilder.build
    calls: list[int] = []

    def fail_once(self: BatchBuilder, documents: list[Document], encoded: list[bytes]) -> Batch:
        calls.append(len(encoded))
        if len(calls) == 2:
            raise MemoryError("no more")
        return build(self, documents, encoded)

    monkeypatch.setattr(prefetch, "BATCH_BYTES", 300)
    monkeypatch.setattr(BatchBuilder, "build", fail_once)
    with pytest.raises(MemoryError, match="no more"):
        load(where, NEWS)
    assert not where.exists()
