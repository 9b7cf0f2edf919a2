"""Writes segments again: without deleted documents, and small neighbors merged into one.

Otherwise every delivery would leave a small segment. Neighbors are merged so that each is more than twice
as large as the next, as layers are: a document is written again a few times in all, and segments stay few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esr.documents import Located
from esr.engines.embedded.maintenance.layer_copy import copy_layer
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.layer_info import LAYERS, LayerInfo, new_layer_name
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer import segment_builder
from esr.engines.segments.writer.prefetch import prepare
from esr.engines.segments.writer.segment_writer import SegmentWriter
from esr.engines.writer import Description

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a delivery changes: new segments with their layers, and the documents that old segments lose.

    `deleted` holds the numbers of documents, by the name of their segment.
    """

    segments: Sequence[Segment] = ()
    layers: Sequence[LayerInfo] = ()
    deleted: Mapping[str, set[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where the documents of a segment that was written again are now: from `start` on in `segment`."""

    segment: str
    start: int


def rewrite_segments(
    folder: Path, before: Manifest, changes: Changes, generation_name: str, keep: int
) -> Manifest:
    """The commit of a new generation: the remaining documents of `before`, then the new segments.

    Segments and layers that it names and that do not exist are written first.
    """
    segments = [Segment(folder / SEGMENTS / name) for name in before.segments] + [*changes.segments]
    remaining = {segment.folder.name: _remaining(segment, changes) for segment in segments}
    names: list[str] = []
    targets: dict[str, _Target] = {}
    for group in _group_segments(segments, remaining):
        first = group[0].folder.name
        if len(group) == 1 and remaining[first].all():
            names.append(first)
            continue
        name, starts = _write_group(folder, before.description, group, remaining)
        if name is not None:
            names.append(name)
            targets |= {old: _Target(name, start) for old, start in starts.items()}
    by_name = {segment.folder.name: segment for segment in segments}
    layers = [layer for layer in changes.layers if layer.segment in names]
    for layer in (*before.layers, *changes.layers):
        old = layer.segment
        if old in targets:
            layers += _copy_layer(folder, layer, by_name[old], remaining[old], targets[old])
    if (folder / LAYERS).exists():
        sync_folder(folder / LAYERS)
    return before.next_generation(generation_name, tuple(names), before.description, layers, keep)


def _remaining(segment: Segment, changes: Changes) -> Mask:
    """Which documents of a segment are not deleted."""
    mask = np.ones(segment.document_count, bool)
    mask[list(changes.deleted.get(segment.folder.name, ()))] = False
    return mask


def _group_segments(segments: Iterable[Segment], remaining: Mapping[str, Mask]) -> Iterator[list[Segment]]:
    """Neighbors that become one segment each, by how many terms they have."""
    groups: list[tuple[list[Segment], int, int]] = []
    for segment in segments:
        in_remaining = np.repeat(remaining[segment.folder.name], np.diff(segment.column("first")))
        terms = int(segment.column("length")[in_remaining].sum())
        groups.append(([segment], terms, (segment.folder / "texts.bytes").stat().st_size))
        while len(groups) > 1:
            (left, left_terms, left_bytes), (right, right_terms, right_bytes) = groups[-2:]
            terms, size = left_terms + right_terms, left_bytes + right_bytes
            is_full = terms > segment_builder.FULL_TERMS or size > segment_builder.FULL_BYTES
            if left_terms > 2 * right_terms or is_full:
                break
            groups[-2:] = [(left + right, terms, size)]
    yield from (group for group, _, _ in groups)


def _write_group(
    folder: Path, description: Description, group: Sequence[Segment], remaining: Mapping[str, Mask]
) -> tuple[str | None, dict[str, int]]:
    """Write a group as one segment.

    Returns its name, None if no document remains, and the first document in it of each old segment.
    """
    starts: dict[str, int] = {}
    count = 0
    for segment in group:
        starts[segment.folder.name] = count
        count += int(remaining[segment.folder.name].sum())
    documents = (
        Located("index", segment.document(number))
        for segment in group
        for number in np.flatnonzero(remaining[segment.folder.name]).tolist()
    )
    writer = SegmentWriter(folder, description, is_rewrite=True)
    with closing(prepare(documents, description)) as stream:
        for prepared in stream:
            writer.add(prepared)
    writer.flush()
    return (writer.segments[0].folder.name if writer.segments else None), starts


def _copy_layer(
    folder: Path, layer: LayerInfo, old: Segment, remaining: Mask, target: _Target
) -> Iterator[LayerInfo]:
    """Copy a layer of a segment that was written again, for its remaining documents."""
    start = target.start + int(remaining[: layer.start].sum())
    stop = start + int(remaining[layer.start : layer.stop].sum())
    if stop == start:
        return
    copy = LayerInfo(new_layer_name(), target.segment, start, stop, layer.parts, layer.recipe)
    covered = remaining[layer.start : layer.stop]
    sizes = np.diff(old.column("first"))[layer.start : layer.stop]
    sentences = None if covered.all() else np.flatnonzero(np.repeat(covered, sizes))
    copy_layer(folder, layer, copy, sentences)
    yield copy
