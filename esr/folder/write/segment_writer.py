"""Writes documents as new segments. Nothing refers to them before a commit.

A segment is collected in memory, converted to columns and written once, then read back and verified.
"""

from __future__ import annotations

import json
import uuid
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esr.dependency.parses import encode
from esr.errors import EsrError
from esr.features.furniture import NAME as FURNITURE
from esr.features.furniture import FurnitureFinder
from esr.folder.format.files import (
    Column,
    FileCheck,
    encode_sealed,
    narrow,
    record_files,
    save_array,
    save_bytes,
    sync_folder,
    sync_together,
)
from esr.folder.format.layers import NO_ENRICHMENT, EncodedEnrichment, save_layer
from esr.folder.format.manifest import CHECKSUMS, LAYERS, SEGMENTS, LayerInfo
from esr.folder.format.segment import LANGUAGE, LANGUAGES, NO_DATE, PARAGRAPH, Segment
from esr.folder.format.strings import AttributeBuilder, BlobTable, StringTable, hash_strings
from esr.folder.write.batches import EncodedTexts, PreparedDocument
from esr.folder.write.columns import TokenizedTexts, build_columns, save_word_table
from esr.hashing import blake2b
from esr.index.writer import Description
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.dates import parse_date_start
from esr.text.document import QUOTES, Sentence, attributes, has_attributes

Numbers = npt.NDArray[np.int32]


class TokenBuffer:
    """The terms of all texts, numbered by first occurrence. The last text of each document is its title."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        """The number of each term."""
        self._tokens = array("i")
        self._lengths = array("i")
        self._batch = EncodedTexts([], np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._texts = self._numbers = slice(0, 0)

    def add(self, batch: EncodedTexts, texts: slice, numbers: slice) -> None:
        """Add a document, given by its slices of a batch's texts and of their terms."""
        if batch is self._batch and texts.start == self._texts.stop:
            self._texts = slice(self._texts.start, texts.stop)
            self._numbers = slice(self._numbers.start, numbers.stop)
        else:
            self._copy()
            self._batch, self._texts, self._numbers = batch, texts, numbers

    def finish(self) -> tuple[Numbers, Numbers]:
        """The term numbers of all texts, concatenated, and the number of terms in each text."""
        self._copy()
        self._texts = self._numbers = slice(0, 0)
        return np.frombuffer(self._tokens, np.int32), np.frombuffer(self._lengths, np.int32)

    def _copy(self) -> None:
        """Copy the collected documents of a batch.

        Its other documents are in other segments, or set aside.
        """
        terms, numbers = self._batch.terms, self._batch.term_ids[self._numbers]
        present = np.flatnonzero(np.bincount(numbers, minlength=len(terms)))
        renumbered = np.zeros(len(terms), np.int32)
        number_of = self.terms.setdefault
        renumbered[present] = [number_of(terms[n], len(self.terms)) for n in present.tolist()]
        self._tokens.frombytes(renumbered[numbers].tobytes())
        self._lengths.frombytes(self._batch.lengths[self._texts].tobytes())


FULL_TERMS = 4_000_000
FULL_BYTES = 96_000_000


class SegmentBuilder:
    """Collects documents up to a limit. A load of full segments takes about 400 MB of memory."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._furniture = FurnitureFinder()
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
        """Features and parses from the documents, and the feature of furniture, by sentence."""

    @property
    def is_full(self) -> bool:
        return self._term_count >= FULL_TERMS or self._bytes >= FULL_BYTES

    def __len__(self) -> int:
        return len(self.document_ids)

    @property
    def sentence_count(self) -> int:
        return self._sentences

    @property
    def paragraphs(self) -> Column:
        """The column of paragraphs."""
        return narrow(np.asarray(self._paragraphs, np.uint32))

    def add(self, prepared: PreparedDocument) -> None:
        document, payload = prepared.document, prepared.payload
        assert payload, "the document was not prepared for writing"
        for number, sentence in enumerate(document.sentences, self._sentences):
            if sentence.features or sentence.parse is not None or sentence.quotes:
                self._inline[number] = self._inline_enrichment(sentence, document.language)
        for position in prepared.explicit_ids:
            self._explicit_id_numbers.append(self._sentences + position)
            self.explicit_ids.append(document.sentences[position].id)
        self._furniture.add(document.source, [sentence.text for sentence in document.sentences])
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

    def _inline_enrichment(self, sentence: Sentence, language: str | None) -> EncodedEnrichment:
        analyzer = self._analyzer.for_language(language)
        parse = None if sentence.parse is None else encode(sentence.parse, analyzer)
        return EncodedEnrichment(sentence.features, None, parse, quotes=sentence.quotes)

    def save(self, folder: Path) -> None:
        """Write the files of the segment."""
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

    def _save_terms(self, folder: Path) -> dict[str, Column]:
        """Write the term table. Returns the columns computed from terms."""
        tokens, lengths = self._tokens.finish()
        terms = list(self._tokens.terms)
        hashes = hash_strings(terms)
        # Terms are numbered in the order of their hashes, so the table needs no column of numbers.
        order = np.argsort(hashes, kind="stable")
        number = np.empty(len(terms), np.int32)
        number[order] = np.arange(len(terms))
        StringTable.save(folder, "terms", [terms[i] for i in order], hashes[order])
        texts = TokenizedTexts(number[tokens], lengths, np.asarray(self._sizes, np.int64))
        return build_columns(texts, len(terms))

    def mark_furniture(self) -> None:
        """Add the feature of furniture to the inline enrichment. A document's own value takes precedence."""
        values = self._furniture.values()
        for number in np.flatnonzero(values).tolist():
            known = self._inline.get(number, NO_ENRICHMENT)
            features = {FURNITURE: float(values[number]), **known.features}
            self._inline[number] = known._replace(features=features)

    @property
    def inline_parts(self) -> tuple[str, ...]:
        """The parts of the inline enrichment."""
        inline = self._inline.values()
        has_part = {
            "features": any(sentence.features for sentence in inline),
            "parse": any(sentence.parse is not None for sentence in inline),
            QUOTES: any(sentence.quotes for sentence in inline),
        }
        return tuple(part for part, present in has_part.items() if present)

    def save_inline_layer(self, path: Path) -> None:
        """Write the inline enrichment as a layer."""
        path.parent.mkdir(exist_ok=True)
        sentences = [self._inline.get(number, NO_ENRICHMENT) for number in range(self.sentence_count)]
        save_layer(path, sentences, self.inline_parts)
        sync_folder(path.parent)


@contextmanager
def new_segment(folder: Path) -> Iterator[tuple[Path, dict[str, FileCheck]]]:
    """Create a segment, whose files the block writes to the path.

    Their checks are collected meanwhile, and stored at the end.
    """
    path = folder / SEGMENTS / uuid.uuid4().hex[:12]
    path.mkdir(parents=True)
    with sync_together():
        with record_files() as checks:
            yield path, checks
        save_bytes(path / CHECKSUMS, [encode_sealed(dict(sorted(checks.items())))])
        sync_folder(path)
        sync_folder(path.parent)


OnSegment = Callable[[Segment, LayerInfo | None], None]
"""Called with a segment, and with its layer of inline enrichment if it has one."""


class SegmentWriter:
    """Builds one segment in memory; writes and verifies it when it is full.

    `segments` and `layers` are those written so far. `on_segment` is called after each.
    """

    def __init__(
        self,
        folder: Path,
        description: Description,
        on_segment: OnSegment = lambda segment, layer: None,
    ) -> None:
        self._folder = folder
        self._analyzer = get_analyzer(description.analyzer)
        self._on_segment = on_segment
        self.segments: list[Segment] = []
        self.layers: list[LayerInfo] = []
        self._start_segment()

    def _start_segment(self) -> None:
        self._builder = SegmentBuilder(self._analyzer)
        self._checksums: list[bytes] = []

    def add(self, prepared: PreparedDocument) -> None:
        """Add a document with its payload."""
        self._builder.add(prepared)
        assert prepared.payload
        self._checksums.append(_checksum(prepared.payload.blob))
        if self._builder.is_full:
            self.flush()

    def flush(self) -> None:
        """Write the segment in memory, if it has any documents."""
        builder = self._builder
        if not len(builder):
            return
        with new_segment(self._folder) as (path, _):
            builder.save(path)
        builder.mark_furniture()
        name, layer = path.name, None
        if builder.inline_parts:
            builder.save_inline_layer(self._folder / LAYERS / name)
            layer = LayerInfo(name, name, 0, len(builder), builder.inline_parts, None)
        segment = Segment(path)
        self._verify(segment)
        self.segments.append(segment)
        self.layers += [] if layer is None else [layer]
        self._start_segment()
        self._on_segment(segment, layer)

    def _verify(self, segment: Segment) -> None:
        """Read all documents back. Raises EsrError if one differs from what was written."""
        builder = self._builder
        counts = segment.document_count, segment.sentence_count
        if counts != (len(builder), builder.sentence_count):
            raise EsrError(
                f"{segment.folder} has {counts[0]} documents and {counts[1]} sentences instead of "
                f"{len(builder)} and {builder.sentence_count}, nothing was committed: "
                "check the disk and load again"
            )
        if not np.array_equal(segment.column(PARAGRAPH), builder.paragraphs):
            raise EsrError(
                f"{segment.folder} has other numbers of paragraphs when read back, nothing was committed: "
                "check the disk and load again"
            )
        for number, checksum in enumerate(self._checksums):
            if _checksum(segment.blob(number)) != checksum:
                raise EsrError(
                    f"document {builder.document_ids[number]!r} has another checksum when read back from "
                    f"{segment.folder}, nothing was committed: check the disk and load again"
                )


def _checksum(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=16).digest()
