"""Stores enrichment beside the segments: one or more layers for each batch.

Each batch is one commit of the manifest, as a load is. What a killed run left is deleted by the next writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr import analysis
from esr.dependency.codec import encode
from esr.documents import Document
from esr.documents.enrichment import PARTS, SentenceEnrichment
from esr.engines.aliases import Aliases
from esr.engines.embedded.maintenance.layer_copy import read_stored
from esr.engines.embedded.maintenance.layer_merging import tidy_layers
from esr.engines.entities import group_entities
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.bundle import save_bundle
from esr.engines.segments.store.cleanup import delete_unreferenced
from esr.engines.segments.store.disk_errors import translate_disk_errors
from esr.engines.segments.store.layer_file import EncodedEnrichment, save_layer
from esr.engines.segments.store.layer_info import (
    LAYERS,
    LayerInfo,
    Numbers,
    new_layer_name,
    resolve_owners,
    split_by_owner,
)
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.store.writer_lock import hold_writer_lock
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError

Mask = npt.NDArray[np.bool_]


@contextmanager
def enrichment(folder: Path) -> Iterator[EmbeddedEnrichment]:
    """The enrichment of a folder, with other writers locked out until it is closed."""
    with ExitStack() as stack:
        with translate_disk_errors(folder, "enrich"):
            stack.enter_context(hold_writer_lock(folder))
            delete_unreferenced(folder)
        yield EmbeddedEnrichment(folder)


class EmbeddedEnrichment:
    """The enrichment of an index in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._snapshot = Snapshot(folder, manifest.read(folder))
        self._analyzer = analysis.get(self._snapshot.manifest.description.analyzer)
        self._languages: dict[str, list[str | None]] = {}

    def progress(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        segments = self._snapshot.segments
        pending = sum(len(self._pending(segment, recipe, slice)) for segment in segments)
        documents = sum(len(_select_slice(segment, slice)) for segment in segments)
        return documents - pending, documents

    def pending(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> Iterator[Document]:
        for segment in self._snapshot.segments:
            for number in self._pending(segment, recipe, slice):
                yield segment.document(int(number))

    def store(self, recipe: Recipe, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        before = self._snapshot.manifest
        layers = list(before.layers)
        with translate_disk_errors(self._folder, "enrich"):
            try:
                for segment, documents in self._by_segment(batch):
                    for layer in self._write_layers(segment, recipe, documents):
                        layers = tidy_layers(self._folder, [*layers, layer], segment, layer)
                if not layers:
                    return
                sync_folder(self._folder / LAYERS)
                recipes = {**before.recipes, recipe.digest: recipe.as_dict()}
                commit = before.with_layers(tuple(layers), recipes)
                manifest.commit(self._folder, commit)
                self._snapshot = Snapshot(self._folder, commit, self._snapshot)
            finally:
                delete_unreferenced(self._folder)

    def update_names(self, aliases: Aliases | None) -> int:
        before, opened = self._snapshot.manifest, self._snapshot.layers
        outdated = {layer: opened[layer.name] for layer in before.layers if opened[layer.name].needs_names}
        commit = before if aliases is None else before.with_aliases(aliases.as_dict())
        with translate_disk_errors(self._folder, "enrich"):
            try:
                renamed = {layer: replace(layer, name=new_layer_name()) for layer in outdated}
                for layer, content in outdated.items():
                    save_bundle(self._folder / LAYERS / renamed[layer].name, content.arrays_with_names())
                if renamed:
                    sync_folder(self._folder / LAYERS)
                    layers = tuple(renamed.get(layer, layer) for layer in before.layers)
                    commit = commit.with_layers(layers, before.recipes)
                if commit != before:
                    manifest.commit(self._folder, commit)
                    self._snapshot = Snapshot(self._folder, commit, self._snapshot)
            finally:
                delete_unreferenced(self._folder)
        return sum(len(layer.arrays["entity.known"]) for layer in outdated.values())

    def finish(self, recipe: Recipe) -> list[str]:
        return []  # every batch leaves the index tidy

    def _pending(self, segment: Segment, recipe: Recipe, slice: tuple[int, int]) -> Numbers:
        """The documents of a segment's slice that lack a part of the recipe."""
        documents = _select_slice(segment, slice)
        is_done, _ = self._find_done(segment, recipe)
        return documents[~is_done[documents]]

    def _find_done(self, segment: Segment, recipe: Recipe) -> tuple[Mask, Mask]:
        """Which documents of a segment have all parts as the recipe makes them, and which have them by it.

        Another recipe makes the same of a document if it has the same tools for its language.
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
        """For which documents two recipes make the same of a part."""
        if used is None or not len(documents) or not recipe.may_agree(used, part):
            return np.zeros(len(documents), bool)
        languages = self._languages_of(segment)
        agree = {language: recipe.agrees(used, part, language) for language in set(languages)}
        return np.array([agree[languages[number]] for number in documents])

    def _languages_of(self, segment: Segment) -> list[str | None]:
        """The language that each document of a segment names."""
        name = segment.folder.name
        if name not in self._languages:
            stored = map(segment.stored_document, range(segment.document_count))
            self._languages[name] = [document.get("language") for document in stored]
        return self._languages[name]

    def _by_segment(
        self, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]
    ) -> Iterator[tuple[Segment, dict[int, Sequence[SentenceEnrichment]]]]:
        """The segments that have documents of the batch, with these by their numbers."""
        segments = self._snapshot.segments
        by_segment: list[dict[int, Sequence[SentenceEnrichment]]] = [{} for _ in segments]
        for document_id, sentences in batch:
            for segment, documents in zip(segments, by_segment, strict=True):
                number = segment.document_ids.find(document_id)
                if number is not None:
                    documents[number] = sentences
                    break
            else:
                raise UsageError(f"there is no document {document_id!r} in {self._folder}")
        for segment, documents in zip(segments, by_segment, strict=True):
            if documents:
                yield segment, documents

    def _write_layers(
        self, segment: Segment, recipe: Recipe, documents: dict[int, Sequence[SentenceEnrichment]]
    ) -> Iterator[LayerInfo]:
        """Write a layer for each run of consecutive documents.

        Documents beside them that other recipes made the same of become part of the layer, so that a run over
        one of several languages does not leave a layer for each of its documents.
        """
        (self._folder / LAYERS).mkdir(exist_ok=True)
        is_done, is_own = self._find_done(segment, recipe)
        is_in_layer = is_done & ~is_own
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
                    sentences += map(self._encode, documents[number])
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

    def _encode(self, sentence: SentenceEnrichment) -> EncodedEnrichment:
        entities = None if sentence.entities is None else group_entities(sentence.entities)
        parse = None if sentence.parse is None else encode(sentence.parse, self._analyzer)
        return EncodedEnrichment(sentence.features, entities, parse, sentence.vector)


def _sentences_of(first: Numbers, documents: Sequence[int]) -> Numbers:
    """The numbers of the sentences of documents, in order. `first` holds each document's first sentence."""
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(first[n], first[n + 1]) for n in documents)])


def _select_slice(segment: Segment, slice: tuple[int, int]) -> Numbers:
    """The documents of a slice: consecutive ones of each segment, so that a later load moves no slice."""
    number, count = slice
    size = segment.document_count
    return np.arange(size * (number - 1) // count, size * number // count)


def summarize_enrichment(snapshot: Snapshot) -> list[dict[str, object]]:
    """How many documents are enriched, by part and recipe."""
    counts: dict[tuple[str, str | None], int] = {}
    for segment in snapshot.segments:
        layers = snapshot.manifest.layers_of(segment.folder.name)
        for part in PARTS if layers else ():
            owners = resolve_owners(layers, part, segment.document_count)
            for start, stop, owner in split_by_owner(owners):
                key = part, layers[owner].recipe
                counts[key] = counts.get(key, 0) + stop - start
    return [
        {"part": part, "documents": count, "made_with": dict(snapshot.manifest.recipes[recipe]["made_with"])}
        for (part, recipe), count in sorted(counts.items(), key=str)
        if recipe is not None
    ]
