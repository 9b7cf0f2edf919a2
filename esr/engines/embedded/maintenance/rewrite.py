"""Segments written again: without the documents that are dropped, and small neighbours as one.

Deliveries would otherwise leave a small segment each. Neighbours are joined so that each is more than twice
the next, as layers are: a document is written again a few times in all, and there are few segments.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esr.documents import Located
from esr.engines.segments.store import layer
from esr.engines.segments.store.arrays import sync_folder
from esr.engines.segments.store.layer import LAYERS, Layer, Row, Run
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment
from esr.engines.segments.writer import segment_builder as build
from esr.engines.segments.writer.prefetch import coming
from esr.engines.segments.writer.segment_writer import SegmentWriter

Dropped = dict[str, set[int]]
"""By the name of a segment: the numbers of the documents that it loses."""
Mask = npt.NDArray[np.bool_]


def rewritten(
    folder: Path,
    before: Manifest,
    fresh: Sequence[Segment],
    layers: Sequence[Run],
    dropped: Dropped,
    made: str,
    keep: int,
) -> Manifest:
    """The commit after `before`, of the generation `made`, with what stays and new segments after it.

    Segments and layers that it names and that are not there are written first. `layers` are those of
    `fresh`.
    """
    old = [Segment(folder / SEGMENTS / name) for name in before.segments]
    stay = {segment.folder.name: _staying(segment, dropped) for segment in (*old, *fresh)}
    names: list[str] = []
    moved: dict[str, tuple[str, int]] = {}
    for group in _groups([*old, *fresh], stay):
        (first, *others) = group
        if not others and stay[first.folder.name].all():
            names.append(first.folder.name)
            continue
        name, starts = _written(folder, before, group, stay)
        if name is not None:
            names.append(name)
            moved |= {old_name: (name, start) for old_name, start in starts.items()}
    gone = {segment.folder.name for segment in (*old, *fresh)} - set(names)
    segments = {segment.folder.name: segment for segment in (*old, *fresh)}
    carried: list[Run] = [run for run in layers if run.segment not in gone]
    for run in (*before.layers, *layers):
        if run.segment in moved:
            carried += _carried(folder, run, segments[run.segment], stay[run.segment], *moved[run.segment])
    if (folder / LAYERS).exists():
        sync_folder(folder / LAYERS)
    return before.next(made, tuple(names), before.description, carried, keep)


def _staying(segment: Segment, dropped: Dropped) -> Mask:
    """Which documents of a segment stay."""
    stay = np.ones(len(segment.documents), bool)
    stay[list(dropped.get(segment.folder.name, ()))] = False
    return stay


def _groups(segments: Iterable[Segment], stay: Mapping[str, Mask]) -> Iterator[list[Segment]]:
    """Neighbours that become one segment each, by how many terms they hold."""
    groups: list[tuple[list[Segment], int, int]] = []
    for segment in segments:
        kept = np.repeat(stay[segment.folder.name], np.diff(segment.column("first")))
        terms = int(segment.column("length")[kept].sum())
        groups.append(([segment], terms, (segment.folder / "texts.bytes").stat().st_size))
        while len(groups) > 1:
            (left, before, bytes_before), (right, after, bytes_after) = groups[-2:]
            terms, size = before + after, bytes_before + bytes_after
            if before > 2 * after or terms > build.FULL_TERMS or size > build.FULL_BYTES:
                break
            groups[-2:] = [(left + right, terms, size)]
    yield from (group for group, _, _ in groups)


def _written(
    folder: Path, before: Manifest, group: Sequence[Segment], stay: Mapping[str, Mask]
) -> tuple[str | None, dict[str, int]]:
    """Write a group as one segment: its name, None if nothing is left, and where each old one begins."""
    starts: dict[str, int] = {}
    documents = 0
    for segment in group:
        starts[segment.folder.name] = documents
        documents += int(stay[segment.folder.name].sum())
    staying = (
        Located("index", segment.document(number))
        for segment in group
        for number in np.flatnonzero(stay[segment.folder.name]).tolist()
    )
    writer = SegmentWriter(folder, before.description, again=True)
    with closing(coming(staying, before.description)) as ready:
        for each in ready:
            writer.add(each)
    writer.flush()
    return (writer.segments[0].folder.name if writer.segments else None), starts


def _carried(folder: Path, run: Run, old: Segment, stay: Mask, segment: str, start: int) -> Iterator[Run]:
    """A layer of a segment that was written again, for what stays of its documents."""
    new_start = start + int(stay[: run.start].sum())
    new_stop = new_start + int(stay[run.start : run.stop].sum())
    if new_stop == new_start:
        return
    new = Run(uuid.uuid4().hex[:12], segment, new_start, new_stop, run.parts, run.recipe)
    source, target = folder / LAYERS / run.name, folder / LAYERS / new.name
    if stay[run.start : run.stop].all():
        os.link(source, target)  # layers never change
    else:
        first = old.column("first")
        sizes = np.diff(first)[run.start : run.stop]
        at = np.flatnonzero(np.repeat(stay[run.start : run.stop], sizes))
        layer.save(target, rows(Layer(source), at, run.parts), run.parts)
    yield new


def rows(source: Layer, at: npt.NDArray[np.int64], parts: Sequence[str]) -> list[Row]:
    """What a layer holds of these sentences."""
    columns = {name: column[at].astype(float).tolist() for name, column in source.features.items()}
    parses = source.parses(at) if "parse" in parts else [None] * len(at)
    return [
        Row(
            {name: column[n] for name, column in columns.items() if column[n] == column[n]},
            source.entities(number) if "entities" in parts else None,
            parses[n],
        )
        for n, number in enumerate(at.tolist())
    ]
