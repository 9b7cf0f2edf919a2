"""Writes documents as new segments of an index folder. Nothing refers to them before a commit."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from esr import analysis
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.layer_info import LAYERS, LayerInfo
from esr.engines.segments.store.manifest import SEGMENTS
from esr.engines.segments.store.segment import PARAGRAPH, Segment
from esr.engines.segments.writer.prepared_document import PreparedDocument
from esr.engines.segments.writer.segment_builder import SegmentBuilder
from esr.engines.writer import Description
from esr.errors import EsrError

OnSegment = Callable[[Segment, LayerInfo | None], None]
"""Called with a segment, and its layer of inline enrichment if it has one."""


class SegmentWriter:
    """Builds one segment in memory, and writes and verifies it when it is full.

    `segments` and `layers` have been written; `on_segment` is called after each. `is_rewrite` is for
    documents of the index itself: they become a single segment, and their layers are copied elsewhere.
    """

    def __init__(
        self,
        folder: Path,
        description: Description,
        on_segment: OnSegment = lambda segment, layer: None,
        *,
        is_rewrite: bool = False,
    ) -> None:
        self._folder = folder
        self._analyzer = analysis.get(description.analyzer)
        self._on_segment = on_segment
        self._is_rewrite = is_rewrite
        self.segments: list[Segment] = []
        self.layers: list[LayerInfo] = []
        self._start_segment()

    def _start_segment(self) -> None:
        self._builder = SegmentBuilder(self._analyzer)
        self._checksums: list[bytes] = []

    def add(self, prepared: PreparedDocument) -> None:
        """Add a document that was prepared for writing."""
        self._builder.add(prepared)
        assert prepared.payload
        self._checksums.append(_checksum(prepared.payload.blob))
        if self._builder.is_full and not self._is_rewrite:
            self.flush()

    def flush(self) -> None:
        """Write the segment in memory, if it has any document."""
        builder = self._builder
        if not len(builder):
            return
        name = uuid.uuid4().hex[:12]
        builder.save(self._folder / SEGMENTS / name)
        sync_folder(self._folder / SEGMENTS)
        layer = None
        if builder.inline_parts and not self._is_rewrite:
            builder.save_inline_layer(self._folder / LAYERS / name)
            layer = LayerInfo(name, name, 0, len(builder), builder.inline_parts, None)
        segment = Segment(self._folder / SEGMENTS / name)
        self._verify(segment)
        self.segments.append(segment)
        self.layers += [] if layer is None else [layer]
        self._start_segment()
        self._on_segment(segment, layer)

    def _verify(self, segment: Segment) -> None:
        """Read every document back. Raises EsrError if one differs from what was written."""
        builder = self._builder
        counts = segment.document_count, segment.sentence_count
        if counts != (len(builder), builder.sentence_count):
            raise EsrError(
                f"{segment.folder} has {counts[0]} documents and {counts[1]} sentences instead of "
                f"{len(builder)} and {builder.sentence_count}, nothing was committed: "
                "check the disk and load again"
            )
        if not np.array_equal(segment.column(PARAGRAPH), builder.paragraphs):
            raise EsrError(
                f"{segment.folder} has other numbers of paragraphs when read back, nothing was committed: "
                "check the disk and load again"
            )
        for number, checksum in enumerate(self._checksums):
            if _checksum(segment.blob(number)) != checksum:
                raise EsrError(
                    f"document {builder.document_ids[number]!r} has another checksum when read back from "
                    f"{segment.folder}, nothing was committed: check the disk and load again"
                )


def _checksum(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=16).digest()
