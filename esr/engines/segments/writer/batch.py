"""Batches of some hundred documents, prepared for a segment: compressed, and their terms numbered.

A batch depends on nothing but the JSON of its documents, so any process can build it at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from esr import analysis
from esr.analysis.definitions import WORDS
from esr.analysis.term_encoder import EncodedTexts, TermEncoder
from esr.documents import Document
from esr.engines.segments.store.document_codec import compress, decode_texts


class Batch(NamedTuple):
    """The blobs of documents, and the terms and words of their texts: of each its sentences', then its
    title's.

    Words are those of the analyzer `words`. Those of a title count even if its terms do not.
    """

    blobs: list[bytes]
    terms: EncodedTexts
    words: EncodedTexts


class BatchBuilder:
    """Builds batches."""

    def __init__(self, analyzer: str, title: bool) -> None:
        """`title`: whether the terms of titles count."""
        self._encoder = TermEncoder(analysis.get(analyzer))
        self._word_encoder = TermEncoder(analysis.get(WORDS))
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
        titles: list[int] = []
        for sentences, title in documents:
            texts += sentences
            titles.append(len(texts))
            texts.append(title or "")
        words = self._word_encoder.encode(texts)
        if not self._title:
            for place in titles:
                texts[place] = ""
        return Batch([compress(document) for document in encoded], self._encoder.encode(texts), words)
