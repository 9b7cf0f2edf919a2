"""A segment, opened for reading: columns, strings and documents mapped from disk.

A posting of a term in a sentence is one integer: the sentence number, and the count in its low bits. Nearly
all counts are 1, and a column of counts would add a fifth to the size. All postings of a segment use the same
number of bits for the count, so they ascend by sentence.

A document is one compressed JSON blob. Every hit reads a blob, so reading is optimized: ISA-L takes 0.6 of
the time of zlib, msgspec 0.45 of that of json, and `ShownDocument` skips all fields that hits do not show.
Paragraphs are not in the blob but in a column.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sys import getsizeof
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from esr.folder.format.damage import SegmentDamaged
from esr.folder.format.files import Column, Integers, map_array
from esr.folder.format.layer_info import LayerInfo
from esr.folder.format.layers import Layer, LayerStack
from esr.folder.format.manifest import period_of_segment
from esr.folder.format.strings import AttributeTable, BlobTable, StringTable
from esr.folder.format.words import WordTable
from esr.stdlib import cached_property, read_json
from esr.text.document import (
    Document,
    ParseWord,
    Quote,
    Sentence,
    decode_fields,
    default_sentence_id,
    encode_fields,
)
from esr.text.periods import may_hold

# Documents

DECODE_ERRORS: tuple[type[Exception], ...] = (isal_zlib.IsalError, ValueError, LookupError, TypeError)  # type: ignore[assignment]
"""The exceptions that decoding a damaged blob raises."""
_LEVEL = 4  # of 9: most of the compression for a third of the time
NO_PARAGRAPH = 0
"""Value of the paragraph column where the paragraph is unknown. Known paragraphs are numbered from 1."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_document(document: Document, explicit_ids: Sequence[int]) -> bytes:
    """Encode a document as JSON.

    `explicit_ids` are the positions of the sentences whose id is not the default. Default ids are not stored,
    since they can be derived.
    """
    data: dict[str, Any] = {"id": document.id, **encode_fields(document)}
    explicit = frozenset(explicit_ids)
    data["sentences"] = [_encode_sentence(s, n not in explicit) for n, s in enumerate(document.sentences)]
    return _encode(data).encode()


def encode_paragraphs(document: Document) -> array[int]:
    """The paragraphs of a document's sentences as the column of the segment stores them."""
    return array(
        "I",
        [
            NO_PARAGRAPH if sentence.paragraph is None else sentence.paragraph + 1
            for sentence in document.sentences
        ],
    )


def compress(encoded: bytes) -> bytes:
    """Compress an encoded document to its blob."""
    return zlib.compress(encoded, _LEVEL)


def decode_texts(encoded: bytes) -> tuple[list[str], str | None, str | None]:
    """The sentence texts of an encoded document, its title, and its language."""
    data = read_json(encoded)
    return [row[0] for row in data["sentences"]], data.get("title"), data.get("language")


def _encode_quote(quote: Quote) -> tuple[Any, ...]:
    """The fields of a quotation, the certainty only if it is known: earlier versions of esr have none."""
    return quote if quote.certainty else quote[:-1]


def _encode_sentence(sentence: Sentence, has_default_id: bool) -> list[Any]:
    """[text, id, features, parse, quotes], without trailing nulls."""
    if has_default_id and not sentence.features and sentence.parse is None and not sentence.quotes:
        return [sentence.text]  # nearly all sentences
    row: list[Any] = [
        sentence.text,
        None if has_default_id else sentence.id,
        dict(sentence.features) or None,
        sentence.parse,
        [_encode_quote(quote) for quote in sentence.quotes] or None,
    ]
    while row[-1] is None:
        row.pop()
    return row


def decode_paragraph(number: int) -> int | None:
    """Zero-based paragraph of a sentence, from its value in the column; None if unknown."""
    return None if number == NO_PARAGRAPH else number - 1


class StoredDocument:
    """A document decoded from its blob with all stored fields. Hits read less (`read_shown`)."""

    __slots__ = ("_data", "_rows", "id")

    def __init__(self, blob: bytes | memoryview) -> None:
        self._data: dict[str, Any] = read_json(isal_zlib.decompress(blob))
        self.id: str = self._data["id"]
        self._rows: list[list[Any]] = self._data["sentences"]

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, name: str) -> Any:
        """A field as it is stored, None if it has no value."""
        return self._data.get(name)

    def sentence_id(self, position: int) -> str:
        row = self._rows[position]
        explicit = row[1] if len(row) > 1 else None
        return default_sentence_id(self.id, position) if explicit is None else str(explicit)

    def document(self, paragraphs: npt.NDArray[np.integer[Any]]) -> Document:
        """The complete document. `paragraphs` are the values of its sentences in the column."""
        sentences = map(self._sentence, range(len(self)), paragraphs.tolist())
        return Document(self.id, tuple(sentences), **decode_fields(self._data))

    def _sentence(self, position: int, paragraph: int) -> Sentence:
        text, features, parse, quotes = (self._field(position, column) for column in (0, 2, 3, 4))
        words = None if parse is None else tuple(ParseWord(*word) for word in parse)
        return Sentence(
            self.sentence_id(position),
            text,
            features or {},
            words,
            decode_paragraph(paragraph),
            tuple(Quote(*quote) for quote in quotes or ()),
        )

    def _field(self, position: int, column: int) -> Any:
        row = self._rows[position]
        return row[column] if column < len(row) else None


_BYTES, _SENTENCE_BYTES = 800, 48
"""Memory in bytes of a document without its sentences, and of a sentence without its text."""


class ShownSentence(msgspec.Struct, array_like=True, gc=False):
    """A stored sentence, with the fields that hits show. Its id is None if it is the default.

    msgspec reads structs in two thirds of the time of lists and dicts.
    """

    text: str
    id: str | None = None


class ShownDocument(msgspec.Struct, gc=False):
    """A stored document, with the fields that its hits show."""

    id: str
    sentences: list[ShownSentence]
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    keywords: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
        texts = sum([getsizeof(sentence.text) for sentence in self.sentences])
        return _BYTES + texts + _SENTENCE_BYTES * len(self.sentences)


_decode = msgspec.json.Decoder(ShownDocument).decode


def read_shown(blobs: Iterable[bytes | memoryview]) -> list[ShownDocument]:
    """Decode the blobs of documents, in their order."""
    # One step for all blobs at a time, so that its code is loaded into the processor's cache once.
    encoded = list(map(isal_zlib.decompress, blobs))
    try:
        return list(map(_decode, encoded))
    except msgspec.DecodeError:  # e.g. NaN or infinity, in fields that are not shown
        return [msgspec.convert(read_json(blob), ShownDocument) for blob in encoded]


# Segments

T = TypeVar("T")

POSTINGS, COUNT_BITS = "sentence_postings", "sentence_count_bits"
"""Columns of the packed postings, and of one number: the bits of a posting that hold the count."""


def pack(sentences: Column, counts: Column) -> dict[str, Column]:
    """Pack postings into columns, with 4 bytes each if sentence number and count fit into 31 bits."""
    bits = int(counts.max(initial=0)).bit_length()
    fits = int(sentences.max(initial=0)) >> (31 - bits) == 0
    packed = sentences.astype(np.int32 if fits else np.int64)
    np.left_shift(packed, bits, out=packed)
    np.bitwise_or(packed, counts, out=packed, casting="unsafe")
    return {POSTINGS: packed, COUNT_BITS: np.array([bits], np.uint8)}


def unpack(packed: Column, bits: int) -> tuple[Column, Column]:
    """Unpack postings into sentence numbers and counts."""
    return packed >> bits, packed & ((1 << bits) - 1)


NO_DATE = np.iinfo(np.int64).min
"""Value of the date column for documents without a date."""


class Postings(NamedTuple):
    """The sentences or documents that contain a term, ascending, and its count in each."""

    numbers: Integers
    counts: Integers


NO_POSTINGS = Postings(np.zeros(0, np.int32), np.zeros(0, np.uint8))


class SentenceViews(NamedTuple):
    """Memoryviews of columns: the document and the paragraph of each sentence, each document's first
    sentence.

    Reading a single number from a memoryview takes a third of the time of an array.
    """

    document: memoryview
    first: memoryview
    paragraph: memoryview


PARAGRAPH = "paragraph"
"""Column of the sentences' paragraphs, from 1."""
LANGUAGE = "language"
"""Column of the documents' languages."""
LANGUAGES = "languages.json"
COLUMNS = [
    COUNT_BITS,
    LANGUAGE,
    PARAGRAPH,
    POSTINGS,
    "date",
    "document",
    "document_counts",
    "document_length",
    "document_likelihood",
    "document_numbers",
    "document_starts",
    "first",
    "length",
    "occurrences",
    "sentence_starts",
    "source",
    "surrounding_length",
    "surrounding_likelihood",
]


FILES_OF_SEGMENT = 100
"""Open files per segment: about 45, and as many for a segment that it replaces."""


def read_counts(folder: Path) -> tuple[int, int]:
    """Read the numbers of documents and sentences without opening the whole segment.

    Raises SegmentDamaged.
    """
    with _translate_damage(folder):
        return len(BlobTable(folder, "texts")), len(map_array(folder / "length.npy"))


class _Columns(dict[str, Column]):
    """The columns of a segment by name, each mapped when it is first read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Column:
        with _translate_damage(self._folder):
            column = self[name] = map_array(f"{self._folder}/{name}.npy")
        return column


class _Mapped(Generic[T]):
    """Files of a segment, mapped when they are first read."""

    def __init__(self, map_files: Callable[[Segment], T]) -> None:
        self._map_files = map_files

    def __set_name__(self, owner: type[Segment], name: str) -> None:
        self._name = name

    def __get__(self, segment: Segment, owner: type[Segment]) -> T:
        if self._name not in segment.mapped:
            with _translate_damage(segment.folder):
                segment.mapped[self._name] = self._map_files(segment)
        value: T = segment.mapped[self._name]
        segment.__dict__[self._name] = value
        return value


@contextmanager
def _translate_damage(folder: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, EOFError, ValueError) as error:
        raise SegmentDamaged(folder) from error


class Segment:
    """An immutable part of an index. Sentences and documents are numbered from 0, in loading order."""

    folder: Path
    terms: _Mapped[StringTable] = _Mapped(lambda segment: StringTable(segment.folder, "terms"))
    document_ids: _Mapped[StringTable] = _Mapped(lambda segment: StringTable(segment.folder, "documents"))
    explicit_ids: _Mapped[StringTable] = _Mapped(lambda segment: StringTable(segment.folder, "given"))
    """The ids of the sentences at `explicit_id_numbers`. The other sentences have default ids."""
    explicit_id_numbers: _Mapped[npt.NDArray[Any]] = _Mapped(
        lambda segment: map_array(segment.folder / "given_at.npy")
    )
    documents: _Mapped[BlobTable] = _Mapped(lambda segment: BlobTable(segment.folder, "texts"))
    sources: _Mapped[list[str | None]] = _Mapped(lambda segment: segment.read_json("sources.json"))
    languages: _Mapped[list[str | None]] = _Mapped(lambda segment: segment.read_json(LANGUAGES))
    attributes: _Mapped[AttributeTable] = _Mapped(lambda segment: AttributeTable(segment.folder))
    """Values by which documents are filtered and counted."""
    words: _Mapped[WordTable] = _Mapped(
        lambda segment: WordTable(segment.folder, len(segment.column("length")))
    )
    """The words as written."""

    def __init__(
        self, folder: Path, layers: Sequence[tuple[LayerInfo, Layer]] = (), opened: Segment | None = None
    ) -> None:
        """Open a segment with these layers, sharing the files of `opened`, the same segment with others.

        Its files are mapped when they are first read, which raises SegmentDamaged if they are incomplete.
        """
        self.folder = folder
        self.mapped: dict[str, Any] = {} if opened is None else opened.mapped
        self.columns: dict[str, Column] = _Columns(folder) if opened is None else opened.columns
        self.enrichment: LayerStack = LayerStack(layers, self.column("first"), self.sentence_count)
        """Features, entities, parses and vectors of the segment's sentences."""

    def map_files(self) -> Segment:
        """Map all files, so that a search can finish even if a writer deletes the segment.

        Returns the segment. Raises SegmentDamaged.
        """
        for name in COLUMNS:
            self.column(name)
        for name, value in vars(Segment).items():
            if isinstance(value, _Mapped):
                getattr(self, name)
        return self

    def read_json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text("utf-8"))

    def column(self, name: str) -> npt.NDArray[Any]:
        """A stored column, one of COLUMNS."""
        return self.columns[name]

    @cached_property
    def period(self) -> str | None:
        """The period of all its documents, None in an index that is not divided."""
        return period_of_segment(self.folder.name)

    def may_hold(self, start: int | None, end: int | None) -> bool:
        """Whether documents may be dated within these milliseconds since the epoch, both inclusive.

        None is an open end. If not, nothing of the segment needs to be read.
        """
        return self.period is None or may_hold(self.period, start, end)

    @property
    def document_count(self) -> int:
        return len(self.document_ids)

    def language(self, document: int) -> str | None:
        """The language of a document, None if it has none."""
        return self.languages[int(self.column(LANGUAGE)[document])]

    @cached_property
    def sentence_count(self) -> int:
        return len(self.column("length"))

    @cached_property
    def has_previous(self) -> npt.NDArray[np.bool_]:
        """Whether each sentence has a previous one in its document."""
        document = self.column("document")
        has_previous = np.zeros(len(document), bool)
        has_previous[1:] = document[1:] == document[:-1]
        return has_previous

    @cached_property
    def sentence_length_range(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The lengths in terms of the shortest and longest sentence of each document, 0 without sentences."""
        first, length = self.column("first"), self.column("length")
        has_sentences = np.diff(first) > 0
        shortest, longest = np.zeros(len(has_sentences)), np.zeros(len(has_sentences))
        if has_sentences.any():
            shortest[has_sentences] = np.minimum.reduceat(length, first[:-1][has_sentences])
            longest[has_sentences] = np.maximum.reduceat(length, first[:-1][has_sentences])
        return shortest, longest

    @cached_property
    def log_likelihoods(self) -> dict[str, npt.NDArray[Any]]:
        """The stored log likelihoods of the importance priors, by the name of the prior."""
        return {
            "importance": self.column("document_likelihood"),
            "importance_surrounding": self.column("surrounding_likelihood"),
        }

    def sentence_postings(self, term: int | None, end: int | None = None) -> Postings:
        """Postings of a term in sentences.

        With `end`, those of all terms from `term` to before `end`, concatenated.
        """
        if term is None:
            return NO_POSTINGS
        packed = self.column(POSTINGS)[self._range("sentence_starts", term, end)]
        return Postings(*unpack(packed, self.count_bits))

    @cached_property
    def count_bits(self) -> int:
        """The number of low bits of a packed posting that hold the count."""
        return int(self.column(COUNT_BITS)[0])

    def document_postings(self, term: int | None, end: int | None = None) -> Postings:
        """Postings of a term in documents, or of several terms as in `sentence_postings`."""
        if term is None:
            return NO_POSTINGS
        range = self._range("document_starts", term, end)
        return Postings(self.column("document_numbers")[range], self.column("document_counts")[range])

    def _range(self, name: str, term: int, end: int | None) -> slice:
        starts = self.column(name)
        return slice(int(starts[term]), int(starts[term + 1 if end is None else end]))

    def posting_ranges(self, term: int | None) -> tuple[int, int, int, int]:
        """Start and end of a term's postings in the columns of sentences, then in those of documents."""
        if term is None:
            return 0, 0, 0, 0
        sentences, documents, _ = self._number_views
        return sentences[term], sentences[term + 1], documents[term], documents[term + 1]

    def occurrences(self, term: int | None) -> int:
        """The number of occurrences of a term in sentences."""
        return 0 if term is None else self._number_views[2][term]

    @cached_property
    def _number_views(self) -> list[memoryview]:
        """Views of the columns that are read for single terms, which takes a third of the time of arrays."""
        names = ("sentence_starts", "document_starts", "occurrences")
        return [memoryview(self.columns[name]) for name in names]  # type: ignore[arg-type]

    def document(self, number: int) -> Document:
        first = self.column("first")
        paragraphs = self.column(PARAGRAPH)[int(first[number]) : int(first[number + 1])]
        return self.stored_document(number).document(paragraphs)

    def stored_document(self, number: int) -> StoredDocument:
        """A document decoded from its blob, which has no paragraphs.

        Raises SegmentDamaged if the blob does not match its checksum.
        """
        try:
            return StoredDocument(self.documents[number])
        except DECODE_ERRORS as error:
            problem = f"document {number} of the segment cannot be decoded"
            raise SegmentDamaged(self.folder / "texts.bytes", problem) from error

    @cached_property
    def sentence_views(self) -> SentenceViews:
        """Views of the columns that are read for single sentences."""
        return SentenceViews(*(memoryview(self.columns[name]) for name in ("document", "first", PARAGRAPH)))  # type: ignore[arg-type]

    def blob(self, number: int) -> bytes:
        """The compressed bytes of a document."""
        return self.documents[number]

    def blob_view(self, number: int) -> memoryview:
        """The compressed bytes of a document, without a copy."""
        return self.documents.view(number)

    def document_marks(self) -> Iterator[tuple[str, str]]:
        """Yield the id of each document and a mark of its stored texts and fields (`DocumentMarks`)."""
        for number, id in enumerate(self.document_ids.get_many(np.arange(self.document_count))):
            blob = self.blob_view(number)
            yield id, f"{zlib.crc32(blob):08x}{len(blob):x}"

    def find_sentence(self, sentence_id: str) -> int | None:
        """Find the number of a sentence by its id, explicit or of the default form `<document id>.s<n>`."""
        explicit = self.explicit_ids.find(sentence_id)
        if explicit is not None:
            return int(self.explicit_id_numbers[explicit])
        document_id, dot, position = sentence_id.rpartition(".s")
        if not dot or not is_position(position):
            return None
        document = self.document_ids.find(document_id)
        if document is None:
            return None
        first = self.column("first")
        number = int(first[document]) + int(position)
        if number >= first[document + 1] or self._find_explicit_id(number) is not None:
            return None
        return number

    def sentence_id(self, number: int) -> str:
        explicit = self._find_explicit_id(number)
        if explicit is not None:
            return self.explicit_ids[explicit]
        document = int(self.column("document")[number])
        return f"{self.document_ids[document]}.s{number - int(self.column('first')[document])}"

    def sentence_ids(self, numbers: npt.NDArray[np.int64]) -> list[str]:
        """The ids of these sentences."""
        documents = self.column("document")[numbers]
        positions = (numbers - self.column("first")[documents]).tolist()
        names = self.document_ids.get_many(documents)
        ids = [f"{name}.s{position}" for name, position in zip(names, positions, strict=True)]
        if self.has_explicit_ids:
            known = self.explicit_id_numbers
            indices = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
            explicit = np.flatnonzero(known[indices] == numbers).tolist()
            for n, id in zip(explicit, self.explicit_ids.get_many(indices[explicit]), strict=True):
                ids[n] = id
        return ids

    @property
    def has_explicit_ids(self) -> bool:
        return len(self.explicit_id_numbers) > 0

    def _find_explicit_id(self, number: int) -> int | None:
        """The index of a sentence's id in `explicit_ids`, or None if its id is the default."""
        if not self.has_explicit_ids:
            return None
        index = int(np.searchsorted(self.explicit_id_numbers, number))
        known = index < len(self.explicit_id_numbers) and self.explicit_id_numbers[index] == number
        return index if known else None


_MOST_DIGITS = 18
"""Digits that a position of 64 bits always has room for. Python reads no more than 4,300."""


def is_position(text: str) -> bool:
    """Whether a text is the `<n>` of a default sentence id: "7", but not "07", "+7" or "٧"."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return is_number and (text == "0" or text[0] != "0")
