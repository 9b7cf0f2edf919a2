"""Writes enrichment as layers of the segments, copies layers, and merges them to keep them few.

Each batch is one commit of the manifest. Files left by a killed run are deleted by the next writer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from esr.dependency.parses import encode
from esr.enrichment.copy_finder import UNKNOWN, SentenceTerms
from esr.enrichment.copy_wording import Integers
from esr.enrichment.recipe import Recipe
from esr.errors import NotFound
from esr.folder.format import manifest
from esr.folder.format.clean_up import delete_unreferenced
from esr.folder.format.files import Mask, Numbers, save_bundle, sync_folder, translate_disk_errors
from esr.folder.format.layer_info import LAYERS, LayerInfo, new_layer_name, resolve_owners, split_by_owner
from esr.folder.format.layers import (
    EncodedEnrichment,
    Layer,
    LayerEntity,
    LayerStack,
    copy_layer,
    merge_layers,
    save_groups,
    save_layer,
)
from esr.folder.format.manifest import Manifest
from esr.folder.format.segment import LANGUAGE, Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.format.writer_lock import hold_writer_lock
from esr.folder.write.copies import read_sentence_terms
from esr.index.names import (
    IDS_KEY,
    RESOLUTION_VERSION,
    Aliases,
    Resolved,
    ShortForm,
    add_ids,
    group_entities,
    join_short_forms,
    read_ids,
    resolve_names,
)
from esr.index.runs.declined_names import declining_languages, find_declined
from esr.index.runs.name_variants import add_variants, find_variants
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.analyzer_definitions import primary_language
from esr.text.attributes import META_PREFIX
from esr.text.document import Document
from esr.text.sentence_enrichment import QUOTES, REUSE, STORED_PARTS, TABLE, VECTORS, SentenceEnrichment


def read_stored(stack: LayerStack, sentences: Numbers, parts: Sequence[str]) -> Iterator[EncodedEnrichment]:
    """Yield these parts of sentences of a segment, each part from the layer that applies to it."""
    names = stack.features if "features" in parts else []
    columns = {name: stack.feature(name, sentences).tolist() for name in names}
    parses = stack.parses(sentences) if "parse" in parts else [None] * len(sentences)
    vectors = stack.vectors(sentences) if VECTORS in parts else [None] * len(sentences)
    quotes = stack.quotes(sentences) if QUOTES in parts else [()] * len(sentences)
    for n, sentence in enumerate(sentences.tolist()):
        yield EncodedEnrichment(
            {name: column[n] for name, column in columns.items() if column[n] == column[n]},
            stack.entities(sentence) if "entities" in parts else None,
            parses[n],
            vectors[n],
            quotes[n],
            stack.resolved(sentence) if "entities" in parts else {},
        )


MOST_HIDDEN = 0.1
"""The share of a layer's documents that later layers may override before it is written again without them."""


def tidy_layers(folder: Path, layers: list[LayerInfo], segment: Segment, new: LayerInfo) -> list[LayerInfo]:
    """The layers after adding `new`: what it hides is removed from others, and its neighbours are merged.

    Layers are merged so that each is more than twice as large as the next. So a segment always has few
    layers, and a fully enriched segment has one.
    """
    layers = [
        shown
        for n, layer in enumerate(layers)
        for shown in (
            _remove_hidden(folder, layer, segment, layers[n + 1 :]) if layer.overlaps(new) else [layer]
        )
    ]
    mergeable = [
        layer
        for n, layer in enumerate(layers)
        if (layer.segment, layer.recipe, layer.parts) == (new.segment, new.recipe, new.parts)
        and not any(layer.overlaps(later) for later in layers[n + 1 :])
    ]
    mergeable.sort(key=lambda layer: layer.start)
    for group in _group_layers(mergeable, segment.document_count):
        if len(group) > 1:
            merged = _merge(folder, segment, group)
            layers = [*(layer for layer in layers if layer not in group), merged]
    return layers


def _remove_hidden(
    folder: Path, layer: LayerInfo, segment: Segment, later: Sequence[LayerInfo]
) -> list[LayerInfo]:
    """The layer, or layers of its other documents if later layers override every part of too many of them."""
    others = [other for other in later if other.overlaps(layer)]
    is_shown = np.zeros(layer.documents, bool)
    for part in layer.parts:
        is_shown |= resolve_owners(others, part, layer.stop)[layer.start :] < 0
    if np.count_nonzero(~is_shown) <= MOST_HIDDEN * layer.documents:
        return [layer]
    sizes = np.diff(segment.column("first"))[layer.start : layer.stop]
    pieces = []
    for start, stop, _ in split_by_owner(np.where(is_shown, 0, -1)):
        piece = replace(layer, name=new_layer_name(), start=layer.start + start, stop=layer.start + stop)
        is_in_piece = np.zeros(layer.documents, bool)
        is_in_piece[start:stop] = True
        copy_layer(folder, layer, piece, np.repeat(is_in_piece, sizes))
        pieces.append(piece)
    return pieces


def _group_layers(layers: Sequence[LayerInfo], documents: int) -> list[list[LayerInfo]]:
    """Group layers, sorted by first document, into those that will become one layer each."""
    groups: list[list[LayerInfo]] = []
    for layer in layers:
        groups.append([layer])
        while len(groups) > 1 and _should_merge(groups[-2], groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    if sum(layer.documents for layer in layers) == documents:
        return [list(layers)]
    return groups


def _should_merge(left: Sequence[LayerInfo], right: Sequence[LayerInfo]) -> bool:
    left_size, right_size = (sum(layer.documents for layer in group) for group in (left, right))
    return left[-1].stop == right[0].start and left_size <= 2 * right_size


def _merge(folder: Path, segment: Segment, group: Sequence[LayerInfo]) -> LayerInfo:
    """Write adjacent layers as one."""
    first, last = group[0], group[-1]
    starts = segment.column("first")
    sizes = [int(starts[layer.stop] - starts[layer.start]) for layer in group]
    merged = LayerInfo(new_layer_name(), first.segment, first.start, last.stop, first.parts, first.recipe)
    layers = [Layer(folder / LAYERS / layer.name) for layer in group]
    merge_layers(folder / LAYERS / merged.name, layers, sizes, merged.parts)
    return merged


@contextmanager
def enrichment(folder: Path) -> Iterator[EmbeddedEnrichment]:
    """The enrichment of a folder. Other writers are locked out until the context ends."""
    with ExitStack() as stack:
        with translate_disk_errors(folder, "enrich"):
            stack.enter_context(hold_writer_lock(folder))
            delete_unreferenced(folder)
        yield EmbeddedEnrichment(folder)


RUN = 64
"""Documents that stay together where the newest come first, since a layer has consecutive ones."""


class EmbeddedEnrichment:
    """Reads the documents to enrich in a folder, and stores the results."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._snapshot = Snapshot(folder, manifest.read_manifest(folder))
        self._snapshot.require_intact()
        self._analyzer = get_analyzer(self._snapshot.manifest.description.analyzer)

    def progress(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        segments = self._snapshot.segments
        pending = sum(len(self._pending(segment, recipe, slice)) for segment in segments)
        documents = sum(len(_select_slice(segment, slice)) for segment in segments)
        return documents - pending, documents

    def pending(
        self, recipe: Recipe, slice: tuple[int, int] = (1, 1), ids: Collection[str] | None = None
    ) -> Iterator[Document]:
        runs: list[tuple[Segment, Numbers]] = []
        for segment in self._snapshot.segments:
            numbers = self._pending(segment, recipe, slice)
            if ids is not None:
                places = map(segment.document_ids.find, ids)
                numbers = np.intersect1d(numbers, [n for n in places if n is not None])
            if recipe.begins_with_newest:
                borders = np.flatnonzero(np.diff(numbers // RUN)) + 1
                runs += [(segment, run) for run in np.split(numbers, borders) if len(run)]
            else:
                runs.append((segment, numbers))
        if recipe.begins_with_newest:
            runs.sort(key=lambda run: run[0].column("date")[run[1]].max(), reverse=True)
        for segment, numbers in runs:
            for number in numbers.tolist():
                yield segment.document(int(number))

    def store(self, recipe: Recipe, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        layers = list(self._snapshot.manifest.layers)
        with self._writing_layers():
            for segment, documents in self._by_segment(batch):
                for layer in self._write_layers(segment, recipe, documents):
                    layers = tidy_layers(self._folder, [*layers, layer], segment, layer)
            if layers:
                self._commit_layers(layers, recipe)

    @contextmanager
    def _writing_layers(self) -> Iterator[None]:
        """At the end of the block, delete the files that it has written and not committed."""
        with translate_disk_errors(self._folder, "enrich"):
            try:
                yield
            finally:
                delete_unreferenced(self._folder)

    def _commit_layers(self, layers: Sequence[LayerInfo], recipe: Recipe) -> None:
        """Commit these layers, some of which are new and of this recipe."""
        before = self._snapshot.manifest
        sync_folder(self._folder / LAYERS)
        self._commit(before.with_layers(tuple(layers), {**before.recipes, recipe.digest: recipe.as_dict()}))

    def _commit(self, commit: Manifest) -> None:
        self._snapshot = Snapshot(self._folder, manifest.commit(self._folder, commit), self._snapshot)

    def update_names(self, aliases: Aliases | None) -> int:
        before, opened = self._snapshot.manifest, self._snapshot.layers
        outdated = [layer for layer in before.layers if opened[layer.name].resolution != RESOLUTION_VERSION]
        commit = before if aliases is None else before.with_aliases(aliases.as_dict())
        updated = 0
        with self._writing_layers():
            renamed = {layer: replace(layer, name=new_layer_name()) for layer in outdated}
            for layer in outdated:
                resolved = self._resolve_layer(layer)
                arrays = opened[layer.name].arrays_with_names(resolved)
                save_bundle(self._folder / LAYERS / renamed[layer].name, arrays)
                updated += len(resolved)
            if renamed:
                sync_folder(self._folder / LAYERS)
                layers = tuple(renamed.get(layer, layer) for layer in before.layers)
                commit = commit.with_layers(layers, before.recipes)
            snapshot = Snapshot(self._folder, commit, self._snapshot)
            commit = commit.with_short_forms(find_short_forms(snapshot.segments))
            if commit != before:
                self._commit(commit)
        return updated

    def _resolve_layer(self, layer: LayerInfo) -> list[Resolved]:
        """Resolve the names of each sentence of a layer, from the names of its document in the layer."""
        (segment,) = (
            candidate for candidate in self._snapshot.segments if candidate.folder.name == layer.segment
        )
        content, first = self._snapshot.layers[layer.name], segment.column("first")
        resolved: list[Resolved] = []
        for number in range(layer.start, layer.stop):
            start, stop = (int(first[n] - first[layer.start]) for n in (number, number + 1))
            resolved += [resolve_names(map(content.entities, range(start, stop)))] * (stop - start)
        return resolved

    def finish(self, recipe: Recipe) -> list[str]:
        return []  # layers are merged after every batch

    def store_table(self, table: bytes) -> None:
        name = new_layer_name()
        with self._writing_layers():
            (self._folder / LAYERS).mkdir(exist_ok=True)
            save_bundle(self._folder / LAYERS / name, {TABLE: np.frombuffer(table, np.uint8)})
            sync_folder(self._folder / LAYERS)
            self._commit(self._snapshot.manifest.with_table(name))

    def read_terms(self, recipe: Recipe) -> SentenceTerms:
        return read_sentence_terms(self._snapshot, recipe)

    def store_groups(self, recipe: Recipe, groups: Integers) -> None:
        stored = [segment.enrichment.groups(UNKNOWN) for segment in self._snapshot.segments]
        if np.array_equal(np.concatenate([np.zeros(0, np.int32), *stored]), groups):
            return
        layers = [layer for layer in self._snapshot.manifest.layers if layer.parts != (REUSE,)]
        with self._writing_layers():
            (self._folder / LAYERS).mkdir(exist_ok=True)
            for segment, first in zip(
                self._snapshot.segments, self._snapshot.statistics.sentence_bases, strict=False
            ):
                name = new_layer_name()
                of_segment = groups[first : first + segment.sentence_count].astype(np.int32)
                save_groups(self._folder / LAYERS / name, of_segment)
                parts, documents = (REUSE,), segment.document_count
                layers.append(LayerInfo(name, segment.folder.name, 0, documents, parts, recipe.digest))
            self._commit_layers(layers, recipe)

    def index_vectors(self) -> list[str]:
        return ["a folder needs no index of vectors"]

    def _pending(self, segment: Segment, recipe: Recipe, slice: tuple[int, int]) -> Numbers:
        """The documents of a segment's slice that lack a part of the recipe."""
        documents = _select_slice(segment, slice)
        is_done, _ = self._find_done(segment, recipe)
        return documents[~is_done[documents]]

    def _find_done(self, segment: Segment, recipe: Recipe) -> tuple[Mask, Mask]:
        """Masks of the documents of a segment: those with the recipe's result, and those that it made itself.

        Another recipe has the same result for a document if it has the same tools for the document's
        language.
        """
        layers = self._snapshot.manifest.layers_of(segment.folder.name)
        recipes = {key: Recipe.from_dict(value) for key, value in self._snapshot.manifest.recipes.items()}
        is_done, is_own = np.ones((2, segment.document_count), bool)
        for part, mark in recipe.fingerprints.items():
            owners = resolve_owners(layers, part, segment.document_count)
            for number, layer in enumerate(layers):
                used = recipes.get(layer.recipe or "")
                if used is None or used.fingerprints.get(part) != mark:
                    owned = np.flatnonzero(owners == number)
                    is_own[owned] = False
                    is_done[owned] &= self._agree(segment, owned, recipe, used, part)
            is_done &= owners >= 0
        return is_done, is_done & is_own

    def _agree(
        self, segment: Segment, documents: Numbers, recipe: Recipe, used: Recipe | None, part: str
    ) -> Mask:
        """Mask of the documents for which two recipes have the same result for a part."""
        if used is None or not len(documents) or not recipe.may_agree(used, part):
            return np.zeros(len(documents), bool)
        agree = np.array([recipe.agrees(used, part, language) for language in segment.languages])
        of_documents: Mask = agree[segment.column(LANGUAGE)[documents]]
        return of_documents

    def _by_segment(
        self, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]
    ) -> Iterator[tuple[Segment, dict[int, Sequence[SentenceEnrichment]]]]:
        """Yield the segments with documents of the batch, and these documents by number."""
        segments = self._snapshot.segments
        by_segment: list[dict[int, Sequence[SentenceEnrichment]]] = [{} for _ in segments]
        for document_id, sentences in batch:
            for segment, documents in zip(segments, by_segment, strict=True):
                number = segment.document_ids.find(document_id)
                if number is not None:
                    documents[number] = sentences
                    break
            else:
                raise NotFound(f"there is no document {document_id!r} in {self._folder}")
        for segment, documents in zip(segments, by_segment, strict=True):
            if documents:
                yield segment, documents

    def _write_layers(
        self, segment: Segment, recipe: Recipe, documents: dict[int, Sequence[SentenceEnrichment]]
    ) -> Iterator[LayerInfo]:
        """Write a layer for each run of consecutive documents.

        Adjacent documents with the same result by other recipes are included. Otherwise, enriching one of
        several languages could leave a layer for each document.
        """
        (self._folder / LAYERS).mkdir(exist_ok=True)
        is_done, is_own = self._find_done(segment, recipe)
        # The encoder's own vectors, which a table's recipe accepts, must not be taken for the table's.
        is_in_layer = np.zeros_like(is_done) if TABLE in recipe.versions else is_done & ~is_own
        is_in_layer[list(documents)] = True
        numbers = np.flatnonzero(is_in_layer)
        first = segment.column("first")
        for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
            if not any(int(number) in documents for number in run):
                continue
            start, stop = int(run[0]), int(run[-1]) + 1
            others = [number for number in run.tolist() if number not in documents]
            stored = read_stored(segment.enrichment, _sentences_of(first, others), recipe.parts)
            sentences: list[EncodedEnrichment] = []
            for number in run.tolist():
                if number in documents:
                    analyzer = self._analyzer.for_language(segment.language(number))
                    sentences += _encode(documents[number], analyzer)
                else:
                    sentences += islice(stored, int(first[number + 1] - first[number]))
            if len(sentences) != first[stop] - first[start]:
                raise ValueError(
                    "enrichment must give one SentenceEnrichment for each sentence of its document"
                )
            name = new_layer_name()
            layer = LayerInfo(name, segment.folder.name, start, stop, recipe.parts, recipe.digest)
            save_layer(self._folder / LAYERS / name, sentences, layer.parts)
            yield layer


def _encode(sentences: Sequence[SentenceEnrichment], analyzer: Analyzer) -> list[EncodedEnrichment]:
    """Encode the sentences of a document for a layer. `analyzer` makes the terms of their parses."""
    entities = [
        None if sentence.entities is None else group_entities(sentence.entities) for sentence in sentences
    ]
    parses = [None if sentence.parse is None else encode(sentence.parse, analyzer) for sentence in sentences]
    resolved = resolve_names(entities)
    return [
        EncodedEnrichment(sentence.features, of_sentence, parse, sentence.vector, sentence.quotes, resolved)
        for sentence, of_sentence, parse in zip(sentences, entities, parses, strict=True)
    ]


def _sentences_of(first: Numbers, documents: Sequence[int]) -> Numbers:
    """The numbers of the sentences of documents, in order. `first` is the column of first sentences."""
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(first[n], first[n + 1]) for n in documents)])


def _select_slice(segment: Segment, slice: tuple[int, int]) -> Numbers:
    """The documents of a slice, which is a range of each segment, so later loads do not change it."""
    number, count = slice
    size = segment.document_count
    return np.arange(size * (number - 1) // count, size * number // count)


def count_unresolved(snapshot: Snapshot) -> int:
    """The number of documents whose names an older version of esr stored, which `update_names` changes."""
    count = 0
    for segment in snapshot.segments:
        layers = snapshot.manifest.layers_of(segment.folder.name)
        owners = resolve_owners(layers, "entities", segment.document_count)
        for start, stop, owner in split_by_owner(owners):
            if snapshot.layers[layers[owner].name].resolution != RESOLUTION_VERSION:
                count += stop - start
    return count


def summarize_enrichment(snapshot: Snapshot) -> list[dict[str, object]]:
    """Count enriched documents by part and recipe."""
    counts: dict[tuple[str, str | None], int] = {}
    for segment in snapshot.segments:
        layers = snapshot.manifest.layers_of(segment.folder.name)
        for part in STORED_PARTS if layers else ():
            owners = resolve_owners(layers, part, segment.document_count)
            for start, stop, owner in split_by_owner(owners):
                key = part, layers[owner].recipe
                counts[key] = counts.get(key, 0) + stop - start
    return [
        {
            "part": part,
            "documents": count,
            "made_with": dict(snapshot.manifest.recipes[recipe].get("made_with", {})),
        }
        for (part, recipe), count in sorted(counts.items(), key=str)
        if recipe is not None
    ]


def find_short_forms(segments: Sequence[Segment]) -> dict[str, list[str]]:
    """The short forms that stand for a name everywhere, and its ids, by name. All but ids are keys."""
    documents: defaultdict[tuple[str, str], list[Numbers]] = defaultdict(list)
    for entity, numbers in _mentions(segments, None):
        documents[entity.written, entity.key].append(numbers)
    by_type: defaultdict[str, defaultdict[str, list[Numbers]]] = defaultdict(lambda: defaultdict(list))
    for entity, numbers in _mentions(segments, _EVERY):
        by_type[entity.key][entity.type].append(numbers)
    types = {
        key: {type: _count(numbers) for type, numbers in of_key.items()} for key, of_key in by_type.items()
    }
    short_forms = [ShortForm(short, full, _count(numbers)) for (short, full), numbers in documents.items()]
    joined = add_variants(join_short_forms(short_forms, types), find_variants(types))
    for language in declining_languages():
        if len(inside := _select_documents(segments, language)):
            joined = add_variants(joined, find_declined(language, _count_inside(by_type, inside)))
    return add_ids(joined, _count_ids(segments))


def _select_documents(segments: Sequence[Segment], language: str) -> Numbers:
    """The numbers of the documents in a language."""
    numbers, base = [np.zeros(0, np.int64)], 0
    for segment in segments:
        codes = [n for n, code in enumerate(segment.languages) if primary_language(code) == language]
        numbers.append(np.flatnonzero(np.isin(segment.column(LANGUAGE), codes)) + base)
        base += segment.document_count
    return np.concatenate(numbers)


def _count_inside(
    by_type: Mapping[str, Mapping[str, Sequence[Numbers]]], inside: Numbers
) -> dict[str, dict[str, int]]:
    """By key, the number of these documents that have it with each type."""
    counts: dict[str, dict[str, int]] = {}
    for key, of_key in by_type.items():
        for type, numbers in of_key.items():
            if documents := len(np.intersect1d(np.concatenate(numbers), inside)):
                counts.setdefault(key, {})[type] = documents
    return counts


def _count_ids(segments: Sequence[Segment]) -> Counter[tuple[str, str]]:
    """The number of documents that give a name an id, by (key, id)."""
    counts: Counter[tuple[str, str]] = Counter()
    field = META_PREFIX + IDS_KEY
    for segment in segments:
        ids = [id for id, _ in segment.attributes.count(field)]
        for number in np.unique(segment.attributes.documents([field], ids)).tolist():
            counts.update({*read_ids(segment.document(number).metadata)})
    return counts


class _Every:
    """A set that contains everything."""

    def __contains__(self, key: object) -> bool:
        return True


_EVERY = _Every()


def _mentions(
    segments: Sequence[Segment], keys: Container[str] | None
) -> Iterator[tuple[LayerEntity, Numbers]]:
    """Yield the entities with these keys, or all short forms if None, and their document numbers."""
    base = 0
    for segment in segments:
        document = segment.column("document")
        for span in segment.enrichment.entity_spans:
            for number in _select(span.layer, keys):
                sentences = span.layer.sentences_of(number) + span.first
                inside = sentences[(sentences >= span.start) & (sentences < span.stop)]
                yield span.layer.named_entity(number), document[inside].astype(np.int64) + base
        base += segment.document_count


def _select(layer: Layer, keys: Container[str] | None) -> list[int]:
    names = layer.names
    if keys is None:
        if not len(names.written):
            return []
        selected: list[int] = np.flatnonzero(names.written != names.hashes[names.of_entity]).tolist()
        return selected
    wanted = [number for number in range(len(names)) if names.key(number) in keys]
    chosen: list[int] = np.flatnonzero(np.isin(names.of_entity, wanted)).tolist()
    return chosen


def _count(documents: Sequence[Numbers]) -> int:
    return len(np.unique(np.concatenate(documents)))
