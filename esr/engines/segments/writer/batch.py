"""Documents prepared for a segment, some hundred at a time: packed, and their terms as numbers.

Of the documents' JSON nothing else is needed, and the same comes of it at any time and in any process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from esr import analysis
from esr.analysis.term_encoder import EncodedTexts, TermEncoder
from esr.documents import Document
from esr.engines.segments.store import document_codec as stored


class Batch(NamedTuple):
    """The blobs of some documents, and the terms of their texts: of each its sentences', then its title's."""

    blobs: list[bytes]
    terms: EncodedTexts


class Preparing:
    """Makes batches."""

    def __init__(self, analyzer: str, title: bool) -> None:
        self._encoder = TermEncoder(analysis.get(analyzer))
        self._title = title

    def of_documents(self, documents: Iterable[Document], codes: Sequence[bytes]) -> Batch:
        """The batch of documents whose JSON is known."""
        found = (([s.text for s in document.sentences], document.title) for document in documents)
        return self._batch(codes, found)

    def of_codes(self, codes: Sequence[bytes]) -> Batch:
        """The same of their JSON alone."""
        return self._batch(codes, map(stored.texts, codes))

    def _batch(self, codes: Sequence[bytes], found: Iterable[tuple[list[str], str | None]]) -> Batch:
        texts: list[str] = []
        for sentences, title in found:
            texts += sentences
            texts.append((self._title and title) or "")
        return Batch([stored.packed(code) for code in codes], self._encoder.encode(texts))
