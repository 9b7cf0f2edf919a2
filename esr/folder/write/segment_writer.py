"""Writes documents as new segments. Nothing refers to them before a commit.

A segment is collected in memory, converted to columns and written once, then read back and verified. Columns
and the input of the word table are computed from the terms. A sort key combines the number of a term with
that of a sentence or a document, so one sort groups the occurrences of each term, sorted by sentence and
thereby by document. The remaining steps process a range of terms at a time, which fits into the processor's
cache and needs little memory besides the keys.
"""

from __future__ import annotations

import json
import uuid
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

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
from esr.folder.format.layer_info import LAYERS, LayerInfo
from esr.folder.format.layers import NO_ENRICHMENT, EncodedEnrichment, save_layer
from esr.folder.format.manifest import CHECKSUMS, SEGMENTS, name_segment
from esr.folder.format.segment import LANGUAGE, LANGUAGES, NO_DATE, PARAGRAPH, Segment, pack
from esr.folder.format.strings import AttributeBuilder, BlobTable, StringTable, hash_strings
from esr.folder.format.words import save_words, text_starts
from esr.folder.write.batches import EncodedTexts, PreparedDocument
from esr.index.writer import Description
from esr.stdlib import blake2b
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.attributes import attributes, has_attributes
from esr.text.dates import parse_date_start
from esr.text.document import Sentence
from esr.text.periods import period_of_document
from esr.text.sentence_enrichment import QUOTES

Numbers = npt.NDArray[np.int32]


class TokenBuffer:
    """The terms of all texts, numbered by first occurrence. The last text of each document is its title."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        """The number of each term."""
        self._tokens = array("i")
        self._lengths = array("i")
        self._batch = EncodedTexts([], np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._texts: list[slice] = []
        self._numbers: list[slice] = []
        """The collected documents of the batch, neighbours as one."""

    def add(self, batch: EncodedTexts, texts: slice, numbers: slice) -> None:
        """Add a document, given by its slices of a batch's texts and of their terms."""
        if batch is not self._batch:
            self._copy()
            self._batch = batch
        if self._texts and texts.start == self._texts[-1].stop:
            self._texts[-1] = slice(self._texts[-1].start, texts.stop)
            self._numbers[-1] = slice(self._numbers[-1].start, numbers.stop)
        else:
            self._texts.append(texts)
            self._numbers.append(numbers)

    def finish(self) -> tuple[Numbers, Numbers]:
        """The term numbers of all texts, concatenated, and the number of terms in each text."""
        self._copy()
        return np.frombuffer(self._tokens, np.int32), np.frombuffer(self._lengths, np.int32)

    def _copy(self) -> None:
        """Copy the collected documents of a batch.

        Its other documents are in other segments, or set aside.
        """
        if not self._texts:
            return
        terms, numbers = self._batch.terms, _join(self._batch.term_ids, self._numbers)
        present = np.flatnonzero(np.bincount(numbers, minlength=len(terms)))
        renumbered = np.zeros(len(terms), np.int32)
        number_of = self.terms.setdefault
        renumbered[present] = [number_of(terms[n], len(self.terms)) for n in present.tolist()]
        self._tokens.frombytes(renumbered[numbers].tobytes())
        self._lengths.frombytes(_join(self._batch.lengths, self._texts).tobytes())
        self._texts, self._numbers = [], []


def _join(values: Numbers, slices: Sequence[slice]) -> Numbers:
    """These slices, concatenated."""
    return values[slices[0]] if len(slices) == 1 else np.concatenate([values[part] for part in slices])


FULL_TERMS = 4_000_000
FULL_BYTES = 96_000_000
DOCUMENT_BYTES, TERM_BYTES = 500, 300
"""What a document and a distinct term add to the memory of a segment, besides the texts."""


class SharedFurniture:
    """Finds the furniture of all segments that are built at the same time."""

    def __init__(self) -> None:
        self._finder = FurnitureFinder()
        self._sentences = 0

    def add(self, source: str | None, texts: Sequence[str]) -> int:
        """Add the next document. Returns the number of its first sentence."""
        first = self._sentences
        self._finder.add(source, texts)
        self._sentences += len(texts)
        return first

    def values(self) -> npt.NDArray[np.float64]:
        """The feature of all sentences, by their numbers; 0 if not furniture."""
        return self._finder.values()


class SegmentBuilder:
    """Collects documents up to a limit. A load of full segments takes about 400 MB of memory."""

    def __init__(self, analyzer: Analyzer, furniture: SharedFurniture) -> None:
        """`furniture` gets all documents, also those of segments that are built at the same time."""
        self._analyzer = analyzer
        self._furniture = furniture
        self._found_at = array("q")
        """For each document, the number of its first sentence in `furniture`."""
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
        self.checksums: list[bytes] = []
        self._bytes = 0
        self._sentences = 0
        self.document_ids: list[str] = []
        self.explicit_ids: list[str] = []
        self._explicit_id_numbers = array("q")
        self._inline: dict[int, EncodedEnrichment] = {}
        """Features and parses from the documents, and the feature of furniture, by sentence."""

    @property
    def term_count(self) -> int:
        return self._term_count

    @property
    def size(self) -> int:
        """The memory of the documents and distinct terms, in bytes."""
        return self._bytes + DOCUMENT_BYTES * len(self) + TERM_BYTES * len(self._tokens.terms)

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
        texts = [sentence.text for sentence in document.sentences]
        self._found_at.append(self._furniture.add(document.source, texts))
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
        self.checksums.append(_checksum(payload.blob))
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

    def mark_furniture(self, values: npt.NDArray[np.float64]) -> None:
        """Add the feature of furniture to the inline enrichment. A document's own value takes precedence.

        `values` are those of all sentences that `furniture` got.
        """
        sizes = np.asarray(self._sizes, np.int64)
        firsts = np.asarray(self._found_at, np.int64) - (np.cumsum(sizes) - sizes)
        values = values[np.arange(self._sentences) + np.repeat(firsts, sizes)]
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
def new_segment(folder: Path, period: str | None = None) -> Iterator[tuple[Path, dict[str, FileCheck]]]:
    """Create a segment, of a period in a divided index, whose files the block writes to the path.

    Their checks are collected meanwhile, and stored at the end.
    """
    path = folder / SEGMENTS / name_segment(uuid.uuid4().hex[:12], period)
    path.mkdir(parents=True)
    with sync_together():
        with record_files() as checks:
            yield path, checks
        save_bytes(path / CHECKSUMS, [encode_sealed(dict(sorted(checks.items())))])
        sync_folder(path)
        sync_folder(path.parent)


class WrittenSegment(NamedTuple):
    """A segment on disk, and its layer of inline enrichment if it has one."""

    segment: Segment
    layer: LayerInfo | None


OnFlush = Callable[[Sequence[WrittenSegment]], None]
"""Called with the segments of a flush, when all documents added so far are on disk."""


class SegmentWriter:
    """Builds one segment in memory, or one of each period; writes and verifies them when they are full.

    The segments of a divided index share the memory of one, and are written together. `segments` and `layers`
    are those written so far. `on_flush` is called after each flush.
    """

    def __init__(
        self, folder: Path, description: Description, on_flush: OnFlush = lambda written: None
    ) -> None:
        self._folder = folder
        self._by = description.by
        self._analyzer = get_analyzer(description.analyzer)
        self._on_flush = on_flush
        self.segments: list[Segment] = []
        self.layers: list[LayerInfo] = []
        self._builders: dict[str | None, SegmentBuilder] = {}
        self._furniture = SharedFurniture()
        self._term_count = self._bytes = 0
        """What the segments in memory hold together."""

    def add(self, prepared: PreparedDocument) -> None:
        """Add a document with its payload."""
        period = None if self._by is None else period_of_document(prepared.document, self._by)
        builder = self._builders.get(period)
        if builder is None:
            builder = self._builders[period] = SegmentBuilder(self._analyzer, self._furniture)
        terms, size = builder.term_count, builder.size
        builder.add(prepared)
        self._term_count += builder.term_count - terms
        self._bytes += builder.size - size
        if self._term_count >= FULL_TERMS or self._bytes >= FULL_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the segments in memory, those of earlier periods first."""
        written, furniture = [], self._furniture.values()
        for period in sorted(self._builders, key=lambda period: period or ""):
            written.append(self._write(self._builders.pop(period), period, furniture))
        self._furniture, self._term_count, self._bytes = SharedFurniture(), 0, 0
        if written:
            self.segments += [segment for segment, _ in written]
            self.layers += [layer for _, layer in written if layer is not None]
            self._on_flush(written)

    def _write(
        self, builder: SegmentBuilder, period: str | None, furniture: npt.NDArray[np.float64]
    ) -> WrittenSegment:
        with new_segment(self._folder, period) as (path, _):
            builder.save(path)
        builder.mark_furniture(furniture)
        name, layer = path.name, None
        if builder.inline_parts:
            builder.save_inline_layer(self._folder / LAYERS / name)
            layer = LayerInfo(name, name, 0, len(builder), builder.inline_parts, None)
        segment = Segment(path)
        _verify(segment, builder)
        return WrittenSegment(segment, layer)


def _verify(segment: Segment, builder: SegmentBuilder) -> None:
    """Read all documents back. Raises EsrError if one differs from what was written."""
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
    for number, checksum in enumerate(builder.checksums):
        if _checksum(segment.blob(number)) != checksum:
            raise EsrError(
                f"document {builder.document_ids[number]!r} has another checksum when read back from "
                f"{segment.folder}, nothing was committed: check the disk and load again"
            )


def _checksum(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=16).digest()


# Columns

CHUNK_KEYS = 2**17
"""Approximate number of keys whose words are written at once."""


class TokenizedTexts(NamedTuple):
    """The term numbers of all texts, the number of terms in each text, and of sentences in each document.

    The texts of a document are its sentences, then its title.
    """

    tokens: Column
    lengths: Column
    sizes: Column


class _Groups(NamedTuple):
    """Distinct keys, ascending, with the number of occurrences of each and the index of the first."""

    keys: Column
    counts: Column
    starts: Column


def build_columns(texts: TokenizedTexts, term_count: int) -> dict[str, Column]:
    """Compute postings, counts, lengths and likelihoods, as columns by name."""
    is_title = np.zeros(len(texts.lengths), bool)
    is_title[np.cumsum(texts.sizes + 1) - 1] = True
    in_title = np.repeat(is_title, texts.lengths)
    lengths, title_lengths = texts.lengths[~is_title], texts.lengths[is_title]
    document = np.repeat(np.arange(len(texts.sizes), dtype=np.int32), texts.sizes)
    document_length = np.bincount(document, lengths, len(texts.sizes)).astype(np.int64) + title_lengths
    surrounding_length = _sum_surrounding(lengths, document)
    tokens = texts.tokens[~in_title]
    postings = _PostingsBuilder(document, lengths, surrounding_length, document_length)
    title_keys = _sorted_keys(texts.tokens[in_title], title_lengths)
    postings.add_all(_sorted_keys(tokens, lengths), title_keys, term_count)
    return {
        "length": narrow(lengths),
        "surrounding_length": narrow(surrounding_length),
        "document_length": narrow(document_length),
        "document": narrow(document),
        "first": np.concatenate([[0], np.cumsum(texts.sizes)]),
        "occurrences": narrow(np.bincount(tokens, minlength=term_count)),
        **postings.columns(),
    }


def _sum_surrounding(values: Column, document: Column) -> Column:
    """Add the values of its neighbours in the same document to each sentence's value."""
    total = values.astype(np.int64)
    are_neighbors = document[1:] == document[:-1]
    total[1:] += np.where(are_neighbors, values[:-1], 0)
    total[:-1] += np.where(are_neighbors, values[1:], 0)
    return total


def _sorted_keys(tokens: Column, lengths: Column) -> Column:
    """Sorted keys of the terms and their texts. `lengths` are the texts' lengths."""
    keys = tokens.astype(np.int64)
    keys <<= _bits(lengths)
    keys |= np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    keys.sort()
    return keys


def _bits(items: Column) -> int:
    """The number of bits for the number of an item in a key."""
    return len(items).bit_length()


class _PostingsBuilder:
    """Collects the postings of sentences and documents, and the likelihoods of sentences, term by term."""

    def __init__(
        self, document: Column, lengths: Column, surrounding_length: Column, document_length: Column
    ) -> None:
        self._document = document
        self._surrounding_length = surrounding_length
        self._document_length = document_length
        self._bits, self._document_bits = _bits(lengths), _bits(document_length)
        self._document_likelihood = np.zeros(len(lengths))
        self._surrounding_likelihood = np.zeros(len(lengths))
        self._parts: dict[str, list[Column]] = {
            f"{kind}_{name}": [np.zeros(1 if name == "starts" else 0, np.int32)]
            for kind in ("sentence", "document")
            for name in ("starts", "numbers", "counts")
        }

    def add_all(self, sentence_keys: Column, title_keys: Column, term_count: int) -> None:
        """Add all keys, which must be sorted."""
        start = title_start = first = 0
        while first < term_count:
            end = term_count
            if start + CHUNK_KEYS < len(sentence_keys):
                end = int(sentence_keys[start + CHUNK_KEYS] >> self._bits) + 1
            stop = int(np.searchsorted(sentence_keys, end << self._bits))
            title_stop = int(np.searchsorted(title_keys, end << self._document_bits))
            self._add(sentence_keys[start:stop], title_keys[title_start:title_stop], range(first, end))
            start, title_start, first = stop, title_stop, end

    def _add(self, sentence_keys: Column, title_keys: Column, terms: range) -> None:
        """Add the keys of a range of terms."""
        in_sentences = _group(sentence_keys)
        sentence = in_sentences.keys & ((1 << self._bits) - 1)
        document = self._document[sentence]
        document_keys = in_sentences.keys >> self._bits << self._document_bits | document
        in_documents = _group(document_keys, in_sentences.counts)
        keys, counts, counts_of_present = _add_titles(in_documents, _group(title_keys))
        self._append("sentence", in_sentences.keys, self._bits, in_sentences.counts, terms)
        self._append("document", keys, self._document_bits, counts, terms)
        document_count = np.repeat(counts_of_present, np.diff(in_documents.starts, append=len(sentence)))
        likelihood = in_sentences.counts * np.log(document_count / self._document_length[document])
        np.add.at(self._document_likelihood, sentence, likelihood)
        surrounding_count = _surrounding_counts(in_sentences, document)
        likelihood = in_sentences.counts * np.log(surrounding_count / self._surrounding_length[sentence])
        np.add.at(self._surrounding_likelihood, sentence, likelihood)

    def _append(self, kind: str, keys: Column, bits: int, counts: Column, terms: range) -> None:
        starts = self._parts[f"{kind}_starts"]
        ends = np.searchsorted(keys, np.arange(terms.start + 1, terms.stop + 1) << bits)
        starts.append(starts[-1][-1] + ends)
        self._parts[f"{kind}_numbers"].append((keys & ((1 << bits) - 1)).astype(np.int32))
        self._parts[f"{kind}_counts"].append(counts.astype(np.int32))

    def columns(self) -> dict[str, Column]:
        columns = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        sentences, counts = columns.pop("sentence_numbers"), columns.pop("sentence_counts")
        return {
            **{name: narrow(column) for name, column in columns.items()},
            **pack(sentences, counts),
            "document_likelihood": self._document_likelihood,
            "surrounding_likelihood": self._surrounding_likelihood,
        }


def _group(keys: Column, counts: Column | None = None) -> _Groups:
    """Group sorted keys. Each key counts once, or as many times as `counts` says."""
    is_first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    totals = np.diff(starts, append=len(keys)) if counts is None else np.add.reduceat(counts, starts)
    return _Groups(keys[starts], totals, starts)


def _add_titles(documents: _Groups, titles: _Groups) -> tuple[Column, Column, Column]:
    """Add the counts in titles to those in documents.

    Returns the keys, their counts, and the counts of only those keys that occur in sentences.
    """
    places = np.searchsorted(documents.keys, titles.keys)
    is_new = np.ones(len(places), bool)
    is_inside = places < len(documents.keys)
    is_new[is_inside] = documents.keys[places[is_inside]] != titles.keys[is_inside]
    counts = documents.counts.copy()
    counts[places[~is_new]] += titles.counts[~is_new]
    keys = np.insert(documents.keys, places[is_new], titles.keys[is_new])
    return keys, np.insert(counts, places[is_new], titles.counts[is_new]), counts


def _surrounding_counts(postings: _Groups, document: Column) -> Column:
    """c(t, c_s) of each posting.

    Postings of neighbouring sentences are adjacent, and their keys differ by one.
    """
    after = np.flatnonzero(np.diff(postings.keys) == 1) + 1
    after = after[document[after] == document[after - 1]]
    total = postings.counts.copy()
    total[after] += postings.counts[after - 1]
    total[after - 1] += postings.counts[after]
    return total


def save_word_table(folder: Path, words: list[str], texts: TokenizedTexts) -> None:
    """Write the word table of a segment. `texts.tokens` are indices of `words`."""
    order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
    number = np.empty(len(words), np.int64)
    number[order] = np.arange(len(words))
    is_title = np.zeros(len(texts.lengths), bool)
    is_title[np.cumsum(texts.sizes + 1) - 1] = True
    in_order = np.argsort(is_title, kind="stable")  # in the order of the table: sentences, then titles
    lengths = texts.lengths[in_order].astype(np.int64)
    starts = np.empty(len(lengths), np.int64)
    starts[in_order] = text_starts(lengths)[:-1]
    before = np.cumsum(texts.lengths, dtype=np.int64) - texts.lengths
    places = np.repeat(starts - before, texts.lengths) + np.arange(len(texts.tokens))
    save_words(folder, [words[n] for n in order.tolist()], number[texts.tokens], places, lengths)
