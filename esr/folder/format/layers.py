"""Layers, which hold the enrichment of consecutive documents, and the stack of a segment's layers.

A layer is one immutable file. It stores some of these parts for its sentences: features, one column each;
entities, with the sentences and the name key of each; parses; 8-bit vectors; quotations. Where several layers
cover a sentence for a part, the last one applies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import (
    Arrays,
    Mask,
    Numbers,
    copy_file,
    link_file,
    map_bundle,
    order_of_first,
    save_bundle,
)
from esr.folder.format.layer_info import LAYERS, LayerInfo, resolve_owners, split_by_owner
from esr.folder.format.quote_columns import LayerQuotes, encode_quotes, merge_quotes
from esr.folder.format.strings import find_string, hash_strings, prefix_range, select_content
from esr.index.names import (
    ENTITY_TYPES,
    KEY_VERSION,
    NOTHING_RESOLVED,
    RESOLUTION_VERSION,
    EntitiesByType,
    Resolved,
    ResolvedName,
    entity_key,
    group_entities,
    name_key,
    parse_entity_key,
    short_key,
)
from esr.plans.evaluate import Array
from esr.stdlib import cached_property, hash64
from esr.text.document import Quote
from esr.text.sentence_enrichment import QUOTES, REUSE, VECTORS, QuantizedVector

_VERSION, _RESOLUTION, _WRITTEN = "name.version", "name.resolution", "name.written"


class LayerEntity(NamedTuple):
    """An entity of a layer: `type:name` as found in the text, and the name it stands for in its documents."""

    entity: str
    type: str
    key: str

    @classmethod
    def unresolved(cls, entity: str) -> LayerEntity:
        parsed = parse_entity_key(entity)
        return cls(entity, parsed.type, name_key(parsed.text))

    @property
    def written(self) -> str:
        """The key of the written form. It differs from the key of the name only for short forms."""
        key = name_key(parse_entity_key(self.entity).text)
        return key if key == self.key else short_key(key)


def encode_names(entities: Sequence[LayerEntity], resolution: int = RESOLUTION_VERSION) -> Arrays:
    """Encode the names of entities, given in the order of their numbers.

    `name.of` is the key number of each entity, `name.types` the type of its name, and `name.written` the hash
    of the key of its written form. `name.keys` holds the keys in code point order, `name.ends` the offset of
    each end, and `name.hashes` their hashes, by which keys are matched across layers. `name.resolution` says
    how short forms were resolved, 0 for not at all.
    """
    distinct = sorted({entity.key for entity in entities})  # code point order, also that of their UTF-8
    numbers = {key: number for number, key in enumerate(distinct)}
    encoded = [key.encode() for key in distinct]
    return {
        _VERSION: np.array([KEY_VERSION], np.int32),
        _RESOLUTION: np.array([resolution], np.int32),
        "name.of": np.array([numbers[entity.key] for entity in entities], np.int32),
        "name.types": np.array([ENTITY_TYPES.index(entity.type) for entity in entities], np.uint8),
        _WRITTEN: np.array([hash64(entity.written) for entity in entities], np.uint64),
        "name.hashes": hash_strings(distinct),
        "name.ends": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "name.keys": np.frombuffer(b"".join(encoded), np.uint8),
    }


def has_names(arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Whether a layer stores the keys of its names, computed with this version of `name_key`."""
    return _VERSION in arrays and arrays[_VERSION].tolist() == [KEY_VERSION]


class LayerNames:
    """The keys of a layer's names, numbered in code point order. All written forms of a name have one key."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.of_entity: npt.NDArray[Any] = arrays["name.of"]
        self.types: npt.NDArray[Any] = arrays["name.types" if "name.types" in arrays else "entity.types"]
        """The type of the name of each entity, as an index of ENTITY_TYPES."""
        self.written: npt.NDArray[Any] = arrays.get(_WRITTEN, np.zeros(0, np.uint64))
        """The hash of the key of each entity's written form; empty if no short form was resolved."""
        self.hashes: npt.NDArray[Any] = arrays["name.hashes"]
        self._ends, self._bytes = arrays["name.ends"], arrays["name.keys"]

    def __len__(self) -> int:
        return len(self.hashes)

    def key(self, number: int) -> str:
        return self._encoded(number).decode()

    def entities(self, key: str) -> npt.NDArray[Any]:
        """The numbers of the entities with this key."""
        number = find_string(len(self), self._encoded, key)
        return np.zeros(0, np.int64) if number is None else np.flatnonzero(self.of_entity == number)

    def with_prefix(self, prefix: str) -> range:
        """The numbers of the name keys with this prefix."""
        return prefix_range(len(self), self._encoded, prefix)

    def _encoded(self, number: int) -> bytes:
        return self._bytes[self._ends[number] : self._ends[number + 1]].tobytes()


# Layers

FEATURE = "feature."
GROUPS = "reuse.groups"


class Layer:
    """A layer, opened for reading. Sentences are numbered from 0 within the layer.

    The parts: *features*, one column each in the smallest float that holds all its values, NaN where unknown;
    *entities*, the entity numbers of each sentence and the sentences of each entity; *parse*, one blob per
    sentence; *vectors*, one 8-bit number per dimension of the encoder, and a scale; *quotes*, the spans of
    each sentence's quotations and a table of their speakers; *reuse*, the number of each sentence's group of
    copies, 0 for none.
    """

    def __init__(self, path: Path) -> None:
        """Raises ValueError or FileNotFoundError for an incomplete file."""
        self.size_bytes: int = path.stat().st_size
        self.arrays: Arrays = map_bundle(path)
        self.features: dict[str, npt.NDArray[Any]] = {
            name.removeprefix(FEATURE): column
            for name, column in self.arrays.items()
            if name.startswith(FEATURE)
        }

    def parses(self, sentences: Numbers) -> list[bytes | None]:
        has_parse, ends = self.arrays["parse.known"][sentences], self.arrays["parse.ends"]
        content = self.arrays["parse.bytes"].data
        starts, stops = ends[sentences].tolist(), ends[sentences + 1].tolist()
        return [
            bytes(content[start:stop]) if known else None
            for known, start, stop in zip(has_parse.tolist(), starts, stops, strict=True)
        ]

    @property
    def dimensions(self) -> int:
        """The number of dimensions of each vector."""
        return len(self.arrays["vector.values"]) // max(len(self.arrays["vector.known"]), 1)

    @cached_property
    def vectors(self) -> npt.NDArray[np.int8]:
        """The quantized vectors, of shape (sentences, dimensions), zeros for sentences without one."""
        return self.arrays["vector.values"].reshape(len(self.arrays["vector.known"]), self.dimensions)

    @cached_property
    def vector_scales(self) -> npt.NDArray[np.float64]:
        """The factor of each vector's numbers, NaN for sentences without a vector."""
        return np.where(self.arrays["vector.known"], self.arrays["vector.scales"].astype(float), np.nan)

    def stored_vectors(self, sentences: Numbers) -> list[QuantizedVector | None]:
        return [
            None if np.isnan(scale) else QuantizedVector(values.tobytes(), scale)
            for values, scale in zip(
                self.vectors[sentences], self.vector_scales[sentences].tolist(), strict=True
            )
        ]

    def entities(self, sentence: int) -> EntitiesByType | None:
        if not self.arrays["entity.known"][sentence]:
            return None
        first = self.arrays["entity.first"]
        numbers = self.arrays["entity.of"][first[sentence] : first[sentence + 1]].tolist()
        return group_entities(parse_entity_key(self.entity_key(number)) for number in numbers)

    @cached_property
    def quotes(self) -> LayerQuotes:
        return LayerQuotes(self.arrays)

    @property
    def entity_count(self) -> int:
        """The number of distinct entities in the layer."""
        return len(self.arrays["entity.types"])

    def entity_key(self, number: int) -> str:
        """An entity as `type:name`, by its number."""
        ends = self.arrays["entity.name_ends"]
        return self.arrays["entity.names"][ends[number] : ends[number + 1]].tobytes().decode()

    @property
    def resolution(self) -> int:
        """The version of the resolution of short forms, 0 in layers that an older version of esr wrote."""
        if "entity.types" not in self.arrays:
            return RESOLUTION_VERSION
        return int(self.arrays[_RESOLUTION][0]) if _RESOLUTION in self.arrays and self._has_names else 0

    @property
    def _has_names(self) -> bool:
        return has_names(self.arrays)

    @cached_property
    def names(self) -> LayerNames:
        """The keys of the layer's names, computed on first use if they are not stored."""
        return LayerNames(self.arrays if self._has_names else self.arrays | self._encode_names())

    def _encode_names(self) -> Arrays:
        keys = map(self.entity_key, range(self.entity_count))
        return encode_names([*map(LayerEntity.unresolved, keys)], 0)

    def named_entity(self, number: int) -> LayerEntity:
        """An entity with the name that it stands for, by the entity's number."""
        names = self.names
        type = ENTITY_TYPES[names.types[number]]
        return LayerEntity(self.entity_key(number), type, names.key(int(names.of_entity[number])))

    def resolved(self, sentence: int) -> dict[str, ResolvedName]:
        """The names that short forms of a sentence stand for, by written form."""
        first = self.arrays["entity.first"]
        numbers = self.arrays["entity.of"][first[sentence] : first[sentence + 1]].tolist()
        entities = [self.named_entity(number) for number in numbers]
        return {
            parse_entity_key(entity.entity).text: ResolvedName(entity.key, entity.type)
            for entity in entities
            if entity != LayerEntity.unresolved(entity.entity)
        }

    def arrays_with_names(self, resolved: Sequence[Resolved]) -> Arrays:
        """The arrays of this layer, with the names of its forms. `resolved` has one entry per sentence."""
        sentences = [
            EncodedEnrichment({}, self.entities(number), None, resolved=of_sentence)
            for number, of_sentence in enumerate(resolved)
        ]
        others = {name: array for name, array in self.arrays.items() if not name.startswith("name.")}
        return others | _encode_entities(sentences)

    def sentences_of(self, entity: int) -> npt.NDArray[Any]:
        """The sentences that mention an entity, given by its number, ascending."""
        starts = self.arrays["entity.starts"]
        return self.arrays["entity.sentences"][starts[entity] : starts[entity + 1]]

    def sentences_with_name(self, key: str) -> npt.NDArray[Any]:
        """The sentences that mention a name in any form, under any type. Some may be repeated."""
        entities = self.names.entities(key).tolist()
        return np.concatenate([np.zeros(0, np.int32), *map(self.sentences_of, entities)])


class EncodedEnrichment(NamedTuple):
    """The enrichment of one sentence as a layer stores it."""

    features: Mapping[str, float]
    entities: EntitiesByType | None
    parse: bytes | None
    vector: QuantizedVector | None = None
    quotes: tuple[Quote, ...] = ()
    resolved: Resolved = NOTHING_RESOLVED
    """The names that written forms stand for in its document."""


NO_ENRICHMENT = EncodedEnrichment({}, None, None)


def save_layer(path: Path, sentences: Sequence[EncodedEnrichment], parts: Iterable[str]) -> None:
    """Write a layer that stores these parts of these sentences."""
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
    if QUOTES in parts:
        arrays |= encode_quotes([sentence.quotes for sentence in sentences])
    save_bundle(path, arrays)


def save_groups(path: Path, groups: npt.NDArray[Any]) -> None:
    """Write a layer that stores these groups of copies, one number for each sentence."""
    save_bundle(path, {GROUPS: groups})


def merge_layers(path: Path, layers: Sequence[Layer], sizes: Sequence[int], parts: Iterable[str]) -> None:
    """Merge consecutive layers with the same parts into one. `sizes` are the numbers of sentences in each."""
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
    if QUOTES in parts:
        arrays |= merge_quotes([layer.quotes for layer in layers])
    if REUSE in parts:
        arrays[GROUPS] = np.concatenate([layer.arrays[GROUPS] for layer in layers])
    save_bundle(path, arrays)


def copy_layer(folder: Path, source: LayerInfo, target: LayerInfo, sentences: Mask | None) -> None:
    """Write the layer `target` with these sentences of the layer `source`, or with all of them if None."""
    source_path, target_path = folder / LAYERS / source.name, folder / LAYERS / target.name
    if sentences is None:
        if not link_file(source_path, target_path):  # layers never change
            copy_file(source_path, target_path)
    else:
        select_layer(target_path, Layer(source_path), sentences, source.parts)


def select_layer(path: Path, layer: Layer, sentences: Mask, parts: Iterable[str]) -> None:
    """Write a layer of these sentences of `layer` from its arrays, the same that `save_layer` would write."""
    arrays: Arrays = {}
    if "features" in parts:
        columns = {name: layer.features[name][sentences].astype(float) for name in sorted(layer.features)}
        arrays |= {
            FEATURE + name: _narrow_float(column)
            for name, column in columns.items()
            if not np.isnan(column).all()
        }
    if "entities" in parts:
        arrays |= _select_entities(layer, sentences)
    if "parse" in parts:
        known, ends = layer.arrays["parse.known"], layer.arrays["parse.ends"]
        parses = select_content(layer.arrays["parse.bytes"].data, ends, sentences)
        arrays["parse.known"] = known[sentences]
        arrays["parse.ends"] = np.cumsum([0, *parses.lengths], dtype=np.int64)
        arrays["parse.bytes"] = np.frombuffer(b"".join(parses.pieces), np.uint8)
    if VECTORS in parts:
        known = layer.arrays["vector.known"][sentences]
        arrays["vector.known"] = known
        arrays["vector.scales"] = layer.arrays["vector.scales"][sentences]
        arrays["vector.values"] = layer.vectors[sentences if known.any() else []].reshape(-1)
    if QUOTES in parts:
        arrays |= layer.quotes.select(sentences)
    if REUSE in parts:
        arrays[GROUPS] = layer.arrays[GROUPS][sentences]
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
    """Convert a column to the smallest float type that holds its values exactly."""
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
    """Concatenate the vectors of layers. A layer in which no sentence has a vector stores no dimensions."""
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
    numbers: dict[LayerEntity, int] = {}
    entities: list[int] = []
    first = np.zeros(len(sentences) + 1, np.int64)
    for sentence, enrichment in enumerate(sentences):
        for type, names in (enrichment.entities or {}).items():
            for name in names:
                entity = _resolve(entity_key(type, name), type, name, enrichment.resolved)
                entities.append(numbers.setdefault(entity, len(numbers)))
        first[sentence + 1] = len(entities)
    return _entity_arrays(known, list(numbers), np.array(entities, np.int64), first, RESOLUTION_VERSION)


def _resolve(entity: str, type: str, name: str, resolved: Resolved) -> LayerEntity:
    full = resolved.get(name)
    if full is None:
        return LayerEntity(entity, type, name_key(name))
    return LayerEntity(entity, full.type or type, full.key)


def _merge_entities(layers: Sequence[Layer]) -> Arrays:
    numbers: dict[LayerEntity, int] = {}
    entities: list[Numbers] = []
    for layer in layers:
        layer_entities = map(layer.named_entity, range(layer.entity_count))
        renumbered = np.array(
            [numbers.setdefault(entity, len(numbers)) for entity in layer_entities], np.int64
        )
        entities.append(renumbered[layer.arrays["entity.of"]])
    known = np.concatenate([layer.arrays["entity.known"] for layer in layers])
    first = _concatenate_ends([layer.arrays["entity.first"] for layer in layers])
    resolution = min(layer.resolution for layer in layers)
    return _entity_arrays(known, list(numbers), np.concatenate(entities), first, resolution)


def _select_entities(layer: Layer, sentences: Mask) -> Arrays:
    """The entity arrays of these sentences. Entities are numbered by first occurrence."""
    sizes = np.diff(layer.arrays["entity.first"])
    mentions = layer.arrays["entity.of"][np.repeat(sentences, sizes)]
    used = order_of_first(mentions, layer.entity_count)
    new = np.zeros(layer.entity_count, np.int64)
    new[used] = np.arange(len(used))
    distinct = [layer.named_entity(number) for number in used.tolist()]
    known, ends = layer.arrays["entity.known"][sentences], np.cumsum([0, *sizes[sentences]], dtype=np.int64)
    return _entity_arrays(known, distinct, new[mentions], ends, layer.resolution)


def _entity_arrays(
    known: npt.NDArray[np.bool_],
    distinct: Sequence[LayerEntity],
    entities: Numbers,
    first: Numbers,
    resolution: int,
) -> Arrays:
    """The entity arrays of a layer.

    Sentence n has the entities `distinct[i]` for i in `entities[first[n]:first[n+1]]`.
    """
    encoded = [entity.entity.encode() for entity in distinct]
    types = [ENTITY_TYPES.index(parse_entity_key(entity.entity).type) for entity in distinct]
    sentence = np.repeat(np.arange(len(known)), np.diff(first))
    by_entity = np.argsort(entities, kind="stable")
    return {
        "entity.known": known,
        "entity.first": first,
        "entity.of": entities.astype(np.int32),
        "entity.types": np.array(types, np.uint8),
        "entity.name_ends": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "entity.names": np.frombuffer(b"".join(encoded), np.uint8),
        "entity.starts": np.searchsorted(entities[by_entity], np.arange(len(distinct) + 1)),
        "entity.sentences": sentence[by_entity].astype(np.int32),
        **encode_names(distinct, resolution),
    }


def _concatenate_ends(ends: Sequence[Numbers]) -> Numbers:
    """Convert the end offsets of several arrays to offsets into their concatenation."""
    shifts = np.cumsum([0, *(offsets[-1] for offsets in ends)])
    shifted = [offsets[1:] + shift for offsets, shift in zip(ends, shifts, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *shifted])


# The layers of a segment


class LayerSpan(NamedTuple):
    """The sentences `start` to `stop` (exclusive) of a segment, to which a layer applies."""

    start: int
    stop: int
    first: int
    """The number of the layer's first sentence in the segment."""
    layer: Layer
    recipe: str | None
    """Digest of the recipe that made the layer."""


class LayerStack:
    """The layers of a segment, resolved. Sentences are numbered within the segment."""

    def __init__(self, layers: Sequence[tuple[LayerInfo, Layer]], first: Numbers, sentences: int) -> None:
        """`first` holds the first sentence of each document, then the number of sentences."""
        self._sentences = sentences
        infos = [info for info, _ in layers]
        self._spans: dict[str, list[LayerSpan]] = {}
        for part in {part for info in infos for part in info.parts}:
            spans = self._spans[part] = []
            for start, stop, owner in split_by_owner(resolve_owners(infos, part, len(first) - 1)):
                info, layer = layers[owner]
                begin, end = int(first[start]), int(first[stop])
                spans.append(LayerSpan(begin, end, int(first[info.start]), layer, info.recipe))
        self.features: list[str] = sorted(
            {name for span in self._of("features") for name in span.layer.features}
        )

    def feature(self, name: str, sentences: Numbers) -> Array:
        """The values of a feature, NaN where unknown. Of the same shape as `sentences`."""
        values = np.full(len(sentences), np.nan)
        for span, places, in_layer in self._split("features", sentences):
            if name in span.layer.features:
                values[places] = span.layer.features[name][in_layer]
        return values

    def parses(self, sentences: Numbers) -> list[bytes | None]:
        """The stored parse of each sentence, None for a sentence without one."""
        parses: list[bytes | None] = [None] * len(sentences)
        for span, places, in_layer in self._split("parse", sentences):
            for place, parse in zip(places.tolist(), span.layer.parses(in_layer), strict=True):
                parses[place] = parse
        return parses

    @property
    def has_parses(self) -> bool:
        """Whether any sentence has a stored parse."""
        return any(
            span.layer.arrays["parse.known"][span.start - span.first : span.stop - span.first].any()
            for span in self._of("parse")
        )

    def vectors(self, sentences: Numbers) -> list[QuantizedVector | None]:
        """The stored vector of each sentence, None for a sentence without one."""
        vectors: list[QuantizedVector | None] = [None] * len(sentences)
        for span, places, in_layer in self._split(VECTORS, sentences):
            stored = span.layer.stored_vectors(in_layer)
            for place, vector in zip(places.tolist(), stored, strict=True):
                vectors[place] = vector
        return vectors

    @property
    def vector_spans(self) -> Sequence[LayerSpan]:
        """The ranges of encoded sentences, each with its layer, in segment order."""
        return self._of(VECTORS)

    def quotes(self, sentences: Numbers) -> list[tuple[Quote, ...]]:
        """The quotations in each sentence."""
        quotes: list[tuple[Quote, ...]] = [()] * len(sentences)
        for span, places, in_layer in self._split(QUOTES, sentences):
            for place, of_sentence in zip(places.tolist(), span.layer.quotes.read(in_layer), strict=True):
                quotes[place] = of_sentence
        return quotes

    def quote_mask(self, keys: Iterable[str] | None = None, probable: bool = True) -> npt.NDArray[np.bool_]:
        """Mask of the sentences with a quotation, or with one whose speaker has one of these keys.

        `probable`: also if the speaker is only probable.
        """
        mask = np.zeros(self._sentences, bool)
        wanted = None if keys is None else list(keys)
        for span in self._of(QUOTES):
            quotes = span.layer.quotes
            of_layer = quotes.has_quote() if wanted is None else quotes.said_by(wanted, probable)
            mask[span.start : span.stop] = of_layer[span.start - span.first : span.stop - span.first]
        return mask

    def groups(self, unknown: int, recipes: Collection[str] | None = None) -> npt.NDArray[np.int32]:
        """The group of copies of each sentence of the segment, `unknown` where no layer has it.

        With the digests of `recipes`, only the layers that these made count.
        """
        groups = np.full(self._sentences, unknown, np.int32)
        for span in self._of(REUSE):
            if recipes is None or span.recipe in recipes:
                in_layer = span.layer.arrays[GROUPS][span.start - span.first : span.stop - span.first]
                groups[span.start : span.stop] = in_layer
        return groups

    def entities(self, sentence: int) -> EntitiesByType | None:
        """The entities of a sentence, None if it has not been enriched."""
        for span in self.entity_spans:
            if span.start <= sentence < span.stop:
                return span.layer.entities(sentence - span.first)
        return None

    def resolved(self, sentence: int) -> Resolved:
        """The names that short forms of a sentence stand for, by written form."""
        for span in self.entity_spans:
            if span.start <= sentence < span.stop:
                return span.layer.resolved(sentence - span.first)
        return {}

    def name_mask(self, keys: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Mask of the sentences that mention a name with one of these keys, in any form, under any type."""
        mask = np.zeros(self._sentences, bool)
        keys = list(keys)
        for span in self.entity_spans:
            for key in keys:
                sentences = span.layer.sentences_with_name(key) + span.first
                mask[sentences[(sentences >= span.start) & (sentences < span.stop)]] = True
        return mask

    @property
    def entity_spans(self) -> Sequence[LayerSpan]:
        """The ranges of sentences that were searched for entities, each with its layer, in segment order."""
        return self._of("entities")

    def _of(self, part: str) -> Sequence[LayerSpan]:
        return self._spans.get(part, ())

    def _split(self, part: str, sentences: Numbers) -> Iterator[tuple[LayerSpan, Numbers, Numbers]]:
        """Yield each span with the indices in `sentences` that it covers, and their numbers in its layer."""
        for span in self._of(part):
            (places,) = ((sentences >= span.start) & (sentences < span.stop)).nonzero()
            if len(places):
                yield span, places, sentences[places] - span.first
