"""Maintenance of an index folder: its generations and priors, its verification, and its backups.

The generations are those in the manifest, and the one that a load is writing. A backup is itself an index
folder. Segments and layers never change, so a backup copies those that it lacks, and then the manifest. If a
writer deletes files meanwhile, there is a newer commit, and the copy starts again from that.

A slice is a share of the segments and layers. Several machines can verify one each, or copy one each into a
backup, or from one, which the next run without a slice commits.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from msgspec.structs import replace

from esr.disk_errors import NO_SPACE
from esr.errors import EsrError, IndexMissing, IndexUnusable, UsageError
from esr.folder.format import manifest
from esr.folder.format.checkpoint import CHECKPOINT_NAME, read_checkpoint, remove_checkpoint
from esr.folder.format.clean_up import delete_unreferenced, list_unreferenced, remove_index
from esr.folder.format.damage import (
    Damage,
    Part,
    SegmentDamaged,
    find_damage,
    parts_of,
    read_checks,
    require_intact,
)
from esr.folder.format.files import (
    FileCheck,
    Unopened,
    check_file,
    copy_file,
    create_folder,
    link_file,
    replace_json,
    size_on_disk,
    sync_folder,
    translate_disk_errors,
)
from esr.folder.format.layer_info import LAYERS
from esr.folder.format.layers import Layer
from esr.folder.format.manifest import (
    BACKUP_NAME,
    MANIFEST_NAME,
    RESTORE_NAME,
    SEGMENTS,
    Manifest,
    ManifestDamaged,
    is_bare,
    read_any_format,
    read_mark,
)
from esr.folder.format.segment import Segment, read_counts
from esr.folder.format.writer_lock import OTHER_LOAD, hold_writer_lock, is_being_written
from esr.index.generations import (
    BROKEN,
    KEPT,
    LOAD_OVER,
    LOADING,
    SERVING,
    CopyReport,
    Damaged,
    Drift,
    Generation,
    OnProgress,
    RefreshReport,
    Verification,
    find_rollback_target,
    generation_name,
    select_deletable,
)
from esr.locks import take_lock
from esr.processes import map_together

Slice = tuple[int, int]
"""(i, n), the i-th of n slices, from 1."""


class EmbeddedGenerations:
    """Lists, restores and deletes the generations of a folder."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing or IndexUnusable."""
        self._folder = Path(where)
        self._has_lock = False
        manifest.read_any_format(self._folder)

    def all(self) -> list[Generation]:
        before: list[Generation] = []
        while True:
            commit = manifest.read_any_format(self._folder)
            try:
                generations = self._all(commit)
                is_intact = not any(g.missing or g.state == BROKEN for g in generations)
                if is_intact or (generations == before and manifest.read_any_format(self._folder) == commit):
                    return generations
                # A writer may have committed meanwhile, deleted files of the old commit, or ended.
                before = generations
            except FileNotFoundError:
                continue  # a load has failed meanwhile, and deleted its files

    def _all(self, commit: Manifest) -> list[Generation]:
        generations = [self._generation(former, KEPT) for former in commit.kept_generations]
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
            kept_names = doomed & {generation.generation_name for generation in commit.kept_generations}
            if doomed - kept_names:
                remove_checkpoint(self._folder)
            self._shrink(commit.without_generations(kept_names) if kept_names else commit)

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
            is_there = manifest.read_any_format(self._folder).commit_number == commit.commit_number
            delete_unreferenced(self._folder, None if is_there else commit)
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
        layers = [self._folder / LAYERS / name for name in commit.layer_files]
        missing += (layer for layer in layers if not layer.exists())
        damaged = [d.path for part in parts_of(commit) for d in find_damage(self._folder, part, read=False)]
        damaged = [path for path in damaged if (self._folder / path).exists()]
        parts = [path.relative_to(self._folder) for path in missing]
        lost = [part for part in parts if not any(Path(path).is_relative_to(part) for path in damaged)]
        incomplete = [f"a file of {part}" for part in lost] + [f"an intact {path}" for path in damaged]
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
        return not self._has_lock and is_being_written(self._folder)


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


# Verification, backup and restoration


def verify(folder: Path, *, fast: bool, slice: Slice | None = None, workers: int = 1) -> Verification:
    """Compare all files of an index with their checksums. With `fast`, see `Verification.is_fast`.

    With a slice, compare its segments and layers, the manifest and the checkpoint. `workers` threads read.
    Files that may not be opened are noted. Raises IndexMissing, or IndexUnusable if the folder is no index or
    its manifest or checkpoint may not be opened.
    """
    started = time.perf_counter()
    try:
        commit = read_any_format(folder)
    except ManifestDamaged as error:
        damage = Damaged(MANIFEST_NAME, error.problem)
        advice = ManifestDamaged.ADVICE
        return Verification(1, 0, fast, (damage,), advice=advice, slice=_format_slice(slice))
    files, size = 1, (folder / MANIFEST_NAME).stat().st_size
    damaged: list[Damaged] = []
    unknown: list[str] = []
    unopened: list[str] = []
    all_parts = _all_parts(folder, commit)
    parts = [part for part in all_parts if part.is_in(slice)]
    problems_of_parts = map_together(
        lambda part: [*_verify_part(folder, part, fast, unopened)], parts, workers
    )
    for part, problems in zip(parts, problems_of_parts, strict=True):
        if problems and _is_gone(folder, part):
            continue  # a writer has deleted it meanwhile
        damaged += [Damaged(path, problem, all_parts[part]) for path, problem in problems]
        if part.check is None:
            unknown.append(part.path)
        with suppress(PermissionError):  # it is noted
            path = folder / part.path
            for file in filter(Path.exists, path.iterdir() if path.is_dir() else [path]):
                files, size = files + 1, size + file.stat().st_size
    damaged += _verify_checkpoint(folder)
    return Verification(
        files,
        size,
        fast,
        tuple(damaged),
        tuple(unknown),
        _advise(commit, damaged) if slice is None else _ADVICE_OF_SLICE * bool(damaged),
        time.perf_counter() - started,
        _format_slice(slice),
        len(parts),
        len(all_parts),
        tuple(sorted(unopened)),
    )


_ADVICE_OF_SLICE = f"verify the other slices too, then restore a backup with esr restore, or {LOAD_OVER}"
"""A slice does not know which generations are intact."""


def _format_slice(slice: Slice | None) -> str | None:
    return slice and f"{slice[0]}/{slice[1]}"


def _all_parts(folder: Path, commit: Manifest) -> dict[Part, tuple[str, ...]]:
    """The parts of all generations and of an interrupted load, each with the names of its generations."""
    unfinished = read_checkpoint(folder)
    loads = [] if unfinished is None else [unfinished.as_manifest()]
    return _parts(commit, *commit.kept_generations, *loads)


def _parts(*commits: Manifest) -> dict[Part, tuple[str, ...]]:
    """The parts of these commits, each with the names of its generations."""
    parts: dict[str, Part] = {}
    generations: dict[str, list[str]] = {}
    for commit in commits:
        for part in parts_of(commit):
            if part.path not in parts or parts[part.path].check is None:
                parts[part.path] = part
            generations.setdefault(part.path, []).append(commit.generation_name)
    return {part: tuple(dict.fromkeys(generations[path])) for path, part in parts.items()}


def _verify_part(folder: Path, part: Part, fast: bool, unopened: list[str]) -> Iterator[Damage]:
    if part.check is not None:
        yield from find_damage(folder, part, read=not fast, unopened=unopened)
    elif not (folder / part.path).exists():
        yield Damage(part.path, "it is missing")
    else:
        try:
            if part.is_layer:
                Layer(folder / part.path)
            else:
                segment = Segment(folder / part.path).map_files()
                for number in range(0 if fast else segment.document_count):
                    segment.stored_document(number)
        except SegmentDamaged as error:
            yield Damage(part.path, error.problem)
        except Unopened as error:
            unopened.append(str(error))
        except Exception as error:  # a damaged file may raise anything in its reader
            yield Damage(part.path, f"it cannot be read ({type(error).__name__})")


def _verify_checkpoint(folder: Path) -> Iterator[Damaged]:
    is_unreadable = (folder / CHECKPOINT_NAME).exists() and read_checkpoint(folder) is None
    if is_unreadable and (folder / CHECKPOINT_NAME).exists():  # otherwise the load has ended meanwhile
        problem = "it cannot be read: the interrupted load cannot be resumed, load again"
        yield Damaged(CHECKPOINT_NAME, problem)


def _is_gone(folder: Path, part: Part) -> bool:
    """Whether neither the last commit nor an interrupted load includes a part any more."""
    try:
        return part.path not in {other.path for other in _all_parts(folder, read_any_format(folder))}
    except EsrError:
        return False


def _advise(commit: Manifest, damaged: Sequence[Damaged]) -> str:
    hit = {name for part in damaged for name in part.generations}
    if not hit:
        return ""
    if commit.generation_name not in hit:
        return f"the serving generation is intact: delete {', '.join(sorted(hit))} with esr delete"
    kept_names = (kept_generation.generation_name for kept_generation in commit.kept_generations)
    intact = next((f"go back with esr rollback --to {name}, " for name in kept_names if name not in hit), "")
    return f"{intact}restore a backup with esr restore, or {LOAD_OVER}"


# Backups


def back_up(
    source: Path, target: Path, *, copy: bool, slice: Slice | None = None, workers: int = 1
) -> CopyReport:
    """Bring a backup up to date with the last commit of an index, with all of its generations.

    Files are linked where the target is on the same disk, unless `copy` is set, and compared with their
    checksums. `workers` threads do so. Raises SegmentDamaged; then the backup stays as it was.

    With a slice, only copy its segments and layers. The backup stays as it was until a run without a slice,
    which finds them there. Several slices may be copied at once.
    """
    commit = read_any_format(source)
    if not commit.has_index:
        raise UsageError(f"{source} holds no documents: there is nothing to back up")
    origin = str(source.resolve())
    if target.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{target} is in the index itself: choose another place for the backup")
    is_free = not target.exists() or (target.is_dir() and is_bare(target))
    if read_mark(target / BACKUP_NAME) is None and not is_free:  # read last: a slice may write it now
        raise UsageError(f"{target} is not a backup: choose a new or empty folder")
    _write_mark(target / BACKUP_NAME, origin, "back up")
    mark = read_mark(target / BACKUP_NAME)
    if mark != origin:
        raise UsageError(f"{target} is the backup of {mark}: choose another folder, or delete it first")
    with _locked(target, "back up", others=_OTHER_BACKUP, shared=slice is not None):
        return _replicate(source, target, slice, link=not copy, read=False, workers=workers)


_OTHER_BACKUP = "another backup, or a slice of it, into {}"


def _write_mark(path: Path, origin: str, command: str) -> None:
    """Mark a folder without an index, unless it is marked.

    Several slices may begin at once, so one writes the mark. It locks the file that becomes the mark, not the
    folder: another slice that sees the mark can lock the folder at once.
    """
    folder, new = path.parent, path.with_name(f"{path.name}.new")
    if read_mark(path) is not None or (folder / MANIFEST_NAME).exists():
        return
    with translate_disk_errors(folder, command, "is not complete"):
        create_folder(folder)
        with new.open("a+") as file:
            take_lock(file, wait=True)
            if read_mark(path) is None and not (folder / MANIFEST_NAME).exists():
                replace_json(path, {"of": origin})
        new.unlink(missing_ok=True)  # of a slice that came too late


def restore(
    source: Path,
    target: Path,
    *,
    copy: bool,
    fast: bool = False,
    slice: Slice | None = None,
    workers: int = 1,
) -> CopyReport:
    """Create an index from a backup, or restore an existing one. Intact parts are not copied.

    With `fast`, parts that are there already are compared as in `Verification.is_fast`. `workers` threads
    copy. Raises SegmentDamaged if the backup is damaged; then the index stays as it was.

    With a slice, only copy its segments and layers, as `back_up` does.
    """
    try:
        read_any_format(source)
    except IndexMissing:
        problem = f"there is no backup at {source}: name the folder that esr backup has written"
        raise IndexMissing(problem) from None
    if target.resolve() == source.resolve():
        raise UsageError(f"{target} is the backup itself: choose another folder")
    if read_mark(target / BACKUP_NAME) is not None:
        raise UsageError(f"{target} is itself a backup: choose another folder")
    if target.exists() and not is_replaceable(target):
        raise IndexUnusable(f"{target} is not an index: choose a new folder or that of an index")
    _write_mark(target / RESTORE_NAME, str(source.resolve()), "restore")
    with _locked(target, "restore", others=_OTHER_RESTORE, shared=slice is not None):
        report = _replicate(source, target, slice, link=not copy, read=not fast, workers=workers)
        if slice is None:
            (target / RESTORE_NAME).unlink(missing_ok=True)
        return report


def is_restore_unfinished(folder: Path) -> bool:
    """Whether a folder has no index yet, but what a killed restoration or slices of one have copied."""
    return (folder / RESTORE_NAME).exists() and not (folder / MANIFEST_NAME).exists()


_OTHER_RESTORE = "another load into {}, its enrichment, or another restore of it,"


def is_replaceable(folder: Path) -> bool:
    """Whether a folder is empty or holds an index, possibly a damaged one."""
    return folder.is_dir() and (
        is_bare(folder)
        or (folder / SEGMENTS).is_dir()
        or any((folder / name).exists() for name in (MANIFEST_NAME, RESTORE_NAME))
    )


@contextmanager
def _locked(folder: Path, command: str, *, others: str = OTHER_LOAD, shared: bool = False) -> Iterator[None]:
    with ExitStack() as stack:
        state = "is unchanged" if (folder / MANIFEST_NAME).exists() else "is not complete"
        stack.enter_context(translate_disk_errors(folder, command, state))
        if not (folder / MANIFEST_NAME).exists():
            create_folder(folder)
        stack.enter_context(hold_writer_lock(folder, shared=shared, others=others))
        yield


def _replicate(
    source: Path, target: Path, slice: Slice | None, *, link: bool, read: bool, workers: int
) -> CopyReport:
    """Copy the parts of the last commit of `source` that `target` lacks, and commit there; a slice does not.

    With `read`, existing parts of the target are read, and replaced if damaged.
    """
    if slice is not None:
        return _copy_parts(source, target, slice, link=link, read=read, workers=workers).report
    for path in (path for name in (SEGMENTS, LAYERS) for path in (target / name).glob("*.*")):
        if path.suffix in (_NEW, _OLD):  # a killed run left it
            _delete(path)
    commit, report = _copy_parts(source, target, None, link=link, read=read, workers=workers)
    remove_checkpoint(target)
    manifest.commit(target, replace(commit, commit_number=max(commit.commit_number, _next_number(target))))
    delete_unreferenced(target)
    counts = [read_counts(target / SEGMENTS / name) for name in commit.segments]
    return replace(
        report,
        documents=sum(documents for documents, _ in counts),
        sentences=sum(sentences for _, sentences in counts),
        generations=1 + len(commit.kept_generations),
    )


class _Copied(NamedTuple):
    """A commit of which parts were copied, and how."""

    commit: Manifest
    report: CopyReport


def _copy_parts(
    source: Path, target: Path, slice: Slice | None, *, link: bool, read: bool, workers: int
) -> _Copied:
    """Copy a slice of the parts of the last commit of `source` that `target` lacks, without a commit."""
    started = time.perf_counter()
    done: dict[Part, tuple[str, int]] = {}

    def copy(part: Part) -> None:
        done[part] = _replicate_part(source, target, part, link=link, read=read)

    for name in (SEGMENTS, LAYERS):
        (target / name).mkdir(exist_ok=True)
    while True:
        commit = read_any_format(source)
        all_parts = _parts(commit, *commit.kept_generations)
        parts = [part for part in all_parts if part.is_in(slice)]
        try:
            map_together(copy, (part for part in parts if part not in done), workers)
            break
        except (FileNotFoundError, SegmentDamaged) as error:
            if read_any_format(source) == commit:
                if isinstance(error, SegmentDamaged):
                    raise
                raise SegmentDamaged(Path(error.filename)) from error
            # A writer has committed meanwhile, and deleted files of the old commit.
    for name in (SEGMENTS, LAYERS):
        sync_folder(target / name)
    sizes: Counter[str] = Counter()
    for way, size in done.values():
        sizes[way] += size
    report = CopyReport(
        None,
        None,
        None,
        sizes["copied"],
        sizes["linked"],
        sizes["present"],
        time.perf_counter() - started,
        _format_slice(slice),
        len(parts),
        len(all_parts),
    )
    return _Copied(commit, report)


def _next_number(folder: Path) -> int:
    """The number of the next commit, 0 without a readable commit."""
    try:
        return read_any_format(folder).commit_number + 1
    except EsrError:
        return 0


_NEW, _OLD = ".new", ".old"
"""The ends of the names of parts that are being copied, and of those that are being replaced."""


def _replicate_part(source: Path, target: Path, part: Part, *, link: bool, read: bool) -> tuple[str, int]:
    """Copy or link a segment or a layer, if the target lacks it. Returns the method and the size in bytes.

    It gets its name when it is complete. Raises SegmentDamaged or FileNotFoundError.
    """
    target_part = target / part.path
    is_present = target_part.exists() and (part.check is not None or not read)
    if is_present and not any(find_damage(target, part, read=read)):
        return "present", size_on_disk(target_part)
    checks = read_checks(source, part) if part.check is not None else {}
    run = token_hex(4)  # slices of another division may copy it at the same time
    new, old = (target_part.with_name(f"{target_part.name}.{run}{suffix}") for suffix in (_NEW, _OLD))
    is_linked = link
    try:
        if part.is_layer:
            is_linked = _replicate_file(source, part.path, new, checks, link)
        else:
            new.mkdir()
            names = [path.rpartition("/")[2] for path in checks] or sorted(os.listdir(source / part.path))
            for name in names:
                is_linked = _replicate_file(source, f"{part.path}/{name}", new / name, checks, is_linked)
            sync_folder(new)
        if target_part.exists():
            os.replace(target_part, old)
        os.replace(new, target_part)
    finally:
        _delete(new)  # after an error: a disk that is full keeps no part that nobody can use
    _delete(old)
    return "linked" if is_linked else "copied", size_on_disk(target_part)


def _replicate_file(
    folder: Path, path: str, target: Path, checks: Mapping[str, FileCheck], link: bool
) -> bool:
    """Link or copy a file, and compare it with its check if it has one. Returns whether it was linked."""
    is_linked = link and link_file(folder / path, target)
    check = check_file(target) if is_linked else copy_file(folder / path, target)
    expected = checks.get(path)
    if expected is not None and check[:2] != expected[:2]:
        raise SegmentDamaged(folder / path, "its checksum does not match")
    return is_linked


def _delete(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
