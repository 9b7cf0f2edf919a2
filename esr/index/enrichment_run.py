"""Enrichment of an index's documents, stored in batches so that an interrupted run loses little work."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from esr.enrichment.enricher import Enricher
from esr.enrichment.worker_pool import enrich_documents
from esr.index.contract import Enrichment, Index
from esr.index.names import Aliases
from esr.text.document import SentenceEnrichment

BATCH_SECONDS = 20.0
"""A batch is stored after this time, which bounds the work lost if the process is killed."""
BATCH_SENTENCES = 50_000
"""A batch is stored at this size, which bounds its memory."""


@dataclass(slots=True)
class EnrichmentReport:
    """The outcome of a run. `already` counts the documents that the same recipe had already enriched.

    `regrouped` counts the sentences whose names, stored by an older version of esr, got their grouping keys.
    """

    documents: int = 0
    sentences: int = 0
    already: int = 0
    regrouped: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def run_enrichment(
    index: Index,
    enricher: Enricher,
    *,
    slice: tuple[int, int] = (1, 1),
    workers: int = 1,
    aliases: Aliases | None = None,
    vector_index: bool = False,
    on_start: Callable[[int, int], None] = lambda done, documents: None,
    on_progress: Callable[[int], object] = lambda documents: None,
) -> EnrichmentReport:
    """Enrich all documents of a slice that the enricher's recipe has not enriched yet.

    `on_start` is called with the number of documents already enriched and the number in the slice;
    `on_progress` with the number of documents enriched since its last call. An interruption stores the
    unfinished batch before it propagates. The first slice also updates the grouping keys of stored names, and
    stores `aliases` of names if given. With `vector_index`, the index then gets one of its vectors.
    """
    started = time.perf_counter()
    with index.enrichment() as enrichment:
        already, documents = enrichment.progress(enricher.recipe, slice)
        on_start(already, documents)
        report = EnrichmentReport(already=already)
        batch = _Batch(enrichment, enricher)
        languages: Counter[str | None] = Counter()
        try:
            pending = enrichment.pending(enricher.recipe, slice)
            for document, sentences in enrich_documents(pending, enricher, workers):
                batch.add(document.id, sentences)
                languages[document.language] += 1
                report.documents += 1
                report.sentences += len(sentences)
                on_progress(1)
        finally:
            batch.store()
        if slice[0] == 1 or report.documents:  # what short forms stand for depends on all documents
            report.regrouped = enrichment.update_names(aliases)
        report.notes = enricher.describe_missing_models(languages)
        if report.documents or report.regrouped:
            report.notes += enrichment.finish(enricher.recipe)
        if vector_index:
            report.notes += enrichment.index_vectors()
    report.seconds = time.perf_counter() - started
    return report


class _Batch:
    """Collects enriched documents, and stores them once they are many or old enough."""

    def __init__(self, enrichment: Enrichment, enricher: Enricher) -> None:
        self._enrichment = enrichment
        self._recipe = enricher.recipe
        self._clear()

    def _clear(self) -> None:
        self._documents: list[tuple[str, Sequence[SentenceEnrichment]]] = []
        self._sentences = 0
        self._started = time.monotonic()

    def add(self, document_id: str, sentences: Sequence[SentenceEnrichment]) -> None:
        self._documents.append((document_id, sentences))
        self._sentences += len(sentences)
        if self._sentences >= BATCH_SENTENCES or time.monotonic() - self._started >= BATCH_SECONDS:
            self.store()

    def store(self) -> None:
        if self._documents:
            self._enrichment.store(self._recipe, self._documents)
        self._clear()
