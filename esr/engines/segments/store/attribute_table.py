"""The values of attributes (`esr.documents.attributes`) in a segment, and the documents that have each."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.documents.attributes import META, META_PREFIX
from esr.engines.segments.store.arrays import map_array, narrow, save_array, save_bytes
from esr.engines.segments.store.string_table import BlobTable

Numbers = npt.NDArray[np.integer[Any]]
NAMES = "attributes.json"
"""By the name of an attribute, the numbers of its first value and of the first one after it."""


class AttributeTable:
    """Values are numbered by attribute, then in the order of their code points."""

    def __init__(self, folder: Path) -> None:
        """Raises ValueError or FileNotFoundError for incomplete files."""
        names = json.loads((folder / NAMES).read_text("utf-8"))
        self._ranges = {name: range(*ends) for name, ends in names.items()}
        if self._ranges:
            self._values = BlobTable(folder, "attributes")
            self._starts = map_array(folder / "attribute_starts.npy")
            self._documents = map_array(folder / "attribute_documents.npy")

    def count(self, name: str, counts: Numbers | None = None) -> Iterator[tuple[str, int]]:
        """The values of an attribute, as written, and how many documents have each.

        The values of META are the keys of metadata. `counts`: how often each document counts, of shape
        (documents,), instead of once.
        """
        if name == META:
            for of_key in [of_key for of_key in self._ranges if of_key.startswith(META_PREFIX)]:
                documents = np.unique(self._documents_of(self._ranges[of_key]))
                total = len(documents) if counts is None else int(counts[documents].sum(dtype=np.int64))
                yield of_key.removeprefix(META_PREFIX), total
            return
        numbers = self._ranges.get(name)
        if not numbers:
            return
        starts = self._starts[numbers.start : numbers.stop + 1].astype(np.int64)
        if counts is None:
            totals = np.diff(starts)
        else:
            of_documents = counts[self._documents_of(numbers)].astype(np.int64)
            totals = np.add.reduceat(of_documents, starts[:-1] - starts[0])  # no value is without documents
        counted = np.flatnonzero(totals)
        values = self._values.decode_many(counted + numbers.start)
        yield from zip(values, totals[counted].tolist(), strict=True)

    def documents(self, names: Iterable[str], values: Iterable[str]) -> Numbers:
        """The numbers of the documents that have one of these values under one of these names."""
        wanted = frozenset(values)
        parts = [
            self._documents_of(range(number, number + 1))
            for name in names
            for number in self._find(name, wanted)
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)

    def _find(self, name: str, values: Iterable[str]) -> Iterator[int]:
        """The numbers of these values of an attribute."""
        numbers = self._ranges.get(name, range(0))
        for value in values:
            encoded = value.encode("utf-8", "surrogatepass")
            place = bisect_left(numbers, encoded, key=self._values.__getitem__)
            if place < len(numbers) and self._values[numbers[place]] == encoded:
                yield numbers[place]

    def _documents_of(self, numbers: range) -> Numbers:
        return self._documents[int(self._starts[numbers.start]) : int(self._starts[numbers.stop])]


class NoAttributes(AttributeTable):
    """The table of a segment of a format without attributes."""

    def __init__(self) -> None:
        self._ranges = {}


class AttributeBuilder:
    """Collects the attributes of the documents of a segment, in order."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[str, array[int]]] = {}

    def add(self, document: int, attributes: Mapping[str, Sequence[str]]) -> None:
        """Add the attributes of a document by its number."""
        for name, values in attributes.items():
            of_name = self._documents.setdefault(name, {})
            for value in values:
                of_name.setdefault(value, array("i")).append(document)

    def save(self, folder: Path) -> None:
        """Write the table. Without attributes, it is one small file."""
        names: dict[str, tuple[int, int]] = {}
        values: list[bytes] = []
        documents: list[array[int]] = []
        for name in sorted(self._documents):
            of_name = {value.encode(): numbers for value, numbers in self._documents[name].items()}
            names[name] = (len(values), len(values) + len(of_name))
            values += sorted(of_name)
            documents += (of_name[value] for value in sorted(of_name))
        save_bytes(folder / NAMES, [json.dumps(names).encode()])
        if names:
            BlobTable.save(folder, "attributes", values)
            ends = np.cumsum([0, *map(len, documents)])
            save_array(folder / "attribute_starts.npy", narrow(ends))
            save_array(folder / "attribute_documents.npy", narrow(np.concatenate(documents)))
