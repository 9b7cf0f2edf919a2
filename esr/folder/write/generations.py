"""The generations of an index folder, and its priors.

The generations are those in the manifest, and the one that a load is writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from esr.errors import IndexUnusable
from esr.folder.format import manifest
from esr.folder.format.checksums import SegmentDamaged, find_damage, parts_of, require_intact
from esr.folder.format.files import NO_SPACE, size_on_disk, translate_disk_errors
from esr.folder.format.manifest import (
    LAYERS,
    SEGMENTS,
    Manifest,
    delete_unreferenced,
    hold_writer_lock,
    list_unreferenced,
    read_checkpoint,
    remove_checkpoint,
    remove_index,
)
from esr.folder.format.segment import read_counts
from esr.index.generations import (
    BROKEN,
    KEPT,
    LOADING,
    SERVING,
    Drift,
    Generation,
    OnProgress,
    RefreshReport,
    find_rollback_target,
    generation_name,
    select_deletable,
)


class EmbeddedGenerations:
    """Lists, restores and deletes the generations of a folder."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._folder = Path(where)
        self._has_lock = False
        manifest.read_any_format(self._folder)

    def all(self) -> list[Generation]:
        while True:
            commit = manifest.read_any_format(self._folder)
            try:
                generations = self._all(commit)
                is_complete = not any(generation.missing for generation in generations)
                if is_complete or manifest.read_any_format(self._folder) == commit:
                    return generations
                # A writer has committed meanwhile, and deleted files of the old commit.
            except FileNotFoundError:
                continue  # a load has failed meanwhile, and deleted its files

    def _all(self, commit: Manifest) -> list[Generation]:
        generations = [self._generation(kept, KEPT) for kept in commit.kept_generations]
        if commit.has_index:
            generations.append(self._generation(commit, SERVING))
        unfinished = self._unfinished(commit)
        if unfinished is not None:
            generations.append(unfinished)
        return sorted(generations, key=lambda generation: generation.name, reverse=True)

    def rollback(self, to: str | None = None) -> Generation:
        with self._locked("roll back"):
            target = find_rollback_target(self.all(), to, str(self._folder))
            commit = manifest.read_any_format(self._folder).rolled_back_to(target.name)
            require_intact(self._folder, parts_of(commit))
            manifest.commit(self._folder, commit)
        return target

    def delete(self, names: Sequence[str]) -> None:
        with self._locked("delete"):
            selected = select_deletable(self.all(), names, str(self._folder))
            commit = manifest.read_any_format(self._folder)
            doomed = {generation.name for generation in selected}
            kept = doomed & {generation.generation_name for generation in commit.kept_generations}
            if doomed - kept:
                remove_checkpoint(self._folder)
            self._shrink(commit.without_generations(kept) if kept else commit)

    def delete_all(self) -> None:
        with self._locked("delete"):
            last = manifest.read_any_format(self._folder)
            remove_checkpoint(self._folder)
            # Commit an empty index first: if this process is killed, the index can be loaded or deleted.
            self._shrink(Manifest(last.description, commit_number=last.commit_number + 1))
            remove_index(self._folder)

    def close(self) -> None:
        """There is nothing to release."""

    @contextmanager
    def _locked(self, command: str) -> Iterator[None]:
        with translate_disk_errors(self._folder, command), hold_writer_lock(self._folder):
            self._has_lock = True
            try:
                yield
            finally:
                self._has_lock = False

    def _shrink(self, commit: Manifest) -> None:
        """Commit a manifest that refers to a subset of the last one's files, and delete the rest.

        If the disk is too full for the new manifest, the rest is deleted first. If the process is killed in
        between, the generations with missing files are shown as broken and can be deleted.
        """
        try:
            manifest.commit(self._folder, commit)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            delete_unreferenced(self._folder, commit)
            manifest.commit(self._folder, commit)
        delete_unreferenced(self._folder)

    def _generation(self, commit: Manifest, state: str) -> Generation:
        counts, missing = [], []
        folders = [self._folder / SEGMENTS / name for name in commit.segments]
        for folder in folders:
            try:
                counts.append(read_counts(folder))
            except SegmentDamaged:
                missing.append(folder)
        layers = [self._folder / LAYERS / layer.name for layer in commit.layers]
        missing += (layer for layer in layers if not layer.exists())
        damaged = [d for part in parts_of(commit) for d in find_damage(self._folder, part, read=False)]
        incomplete = [f"a file of {path.relative_to(self._folder)}" for path in missing]
        incomplete += [f"an intact {damage.path}" for damage in damaged if not incomplete]
        return Generation(
            commit.generation_name,
            BROKEN if incomplete and state == KEPT else state,
            None if missing else sum(documents for documents, _ in counts),
            None if missing else sum(sentences for _, sentences in counts),
            sum(size_on_disk(path) for path in (*folders, *layers) if path.exists()),
            is_rejected=commit.is_rejected,
            missing=tuple(incomplete),
        )

    def _unfinished(self, commit: Manifest) -> Generation | None:
        """The load that is running or was interrupted, None if there is none."""
        last = read_checkpoint(self._folder)
        if last is not None and last.generation_name == commit.generation_name:
            last = None  # it has committed
        paths = list_unreferenced(self._folder, commit)
        if last is not None:
            paths += [self._folder / SEGMENTS / name for name in last.segments]
            paths += [self._folder / LAYERS / layer.name for layer in last.layers]
        if last is None and not paths:
            return None
        name = last.generation_name if last else _name_by_age(paths)
        state = LOADING if self._is_locked() else BROKEN
        size = sum(map(size_on_disk, paths))
        documents = last.documents if last else None
        return Generation(name, state, documents, None, size, is_known_alive=state == LOADING)

    def _is_locked(self) -> bool:
        """Whether another writer is running."""
        if self._has_lock:
            return False
        try:
            with hold_writer_lock(self._folder):
                return False
        except IndexUnusable:
            return True


def _name_by_age(paths: Iterable[Path]) -> str:
    """Derive a generation name from the age of files that a load without a checkpoint has left."""
    oldest = min(path.stat().st_mtime for path in paths)
    return generation_name(datetime.fromtimestamp(oldest, UTC))


class EmbeddedPriors:
    """The importance priors of an index folder. They are computed from p(t|C) when a commit is first used.

    So they never drift, and need no refresh.
    """

    def __init__(self, where: str) -> None:
        """Raises IndexMissing or IndexUnusable."""
        manifest.read_manifest(Path(where))

    def drift(self) -> list[Drift]:
        return []

    def refresh(self, on_progress: OnProgress) -> RefreshReport:
        return RefreshReport(
            notes=["an index folder always computes its priors exactly: there is nothing to do"]
        )

    def close(self) -> None:
        """There is nothing to release."""
