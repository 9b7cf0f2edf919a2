"""Brings an index folder to this esr's format: its documents are loaded again beside it, then committed.

What esr enrich found is carried over. No other writer gets in before that has ended.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from esr.documents import Document, Located
from esr.engines.embedded.maintenance.rewrite import rows
from esr.engines.generations import KEEP
from esr.engines.index import LoadReport
from esr.engines.segments.store import checkpoint, layer, manifest
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.layer import LAYERS, Layer, Run
from esr.engines.segments.store.manifest import Manifest
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import IndexMissing, UsageError


class EmbeddedMigration(FolderWriter):
    """A load of what the folder holds. One that was killed is taken up if the index is still the same."""

    _migrates = True

    def __init__(self, where: str | Path, keep: int = KEEP) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._before = manifest.read_any(Path(where))
        super().__init__(where, self._before.description, keep=keep, resume=True)
        self._generation = self._before.generation
        if not self._before.segments:
            raise IndexMissing(f"there is no index at {where}: make one with esr load")

    def run(self) -> LoadReport:
        """Migrate all, or nothing. Raises EsrError where the index was changed meanwhile."""
        if self._before.format == manifest.FORMAT:
            told = f"the index has format {manifest.FORMAT}, this esr's: there is nothing to do"
            return LoadReport(notes=[told])
        begun = checkpoint.read(self._folder)
        if begun is not None and not begun.migrates and begun.made != self._before.made:
            raise UsageError(
                f"a load into {self._folder} was cut off or is running: end it with esr load --resume, "
                "or give it up with esr delete, then migrate"
            )
        segments = [self._segment(name) for name in self._before.segments]
        return self.load(Located("index", document) for document in _documents(segments))

    def _reached(self, before: Manifest) -> checkpoint.Checkpoint:
        last = checkpoint.read(self._folder)
        if last is not None and last.base != before.generation:
            checkpoint.remove(self._folder)  # the index has changed since: what was written is not all of it
        return super()._reached(before)

    def _carried(self, before: Manifest, segments: Sequence[str]) -> list[Run]:
        old = {name: self._segment(name) for name in before.segments}
        starts = dict(zip(old, _starts(old.values()), strict=False))
        new = {name: self._segment(name) for name in segments}
        ends = dict(zip(new, _starts(new.values()), strict=False))
        carried = [
            run
            for each in before.layers
            if each.recipe is not None  # what documents were given is loaded with them
            for name, start in ends.items()
            for run in self._moved(each, old[each.segment], starts[each.segment] - start, new[name])
        ]
        if carried:
            sync_folder(self._folder / LAYERS)
        return carried

    def _moved(self, run: Run, old: Segment, shift: int, new: Segment) -> Iterator[Run]:
        """The part of a layer whose documents are in a new segment, which they are `shift` further on in."""
        start = max(run.start + shift, 0)
        stop = min(run.stop + shift, len(new.documents))
        if start >= stop:
            return
        moved = Run(uuid.uuid4().hex[:12], new.folder.name, start, stop, run.parts, run.recipe)
        source, target = self._folder / LAYERS / run.name, self._folder / LAYERS / moved.name
        if moved.documents == run.documents:
            os.link(source, target)  # layers never change
        else:
            first = old.column("first")
            at = np.arange(first[start - shift], first[stop - shift]) - first[run.start]
            layer.save(target, rows(Layer(source), at, run.parts), run.parts)
        yield moved


def _documents(segments: Sequence[Segment]) -> Iterator[Document]:
    for segment in segments:
        yield from (segment.document(number) for number in range(len(segment.documents)))


def _starts(segments: Iterable[Segment]) -> list[int]:
    """The place of each segment's first document among all."""
    return [0, *accumulate(len(segment.documents) for segment in segments)]
