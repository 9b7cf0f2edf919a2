"""Batches of some hundred documents, prepared for a segment: compressed, and with numbered terms.

A batch depends only on the JSON of its documents, so any process can build it at any time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from esr.folder.format.document_codec import compress, decode_texts
from esr.text.analyzer import WORDS_ANALYZER, Analyzer, get_analyzer
from esr.text.document import Document
from esr.text.term_encoder import EncodedTexts, TermEncoder, interleave


class Batch(NamedTuple):
    """The blobs of documents, and the terms and words of their texts: their sentences, then their title.

    Words are those of the analyzer `words`. Words of titles are included even if terms of titles are not.
    """

    blobs: list[bytes]
    terms: EncodedTexts
    words: EncodedTexts


class BatchBuilder:
    """Compresses documents and numbers their terms."""

    def __init__(self, analyzer: str, title: bool) -> None:
        """`title`: whether terms of titles are included."""
        self._analyzer = get_analyzer(analyzer)
        self._encoders: dict[Analyzer, TermEncoder] = {}
        self._word_encoder = TermEncoder(get_analyzer(WORDS_ANALYZER))
        self._title = title

    def build(self, documents: Iterable[Document], encoded: Sequence[bytes]) -> Batch:
        """Build the batch of documents, which are given together with their JSON."""
        texts = (([s.text for s in each.sentences], each.title, each.language) for each in documents)
        return self._build(encoded, texts)

    def build_from_json(self, encoded: Sequence[bytes]) -> Batch:
        """Build the same batch from the JSON alone."""
        return self._build(encoded, map(decode_texts, encoded))

    def _build(
        self, encoded: Sequence[bytes], documents: Iterable[tuple[list[str], str | None, str | None]]
    ) -> Batch:
        texts: list[str] = []
        titles: list[int] = []
        by_analyzer: dict[Analyzer, list[int]] = {}
        for sentences, title, language in documents:
            places = by_analyzer.setdefault(self._analyzer.for_language(language), [])
            places += range(len(texts), len(texts) + len(sentences) + 1)
            texts += sentences
            titles.append(len(texts))
            texts.append(title or "")
        words = self._word_encoder.encode(texts)
        if not self._title:
            for place in titles:
                texts[place] = ""
        return Batch([compress(document) for document in encoded], self._encode(texts, by_analyzer), words)

    def _encode(self, texts: Sequence[str], by_analyzer: Mapping[Analyzer, Sequence[int]]) -> EncodedTexts:
        """Number the terms of texts. `by_analyzer` has the places of the texts of each analyzer."""
        parts = []
        for analyzer, places in by_analyzer.items():
            if analyzer not in self._encoders:
                self._encoders[analyzer] = TermEncoder(analyzer)
            if len(by_analyzer) == 1:
                return self._encoders[analyzer].encode(texts)
            parts.append((places, self._encoders[analyzer].encode([texts[place] for place in places])))
        return interleave(parts, len(texts))


class Payload(NamedTuple):
    """The stored data of a document: its blob, and its terms and words as slices of its batch.

    `term_count` is the number of terms in its sentences. `texts`, `terms` and `words` are slices of the
    batch's texts, of their terms and of their words.
    """

    blob: bytes
    term_count: int
    batch: Batch
    texts: slice
    terms: slice
    words: slice


class PreparedDocument(NamedTuple):
    """A document on its way into a segment: where it was read, and its JSON.

    `explicit_ids` are the positions of the sentences whose id is not the default. `paragraphs` is the
    document's part of the column. `payload` is None if the document is not to be written.
    """

    where: str
    document: Document
    explicit_ids: list[int]
    encoded: bytes
    paragraphs: array[int]
    payload: Payload | None


def split_batch(batch: Batch, sizes: Sequence[int]) -> Iterator[Payload]:
    """Yield the payloads of a batch's documents, whose numbers of sentences are `sizes`."""
    text = term = word = 0
    term_counts, word_counts = batch.terms.lengths.tolist(), batch.words.lengths.tolist()
    for blob, size in zip(batch.blobs, sizes, strict=True):
        in_sentences = sum(term_counts[text : text + size])
        texts = slice(text, text + size + 1)
        terms = slice(term, term + in_sentences + term_counts[text + size])
        words = slice(word, word + sum(word_counts[texts]))
        yield Payload(blob, in_sentences, batch, texts, terms, words)
        text, term, word = texts.stop, terms.stop, words.stop
