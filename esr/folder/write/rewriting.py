"""Writes segments again without the documents that leave, and merges small neighbours.

In a divided index, the segments of a period stay together, and only these are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from esr.folder.format.damage import parts_of, require_intact
from esr.folder.format.files import Mask, sync_folder
from esr.folder.format.layer_info import LAYERS, LayerInfo, new_layer_name
from esr.folder.format.layers import copy_layer
from esr.folder.format.manifest import SEGMENTS, Manifest, period_of_segment
from esr.folder.format.segment import Segment
from esr.folder.write.merging import merge_segments
from esr.folder.write.segment_writer import FULL_BYTES, FULL_TERMS
from esr.index.withdrawn import NONE_WITHDRAWN, Withdrawn
from esr.stdlib import batched


class Changes(Struct, frozen=True):
    """The changes of a delivery: new segments with their layers, and deleted documents.

    `deleted` holds the numbers of documents by the name of their segment. `withdrawn` are documents that are
    removed for good.
    """

    segments: Sequence[Segment] = ()
    layers: Sequence[LayerInfo] = ()
    deleted: Mapping[str, set[int]] = field(default_factory=dict)
    withdrawn: Withdrawn = NONE_WITHDRAWN

    def update(self, withdrawn: Withdrawn) -> Withdrawn:
        """The documents removed for good after these changes: what is added is not."""
        added = [
            id
            for id in withdrawn.ids
            if any(segment.document_ids.find(id) is not None for segment in self.segments)
        ]
        return withdrawn.add(self.withdrawn.ids, self.withdrawn.before).without(added)


class _Target(Struct, frozen=True):
    """The destination of a rewritten segment's documents: from `start` on in `segment`."""

    segment: str
    start: int


class Rewritten(NamedTuple):
    """The segments after changes, in their order, and the layers of those that are new."""

    segments: tuple[str, ...]
    layers: list[LayerInfo]


def rewrite_segments(folder: Path, before: Manifest, old: Sequence[Segment], changes: Changes) -> Rewritten:
    """Write the remaining documents of `old`, segments of the commit `before`, then the new segments.

    Segments of a divided index are ordered by their periods. Writes segments and layers, without a commit.
    Raises SegmentDamaged.
    """
    segments = sorted([*old, *changes.segments], key=_period)
    remaining = {segment.folder.name: _remaining(segment, changes) for segment in segments}
    # What has lost all documents is left out without reading it.
    segments = [segment for segment in segments if remaining[segment.folder.name].any()]
    names: list[str] = []
    targets: dict[str, _Target] = {}
    parts = {part.path: part for part in parts_of(before)}
    groups = chain.from_iterable(
        _group_segments(of_period, remaining) for _, of_period in groupby(segments, _period)
    )
    for group in groups:
        first = group[0].folder.name
        if len(group) == 1 and remaining[first].all():
            names.append(first)
            continue
        sources = [(segment, remaining[segment.folder.name]) for segment in group]
        copied = [f"{SEGMENTS}/{segment.folder.name}" for segment in group]
        require_intact(folder, (parts[path] for path in copied if path in parts))
        name, start = _merge(folder, sources).folder.name, 0
        names.append(name)
        for segment in group:
            targets[segment.folder.name] = _Target(name, start)
            start += int(remaining[segment.folder.name].sum())
    by_name = {segment.folder.name: segment for segment in segments}
    layers = [layer for layer in changes.layers if layer.segment in names]
    for layer in (*before.layers, *changes.layers):
        source = layer.segment
        if source in targets:
            require_intact(folder, [part] if (part := parts.get(f"{LAYERS}/{layer.name}")) else [])
            layers += _copy_layer(folder, layer, by_name[source], remaining[source], targets[source])
    if (folder / LAYERS).exists():
        sync_folder(folder / LAYERS)
    return Rewritten(tuple(names), layers)


def _period(segment: Segment) -> str:
    """The period of a segment, "" in an index that is not divided."""
    return period_of_segment(segment.folder.name) or ""


MAX_MERGED = 32
"""Maximum number of segments that are merged at once, since all of their files are open."""


def _merge(folder: Path, sources: Sequence[tuple[Segment, Mask]]) -> Segment:
    """Merge segments, each given with the mask of its remaining documents, of which there are some."""
    left = list(sources)
    while len(left) > MAX_MERGED:
        steps = [_merge(folder, part) for part in batched(left, MAX_MERGED)]
        left = [(step, np.ones(step.document_count, bool)) for step in steps]
    merged = merge_segments(folder, left)
    assert merged is not None
    return merged


def _remaining(segment: Segment, changes: Changes) -> Mask:
    """Mask of the documents of a segment that are not deleted."""
    mask = np.ones(segment.document_count, bool)
    mask[list(changes.deleted.get(segment.folder.name, ()))] = False
    return mask


def _group_segments(segments: Iterable[Segment], remaining: Mapping[str, Mask]) -> Iterator[list[Segment]]:
    """Group neighbouring segments. Each group becomes one segment.

    Without merging, every delivery would leave a small segment. Neighbours are merged so that each has more
    than twice as many terms as the next, unless the result would be too large. So a document is rewritten
    only a few times, and there are few segments.
    """
    groups: list[tuple[list[Segment], int, int]] = []
    for segment in segments:
        mask, lengths = remaining[segment.folder.name], segment.column("length")
        of_remaining = lengths if mask.all() else lengths[np.repeat(mask, np.diff(segment.column("first")))]
        terms = int(of_remaining.sum())
        groups.append(([segment], terms, (segment.folder / "texts.bytes").stat().st_size))
        while len(groups) > 1:
            (left, left_terms, left_bytes), (right, right_terms, right_bytes) = groups[-2:]
            terms, size = left_terms + right_terms, left_bytes + right_bytes
            is_full = terms > FULL_TERMS or size > FULL_BYTES
            if left_terms > 2 * right_terms or is_full:
                break
            groups[-2:] = [(left + right, terms, size)]
    yield from (group for group, _, _ in groups)


def _copy_layer(
    folder: Path, layer: LayerInfo, old: Segment, remaining: Mask, target: _Target
) -> Iterator[LayerInfo]:
    """Copy a layer of a rewritten segment, for its remaining documents."""
    start = target.start + int(remaining[: layer.start].sum())
    stop = start + int(remaining[layer.start : layer.stop].sum())
    if stop == start:
        return
    copy = LayerInfo(new_layer_name(), target.segment, start, stop, layer.parts, layer.recipe)
    covered = remaining[layer.start : layer.stop]
    sizes = np.diff(old.column("first"))[layer.start : layer.stop]
    sentences = None if covered.all() else np.repeat(covered, sizes)
    copy_layer(folder, layer, copy, sentences)
    yield copy
