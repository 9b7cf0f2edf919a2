"""Converts an index folder to the current format: loads its documents into new segments, then commits.

Stored enrichment is copied. Other writers are locked out until the migration has finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from esr.errors import IndexMissing, UsageError
from esr.folder.format import manifest
from esr.folder.format.checksums import parts_of, require_intact
from esr.folder.format.files import sync_folder
from esr.folder.format.layers import copy_layer
from esr.folder.format.manifest import (
    LAYERS,
    SEGMENTS,
    Checkpoint,
    LayerInfo,
    Manifest,
    new_layer_name,
    read_checkpoint,
    remove_checkpoint,
)
from esr.folder.format.segment import Segment
from esr.folder.write.folder_writer import FolderWriter
from esr.index.generations import DEFAULT_KEEP
from esr.index.writer import LoadReport
from esr.text.document import Document, Located


class EmbeddedMigration(FolderWriter):
    """A load of the folder's own documents. If it is killed, it is resumed unless the index has changed."""

    is_migration = True

    def __init__(self, where: str | Path, keep: int = DEFAULT_KEEP) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._before = manifest.read_any_format(Path(where))
        super().__init__(where, self._before.description.renewed(), keep=keep, resume=True)
        self._base = self._before.commit_number
        if not self._before.has_index:
            raise IndexMissing(f"there is no index at {where}: make one with esr load")

    def run(self) -> LoadReport:
        """Migrate all documents or none. Raises EsrError if the index was changed meanwhile."""
        if self._before.format == manifest.FORMAT and self._before.description.is_current:
            return LoadReport(
                notes=[f"the index already has format {manifest.FORMAT}: there is nothing to do"]
            )
        last = read_checkpoint(self._folder)
        is_finished = last is None or last.generation_name == self._before.generation_name
        if last is not None and not is_finished and not last.is_migration:
            raise UsageError(
                f"a load into {self._folder} was interrupted or is running: finish it with "
                "esr load --resume, or discard it with esr delete, then migrate"
            )
        require_intact(self._folder, parts_of(self._before))
        documents = _documents(self._open(self._before.segments))
        return self.load(Located("index", document) for document in documents)

    def _start(self, before: Manifest) -> Checkpoint:
        last = read_checkpoint(self._folder)
        if last is not None and last.base != before.commit_number:
            remove_checkpoint(self._folder)  # the index, and thus its documents, has changed since
        return super()._start(before)

    def _copy_layers(self, before: Manifest, segments: Sequence[str]) -> list[LayerInfo]:
        old = {segment.folder.name: segment for segment in self._open(before.segments)}
        old_starts = dict(zip(old, _starts(old.values()), strict=False))
        new = self._open(segments)
        layers = [
            copy
            for layer in before.layers
            if layer.recipe is not None  # inline enrichment is loaded with its documents
            for segment, start in zip(new, _starts(new), strict=False)
            for copy in self._copy_layer(
                layer, old[layer.segment], old_starts[layer.segment] - start, segment
            )
        ]
        if layers:
            sync_folder(self._folder / LAYERS)
        return layers

    def _copy_layer(self, layer: LayerInfo, old: Segment, shift: int, new: Segment) -> Iterator[LayerInfo]:
        """Copy the part of a layer that covers documents of a new segment, numbered `shift` higher there."""
        start = max(layer.start + shift, 0)
        stop = min(layer.stop + shift, new.document_count)
        if start >= stop:
            return
        copy = LayerInfo(new_layer_name(), new.folder.name, start, stop, layer.parts, layer.recipe)
        sentences = None
        if copy.documents < layer.documents:
            documents = np.arange(layer.start, layer.stop)
            covered = (start - shift <= documents) & (documents < stop - shift)
            sentences = np.repeat(covered, np.diff(old.column("first"))[layer.start : layer.stop])
        copy_layer(self._folder, layer, copy, sentences)
        yield copy

    def _open(self, names: Sequence[str]) -> list[Segment]:
        return [Segment(self._folder / SEGMENTS / name) for name in names]


def _documents(segments: Sequence[Segment]) -> Iterator[Document]:
    for segment in segments:
        yield from (segment.document(number) for number in range(segment.document_count))


def _starts(segments: Iterable[Segment]) -> list[int]:
    """The number of each segment's first document, counted over all segments, and the total."""
    return [0, *accumulate(segment.document_count for segment in segments)]
