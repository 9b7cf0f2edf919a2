"""The names of a snapshot: their written forms, types and counts.

Forms are grouped by key and counted over all layers. Names are numbered in the order of their keys' hashes,
which match keys across layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.layers import Layer, LayerSpan
from esr.folder.format.segment import Segment
from esr.index.names import (
    ENTITY_TYPES,
    Aliases,
    Name,
    majority_form,
    other_types,
    parse_entity_key,
)
from esr.stdlib import cached_property, hash64


class NameTable:
    """The names in a snapshot, built when they are first counted or looked up.

    Threads share it. Two threads may compute a lazy value twice, with the same result.
    """

    def __init__(self, segments: Sequence[Segment], aliases: Aliases) -> None:
        self._aliases = aliases
        self._spans = [segment.enrichment.entity_spans for segment in segments]
        self._layers = list(dict.fromkeys(span.layer for spans in self._spans for span in spans))
        hashes = np.concatenate([np.zeros(0, np.uint64), *(layer.names.hashes for layer in self._layers)])
        self._hashes, names = np.unique(_group(hashes, aliases), return_inverse=True)
        ends = np.cumsum([len(layer.names) for layer in self._layers])
        self._name_of_key = dict(zip(self._layers, np.split(names, ends[:-1]), strict=False))
        """For each layer, the name of each of its keys."""
        self._names: dict[int, Name] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def count_sentences(self, sentences: Iterable[Numbers]) -> Numbers:
        """Count the given sentences that mention each name. `sentences` are numbers by segment."""
        counts = np.zeros(len(self) + 1, np.int64)
        for spans, numbers in zip(self._spans, sentences, strict=True):
            for span in spans:
                inside = numbers[(numbers >= span.start) & (numbers < span.stop)] - span.first
                names = self._occurrences[span.layer][_places(span.layer, inside)]
                counts += np.bincount(names, minlength=len(counts))
        return counts[:-1]

    def count_documents(self, segments: Sequence[Segment], masks: Iterable[Mask | None]) -> Numbers:
        """Count the documents that mention each name, among those of one mask per segment; None for all."""
        counts = np.zeros(len(self), np.int64)
        for segment, spans, mask in zip(segments, self._spans, masks, strict=True):
            document, documents = segment.column("document"), [np.zeros(0, np.int64)]
            for span in spans:
                numbers = np.arange(span.start, span.stop)
                numbers = numbers if mask is None else numbers[mask[document[numbers]]]
                layer, inside = span.layer, numbers - span.first
                names = self._occurrences[layer][_places(layer, inside)].astype(np.int64)
                first = layer.arrays["entity.first"].astype(np.int64)
                sizes = first[inside + 1] - first[inside]
                pairs = np.repeat(document[numbers].astype(np.int64), sizes) * (len(self) + 1) + names
                documents.append(pairs[names < len(self)])
            distinct = np.unique(np.concatenate(documents)) % (len(self) + 1)
            counts += np.bincount(distinct, minlength=len(self))
        return counts

    def counted(self, counts: Numbers, prefix: str, keys: Iterable[str] | None, size: int) -> dict[str, int]:
        """The `size` greatest counts of names by key, of the names with the prefix or of these `keys`."""
        if keys is not None:
            name_numbers = {number for number in map(self._find, keys) if number is not None}
            numbers = np.array(sorted(name_numbers), np.int64)
        else:
            numbers = self._with_prefix(prefix) if prefix else np.arange(len(self))
        return {self._key(n): int(counts[n]) for n in self.most_frequent(counts, numbers, size)}

    @cached_property
    def totals(self) -> Numbers:
        """The number of sentences that mention each name; 0 if later layers have replaced all mentions."""
        sentences = [np.arange(max((span.stop for span in spans), default=0)) for spans in self._spans]
        return self.count_sentences(sentences)

    @cached_property
    def _type_counts(self) -> Numbers:
        """The number of sentences that give each name each type, of shape (names, len(ENTITY_TYPES)).

        Short forms joined to a name in the whole collection do not count, unless the name has no other forms.
        """
        counts, of_full_names = np.zeros((2, len(self), len(ENTITY_TYPES)), np.int64)
        joined = np.array([hash64(key) for key in self._aliases.joined], np.uint64)
        for span in (span for spans in self._spans for span in spans):
            layer = span.layer
            first = layer.arrays["entity.first"][span.start - span.first : span.stop - span.first + 1]
            entities = layer.arrays["entity.of"][first[0] : first[-1]]
            keys = layer.names.of_entity[entities].astype(np.int64)
            codes = keys * len(ENTITY_TYPES) + layer.names.types[entities]
            is_first = _mask_first(np.repeat(np.arange(len(first) - 1), np.diff(first)), codes)
            of_key = np.bincount(codes[is_first], minlength=len(layer.names) * len(ENTITY_TYPES))
            by_type = of_key.reshape(-1, len(ENTITY_TYPES))
            np.add.at(counts, self._name_of_key[layer], by_type)
            is_full = ~np.isin(layer.names.hashes, joined)[:, np.newaxis]
            np.add.at(of_full_names, self._name_of_key[layer], by_type * is_full)
        return np.where(of_full_names.any(axis=1, keepdims=True), of_full_names, counts)

    @cached_property
    def types(self) -> npt.NDArray[np.intp]:
        """The type of each name, as an index of ENTITY_TYPES."""
        return np.asarray(self._type_counts.argmax(axis=1))

    @cached_property
    def by_type(self) -> dict[str, Numbers]:
        """The names of each type."""
        return {type: np.flatnonzero(self.types == number) for number, type in enumerate(ENTITY_TYPES)}

    def find(self, keys: Iterable[str]) -> dict[str, Name]:
        """Find names by key, leaving out keys that no sentence has."""
        numbers = {key: self._find(key) for key in keys}
        return {key: self.name(number) for key, number in numbers.items() if number is not None}

    def keys(self, prefix: str, limit: int) -> list[str]:
        """The keys of names whose key or alias has this prefix, most frequent first, then by key."""
        numbers = self._with_prefix(prefix)
        return [self._key(number) for number in self.most_frequent(self.totals, numbers, limit)]

    def _with_prefix(self, prefix: str) -> Numbers:
        parts = [self._name_of_key[layer][_slice(layer.names.with_prefix(prefix))] for layer in self._layers]
        groups = self._aliases.with_prefix(prefix)
        aliased = [number for number in map(self._find, groups) if number is not None]
        return np.unique(np.concatenate([np.array(aliased, np.int64), *parts]))

    def forms(self, key: str) -> dict[str, int]:
        """The written forms of a name, each with its number of sentences, most first, ties by code points."""
        number = self._find(key)
        counts = () if number is None else self._count_forms(number)
        return dict(sorted(((f, n) for f, n in counts if n), key=lambda form: (-form[1], form[0])))

    def full_names(self, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """By short form: the keys of the other names that it stands for in some documents, in their order."""
        return {key: full for key in keys if (full := self._full_names(key))}

    def _full_names(self, key: str) -> tuple[str, ...]:
        hash, numbers = np.uint64(hash64(key)), set()
        for layer in self._layers:
            entities = np.flatnonzero(layer.names.written == hash)
            numbers |= set(self._name_of_key[layer][layer.names.of_entity[entities]].tolist())
        number = self._find(key)
        return tuple(sorted(self._key(n) for n in numbers if n != number and self.totals[n] > 0))

    def most_frequent(self, counts: Numbers, numbers: Numbers, size: int) -> list[int]:
        """The `size` names with the greatest positive counts among `numbers`, ties by key."""
        numbers = numbers[counts[numbers] > 0]
        of_numbers = counts[numbers]
        least = 1
        if size < len(numbers):
            least = max(least, int(np.partition(of_numbers, len(numbers) - size)[len(numbers) - size]))
        ranked = numbers[of_numbers >= least].tolist()
        return sorted(ranked, key=lambda number: (-counts[number], self._key(number)))[:size]

    def name(self, number: int) -> Name:
        """The name with this number."""
        if number not in self._names:
            key = self._key(number)
            form = self._aliases.form(key) or majority_form(key, self._count_forms(number))
            type, total = ENTITY_TYPES[self.types[number]], int(self.totals[number])
            of_types = dict(zip(ENTITY_TYPES, self._type_counts[number].tolist(), strict=True))
            keys, ids = self._aliases.members(key), self._aliases.ids(key)
            self._names[number] = Name(key, form, type, total, keys, other_types(of_types, total), ids)
        return self._names[number]

    def _find(self, key: str) -> int | None:
        hash = np.uint64(hash64(self._aliases.group_key(key)))
        number = int(np.searchsorted(self._hashes, hash))
        is_known = number < len(self) and self._hashes[number] == hash and self.totals[number] > 0
        return number if is_known else None

    @cached_property
    def _occurrences(self) -> dict[Layer, npt.NDArray[np.int32]]:
        """For each layer, the name of each entity of each sentence; for a repetition, the number of names."""
        occurrences = {}
        for layer in self._layers:
            names = self._name_of_key[layer][layer.names.of_entity[layer.arrays["entity.of"]]]
            first = layer.arrays["entity.first"]
            is_first = _mask_first(np.repeat(np.arange(len(first) - 1), np.diff(first)), names)
            occurrences[layer] = np.where(is_first, names, len(self)).astype(np.int32)
        return occurrences

    @cached_property
    def _entities_by_name(self) -> tuple[Numbers, Numbers, Numbers]:
        """The entities of all layers, sorted by name: names, layer indices, numbers within layers."""
        parts = [self._name_of_key[layer][layer.names.of_entity] for layer in self._layers]
        names = np.concatenate([np.zeros(0, np.int64), *parts])
        layers = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        numbers = np.concatenate([np.zeros(0, np.int64), *(np.arange(len(part)) for part in parts)])
        order = np.argsort(names, kind="stable")
        return names[order], layers[order], numbers[order]

    def _entities(self, name: int) -> Iterator[tuple[Layer, int]]:
        names, layers, numbers = self._entities_by_name
        rows = slice(*np.searchsorted(names, [name, name + 1]).tolist())
        for layer, number in zip(layers[rows].tolist(), numbers[rows].tolist(), strict=True):
            yield self._layers[layer], number

    def _key(self, name: int) -> str:
        """The key of a name; for a name with aliases, the key of its displayed form in the alias table."""
        layer, entity = next(self._entities(name))
        return self._aliases.group_key(layer.names.key(int(layer.names.of_entity[entity])))

    def _count_forms(self, name: int) -> Iterator[tuple[str, int]]:
        """Yield the written forms of a name, and the number of sentences with each, under any type."""
        sentences: dict[str, dict[Layer, list[Numbers]]] = {}
        for layer, entity in self._entities(name):
            form = parse_entity_key(layer.entity_key(entity)).text
            sentences.setdefault(form, {}).setdefault(layer, []).append(layer.sentences_of(entity))
        spans: dict[Layer, list[LayerSpan]] = {}
        for span in (span for spans in self._spans for span in spans):
            spans.setdefault(span.layer, []).append(span)
        for form, by_layer in sentences.items():
            count = 0
            for layer, parts in by_layer.items():
                numbers = np.unique(np.concatenate(parts))
                for span in spans[layer]:
                    ends = np.searchsorted(numbers + span.first, [span.start, span.stop])
                    count += int(ends[1] - ends[0])
            yield form, count


def _group(hashes: npt.NDArray[np.uint64], aliases: Aliases) -> npt.NDArray[np.uint64]:
    """Replace the hashes of aliases by the hashes of their names."""
    pairs = [(hash64(key), hash64(group)) for group, keys in aliases.groups.items() for key in keys]
    if not pairs:
        return hashes
    known, groups = np.array(sorted(pairs), np.uint64).T
    places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return np.where(known[places] == hashes, groups[places], hashes)


def _mask_first(sentences: Numbers, values: Numbers) -> npt.NDArray[np.bool_]:
    """Mask of the first occurrence of each value in each sentence. `sentences` ascend."""
    order = np.lexsort((values, sentences))
    is_repeat = np.zeros(len(values), bool)
    same = (np.diff(sentences[order]) == 0) & (np.diff(values[order]) == 0)
    is_repeat[order[1:][same]] = True
    return ~is_repeat


def _places(layer: Layer, sentences: Numbers) -> Numbers:
    """The indices into `entity.of` of the entities of these sentences."""
    first = layer.arrays["entity.first"].astype(np.int64)
    sizes = first[sentences + 1] - first[sentences]
    before = np.cumsum(sizes) - sizes
    return np.asarray(np.repeat(first[sentences] - before, sizes) + np.arange(int(sizes.sum())))


def _slice(numbers: range) -> slice:
    return slice(numbers.start, numbers.stop)
