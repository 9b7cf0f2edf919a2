"""The vocabulary of a snapshot: its written words and its names, and the values of its fields.

Words are found by prefix, by similarity and as phrases, with their usual spelling. Positions of frequent
words and facts about single words are kept in memory, since phrases share words and suggestions repeat from
query to query.

Written forms of names are grouped by key and counted over all layers. Names are numbered in the order of
their keys' hashes, which match keys across layers.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Mask, Numbers
from esr.folder.format.layers import Layer, LayerSpan
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.format.words import BLOCK_BITS, WordPositions, WordTable, sign_word
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import DocumentCache, read_records
from esr.index.limits import SearchMemory
from esr.index.names import (
    ENTITY_TYPES,
    SAMPLE,
    Aliases,
    Name,
    choose_written_form,
    majority_form,
    other_types,
    parse_entity_key,
)
from esr.stdlib import cached_property, hash64

# Words

_LONGEST_CHARACTER = 4  # bytes of UTF-8


class _FrequentWords:
    """The frequent words of a table with their signatures, most frequent first.

    They occur at least `least` times. Comparing signatures is much faster than reading and comparing words,
    and few signatures are close to any given one.
    """

    def __init__(self, table: WordTable, least: int) -> None:
        counts = np.asarray(table.counts)
        numbers = np.flatnonzero(counts >= least)
        numbers = numbers[np.argsort(-counts[numbers].astype(np.int64), kind="stable")]
        self._table = table
        self._numbers = numbers
        self._negative_counts = -counts[numbers].astype(np.int64)
        self._signatures = table.read_signatures(numbers)
        self.nbytes = numbers.nbytes + self._negative_counts.nbytes + self._signatures.nbytes

    def near(self, encoded: bytes, max_edits: int, margin: int, least: int) -> dict[str, int]:
        """Find frequent words that may be within `max_edits` of a word, with their counts.

        They occur at least `least` times. `encoded` is the word in UTF-8. The edits add or remove at most
        `margin` bytes.
        """
        end = int(np.searchsorted(self._negative_counts, -least, side="right"))
        differing = np.bitwise_count(self._signatures[:end] ^ np.uint64(sign_word(encoded)))
        # An edit removes at most one character and adds at most one.
        places = np.flatnonzero(differing <= 2 * max_edits)
        sizes = self._table.byte_lengths[self._numbers[places]].astype(np.int64)
        places = places[np.abs(sizes - len(encoded)) <= margin]
        words = self._table.words(self._numbers[places])
        return dict(zip(words, (-self._negative_counts[places]).tolist(), strict=True))


def words_with_prefix(segments: Sequence[Segment], prefix: str, limit: int) -> list[tuple[str, int]]:
    """The most frequent words with this prefix, and their numbers of occurrences."""
    totals: Counter[str] = Counter()
    candidates = {word for segment in segments for word in _frequent(segment.words, prefix, 2 * limit)}
    for segment in segments:
        totals.update({word: _occurrences(segment.words, word) for word in sorted(candidates)})
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(
    segments: Sequence[Segment], memory: SearchMemory, word: str, max_edits: int, least: int
) -> Mapping[str, int]:
    """The words within `max_edits` of a word that occur at least `least` times, with their counts.

    Swapping two adjacent letters is one edit. Results are cached, since each page of an answer asks for the
    same.
    """
    make = partial(_find_similar, segments, memory, word, max_edits, least)
    return memory.get(("similar", word, max_edits, least), make, _measure_words)


def _measure_words(words: Mapping[str, int]) -> int:
    """Memory in bytes of a table of words."""
    return sum(map(sys.getsizeof, words)) + sys.getsizeof(words)


def _find_similar(
    segments: Sequence[Segment], memory: SearchMemory, word: str, max_edits: int, least: int
) -> Mapping[str, int]:
    found: list[dict[str, int]] = []
    encoded, margin = word.encode(), max_edits * (1 if word.isascii() else _LONGEST_CHARACTER)
    # A word with `least` occurrences in all has at least this many in one segment.
    least_in_one = -(-least // max(len(segments), 1))
    # Lists are cached for powers of two: at worst, a list includes words half as frequent.
    level = 1 << max(least_in_one.bit_length() - 1, 0)
    for segment in segments:
        read = partial(_FrequentWords, segment.words, level)
        frequent = memory.get((segment.words, "frequent", level), read)
        counts = frequent.near(encoded, max_edits, margin, least_in_one)
        found.append(_within_edits(word, counts, max_edits) if counts else counts)
    similar = dict.fromkeys(chain.from_iterable(found))
    similar.pop(word, None)
    totals = dict.fromkeys(similar, 0)
    for segment, counts in zip(segments, found, strict=True):
        for other in similar:
            totals[other] += counts[other] if other in counts else _occurrences(segment.words, other)
    return {other: total for other, total in totals.items() if total >= least}


def _within_edits(word: str, counts: dict[str, int], max_edits: int) -> dict[str, int]:
    """Those of the words, with their counts, that are within `max_edits` of a word."""
    # Imported here, since few searches compare words.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    edits = cdist([word], list(counts), scorer=OSA.distance, score_cutoff=max_edits, dtype=np.uint8)
    return dict(compress(counts.items(), (edits[0] <= max_edits).tolist()))


def _frequent(table: WordTable, prefix: str, limit: int) -> list[str]:
    words = table.prefix_range(prefix)
    counts = np.asarray(table.counts[words.start : words.stop], np.int64)
    return table.words(np.argsort(-counts, kind="stable")[:limit] + words.start)


def _occurrences(table: WordTable, word: str) -> int:
    number = table.find(word)
    return 0 if number is None else int(table.counts[number])


Positions = npt.NDArray[np.int32]
_NOWHERE = np.zeros(0, np.int32)
_FREQUENT = 1 << 13
"""Number of occurrences from which a word's positions are kept.

Few words are this frequent, but many phrases contain one of them.
"""


class PositionCache:
    """The positions of words, kept in memory for frequent words. Threads share it."""

    def __init__(self, memory: SearchMemory) -> None:
        self._memory = memory

    def of(self, table: WordTable) -> WordPositions:
        """The positions of the words of a table."""
        return self._memory.get((table, "places"), table.read_positions)

    def get(self, table: WordTable, number: int) -> Positions:
        """The positions of a word."""
        if table.counts[number] < _FREQUENT:
            return self.of(table).positions(number)
        return self._memory.get((table, number), lambda: self.of(table).positions(number))


def find_phrase(table: WordTable, words: Sequence[str], cache: PositionCache) -> Positions:
    """The positions of the first of these words where they are adjacent and in this order."""
    numbers = [table.find(word) for word in words]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return _NOWHERE
    # Rarest first: the other words are only looked up next to it.
    order = sorted(range(len(known)), key=lambda n: int(table.counts[known[n]]))
    starts = cache.get(table, known[order[0]]) - np.int32(order[0])
    for n in order[1:]:
        if not len(starts):
            break
        starts = starts[_contains(cache.get(table, known[n]), starts + np.int32(n))]
    return starts


def mask_prefix(table: WordTable, prefix: str, sentence_count: int, cache: PositionCache) -> Mask:
    """Mask of the sentences that contain a word with this prefix.

    The kernel is used if it is loaded, since a prefix may have very many occurrences.
    """
    mask, words, positions = np.zeros(sentence_count, bool), table.prefix_range(prefix), cache.of(table)
    if LOADER.kernel is None:
        mask[positions.sentences(positions.positions_of_range(words))] = True
        return mask
    sentences = positions.sentence_starts, positions.block_sentences, BLOCK_BITS
    LOADER.kernel.mark_positions(mask, words.start, words.stop, tuple(positions.position_lists), sentences)
    return mask


def find_prefix(table: WordTable, prefix: str, cache: PositionCache) -> Positions:
    """The positions of the words with this prefix, in no particular order."""
    return cache.of(table).positions_of_range(table.prefix_range(prefix))


def _contains(ascending: Positions, values: Positions) -> npt.NDArray[np.bool_]:
    """Mask of the values that occur in `ascending`."""
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[at] == values)


V = TypeVar("V")
_ENTRY_BYTES = 200
"""Memory in bytes of a word and a fact about it."""


class _WordFacts(dict[str, V]):
    """Facts about some words."""

    @property
    def nbytes(self) -> int:
        return _ENTRY_BYTES * len(self)


class WordUsage:
    """How the sentences of a snapshot use single words. Threads share it."""

    def __init__(
        self, snapshot: Snapshot, positions: PositionCache, documents: DocumentCache, memory: SearchMemory
    ) -> None:
        self._snapshot = snapshot
        self._documents = documents
        self._positions = positions
        self._memory = memory
        self._token = object()
        """Separates the words of this snapshot in the shared memory without keeping the snapshot alive."""

    def count_sentences(self, word: str) -> int:
        """Count the sentences that contain a word of the analyzer `words`."""
        return self._recall("count", word, self._count_sentences)

    def written_form(self, word: str) -> str:
        """The written form of a word in most of the first sentences that contain it."""
        return self._recall("form", word, self._read_written_form)

    def _recall(self, what: str, word: str, make: Callable[[str], V]) -> V:
        # Words with the same beginning share an entry: each is much smaller than the least size of an entry.
        key = self._token, what, word[:2]
        facts: _WordFacts[V] = self._memory.get(key, _WordFacts)
        value = facts.get(word)
        if value is None:
            value = make(word)
            if value:  # unknown words must not fill the memory
                facts[word] = value
                self._memory.resize(key, facts.nbytes)
        return value

    def _count_sentences(self, word: str) -> int:
        return sum(len(numbers) for _, numbers in self._find_sentences(word))

    def _read_written_form(self, word: str) -> str:
        bases = self._snapshot.statistics.sentence_bases
        ordinals: list[int] = []
        for owner, numbers in self._find_sentences(word):
            ordinals += (numbers[: SAMPLE - len(ordinals)] + bases[owner]).tolist()
            if len(ordinals) == SAMPLE:
                break
        records = read_records(self._snapshot, self._documents, ordinals)
        return choose_written_form(word, [record.text for record in records])

    def _find_sentences(self, word: str) -> Iterator[tuple[int, Numbers]]:
        """Yield the index of each segment with the word, and the sentences that contain it, ascending."""
        for owner, segment in enumerate(self._snapshot.segments):
            number = segment.words.find(word)
            if number is not None:
                positions = self._positions.of(segment.words)
                sentences = positions.sentences(positions.positions(number))
                # They ascend with the positions, and repeat if a sentence contains the word twice.
                yield owner, sentences[np.flatnonzero(np.diff(sentences, prepend=-1))]


# Names


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
            document, found = segment.column("document"), [np.zeros(0, np.int64)]
            for span in spans:
                numbers = np.arange(span.start, span.stop)
                numbers = numbers if mask is None else numbers[mask[document[numbers]]]
                layer, inside = span.layer, numbers - span.first
                names = self._occurrences[layer][_places(layer, inside)].astype(np.int64)
                first = layer.arrays["entity.first"].astype(np.int64)
                sizes = first[inside + 1] - first[inside]
                pairs = np.repeat(document[numbers].astype(np.int64), sizes) * (len(self) + 1) + names
                found.append(pairs[names < len(self)])
            distinct = np.unique(np.concatenate(found)) % (len(self) + 1)
            counts += np.bincount(distinct, minlength=len(self))
        return counts

    def counted(self, counts: Numbers, prefix: str, keys: Iterable[str] | None, size: int) -> dict[str, int]:
        """The `size` greatest counts of names by key, of the names with the prefix or of these `keys`."""
        if keys is not None:
            found = {number for number in map(self._find, keys) if number is not None}
            numbers = np.array(sorted(found), np.int64)
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

    def full_names(self, key: str) -> tuple[str, ...]:
        """The keys of the names that a short form stands for in some documents, in their order."""
        hash, numbers = np.uint64(hash64(key)), set()
        for layer in self._layers:
            entities = np.flatnonzero(layer.names.written == hash)
            numbers |= set(self._name_of_key[layer][layer.names.of_entity[entities]].tolist())
        own = self._find(key)
        return tuple(sorted(self._key(n) for n in numbers if n != own and self.totals[n] > 0))

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


# The values of fields


def count_values(
    segment: Segment, names: Iterable[str], counts: Numbers | None = None
) -> Iterator[tuple[str, int]]:
    """Yield the written values of `source` or of attributes, with the number of documents of each.

    `names` are `source` or names of attributes. With `counts`, of shape (documents,), each document counts
    that many times instead of once.
    """
    for name in names:
        yield from (
            _count_sources(segment, counts) if name == "source" else segment.attributes.count(name, counts)
        )


def _count_sources(segment: Segment, counts: Numbers | None) -> Iterator[tuple[str, int]]:
    by_source = np.bincount(segment.column("source"), counts, len(segment.sources)).astype(np.int64)
    for source, count in zip(segment.sources, by_source.tolist(), strict=True):
        if source is not None and count:
            yield source, count
