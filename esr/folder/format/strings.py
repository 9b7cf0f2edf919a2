"""Tables of strings and blobs, memory-mapped: one file of concatenated bytes and one of end offsets.

A string table is searched by hash; sorted strings are searched by their UTF-8, whose order is that of code
points. The table of attributes (`esr.text.document`) lists the documents that have each value.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import (
    Column,
    Hashes,
    Integers,
    Mask,
    map_array,
    map_bytes,
    narrow,
    save_array,
    save_bytes,
)
from esr.stdlib import cached_property, hash64
from esr.text.attributes import META, META_PREFIX

_LAST = b"\xff"  # greater than any byte of UTF-8


def find_string(count: int, bytes_of: Callable[[int], bytes], text: str) -> int | None:
    """Find the number of a string, or None.

    `bytes_of` returns the UTF-8 of a string, of `count` sorted ones.
    """
    encoded = _encode(text)
    number = bisect_left(range(count), encoded, key=bytes_of)
    return number if number < count and bytes_of(number) == encoded else None


def prefix_range(count: int, bytes_of: Callable[[int], bytes], prefix: str) -> range:
    """The numbers of the strings with this prefix, among `count` sorted strings."""
    encoded, numbers = _encode(prefix), range(count)
    start = bisect_left(numbers, encoded, key=bytes_of)
    return range(start, bisect_left(numbers, encoded + _LAST, start, key=bytes_of))


def _encode(text: str) -> bytes:
    """Encode a query string, which may contain lone surrogates. Stored strings contain none."""
    return text.encode("utf-8", "surrogatepass")


def hash_strings(strings: Iterable[str]) -> Hashes:
    return np.fromiter((hash64(s) for s in strings), np.uint64)


class Content(NamedTuple):
    """Strings or blobs: their concatenated bytes, in pieces of any size, and the length of each in bytes."""

    pieces: Sequence[bytes | memoryview]
    lengths: Integers

    def split(self) -> list[bytes]:
        joined, ends = b"".join(self.pieces), np.cumsum(self.lengths, dtype=np.int64).tolist()
        return [joined[start:stop] for start, stop in pairwise([0, *ends])]

    @classmethod
    def join(cls, strings: Sequence[bytes]) -> Content:
        return cls(strings, np.fromiter(map(len, strings), np.int64, len(strings)))


def select_content(content: memoryview, ends: Integers, mask: Mask) -> Content:
    """The strings of the mask. `ends` are the end offsets of all; consecutive strings form one piece."""
    borders = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    places = ends[borders].tolist()
    pieces = [content[start:stop] for start, stop in zip(places[::2], places[1::2], strict=True)]
    lengths: Column = np.diff(ends.astype(np.int64))
    return Content(pieces, lengths[mask])


class BlobTable:
    """Blobs by number."""

    def __init__(self, folder: Path, name: str) -> None:
        """Map the files. Raises ValueError or FileNotFoundError if they are incomplete."""
        self._bytes = map_bytes(f"{folder}/{name}.bytes")
        self._ends = map_array(f"{folder}/{name}.ends.npy")
        if len(self._ends) == 0 or len(self._bytes) != self._ends[-1]:
            raise ValueError(f"{folder / name}.bytes is truncated")
        # Reading a single number from a memoryview takes a third of the time of an array.
        self._end_view = memoryview(self._ends)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._bytes[self._end_view[number] : self._end_view[number + 1]])

    def view(self, number: int) -> memoryview:
        """A blob without a copy, in the mapped file."""
        return self._bytes[self._end_view[number] : self._end_view[number + 1]]

    def get_many(self, numbers: Integers) -> list[memoryview]:
        """The blobs with these numbers, without copies."""
        ends, content = self._ends, self._bytes
        ranges = zip(ends[numbers].tolist(), ends[1:][numbers].tolist(), strict=True)
        return [content[start:stop] for start, stop in ranges]

    def select(self, mask: Mask) -> Content:
        """The blobs of the mask, without copies."""
        return select_content(self._bytes, self._ends, mask)

    def decode_many(self, numbers: Integers) -> list[str]:
        """The blobs with these numbers, decoded as UTF-8."""
        return [str(blob, "utf-8") for blob in self.get_many(numbers)]

    @staticmethod
    def save(folder: Path, name: str, blobs: Sequence[bytes]) -> None:
        BlobTable.save_content(folder, name, Content.join(blobs))

    @staticmethod
    def save_content(folder: Path, name: str, content: Content) -> None:
        ends = np.zeros(len(content.lengths) + 1, np.int64)
        np.cumsum(content.lengths, out=ends[1:])
        save_bytes(folder / f"{name}.bytes", content.pieces)
        save_array(folder / f"{name}.ends.npy", narrow(ends))


class HashRuns:
    """Hashes of many tables in sorted runs, each more than twice as long as the next, so that there are few.

    A hash is looked up in time that grows with the logarithm of the number of tables, not with their number.
    """

    def __init__(self) -> None:
        self._runs: list[Hashes] = []
        self._views: list[memoryview] = []

    def add(self, hashes: Hashes) -> None:
        """Add the sorted hashes of a table."""
        while self._runs and len(self._runs[-1]) <= 2 * len(hashes):
            hashes = np.sort(np.concatenate([self._runs.pop(), hashes]), kind="stable")
        self._runs.append(hashes)
        self._views = [memoryview(run) for run in self._runs]  # type: ignore[arg-type]

    def __contains__(self, hash: int) -> bool:
        places = ((view, bisect_left(view, hash)) for view in self._views)
        return any(place < len(view) and view[place] == hash for view, place in places)


class StringTable:
    """Distinct strings by number, and their numbers by string, found through sorted hashes."""

    def __init__(self, folder: Path, name: str) -> None:
        """Map the files. Raises ValueError or FileNotFoundError if they are incomplete."""
        self._blobs = BlobTable(folder, name)
        self.hashes: Hashes = map_array(f"{folder}/{name}.hashes.npy")
        self._hash_view = memoryview(self.hashes)  # type: ignore[arg-type]
        self.numbers: npt.NDArray[Any] = map_array(f"{folder}/{name}.numbers.npy")
        self._number_view = memoryview(self.numbers)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._blobs)

    def __getitem__(self, number: int) -> str:
        return self._blobs[number].decode()

    def get_many(self, numbers: Integers) -> list[str]:
        """The strings with these numbers."""
        return self._blobs.decode_many(numbers)

    def select(self, mask: Mask) -> Content:
        """The strings of the mask in UTF-8, without copies."""
        return self._blobs.select(mask)

    @property
    def hashes_by_number(self) -> Hashes:
        """The hash of each string."""
        hashes = np.empty_like(self.hashes)
        hashes[self.numbers] = self.hashes
        return hashes

    def find(self, string: str, hash: int | None = None) -> int | None:
        """Find the number of a string, or None. `hash` is its hash, if the caller has computed it."""
        if not len(self.hashes):
            return None
        # For a single number, bisect takes a fourth of the time of np.searchsorted.
        hashes, target = self._hash_view, hash64(string) if hash is None else hash
        index = bisect_left(hashes, target)
        while index < len(hashes) and hashes[index] == target:
            number = self._number_view[index]
            if self[number] == string:  # two strings may share a hash
                return number
            index += 1
        return None

    def with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` strings with this prefix, in code point order."""
        order = self._sorted_numbers
        places = prefix_range(len(order), lambda place: self._blobs[order[place]], prefix)
        return self.get_many(order[places.start : places.stop][:limit])

    @cached_property
    def _sorted_numbers(self) -> npt.NDArray[np.int32]:
        """The numbers in the order of their strings, computed on first use: few searches need it."""
        return np.array(sorted(range(len(self)), key=self._blobs.__getitem__), np.int32)

    def contains_hashes(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Mask of the hashes that are in the table, possibly as hashes of other strings."""
        if not len(self.hashes):
            return np.zeros(len(hashes), bool)
        indices = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.asarray(self.hashes[indices] == hashes)

    @staticmethod
    def save(folder: Path, name: str, strings: Sequence[str], hashes: Hashes | None = None) -> None:
        """Write the table. `hashes` are those of the strings, if the caller has computed them."""
        if hashes is None:
            hashes = hash_strings(strings)
        StringTable.save_content(folder, name, Content.join([s.encode() for s in strings]), hashes)

    @staticmethod
    def save_content(folder: Path, name: str, strings: Content, hashes: Hashes) -> None:
        """Write the table of strings in UTF-8."""
        order = np.argsort(hashes, kind="stable")
        BlobTable.save_content(folder, name, strings)
        save_array(folder / f"{name}.hashes.npy", hashes[order])
        save_array(folder / f"{name}.numbers.npy", narrow(order))


NAMES = "attributes.json"
"""File with the range of value numbers, first and end, of each attribute."""


class AttributeTable:
    """The values of attributes in a segment, and the documents that have each.

    Values are numbered by attribute, then in code point order.
    """

    def __init__(self, folder: Path) -> None:
        """Map the files. Raises ValueError or FileNotFoundError if they are incomplete."""
        names = json.loads((folder / NAMES).read_text("utf-8"))
        self._ranges = {name: range(*ends) for name, ends in names.items()}
        if self._ranges:
            self._values = BlobTable(folder, "attributes")
            self._starts = map_array(folder / "attribute_starts.npy")
            self._documents = map_array(folder / "attribute_documents.npy")

    @property
    def names(self) -> list[str]:
        """The name of each value's attribute."""
        return [name for name, numbers in self._ranges.items() for _ in numbers]

    @property
    def starts(self) -> Integers:
        """The start of each value's documents, and the end of the last value's."""
        return self._starts if self._ranges else np.zeros(1, np.int64)

    def read_documents(self, first: int, last: int) -> tuple[Integers]:
        """The documents of the values from `first` to before `last`, concatenated."""
        return (self._documents_of(range(first, last)) if self._ranges else np.zeros(0, np.int64),)

    def select(self, mask: Mask) -> Content:
        """The values of the mask in UTF-8, without copies."""
        return self._values.select(mask) if self._ranges else Content.join([])

    def count(self, name: str, counts: Integers | None = None) -> Iterator[tuple[str, int]]:
        """Yield the values of an attribute, as written, and the number of documents with each.

        The values of META are the keys of metadata. With `counts`, of shape (documents,), each document
        counts that many times instead of once.
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
            totals = np.add.reduceat(of_documents, starts[:-1] - starts[0])  # every value has a document
        counted = np.flatnonzero(totals)
        values = self._values.decode_many(counted + numbers.start)
        yield from zip(values, totals[counted].tolist(), strict=True)

    def documents(self, names: Iterable[str], values: Iterable[str]) -> Integers:
        """The numbers of the documents with one of these values under one of these names."""
        wanted = frozenset(values)
        parts = [
            self._documents_of(range(number, number + 1))
            for name in names
            for number in self._find(name, wanted)
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)

    def _find(self, name: str, values: Iterable[str]) -> Iterator[int]:
        """Yield the numbers of those of these values that the attribute has."""
        numbers = self._ranges.get(name)
        if not numbers:  # a segment without attributes has no table of values
            return
        for value in values:
            encoded = value.encode("utf-8", "surrogatepass")
            place = bisect_left(numbers, encoded, key=self._values.__getitem__)
            if place < len(numbers) and self._values[numbers[place]] == encoded:
                yield numbers[place]

    def _documents_of(self, numbers: range) -> Integers:
        return self._documents[int(self._starts[numbers.start]) : int(self._starts[numbers.stop])]


class AttributeBuilder:
    """Collects the attributes of the documents of a segment, in order."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[str, array[int]]] = {}

    def add(self, document: int, attributes: Mapping[str, Sequence[str]]) -> None:
        """Add the attributes of a document, given by its number."""
        for name, values in attributes.items():
            of_name = self._documents.setdefault(name, {})
            for value in values:
                of_name.setdefault(value, array("i")).append(document)

    def save(self, folder: Path) -> None:
        """Write the table."""
        documents_by_value = {
            (name, value.encode()): documents
            for name, of_name in self._documents.items()
            for value, documents in of_name.items()
        }
        values = sorted(documents_by_value)
        documents = [np.asarray(documents_by_value[value]) for value in values]
        starts = np.cumsum([0, *map(len, documents)])
        names, content = [name for name, _ in values], Content.join([value for _, value in values])
        save_attributes(folder, names, content, starts, np.concatenate([np.zeros(0, np.int32), *documents]))


def save_attributes(
    folder: Path, names: Sequence[str], values: Content, starts: Integers, documents: Integers
) -> None:
    """Write a table, given the contents of an `AttributeTable`. Without attributes it is one small file."""
    ranges: dict[str, tuple[int, int]] = {}
    for number, name in enumerate(names):
        ranges[name] = ranges.get(name, (number,))[0], number + 1
    save_bytes(folder / NAMES, [json.dumps(ranges).encode()])
    if ranges:
        BlobTable.save_content(folder, "attributes", values)
        save_array(folder / "attribute_starts.npy", narrow(starts))
        save_array(folder / "attribute_documents.npy", narrow(documents))
