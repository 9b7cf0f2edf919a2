"""Stores enrichment beside the segments: a layer for each checkpoint, merged as they grow in number.

A checkpoint is one commit of the manifest, as a load is. What a killed enricher left is swept away by the
next writer. Neighbouring layers of the same recipe are merged so that each is more than twice the next: a
segment has few layers at any time, and one when it is done.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from esr import analysis
from esr.dependency.codec import encode
from esr.documents import Document
from esr.documents.enrichment import PARTS, SentenceEnrichment
from esr.engines.entities import grouped
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import layer, manifest
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.disk import disk_errors
from esr.engines.segments.store.layer import LAYERS, Layer, Row, Run
from esr.engines.segments.store.layers import owners, pieces
from esr.engines.segments.store.segment import Segment
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError


@contextmanager
def enrichment(folder: Path) -> Iterator[EmbeddedEnrichment]:
    """Keeps loaders and other enrichers out until it is closed."""
    with ExitStack() as stack:
        with disk_errors(folder, "enrich"):
            stack.enter_context(manifest.lock(folder))
            manifest.sweep(folder)
        yield EmbeddedEnrichment(folder)


class EmbeddedEnrichment:
    """The enrichment of an index in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._snapshot = Snapshot(folder, manifest.read(folder))
        self._analyzer = analysis.get(self._snapshot.manifest.description.analyzer)

    def counts(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        missing = sum(len(self._missing(segment, recipe, slice)) for segment in self._snapshot.segments)
        whole = sum(len(_cut(segment, slice)) for segment in self._snapshot.segments)
        return whole - missing, whole

    def todo(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> Iterator[Document]:
        for segment in self._snapshot.segments:
            for number in self._missing(segment, recipe, slice):
                yield segment.document(int(number))

    def store(self, recipe: Recipe, some: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        before = self._snapshot.manifest
        layers = list(before.layers)
        with disk_errors(self._folder, "enrich"):
            try:
                for segment, found in self._by_segment(some):
                    for run in self._runs(segment, recipe, found):
                        layers = self._tidied([*layers, run], segment, run)
                if len(layers) == len(before.layers) == 0:
                    return
                sync_folder(self._folder / LAYERS)
                recipes = {**before.recipes, recipe.digest: recipe.as_dict()}
                commit = before.enriched(tuple(layers), recipes)
                manifest.commit(self._folder, commit)
                self._snapshot = Snapshot(self._folder, commit, self._snapshot)
            finally:
                manifest.sweep(self._folder)

    def finish(self, recipe: Recipe) -> list[str]:
        return []  # every checkpoint leaves the index tidy

    def _missing(self, segment: Segment, recipe: Recipe, slice: tuple[int, int]) -> layer.Numbers:
        """The documents of a segment's slice that lack a part of the recipe."""
        wanted = _cut(segment, slice)
        runs = self._snapshot.manifest.layers_of(segment.folder.name)
        recipes = self._snapshot.manifest.recipes
        done = np.ones(len(segment.documents), bool)
        for part, mark in recipe.fingerprints.items():
            made = [
                run.recipe is not None
                and Recipe.from_dict(recipes[run.recipe]).fingerprints.get(part) == mark
                for run in runs
            ]
            done &= np.array([*made, False])[owners(runs, part, len(done))]  # -1 is nobody's
        return wanted[~done[wanted]]

    def _by_segment(
        self, some: Iterable[tuple[str, Sequence[SentenceEnrichment]]]
    ) -> Iterator[tuple[Segment, dict[int, Sequence[SentenceEnrichment]]]]:
        segments = self._snapshot.segments
        found: list[dict[int, Sequence[SentenceEnrichment]]] = [{} for _ in segments]
        for document_id, sentences in some:
            for segment, mine in zip(segments, found, strict=True):
                number = segment.documents.find(document_id)
                if number is not None:
                    mine[number] = sentences
                    break
            else:
                raise UsageError(f"there is no document {document_id!r} in {self._folder}")
        yield from ((s, mine) for s, mine in zip(segments, found, strict=True) if mine)

    def _runs(
        self, segment: Segment, recipe: Recipe, found: dict[int, Sequence[SentenceEnrichment]]
    ) -> Iterator[Run]:
        """Write a layer for each run of documents that stand side by side."""
        numbers = np.array(sorted(found))
        for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
            rows = [self._row(each) for number in run for each in found[int(number)]]
            start, stop = int(run[0]), int(run[-1]) + 1
            first = segment.column("first")
            if len(rows) != first[stop] - first[start]:
                raise ValueError(
                    "enrichment must give one SentenceEnrichment for each sentence of its document"
                )
            made = Run(self._fresh(), segment.folder.name, start, stop, recipe.parts, recipe.digest)
            layer.save(self._folder / LAYERS / made.name, rows, made.parts)
            yield made

    def _row(self, found: SentenceEnrichment) -> Row:
        entities = None if found.entities is None else grouped(found.entities)
        parse = None if found.parse is None else encode(found.parse, self._analyzer)
        return Row(found.features, entities, parse)

    def _fresh(self) -> str:
        (self._folder / LAYERS).mkdir(exist_ok=True)
        return uuid.uuid4().hex[:12]

    def _tidied(self, layers: list[Run], segment: Segment, new: Run) -> list[Run]:
        """Without layers that nothing is seen of, and with neighbours of the new one's recipe merged."""
        layers = [run for n, run in enumerate(layers) if not _hidden(run, layers[n + 1 :])]
        alike = [
            run
            for n, run in enumerate(layers)
            if (run.segment, run.recipe, run.parts) == (new.segment, new.recipe, new.parts)
            and not any(run.overlaps(later) for later in layers[n + 1 :])
        ]
        for group in _groups(sorted(alike, key=lambda run: run.start), len(segment.documents)):
            if len(group) > 1:
                layers = [*(run for run in layers if run not in group), self._merged(segment, group)]
        return layers

    def _merged(self, segment: Segment, group: Sequence[Run]) -> Run:
        first, last = group[0], group[-1]
        starts = segment.column("first")
        sizes = [int(starts[run.stop] - starts[run.start]) for run in group]
        merged = Run(self._fresh(), first.segment, first.start, last.stop, first.parts, first.recipe)
        opened = [Layer(self._folder / LAYERS / run.name) for run in group]
        layer.merge(self._folder / LAYERS / merged.name, opened, sizes, merged.parts)
        return merged


def _cut(segment: Segment, slice: tuple[int, int]) -> layer.Numbers:
    """The documents of a slice: a run of each segment, so that a later load moves no slice."""
    place, of = slice
    size = len(segment.documents)
    return np.arange(size * (place - 1) // of, size * place // of)


def _hidden(run: Run, later: Sequence[Run]) -> bool:
    """Whether later layers have the word on every part of every document of a run."""
    mine = [other for other in later if other.segment == run.segment]
    return all((owners(mine, part, run.stop)[run.start :] >= 0).all() for part in run.parts)


def _groups(runs: Sequence[Run], documents: int) -> list[list[Run]]:
    """Layers, by their first document, to be merged with each other: each group is a layer afterwards."""
    groups: list[list[Run]] = []
    for run in runs:
        groups.append([run])
        while len(groups) > 1 and _joins(groups[-2], groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    if sum(run.documents for run in runs) == documents:
        return [list(runs)]
    return groups


def _joins(left: Sequence[Run], right: Sequence[Run]) -> bool:
    size = [sum(run.documents for run in group) for group in (left, right)]
    return left[-1].stop == right[0].start and size[0] <= 2 * size[1]


def summary(snapshot: Snapshot) -> list[dict[str, object]]:
    """What is enriched and with what: per part and recipe the documents it has the word on."""
    counts: dict[tuple[str, str | None], int] = {}
    for segment in snapshot.segments:
        runs = snapshot.manifest.layers_of(segment.folder.name)
        for part in PARTS if runs else ():
            for start, stop, owner in pieces(owners(runs, part, len(segment.documents))):
                key = part, runs[owner].recipe
                counts[key] = counts.get(key, 0) + stop - start
    return [
        {"part": part, "documents": count, "made_with": dict(snapshot.manifest.recipes[recipe]["made_with"])}
        for (part, recipe), count in sorted(counts.items(), key=str)
        if recipe is not None
    ]
