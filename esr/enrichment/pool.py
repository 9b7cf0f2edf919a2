"""Enriches documents one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from esr.documents import Document
from esr.enrichment.enriched import Enriched
from esr.enrichment.enricher import Enricher


def enriched(
    documents: Iterable[Document], enricher: Enricher, workers: int
) -> Iterator[tuple[Document, list[Enriched]]]:
    """Documents in their order, each with its sentences."""
    for document in documents:
        yield document, enricher.enrich(document)
