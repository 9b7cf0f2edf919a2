"""A segment, opened for reading: columns, strings and documents mapped from disk.

A posting of a term in a sentence is one integer: the sentence number, and the count in its low bits. Nearly
all counts are 1, and a column of counts would add a fifth to the size. All postings of a segment use the same
number of bits for the count, so they ascend by sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from esr.folder.format.checksums import SegmentDamaged
from esr.folder.format.document_codec import DECODE_ERRORS, StoredDocument
from esr.folder.format.files import Column, Integers, map_array
from esr.folder.format.layers import Layer, LayerStack
from esr.folder.format.manifest import LayerInfo
from esr.folder.format.strings import AttributeTable, BlobTable, StringTable
from esr.folder.format.words import WordTable
from esr.processes import cached_property
from esr.text.document import Document

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
    terms = _Mapped(lambda segment: StringTable(segment.folder, "terms"))
    document_ids = _Mapped(lambda segment: StringTable(segment.folder, "documents"))
    explicit_ids = _Mapped(lambda segment: StringTable(segment.folder, "given"))
    """The ids of the sentences at `explicit_id_numbers`. The other sentences have default ids."""
    explicit_id_numbers = _Mapped(lambda segment: map_array(segment.folder / "given_at.npy"))
    documents = _Mapped(lambda segment: BlobTable(segment.folder, "texts"))
    sources: _Mapped[list[str | None]] = _Mapped(lambda segment: segment.read_json("sources.json"))
    languages: _Mapped[list[str | None]] = _Mapped(lambda segment: segment.read_json(LANGUAGES))
    attributes = _Mapped(lambda segment: AttributeTable(segment.folder))
    """Values by which documents are filtered and counted."""
    words = _Mapped(lambda segment: WordTable(segment.folder, len(segment.column("length"))))
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
        self.enrichment = LayerStack(layers, self.column("first"), self.sentence_count)
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


def is_position(text: str) -> bool:
    """Whether a text is the `<n>` of a default sentence id: "7", but not "07", "+7" or "٧"."""
    return text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0")
