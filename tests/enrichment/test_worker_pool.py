"""Worker processes of an enrichment end when nobody waits for their results any more."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread, get_ident
from typing import cast

import pytest

from esr.enrichment import worker_pool
from esr.enrichment.enricher import Enricher
from esr.enrichment.worker_pool import enrich_documents
from esr.processes import defer_interrupt
from esr.text.document import Document, SentenceEnrichment
from tests.support.fake_enricher import FakeEnricher
from tests.support.fake_enricher import document as tagged
from tests.support.processes import wait_until

_HANG = 60.0


class SleepingEnricher(FakeEnricher):
    """Takes an hour for the second document, and says that it has begun."""

    began: str = ""

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        if document.id == "second":
            Path(self.began).touch()
            time.sleep(60 * _HANG)
        return super().enrich(document)


def build(began: Path) -> tuple[Sequence[Document], Enricher]:
    enricher = SleepingEnricher()
    enricher.began = str(began)
    first, second = tagged("A storm."), tagged("A river.")
    return [first, Document("second", second.sentences)], cast(Enricher, enricher)


@pytest.mark.slow
def test_workers_end_in_the_middle_of_a_chunk_when_the_iterator_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "CHUNK_DOCUMENTS", 1)
    documents, enricher = build(tmp_path / "began")
    results = enrich_documents(documents, enricher, 2)
    assert next(iter(results))[0] == documents[0]
    wait_until((tmp_path / "began").exists)
    closing = Thread(target=results.close, daemon=True)  # type: ignore[attr-defined]
    closing.start()
    closing.join(_HANG)
    assert not closing.is_alive()


def test_a_request_to_end_waits_for_the_call_of_a_pool() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        with defer_interrupt():
            signal.pthread_kill(get_ident(), signal.SIGTERM)  # another thread would take it
            assert not received
        assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
