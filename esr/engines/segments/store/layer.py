"""A layer: what enrichment found for a run of documents of one segment, in one file.

A layer never changes. Per sentence of its run it may hold, by part:
*features*   one column a feature, in the smallest float that holds all values; NaN where not known
*entities*   the numbers of its names, and for each name the sentences that have it
*parse*      a blob
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents.annotation import Entity
from esr.engines.entities import TYPES, Grouped, grouped
from esr.engines.segments.store.bundle import Arrays, map_bundle, save_bundle
from esr.engines.segments.store.string_table import hashes
from esr.hashing import hash64
from esr.plans.evidence import Array

LAYERS = "layers"
FEATURE = "feature."
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Run:
    """A layer's entry in the manifest: documents `start` to `stop` (not included) of a segment.

    `recipe` is the digest of what made it, or None for what the documents were given.
    """

    name: str
    segment: str
    start: int
    stop: int
    parts: tuple[str, ...]
    recipe: str | None

    @property
    def documents(self) -> int:
        return self.stop - self.start

    def overlaps(self, other: Run) -> bool:
        same = self.segment == other.segment and set(self.parts) & set(other.parts)
        return bool(same) and self.start < other.stop and other.start < self.stop


class Row(NamedTuple):
    """What a layer keeps of one sentence."""

    features: Mapping[str, float]
    entities: Grouped | None
    parse: bytes | None


class Layer:
    """A layer, opened. Sentences are numbered from 0 within its run."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError or FileNotFoundError for a file that is not whole."""
        self.size_bytes = path.stat().st_size
        self.arrays = map_bundle(path)
        self.features = {
            name.removeprefix(FEATURE): column
            for name, column in self.arrays.items()
            if name.startswith(FEATURE)
        }

    def parses(self, at: Numbers) -> list[bytes | None]:
        known, ends = self.arrays["parse.known"][at], self.arrays["parse.ends"]
        content = self.arrays["parse.bytes"].data
        cuts = zip(known.tolist(), ends[at].tolist(), ends[at + 1].tolist(), strict=True)
        return [bytes(content[start:stop]) if there else None for there, start, stop in cuts]

    def entities(self, number: int) -> Grouped | None:
        if not self.arrays["entity.known"][number]:
            return None
        first = self.arrays["entity.first"]
        names = [self.name(n) for n in self.arrays["entity.of"][first[number] : first[number + 1]].tolist()]
        return grouped(Entity(text, type) for type, _, text in (name.partition(":") for name in names))

    def name(self, number: int) -> str:
        """`type:name` by its number."""
        ends = self.arrays["entity.name_ends"]
        return self.arrays["entity.names"][ends[number] : ends[number + 1]].tobytes().decode()

    def sentences_with(self, name: str) -> npt.NDArray[Any]:
        """The sentences with an entity, given as `type:name`, ascending."""
        known, wanted = self.arrays["entity.hashes"], np.uint64(hash64(name))
        place = int(np.searchsorted(known, wanted))
        while place < len(known) and known[place] == wanted:
            if self.name(place) == name:  # two names may share a hash
                starts = self.arrays["entity.starts"]
                return self.arrays["entity.sentences"][starts[place] : starts[place + 1]]
            place += 1
        return np.zeros(0, np.int32)

    def counts(self, at: Numbers) -> tuple[Numbers, Numbers]:
        """The numbers of the names in these sentences, and in how many of them each is."""
        first = self.arrays["entity.first"].astype(np.int64)
        sizes = first[at + 1] - first[at]
        before = np.cumsum(sizes) - sizes
        places = np.repeat(first[at] - before, sizes) + np.arange(int(sizes.sum()))
        counts = np.bincount(self.arrays["entity.of"][places])
        numbers = np.flatnonzero(counts)
        return numbers, counts[numbers]


def save(path: Path, rows: Sequence[Row], parts: Iterable[str]) -> None:
    """Write a layer of these sentences."""
    arrays: Arrays = {}
    if "features" in parts:
        arrays |= _features(rows)
    if "entities" in parts:
        arrays |= _entities(rows)
    if "parse" in parts:
        blobs = [row.parse or b"" for row in rows]
        arrays["parse.known"] = np.array([row.parse is not None for row in rows], bool)
        arrays["parse.ends"] = np.cumsum([0, *map(len, blobs)], dtype=np.int64)
        arrays["parse.bytes"] = np.frombuffer(b"".join(blobs), np.uint8)
    save_bundle(path, arrays)


def merge(path: Path, layers: Sequence[Layer], sizes: Sequence[int], parts: Iterable[str]) -> None:
    """Write layers of the same parts, one run after another, as one. `sizes` are their sentences."""
    joined: Arrays = {}
    if "features" in parts:
        for name in sorted({name for layer in layers for name in layer.features}):
            joined[FEATURE + name] = np.concatenate(
                [
                    layer.features.get(name, np.full(size, np.nan, np.float16))
                    for layer, size in zip(layers, sizes, strict=True)
                ]
            )
    if "entities" in parts:
        joined |= _joined_entities(layers)
    if "parse" in parts:
        for name in ("parse.known", "parse.bytes"):
            joined[name] = np.concatenate([layer.arrays[name] for layer in layers])
        joined["parse.ends"] = _joined_ends([layer.arrays["parse.ends"] for layer in layers])
    save_bundle(path, joined)


def _features(rows: Sequence[Row]) -> Arrays:
    columns: dict[str, Array] = {}
    for number, row in enumerate(rows):
        for name, value in row.features.items():
            if name not in columns:
                columns[name] = np.full(len(rows), np.nan)
            columns[name][number] = value
    return {FEATURE + name: _smallest(columns[name]) for name in sorted(columns)}


def _smallest(column: Array) -> npt.NDArray[Any]:
    """The same numbers in the smallest float that holds them exactly."""
    with np.errstate(over="ignore"):
        for kind in (np.float16, np.float32):
            if np.array_equal(column.astype(kind), column, equal_nan=True):
                return column.astype(kind)
    return column


def _entities(rows: Sequence[Row]) -> Arrays:
    known = np.array([row.entities is not None for row in rows], bool)
    names: dict[str, int] = {}
    of: list[int] = []
    first = np.zeros(len(rows) + 1, np.int64)
    for number, row in enumerate(rows):
        for type, found in (row.entities or {}).items():
            of += [names.setdefault(f"{type}:{name}", len(names)) for name in found]
        first[number + 1] = len(of)
    return _entity_arrays(known, list(names), np.array(of, np.int64), first)


def _joined_entities(layers: Sequence[Layer]) -> Arrays:
    names: dict[str, int] = {}
    of: list[Numbers] = []
    for layer in layers:
        theirs = (layer.name(number) for number in range(len(layer.arrays["entity.types"])))
        numbers = np.array([names.setdefault(name, len(names)) for name in theirs], np.int64)
        of.append(numbers[layer.arrays["entity.of"]])
    known = np.concatenate([layer.arrays["entity.known"] for layer in layers])
    first = _joined_ends([layer.arrays["entity.first"] for layer in layers])
    return _entity_arrays(known, list(names), np.concatenate(of), first)


def _entity_arrays(known: npt.NDArray[np.bool_], names: list[str], of: Numbers, first: Numbers) -> Arrays:
    """`of[first[n]:first[n+1]]` are the names of sentence n, which are numbered by their hash here."""
    codes = hashes(names)
    order = np.argsort(codes, kind="stable")
    number = np.empty(len(names), np.int64)
    number[order] = np.arange(len(names))
    of = number[of]
    coded = [names[n].encode() for n in order]
    sentence = np.repeat(np.arange(len(known)), np.diff(first))
    by_name = np.argsort(of, kind="stable")
    return {
        "entity.known": known,
        "entity.first": first,
        "entity.of": of.astype(np.int32),
        "entity.hashes": codes[order],
        "entity.types": np.array([TYPES.index(names[n].partition(":")[0]) for n in order], np.uint8),
        "entity.name_ends": np.cumsum([0, *map(len, coded)], dtype=np.int64),
        "entity.names": np.frombuffer(b"".join(coded), np.uint8),
        "entity.starts": np.searchsorted(of[by_name], np.arange(len(names) + 1)),
        "entity.sentences": sentence[by_name].astype(np.int32),
    }


def _joined_ends(ends: Sequence[Numbers]) -> Numbers:
    before = np.cumsum([0, *(each[-1] for each in ends)])
    parts = [each[1:] + add for each, add in zip(ends, before, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *parts])
