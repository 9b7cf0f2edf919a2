"""The generations of an index folder: what its manifest names, and what a load is writing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from esr.engines.generations import (
    BROKEN,
    KEPT,
    LOADING,
    SERVING,
    Generation,
    deletable,
    target,
)
from esr.engines.segments.store import checkpoint, manifest
from esr.engines.segments.store.disk import disk_errors
from esr.engines.segments.store.layer import LAYERS
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment, SegmentBroken
from esr.errors import IndexUnusable


class EmbeddedGenerations:
    """What stands in a folder."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._folder = Path(where)
        self._mine = False
        manifest.read_any(self._folder)

    def all(self) -> list[Generation]:
        while True:
            last = manifest.read_any(self._folder)
            try:
                return self._all(last)
            except (SegmentBroken, FileNotFoundError):
                if manifest.read_any(self._folder) == last:
                    raise  # else a writer committed and swept meanwhile

    def _all(self, last: Manifest) -> list[Generation]:
        found = [self._of(each, KEPT) for each in last.kept]
        if last.segments:
            found.append(self._of(last, SERVING))
        begun = self._begun(last)
        return sorted([*found, *([begun] if begun else [])], key=lambda each: each.name, reverse=True)

    def rollback(self, to: str | None = None) -> Generation:
        with self._writing("roll back"):
            chosen = target(self.all(), to, str(self._folder))
            manifest.commit(self._folder, manifest.read_any(self._folder).back_to(chosen.name))
        return chosen

    def delete(self, names: Sequence[str]) -> None:
        with self._writing("delete"):
            doomed = deletable(self.all(), names, str(self._folder))
            if any(each.state == BROKEN for each in doomed):
                checkpoint.remove(self._folder)
            gone = {each.name for each in doomed if each.state == KEPT}
            if gone:
                manifest.commit(self._folder, manifest.read_any(self._folder).without(gone))
            manifest.sweep(self._folder)

    def delete_all(self) -> None:
        with self._writing("delete"):
            last = manifest.read_any(self._folder)
            checkpoint.remove(self._folder)
            # An empty index first: what is left by a kill can be loaded into, or deleted again.
            manifest.commit(self._folder, Manifest(last.description, generation=last.generation + 1))
            manifest.sweep(self._folder)
            manifest.remove(self._folder)

    def close(self) -> None:
        """Nothing to let go of."""

    @contextmanager
    def _writing(self, verb: str) -> Iterator[None]:
        with disk_errors(self._folder, verb), manifest.lock(self._folder):
            self._mine = True
            try:
                yield
            finally:
                self._mine = False

    def _of(self, commit: Manifest, state: str) -> Generation:
        segments = [Segment(self._folder / SEGMENTS / name) for name in commit.segments]
        files = [file for segment in segments for file in segment.folder.iterdir()]
        files += [self._folder / LAYERS / run.name for run in commit.layers]
        return Generation(
            commit.made,
            state,
            sum(len(segment.documents) for segment in segments),
            sum(segment.sentence_count for segment in segments),
            sum(file.stat().st_size for file in files),
        )

    def _begun(self, last: Manifest) -> Generation | None:
        """The load that is under way or was cut off, if there is one."""
        begun = checkpoint.read(self._folder)
        if begun is not None and begun.made == last.made:
            begun = None  # its commit is there
        places = manifest.unnamed(self._folder, last)
        if begun is not None:
            places += [self._folder / SEGMENTS / name for name in begun.segments]
            places += [self._folder / LAYERS / run.name for run in begun.layers]
        if begun is None and not places:
            return None
        name = begun.made if begun else _since(places)
        state = LOADING if self._is_locked() else BROKEN
        return Generation(name, state, begun.documents if begun else None, None, sum(map(_size, places)))

    def _is_locked(self) -> bool:
        """Whether another writer is at work."""
        if self._mine:
            return False
        try:
            with manifest.lock(self._folder):
                return False
        except IndexUnusable:
            return True


def _since(places: Iterable[Path]) -> str:
    """A name for what an older esr left."""
    oldest = min(place.stat().st_mtime for place in places)
    return datetime.fromtimestamp(oldest, UTC).strftime("%Y%m%dt%H%M%S%f")


def _size(place: Path) -> int:
    files = place.iterdir() if place.is_dir() else [place]
    return sum(os.stat(file).st_size for file in files)
