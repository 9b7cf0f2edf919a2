"""One segment, opened for reading: columns mapped from disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents import Document
from esr.engines.index import Filters
from esr.engines.segments.store.arrays import map_array
from esr.engines.segments.store.document_codec import Stored
from esr.engines.segments.store.layer import Layer, Run
from esr.engines.segments.store.layers import Layers
from esr.engines.segments.store.string_table import Blobs, Names
from esr.errors import IndexUnusable

Numbers = npt.NDArray[np.integer[Any]]
NO_DATE = np.iinfo(np.int64).min
"""In the column of dates, where none is known."""


class Postings(NamedTuple):
    """Where a term stands, ascending, and how often."""

    numbers: Numbers
    counts: Numbers


NOWHERE = Postings(np.zeros(0, np.int32), np.zeros(0, np.uint8))


class SegmentBroken(IndexUnusable):
    """Files of a segment, or of a layer, are missing or cut off."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is damaged: files are missing or cut off; load everything again with --if-exists replace"
        )


COLUMNS = [
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
    "sentence_counts",
    "sentence_numbers",
    "sentence_starts",
    "source",
    "surrounding_length",
    "surrounding_likelihood",
]


def is_position(text: str) -> bool:
    """Whether this is the `<n>` of a default sentence id: "7", not "07", "+7" or "٧"."""
    return text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0")


class Segment:
    """Sentences and documents are numbered from 0 within the segment, in the order they were loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # All is mapped at once: a search that has begun ends, even if a loader sweeps the segment.
        try:
            self.terms = Names(folder, "terms")
            self.documents = Names(folder, "documents")
            self.given = Names(folder, "given")
            self._given_at = map_array(folder / "given_at.npy")
            self._texts = Blobs(folder, "texts")
            self.columns = {name: map_array(folder / f"{name}.npy") for name in COLUMNS}
            self.sources: list[str | None] = json.loads((folder / "sources.json").read_text("utf-8"))
        except (FileNotFoundError, EOFError, ValueError) as error:
            raise SegmentBroken(folder) from error
        self.enriched = Layers((), self.column("first"), self.sentence_count)
        """Features, entities and parses of the segment's sentences."""

    def with_layers(self, layers: Sequence[tuple[Run, Layer]]) -> Segment:
        """The same segment, with what is stored beside it. Nothing is read again."""
        other = copy(self)
        other.enriched = Layers(layers, self.column("first"), self.sentence_count)
        return other

    def column(self, name: str) -> npt.NDArray[Any]:
        """A stored column."""
        return self.columns[name]

    @cached_property
    def sentence_count(self) -> int:
        return len(self.column("length"))

    @cached_property
    def joined_before(self) -> npt.NDArray[np.bool_]:
        """Whether a sentence has a previous one in its document."""
        document = self.column("document")
        joined = np.zeros(len(document), bool)
        joined[1:] = document[1:] == document[:-1]
        return joined

    @cached_property
    def extremes(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The terms in the shortest and in the longest sentence of each document; 0 without sentences."""
        first, length = self.column("first"), self.column("length")
        there = np.diff(first) > 0
        low, high = np.zeros(len(there)), np.zeros(len(there))
        if there.any():
            low[there] = np.minimum.reduceat(length, first[:-1][there])
            high[there] = np.maximum.reduceat(length, first[:-1][there])
        return low, high

    @cached_property
    def likely(self) -> dict[str, npt.NDArray[Any]]:
        """What is stored for the importance priors, by the prior's column."""
        return {
            "importance": self.column("document_likelihood"),
            "importance_surrounding": self.column("surrounding_likelihood"),
        }

    def in_sentences(self, term: int | None, last: int | None = None) -> Postings:
        """The postings of a term, or of all from it to before `last`, term after term."""
        return self._postings("sentence", term, last)

    def in_documents(self, term: int | None, last: int | None = None) -> Postings:
        return self._postings("document", term, last)

    def _postings(self, kind: str, term: int | None, last: int | None) -> Postings:
        if term is None:
            return NOWHERE
        starts = self.column(f"{kind}_starts")
        cut = slice(int(starts[term]), int(starts[term + 1 if last is None else last]))
        return Postings(self.column(f"{kind}_numbers")[cut], self.column(f"{kind}_counts")[cut])

    def cuts(self, term: int | None) -> tuple[int, int, int, int]:
        """A term's first and last place in the postings of sentences, then of documents."""
        if term is None:
            return 0, 0, 0, 0
        sentences, documents = self.column("sentence_starts"), self.column("document_starts")
        return int(sentences[term]), int(sentences[term + 1]), int(documents[term]), int(documents[term + 1])

    def occurrences(self, term: int | None) -> int:
        """How often a term stands in sentences."""
        return 0 if term is None else int(self.column("occurrences")[term])

    def document(self, number: int) -> Document:
        return self.stored(number).document()

    def stored(self, number: int) -> Stored:
        """A document of which not all is wanted."""
        return Stored(self._texts[number])

    def blob(self, number: int) -> bytes:
        """A document as it is stored."""
        return self._texts[number]

    def find_sentence(self, sentence_id: str) -> int | None:
        """The number of a sentence, by a given id or by the default form `<document id>.s<n>`."""
        given = self.given.find(sentence_id)
        if given is not None:
            return int(self._given_at[given])
        document_id, dot, position = sentence_id.rpartition(".s")
        if not dot or not is_position(position):
            return None
        document = self.documents.find(document_id)
        if document is None:
            return None
        first = self.column("first")
        number = int(first[document]) + int(position)
        if number >= first[document + 1] or self._has_given_id(number):
            return None
        return number

    def sentence_id(self, number: int) -> str:
        if self.has_given_ids:
            place = int(np.searchsorted(self._given_at, number))
            if place < len(self._given_at) and self._given_at[place] == number:
                return self.given[place]
        document = int(self.column("document")[number])
        return f"{self.documents[document]}.s{number - int(self.column('first')[document])}"

    def sentence_ids(self, numbers: npt.NDArray[np.int64]) -> list[str]:
        """The ids of these sentences."""
        documents = self.column("document")[numbers]
        positions = (numbers - self.column("first")[documents]).tolist()
        names = self.documents.several(documents)
        found = [f"{name}.s{position}" for name, position in zip(names, positions, strict=True)]
        if self.has_given_ids:
            places = np.minimum(np.searchsorted(self._given_at, numbers), len(self._given_at) - 1)
            given = np.flatnonzero(self._given_at[places] == numbers).tolist()
            for n, name in zip(given, self.given.several(places[given]), strict=True):
                found[n] = name
        return found

    @property
    def has_given_ids(self) -> bool:
        return len(self._given_at) > 0

    def _has_given_id(self, number: int) -> bool:
        place = int(np.searchsorted(self._given_at, number))
        return place < len(self._given_at) and int(self._given_at[place]) == number

    def passing(self, filters: Filters) -> npt.NDArray[np.bool_] | None:
        """Which documents pass the filters; None if all do."""
        if not filters:
            return None
        passing = np.ones(len(self.documents), bool)
        date = self.column("date")
        if filters.date_from is not None:
            passing &= (date >= filters.date_from) & (date != NO_DATE)
        if filters.date_to is not None:
            passing &= (date <= filters.date_to) & (date != NO_DATE)
        if filters.sources:
            wanted = [n for n, source in enumerate(self.sources) if source in filters.sources]
            passing &= np.isin(self.column("source"), wanted)
        if filters.documents:
            numbers = [n for n in map(self.documents.find, filters.documents) if n is not None]
            chosen = np.zeros(len(passing), bool)
            chosen[numbers] = True
            passing &= chosen
        return passing
