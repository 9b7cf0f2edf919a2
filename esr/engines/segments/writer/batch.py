"""Batches of some hundred documents, prepared for a segment: compressed, and their terms numbered.

A batch depends on nothing but the JSON of its documents, so any process can build it at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from esr import analysis
from esr.analysis.term_encoder import EncodedTexts, TermEncoder
from esr.documents import Document
from esr.engines.segments.store.document_codec import compress, decode_texts


class Batch(NamedTuple):
    """The blobs of documents, and the terms of their texts: of each its sentences', then its title's."""

    blobs: list[bytes]
    terms: EncodedTexts


class BatchBuilder:
    """Builds batches."""

    def __init__(self, analyzer: str, title: bool) -> None:
        """`title`: whether the terms of titles count."""
        self._encoder = TermEncoder(analysis.get(analyzer))
        self._title = title

    def build(self, documents: Iterable[Document], encoded: Sequence[bytes]) -> Batch:
        """The batch of documents, given with their JSON."""
        texts = (([s.text for s in document.sentences], document.title) for document in documents)
        return self._build(encoded, texts)

    def build_from_json(self, encoded: Sequence[bytes]) -> Batch:
        """The same batch, from the JSON alone."""
        return self._build(encoded, map(decode_texts, encoded))

    def _build(self, encoded: Sequence[bytes], documents: Iterable[tuple[list[str], str | None]]) -> Batch:
        texts: list[str] = []
        for sentences, title in documents:
            texts += sentences
            texts.append((self._title and title) or "")
        return Batch([compress(document) for document in encoded], self._encoder.encode(texts))
