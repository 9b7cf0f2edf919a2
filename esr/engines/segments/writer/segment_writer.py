"""Writes documents as new segments of an index folder. Nothing refers to them before a commit does."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from esr import analysis
from esr.engines.index import Description
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.layer import LAYERS, Run
from esr.engines.segments.store.manifest import SEGMENTS
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer.prefetch import Coming
from esr.engines.segments.writer.segment_builder import SegmentBuilder
from esr.errors import EsrError

Written = Callable[[Segment, Run | None], None]


class SegmentWriter:
    """Holds one segment in memory, and writes and verifies it when it is full.

    `segments` and `layers` are what has been written. `written` is told of each when it is on disk. `again`
    is for documents of the index: they become one segment, and their layers are there already.
    """

    def __init__(
        self,
        folder: Path,
        description: Description,
        written: Written = lambda segment, layer: None,
        *,
        again: bool = False,
    ) -> None:
        self._folder = folder
        self._analyzer = analysis.get(description.analyzer)
        self._written = written
        self._again = again
        self.segments: list[Segment] = []
        self.layers: list[Run] = []
        self._begin()

    def _begin(self) -> None:
        self._builder = SegmentBuilder(self._analyzer)
        self._checksums: list[bytes] = []

    def add(self, coming: Coming) -> None:
        assert coming.prepared, "only what was wanted is prepared"
        self._builder.add(coming.document, coming.own, coming.prepared)
        self._checksums.append(_checksum(coming.prepared.blob))
        if self._builder.full and not self._again:
            self.flush()

    def flush(self) -> None:
        """Write what is in memory, if anything is."""
        builder = self._builder
        if not len(builder):
            return
        name = uuid.uuid4().hex[:12]
        builder.save(self._folder / SEGMENTS / name)
        sync_folder(self._folder / SEGMENTS)
        run = None
        if builder.given_parts and not self._again:
            builder.save_given(self._folder / LAYERS / name)
            run = Run(name, name, 0, len(builder), builder.given_parts, None)
        segment = Segment(self._folder / SEGMENTS / name)
        self._verify(segment)
        self.segments.append(segment)
        self.layers += [] if run is None else [run]
        self._begin()
        self._written(segment, run)

    def _verify(self, segment: Segment) -> None:
        """Read every document back. Raises EsrError where it is not what was given."""
        builder = self._builder
        counts = len(segment.documents), segment.sentence_count
        if counts != (len(builder), builder.sentence_count):
            raise EsrError(
                f"{segment.folder} has {counts[0]} documents and {counts[1]} sentences of {len(builder)} and "
                f"{builder.sentence_count}, nothing was switched: check the disk and load again"
            )
        for number, checksum in enumerate(self._checksums):
            if _checksum(segment.blob(number)) != checksum:
                raise EsrError(
                    f"document {builder.document_ids[number]!r} came back from {segment.folder} with another "
                    "checksum, nothing was switched: check the disk and load again"
                )


def _checksum(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=16).digest()
