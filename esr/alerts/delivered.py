"""New documents as a small index of their own, against which many searches are cheap.

It is an index folder in a temporary place, with the analyzer of the collection. So conditions mean the same
in it as in the collection, whichever engine has that. Names, quotations and vectors stay in the collection,
which is asked for those of the delivery alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.index.contract import Index
from esr.index.factory import open_index, open_writer
from esr.index.filters import NO_FILTERS, Filters, resolve_all_names, resolve_all_speakers
from esr.index.hits import LazyHits
from esr.index.names import keys_of_forms, name_key, resolve_names
from esr.index.questions import EvidenceOf, Hits, Quotes, Records, Vectors
from esr.index.writer import LoadOptions
from esr.plans.evaluate import Array, Evidence
from esr.plans.plan import (
    AllOf,
    AnyOf,
    Condition,
    DateRange,
    HasEntity,
    HasQuote,
    HasSource,
    Not,
    SaidBy,
)
from esr.processes import scratch_folder
from esr.text.document import PROBABLE, Document, Located
from esr.text.sentence_enrichment import QuantizedVector

Mask = npt.NDArray[np.bool_]
ALL = 2**40
"""More sentences than an index has."""
EVERYTHING = AnyOf((DateRange(), Not(DateRange())))
"""The condition of every sentence."""
IN_COLLECTION = (HasEntity, HasQuote, SaidBy)
"""Conditions on what only the collection has: enrichment, and names as the whole collection resolves them."""

_MANY_NAMES = 20
"""Number of names from which on it is cheaper to read all names of the documents."""


class Delivered:
    """The n sentences of new documents, in order. `ids` are theirs. Masks have the shape (n,)."""

    def __init__(self, collection: Index, local: Index, documents: Sequence[Document]) -> None:
        """`collection` has the documents too; `local` has nothing else."""
        self.collection: Index = collection
        self.local: Index = local
        self.ids: list[str] = [sentence.id for document in documents for sentence in document.sentences]
        self.documents: list[str] = [document.id for document in documents]
        self._owners = np.repeat(np.arange(len(documents)), [len(d.sentences) for d in documents])
        self._none: Mask = np.zeros(len(self.ids), bool)
        self._none.flags.writeable = False
        self._rows: dict[str, int] = {}
        self._columns: dict[str, Array] = {}
        self._masks: dict[Condition, Mask] = {}
        self._vectors: dict[str, tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]] = {}

    def read_names(self, conditions: Iterable[Condition]) -> None:
        """Find many names and speakers at once. Those of few searches are asked for one by one."""
        wanted = set(conditions)
        names = [condition for condition in wanted if isinstance(condition, HasEntity)]
        if len(names) >= _MANY_NAMES:
            keys = resolve_all_names(self.collection, {text for named in names for text in named.keys})
            rows = self._list_names()
            for named in names:
                self._masks[named] = self._mark(
                    [n for text in named.keys for key in keys[text] for n in rows.get(key, ())]
                )
        speakers = [condition for condition in wanted if isinstance(condition, SaidBy)]
        if len(speakers) >= _MANY_NAMES:
            keys = resolve_all_speakers(
                self.collection, {text for speaker in speakers for text in speaker.keys}
            )
            sure, probable = self._list_speakers()
            for speaker in speakers:
                folded = [name_key(key) for text in speaker.keys for key in keys[text]]
                numbers = [n for key in folded for n in sure.get(key, ())]
                numbers += [n for key in folded for n in probable.get(key, ()) if speaker.probable]
                self._masks[speaker] = self._mark(numbers)

    def _list_names(self) -> dict[str, list[int]]:
        """The sentences that mention each name, by its key, which short forms have of their document."""
        records = self.collection.read(self.ids, Records())
        entities = [
            {type: tuple(forms) for type, forms in (record.entities or {}).items()} for record in records
        ]
        rows: dict[str, list[int]] = defaultdict(list)
        for _, numbers in groupby(range(len(self.ids)), self._owners.tolist().__getitem__):
            of_document = list(numbers)
            resolved = resolve_names(entities[number] for number in of_document)
            for number in of_document:
                for _, key, _ in keys_of_forms(entities[number], resolved):
                    rows[key].append(number)
        return rows

    def _list_speakers(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The sentences with a quotation by each speaker, by key: of sure speakers, and of probable ones."""
        sure, probable = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for number, quotes in enumerate(self.collection.read(self.ids, Quotes())):
            for quote in quotes:
                rows = probable if quote.certainty == PROBABLE else sure
                for text in filter(None, (quote.speaker, quote.name)):
                    rows[name_key(text)].append(number)
        return sure, probable

    def _mark(self, numbers: Sequence[int] | npt.NDArray[np.intp]) -> Mask:
        if not len(numbers):
            return self._none
        mask = np.zeros(len(self.ids), bool)
        mask[numbers] = True
        return mask

    def select(self, condition: Condition | None, filters: Filters) -> Mask:
        """The sentences that satisfy a condition and the filters."""
        mask = np.ones(len(self.ids), bool)
        for part in (*([] if condition is None else [condition]), *_conditions_of(filters)):
            mask &= self._mask(part)
            if not mask.any():
                return mask
        if filters.documents:
            known = {document: n for n, document in enumerate(self.documents)}
            wanted = [known[document] for document in filters.documents if document in known]
            mask &= np.isin(self._owners, wanted)
        if filters.independent and mask.any():
            mask &= self._read_collection(None, Filters(independent=True))
        return mask

    def _mask(self, condition: Condition) -> Mask:
        match condition:
            case AllOf(parts):
                mask = self._mask(parts[0]).copy()
                for part in parts[1:]:
                    if not mask.any():
                        break
                    mask &= self._mask(part)
                return mask
            case AnyOf(parts):
                mask = np.zeros(len(self.ids), bool)
                for part in parts:
                    mask |= self._mask(part)
                return mask
            case Not(part):
                return ~self._mask(part)
        known = self._masks.get(condition)
        if known is None:
            in_collection = isinstance(condition, IN_COLLECTION)
            known = self._read_collection(condition) if in_collection else self._read_local(condition)
            self._masks[condition] = known
        return known

    def _read_local(self, condition: Condition) -> Mask:
        hits = self.local.select(condition, ALL, NO_FILTERS, Hits(records=False)).hits
        return self._mark(LazyHits.of(hits).ordinals)

    def _read_collection(self, condition: Condition | None, filters: Filters = NO_FILTERS) -> Mask:
        """The sentences of these documents that the collection itself selects."""
        if not self._rows:
            self._rows = {id: row for row, id in enumerate(self.ids)}
        filters = replace(filters, documents=tuple(self.documents))
        hits = self.collection.select(condition or EVERYTHING, ALL, filters, Hits(records=False)).hits
        return self._mark([self._rows[hit.sentence_id] for hit in hits])

    def read_evidence(
        self, rows: npt.NDArray[np.intp], terms: Sequence[str], columns: Collection[str]
    ) -> Evidence:
        """The evidence of sentences for terms, equal to that of the collection.

        Counts and lengths depend on the document alone. Stored columns are those of the collection.
        """
        ids = [self.ids[row] for row in rows]
        evidence = self.local.read(ids, EvidenceOf(terms), rows.tolist())
        if unread := [column for column in columns if column not in self._columns]:
            self._columns |= self.collection.read(self.ids, EvidenceOf([], unread)).columns
        stored = {column: self._columns[column][rows] for column in columns}
        return Evidence(evidence.counts, evidence.lengths, {**evidence.columns, **stored})

    def similarities(self, encoder: str, queries: Sequence[QuantizedVector]) -> npt.NDArray[np.float64]:
        """The products of queries with the vectors of the sentences, of shape (queries, n).

        A sentence without a vector has -inf. Products of integers are exact, as those of the engines.
        """
        if encoder not in self._vectors:
            self._vectors[encoder] = self._read_vectors(encoder, len(queries[0].values))
        vectors, scales = self._vectors[encoder]
        rows = np.stack([query.array for query in queries]).astype(np.float32)
        products: npt.NDArray[np.float64] = (rows @ vectors.T).astype(np.float64)
        products *= np.array([query.scale for query in queries])[:, None]
        products *= scales
        products[:, np.isnan(scales)] = -np.inf
        return products

    def _read_vectors(
        self, encoder: str, dimensions: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        vectors = np.zeros((len(self.ids), dimensions), np.float32)
        scales = np.full(len(self.ids), np.nan)
        stored = self.collection.read(self.ids, Vectors(encoder)) if self.ids else []
        for row, vector in enumerate(stored):
            if vector is not None and len(vector.values) == dimensions:
                vectors[row], scales[row] = vector.array, vector.scale
        return vectors, scales


def _conditions_of(filters: Filters) -> Iterator[Condition]:
    """The filters as conditions, except those on documents and copies."""
    if filters.date_from is not None or filters.date_to is not None:
        yield DateRange(filters.date_from, filters.date_to)
    if filters.sources:
        yield HasSource(filters.sources)
    yield from filters.attributes
    if filters.entities:
        yield HasEntity(filters.entities)


@contextmanager
def open_delivered(collection: Index, documents: Sequence[Document]) -> Iterator[Delivered]:
    """Index documents of a collection by themselves, until the end of the block."""
    description = collection.description
    options = LoadOptions("replace", description.analyzer, description.title)
    with scratch_folder("alerts") as folder:
        where = str(folder / "index")
        located = (Located(f"document {document.id!r}", document) for document in documents)
        open_writer(where, options).load(located)
        with closing(open_index(where)) as local:
            yield Delivered(collection, local.snapshot(), documents)
