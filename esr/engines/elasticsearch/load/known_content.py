"""Finds new documents whose content the alias has under another id, by a few searches for a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from esr import analysis
from esr.batches import batched
from esr.documents import Document
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search
from esr.engines.elasticsearch.store.source_decoder import WITHOUT_CONTEXT, decode_document
from esr.engines.segments.reader.known_content import (
    describe_known_content,
    has_same_content,
    sample_documents,
)
from esr.engines.segments.store.segment import Segment
from esr.engines.writer import Description

_BATCH = 25
_CANDIDATES = 4
"""How many documents a search may return for each one it looks up."""
_TERMS = 8
"""How many terms lead to the documents with the same content: the longest, which tend to be rare."""


def known_content_notes(cluster: Cluster, description: Description, new: Sequence[Segment]) -> list[str]:
    """The line of a report about documents in these segments whose content is served under another id."""
    known: dict[str, str] = {}
    for batch in batched(sample_documents(new), _BATCH):
        answer = search(
            cluster,
            index=cluster.documents_alias,
            query={"bool": {"should": [_similar(document, description) for document in batch]}},
            size=_CANDIDATES * len(batch),
            source=WITHOUT_CONTEXT,
        )
        for hit in answer["hits"]["hits"]:
            stored = decode_document(hit["_source"])
            for document in batch:
                if document.id != stored.id and has_same_content(document, stored):
                    known.setdefault(document.id, stored.id)
    return describe_known_content(new, known)


def _similar(document: Document, description: Description) -> dict[str, Any]:
    """A query for documents with other ids, but the same number of sentences and these terms."""
    analyze = analysis.get(description.analyzer).terms
    terms = {term for sentence in document.sentences for term in analyze(sentence.text)}
    longest = sorted(terms, key=lambda term: (-len(term), term))[:_TERMS]
    # The size has no index: it is compared only where all the terms are.
    filters: list[dict[str, Any]] = [{"term": {"context": term}} for term in longest]
    filters.append({"term": {"size": len(document.sentences)}})
    return {"bool": {"filter": filters, "must_not": {"ids": {"values": [document.id]}}}}
