"""Builds one segment: documents are gathered in memory, turned to columns and written once."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from esr.analysis import Analyzer
from esr.dependency.codec import encode
from esr.documents import Document
from esr.documents.dates import parse_date_start
from esr.engines.segments.store import layer
from esr.engines.segments.store.arrays import save_array, save_bytes, sync_folder
from esr.engines.segments.store.segment import NO_DATE
from esr.engines.segments.store.string_table import Blobs, Names, hashes
from esr.engines.segments.writer.columns import Texts, columns
from esr.engines.segments.writer.prefetch import Prepared
from esr.engines.segments.writer.tokens import Tokens

FULL_TERMS = 4_000_000
FULL_BYTES = 96_000_000


class SegmentBuilder:
    """Gathers documents up to a bounded size. A load of full segments takes about 400 MB."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._tokens = Tokens()
        self._terms = 0
        self._sizes = array("i")
        self._dates = array("q")
        self._sources: dict[str | None, int] = {}
        self._source_codes = array("i")
        self._blobs: list[bytes] = []
        self._bytes = 0
        self._sentences = 0
        self.document_ids: list[str] = []
        self.given_ids: list[str] = []
        self._given_at = array("q")
        self._given: dict[int, layer.Row] = {}

    @property
    def full(self) -> bool:
        return self._terms >= FULL_TERMS or self._bytes >= FULL_BYTES

    def __len__(self) -> int:
        return len(self.document_ids)

    @property
    def sentence_count(self) -> int:
        return self._sentences

    def add(self, document: Document, own: Sequence[int], prepared: Prepared) -> None:
        """Take a document. Of its sentences, `own` have ids of their own."""
        for number, sentence in enumerate(document.sentences, self._sentences):
            if sentence.features or sentence.parse is not None:
                parse = None if sentence.parse is None else encode(sentence.parse, self._analyzer)
                self._given[number] = layer.Row(sentence.features, None, parse)
        for position in own:
            self._given_at.append(self._sentences + position)
            self.given_ids.append(document.sentences[position].id)
        self._sentences += len(document.sentences)
        self._tokens.add(prepared.batch, prepared.texts, prepared.numbers)
        self._terms += prepared.terms
        self._sizes.append(len(document.sentences))
        self._dates.append(NO_DATE if document.date is None else parse_date_start(document.date))
        self._source_codes.append(self._sources.setdefault(document.source, len(self._sources)))
        self._blobs.append(prepared.blob)
        self._bytes += len(prepared.blob)
        self.document_ids.append(document.id)

    def save(self, folder: Path) -> None:
        """Write the segment into a new folder, synced to disk."""
        folder.mkdir(parents=True)
        tokens, lengths = self._tokens.taken()
        names = list(self._tokens.terms)
        codes = hashes(names)
        # Terms are numbered by their hash, so that their sorted hashes need no second table.
        order = np.argsort(codes, kind="stable")
        number = np.empty(len(names), np.int32)
        number[order] = np.arange(len(names))
        Names.save(folder, "terms", [names[i] for i in order], codes[order])
        texts = Texts(number[tokens], lengths, np.asarray(self._sizes, np.int64))
        for name, column in columns(texts, len(names)).items():
            save_array(folder / f"{name}.npy", column)
        save_array(folder / "date.npy", np.asarray(self._dates, np.int64))
        save_array(folder / "source.npy", np.asarray(self._source_codes, np.int32))
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
        rows = [self._given.get(number, nothing) for number in range(self.sentence_count)]
        layer.save(path, rows, self.given_parts)
        sync_folder(path.parent)
