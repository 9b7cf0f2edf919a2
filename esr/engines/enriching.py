"""Enriches what an index holds and stores it bit by bit, so that little is lost when it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from esr.documents.enrichment import SentenceEnrichment
from esr.engines.index import Enrichment, Index
from esr.enrichment.enricher import Enricher
from esr.enrichment.worker_pool import enrich_documents

SECONDS = 20.0
"""At most so much work is lost when the process is killed."""
SENTENCES = 50_000
"""At most so many sentences wait in memory to be stored."""


@dataclass(slots=True)
class Report:
    """What a run did. `already` documents were done before it, by the same recipe."""

    documents: int = 0
    sentences: int = 0
    already: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def run(
    index: Index,
    enricher: Enricher,
    *,
    slice: tuple[int, int] = (1, 1),
    workers: int = 1,
    begun: Callable[[int, int], None] = lambda done, documents: None,
    step: Callable[[int], object] = lambda documents: None,
) -> Report:
    """Enrich all documents of a slice that the enricher's recipe has not done yet.

    `begun` is told the documents done already and those of the slice, `step` each document that is
    enriched. An interruption stores what is there before it goes on its way.
    """
    started = time.perf_counter()
    with index.enrichment() as enrichment:
        already, documents = enrichment.counts(enricher.recipe, slice)
        begun(already, documents)
        report = Report(already=already)
        batch = _Batch(enrichment, enricher)
        try:
            todo = enrichment.todo(enricher.recipe, slice)
            for document, found in enrich_documents(todo, enricher, workers):
                batch.add(document.id, found)
                report.documents += 1
                report.sentences += len(found)
                step(1)
        finally:
            batch.store()
        report.notes = enrichment.finish(enricher.recipe) if report.documents else []
    report.seconds = time.perf_counter() - started
    return report


class _Batch:
    """What waits to be stored."""

    def __init__(self, enrichment: Enrichment, enricher: Enricher) -> None:
        self._enrichment = enrichment
        self._recipe = enricher.recipe
        self._clear()

    def _clear(self) -> None:
        self._waiting: list[tuple[str, Sequence[SentenceEnrichment]]] = []
        self._sentences = 0
        self._since = time.monotonic()

    def add(self, document_id: str, found: Sequence[SentenceEnrichment]) -> None:
        self._waiting.append((document_id, found))
        self._sentences += len(found)
        if self._sentences >= SENTENCES or time.monotonic() - self._since >= SECONDS:
            self.store()

    def store(self) -> None:
        if self._waiting:
            self._enrichment.store(self._recipe, self._waiting)
        self._clear()
