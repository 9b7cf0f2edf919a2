"""Builds one segment: collects documents in memory, converts them to columns and writes them once."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import numpy as np

from esr.analysis import Analyzer
from esr.dependency.codec import encode
from esr.documents import Sentence
from esr.documents.attributes import attributes, has_attributes
from esr.documents.dates import parse_date_start
from esr.engines.segments.store.arrays import narrow, save_array, save_bytes, sync_folder
from esr.engines.segments.store.attribute_table import AttributeBuilder
from esr.engines.segments.store.layer_file import NO_ENRICHMENT, EncodedEnrichment, save_layer
from esr.engines.segments.store.segment import LANGUAGE, LANGUAGES, NO_DATE, PARAGRAPH
from esr.engines.segments.store.string_table import BlobTable, StringTable, hash_strings
from esr.engines.segments.writer.columns import Array, TokenizedTexts, build_columns
from esr.engines.segments.writer.prepared_document import PreparedDocument
from esr.engines.segments.writer.token_buffer import TokenBuffer
from esr.engines.segments.writer.word_places import save_word_table

FULL_TERMS = 4_000_000
FULL_BYTES = 96_000_000


class SegmentBuilder:
    """Collects documents up to a limit. A load of full segments takes about 400 MB of memory."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._tokens, self._words = TokenBuffer(), TokenBuffer()
        self._term_count = 0
        self._sizes = array("i")
        self._dates = array("q")
        self._sources: dict[str | None, int] = {}
        self._source_numbers = array("i")
        self._languages: dict[str | None, int] = {}
        self._language_numbers = array("i")
        self._attributes = AttributeBuilder()
        self._paragraphs = array("I")
        self._blobs: list[bytes] = []
        self._bytes = 0
        self._sentences = 0
        self.document_ids: list[str] = []
        self.explicit_ids: list[str] = []
        self._explicit_id_numbers = array("q")
        self._inline: dict[int, EncodedEnrichment] = {}
        """Inline enrichment: features and parses that came with the documents, by sentence."""

    @property
    def is_full(self) -> bool:
        return self._term_count >= FULL_TERMS or self._bytes >= FULL_BYTES

    def __len__(self) -> int:
        return len(self.document_ids)

    @property
    def sentence_count(self) -> int:
        return self._sentences

    @property
    def paragraphs(self) -> Array:
        """The column of paragraphs."""
        return narrow(np.asarray(self._paragraphs, np.uint32))

    def add(self, prepared: PreparedDocument) -> None:
        document, payload = prepared.document, prepared.payload
        assert payload, "the document was not prepared for writing"
        for number, sentence in enumerate(document.sentences, self._sentences):
            if sentence.features or sentence.parse is not None:
                self._inline[number] = self._inline_enrichment(sentence)
        for position in prepared.explicit_ids:
            self._explicit_id_numbers.append(self._sentences + position)
            self.explicit_ids.append(document.sentences[position].id)
        self._sentences += len(document.sentences)
        self._paragraphs.extend(prepared.paragraphs)
        self._tokens.add(payload.batch.terms, payload.texts, payload.terms)
        self._words.add(payload.batch.words, payload.texts, payload.words)
        self._term_count += payload.term_count
        self._sizes.append(len(document.sentences))
        self._dates.append(NO_DATE if document.date is None else parse_date_start(document.date))
        self._source_numbers.append(self._sources.setdefault(document.source, len(self._sources)))
        self._language_numbers.append(self._languages.setdefault(document.language, len(self._languages)))
        if has_attributes(document):
            self._attributes.add(len(self._blobs), attributes(document))
        self._blobs.append(payload.blob)
        self._bytes += len(payload.blob)
        self.document_ids.append(document.id)

    def _inline_enrichment(self, sentence: Sentence) -> EncodedEnrichment:
        parse = None if sentence.parse is None else encode(sentence.parse, self._analyzer)
        return EncodedEnrichment(sentence.features, None, parse)

    def save(self, folder: Path) -> None:
        """Write the segment into a new folder, synced to disk."""
        folder.mkdir(parents=True)
        for name, column in self._save_terms(folder).items():
            save_array(folder / f"{name}.npy", column)
        words, lengths = self._words.finish()
        texts = TokenizedTexts(words, lengths, np.asarray(self._sizes, np.int64))
        save_word_table(folder, list(self._words.terms), texts)
        save_array(folder / "date.npy", np.asarray(self._dates, np.int64))
        save_array(folder / "source.npy", np.asarray(self._source_numbers, np.int32))
        save_array(folder / f"{LANGUAGE}.npy", narrow(np.asarray(self._language_numbers, np.int32)))
        save_array(folder / f"{PARAGRAPH}.npy", self.paragraphs)
        StringTable.save(folder, "documents", self.document_ids)
        StringTable.save(folder, "given", self.explicit_ids)
        save_array(folder / "given_at.npy", np.asarray(self._explicit_id_numbers, np.int64))
        BlobTable.save(folder, "texts", self._blobs)
        save_bytes(folder / "sources.json", [json.dumps(list(self._sources)).encode()])
        self._attributes.save(folder)
        save_bytes(folder / LANGUAGES, [json.dumps(list(self._languages)).encode()])
        sync_folder(folder)

    def _save_terms(self, folder: Path) -> dict[str, Array]:
        """Write the table of terms. Returns the columns that are made of them."""
        tokens, lengths = self._tokens.finish()
        terms = list(self._tokens.terms)
        hashes = hash_strings(terms)
        # Terms are numbered by their hash, so that a table of sorted hashes needs no second column.
        order = np.argsort(hashes, kind="stable")
        number = np.empty(len(terms), np.int32)
        number[order] = np.arange(len(terms))
        StringTable.save(folder, "terms", [terms[i] for i in order], hashes[order])
        texts = TokenizedTexts(number[tokens], lengths, np.asarray(self._sizes, np.int64))
        return build_columns(texts, len(terms))

    @property
    def inline_parts(self) -> tuple[str, ...]:
        """The parts of the inline enrichment."""
        inline = self._inline.values()
        has_part = {
            "features": any(sentence.features for sentence in inline),
            "parse": any(sentence.parse is not None for sentence in inline),
        }
        return tuple(part for part, present in has_part.items() if present)

    def save_inline_layer(self, path: Path) -> None:
        """Write the inline enrichment as a layer."""
        path.parent.mkdir(exist_ok=True)
        sentences = [self._inline.get(number, NO_ENRICHMENT) for number in range(self.sentence_count)]
        save_layer(path, sentences, self.inline_parts)
        sync_folder(path.parent)
