"""Builds one segment: documents are gathered in memory, turned to columns and written once."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esr.analysis import Analyzer
from esr.dependency.codec import encode
from esr.documents import Document
from esr.documents.dates import instant
from esr.documents.document import default_sentence_id
from esr.engines.embedded import layer
from esr.engines.embedded.arrays import save_array, save_bytes, smallest, sync_folder
from esr.engines.embedded.stored import pack
from esr.engines.embedded.strings import Blobs, Names, hashes

FULL_TERMS = 4_000_000
FULL_BYTES = 96_000_000
NO_DATE = np.iinfo(np.int64).min
Ints = npt.NDArray[np.int64]


class SegmentBuilder:
    """Gathers documents up to a bounded size. A load of full segments takes about 500 MB."""

    def __init__(self, analyzer: Analyzer, title: bool) -> None:
        self._analyzer = analyzer
        self._title = title
        self._numbers = _Numbers(analyzer)
        self._tokens = array("i")
        self._lengths = array("i")
        self._title_tokens = array("i")
        self._title_lengths = array("i")
        self._sizes = array("i")
        self._dates = array("q")
        self._sources: dict[str | None, int] = {}
        self._source_codes = array("i")
        self._blobs: list[bytes] = []
        self._bytes = 0
        self.document_ids: list[str] = []
        self.given_ids: list[str] = []
        self._given_at = array("q")
        self._given: dict[int, layer.Row] = {}

    @property
    def full(self) -> bool:
        return len(self._tokens) >= FULL_TERMS or self._bytes >= FULL_BYTES

    def __len__(self) -> int:
        return len(self.document_ids)

    @property
    def sentence_count(self) -> int:
        return len(self._lengths)

    def add(self, document: Document) -> bytes:
        """Take a document; returns the blob that it is stored as."""
        for position, sentence in enumerate(document.sentences):
            if sentence.id != default_sentence_id(document.id, position):
                self._given_at.append(len(self._lengths))
                self.given_ids.append(sentence.id)
            if sentence.features or sentence.parse is not None:
                parse = None if sentence.parse is None else encode(sentence.parse, self._analyzer)
                self._given[len(self._lengths)] = layer.Row(sentence.features, None, parse)
            self._lengths.append(self._count(sentence.text, self._tokens))
        title = document.title if self._title else None
        self._title_lengths.append(self._count(title or "", self._title_tokens))
        self._sizes.append(len(document.sentences))
        self._dates.append(NO_DATE if document.date is None else instant(document.date))
        self._source_codes.append(self._sources.setdefault(document.source, len(self._sources)))
        self._blobs.append(pack(document))
        self._bytes += len(self._blobs[-1])
        self.document_ids.append(document.id)
        return self._blobs[-1]

    def _count(self, text: str, tokens: array[int]) -> int:
        words = map(self._numbers.__getitem__, self._analyzer.words(text))
        found = [number for number in words if number >= 0]
        tokens.fromlist(found)
        return len(found)

    def save(self, folder: Path) -> None:
        """Write the segment into a new folder, synced to disk."""
        folder.mkdir(parents=True)
        names = list(self._numbers.terms)
        codes = hashes(names)
        # Terms are numbered by their hash, so that their sorted hashes need no second table.
        order = np.argsort(codes, kind="stable")
        number = np.empty(len(names), np.int64)
        number[order] = np.arange(len(names))
        Names.save(folder, "terms", [names[i] for i in order], codes[order])
        self._save_columns(folder, number)
        Names.save(folder, "documents", self.document_ids)
        Names.save(folder, "given", self.given_ids)
        save_array(folder / "given_at.npy", np.asarray(self._given_at, np.int64))
        Blobs.save(folder, "texts", self._blobs)
        save_bytes(folder / "sources.json", [json.dumps(list(self._sources)).encode()])
        sync_folder(folder)

    @property
    def given_parts(self) -> tuple[str, ...]:
        """The parts of enrichment that came with the documents."""
        given = self._given.values()
        parts = {"features": any(r.features for r in given), "parse": any(r.parse is not None for r in given)}
        return tuple(part for part, there in parts.items() if there)

    def save_given(self, path: Path) -> None:
        """Write the features and parses that came with the documents as a layer."""
        path.parent.mkdir(exist_ok=True)
        nothing = layer.Row({}, None, None)
        rows = [self._given.get(number, nothing) for number in range(len(self._lengths))]
        layer.save(path, rows, self.given_parts)
        sync_folder(path.parent)

    def _save_columns(self, folder: Path, number: Ints) -> None:
        sizes = np.asarray(self._sizes, np.int64)
        lengths = np.asarray(self._lengths, np.int64)
        first = np.concatenate([[0], np.cumsum(sizes)])
        document = np.repeat(np.arange(len(sizes)), sizes)
        tokens = number[np.asarray(self._tokens, np.int64)]
        at = np.repeat(np.arange(len(lengths)), lengths)
        titles = number[np.asarray(self._title_tokens, np.int64)]
        title_at = np.repeat(np.arange(len(sizes)), np.asarray(self._title_lengths, np.int64))

        n, d = max(len(lengths), 1), max(len(sizes), 1)
        in_sentences, counts = np.unique(tokens * n + at, return_counts=True)
        in_documents, document_counts = np.unique(
            np.concatenate([tokens * d + document[at], titles * d + title_at]), return_counts=True
        )
        document_length = np.bincount(document, lengths, len(sizes)).astype(np.int64)
        document_length += np.asarray(self._title_lengths, np.int64)
        around = surrounding(lengths, document)

        term, sentence = np.divmod(in_sentences, n)
        terms = len(number)
        in_document = document_counts[np.searchsorted(in_documents, term * d + document[sentence])]
        likelihood = counts * np.log(in_document / document_length[document[sentence]])
        in_surrounding = _surrounding_counts(in_sentences, counts, document[sentence], sentence)
        around_likelihood = counts * np.log(in_surrounding / around[sentence])

        def save(name: str, column: npt.NDArray[np.generic]) -> None:
            save_array(folder / f"{name}.npy", column)

        save("sentence_starts", smallest(np.searchsorted(term, np.arange(terms + 1))))
        save("sentence_numbers", sentence.astype(np.int32))
        save("sentence_counts", smallest(counts))
        document_term, document_number = np.divmod(in_documents, d)
        save("document_starts", smallest(np.searchsorted(document_term, np.arange(terms + 1))))
        save("document_numbers", smallest(document_number))
        save("document_counts", smallest(document_counts))
        save("occurrences", smallest(np.bincount(tokens, minlength=terms)))
        save("length", smallest(lengths))
        save("surrounding_length", smallest(around))
        save("document_length", smallest(document_length))
        save("document", smallest(document))
        save("first", first)
        save("document_likelihood", np.bincount(sentence, likelihood, len(lengths)))
        save("surrounding_likelihood", np.bincount(sentence, around_likelihood, len(lengths)))
        save("date", np.asarray(self._dates, np.int64))
        save("source", np.asarray(self._source_codes, np.int32))


def surrounding(values: Ints, document: Ints) -> Ints:
    """Each value plus its neighbours' within the same document."""
    total = values.copy()
    joined = document[1:] == document[:-1]
    total[1:] += np.where(joined, values[:-1], 0)
    total[:-1] += np.where(joined, values[1:], 0)
    return total


def _surrounding_counts(keys: Ints, counts: Ints, document: Ints, sentence: Ints) -> Ints:
    """c(t, c_s) of each posting. Keys are term * n + sentence, sorted, so neighbours stand side by side."""
    total = counts.copy()
    joined = (keys[1:] - keys[:-1] == 1) & (document[1:] == document[:-1]) & (sentence[1:] != 0)
    total[1:] += np.where(joined, counts[:-1], 0)
    total[:-1] += np.where(joined, counts[1:], 0)
    return total


class _Numbers(dict[str, int]):
    """The number of each word's term, -1 where it has none. `terms` has the terms by number."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}
        self._term = analyzer.term

    def __missing__(self, word: str) -> int:
        term = self._term(word)
        number = self[word] = self.terms.setdefault(term, len(self.terms)) if term else -1
        return number
