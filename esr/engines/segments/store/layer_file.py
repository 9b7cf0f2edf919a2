"""Writes the file of a layer, of sentences or of other layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.documents.enrichment import VECTORS
from esr.documents.vector import QuantizedVector
from esr.engines.entities import ENTITY_TYPES, EntitiesByType, entity_key, parse_entity_key
from esr.engines.segments.store.bundle import Arrays, save_bundle
from esr.engines.segments.store.layer import FEATURE, Layer
from esr.engines.segments.store.layer_info import Numbers
from esr.engines.segments.store.layer_names import encode_names
from esr.plans.evidence import Array


class EncodedEnrichment(NamedTuple):
    """What a layer holds of one sentence."""

    features: Mapping[str, float]
    entities: EntitiesByType | None
    parse: bytes | None
    vector: QuantizedVector | None = None


NO_ENRICHMENT = EncodedEnrichment({}, None, None)


def save_layer(path: Path, sentences: Sequence[EncodedEnrichment], parts: Iterable[str]) -> None:
    """Write a layer of these sentences."""
    arrays: Arrays = {}
    if "features" in parts:
        arrays |= _feature_columns(sentences)
    if "entities" in parts:
        arrays |= _encode_entities(sentences)
    if "parse" in parts:
        blobs = [sentence.parse or b"" for sentence in sentences]
        arrays["parse.known"] = np.array([sentence.parse is not None for sentence in sentences], bool)
        arrays["parse.ends"] = np.cumsum([0, *map(len, blobs)], dtype=np.int64)
        arrays["parse.bytes"] = np.frombuffer(b"".join(blobs), np.uint8)
    if VECTORS in parts:
        arrays |= _vector_arrays([sentence.vector for sentence in sentences])
    save_bundle(path, arrays)


def merge_layers(path: Path, layers: Sequence[Layer], sizes: Sequence[int], parts: Iterable[str]) -> None:
    """Write consecutive layers of the same parts as one. `sizes` are how many sentences each has."""
    arrays: Arrays = {}
    if "features" in parts:
        for name in sorted({name for layer in layers for name in layer.features}):
            arrays[FEATURE + name] = np.concatenate(
                [
                    layer.features.get(name, np.full(size, np.nan, np.float16))
                    for layer, size in zip(layers, sizes, strict=True)
                ]
            )
    if "entities" in parts:
        arrays |= _merge_entities(layers)
    if "parse" in parts:
        for name in ("parse.known", "parse.bytes"):
            arrays[name] = np.concatenate([layer.arrays[name] for layer in layers])
        arrays["parse.ends"] = _concatenate_ends([layer.arrays["parse.ends"] for layer in layers])
    if VECTORS in parts:
        arrays |= _merge_vectors(layers)
    save_bundle(path, arrays)


def _feature_columns(sentences: Sequence[EncodedEnrichment]) -> Arrays:
    columns: dict[str, Array] = {}
    for number, sentence in enumerate(sentences):
        for name, value in sentence.features.items():
            if name not in columns:
                columns[name] = np.full(len(sentences), np.nan)
            columns[name][number] = value
    return {FEATURE + name: _narrow_float(columns[name]) for name in sorted(columns)}


def _narrow_float(column: Array) -> npt.NDArray[Any]:
    """The same values in the smallest float that holds them exactly."""
    with np.errstate(over="ignore"):
        for dtype in (np.float16, np.float32):
            if np.array_equal(column.astype(dtype), column, equal_nan=True):
                return column.astype(dtype)
    return column


def _vector_arrays(vectors: Sequence[QuantizedVector | None]) -> Arrays:
    dimensions = max((len(vector.values) for vector in vectors if vector), default=0)
    nothing = QuantizedVector(bytes(dimensions), 0.0)
    return {
        "vector.known": np.array([vector is not None for vector in vectors], bool),
        "vector.scales": np.array([(vector or nothing).scale for vector in vectors], np.float32),
        "vector.values": np.frombuffer(b"".join((vector or nothing).values for vector in vectors), np.int8),
    }


def _merge_vectors(layers: Sequence[Layer]) -> Arrays:
    """A layer all of whose sentences lack a vector does not know the dimensions."""
    dimensions = max(layer.dimensions for layer in layers)
    values = [
        layer.arrays["vector.values"]
        if layer.dimensions
        else np.zeros(len(layer.arrays["vector.known"]) * dimensions, np.int8)
        for layer in layers
    ]
    columns = ("vector.known", "vector.scales")
    merged = {name: np.concatenate([layer.arrays[name] for layer in layers]) for name in columns}
    return {**merged, "vector.values": np.concatenate(values)}


def _encode_entities(sentences: Sequence[EncodedEnrichment]) -> Arrays:
    known = np.array([sentence.entities is not None for sentence in sentences], bool)
    numbers: dict[str, int] = {}
    entities: list[int] = []
    first = np.zeros(len(sentences) + 1, np.int64)
    for sentence, enrichment in enumerate(sentences):
        for type, names in (enrichment.entities or {}).items():
            entities += [numbers.setdefault(entity_key(type, name), len(numbers)) for name in names]
        first[sentence + 1] = len(entities)
    return _entity_arrays(known, list(numbers), np.array(entities, np.int64), first)


def _merge_entities(layers: Sequence[Layer]) -> Arrays:
    numbers: dict[str, int] = {}
    entities: list[Numbers] = []
    for layer in layers:
        keys = (layer.entity_key(number) for number in range(layer.entity_count))
        renumbered = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
        entities.append(renumbered[layer.arrays["entity.of"]])
    known = np.concatenate([layer.arrays["entity.known"] for layer in layers])
    first = _concatenate_ends([layer.arrays["entity.first"] for layer in layers])
    return _entity_arrays(known, list(numbers), np.concatenate(entities), first)


def _entity_arrays(
    known: npt.NDArray[np.bool_], keys: list[str], entities: Numbers, first: Numbers
) -> Arrays:
    """The arrays of a layer.

    `entities[first[n]:first[n+1]]` are those of sentence n, as indices of `keys`.
    """
    encoded = [key.encode() for key in keys]
    types = [ENTITY_TYPES.index(parse_entity_key(key).type) for key in keys]
    sentence = np.repeat(np.arange(len(known)), np.diff(first))
    by_entity = np.argsort(entities, kind="stable")
    return {
        "entity.known": known,
        "entity.first": first,
        "entity.of": entities.astype(np.int32),
        "entity.types": np.array(types, np.uint8),
        "entity.name_ends": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "entity.names": np.frombuffer(b"".join(encoded), np.uint8),
        "entity.starts": np.searchsorted(entities[by_entity], np.arange(len(keys) + 1)),
        "entity.sentences": sentence[by_entity].astype(np.int32),
        **encode_names(keys),
    }


def _concatenate_ends(ends: Sequence[Numbers]) -> Numbers:
    """Offsets into concatenated arrays, of the offsets into each."""
    shifts = np.cumsum([0, *(offsets[-1] for offsets in ends)])
    shifted = [offsets[1:] + shift for offsets, shift in zip(ends, shifts, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *shifted])
