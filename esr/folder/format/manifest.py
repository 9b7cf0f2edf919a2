"""The manifest of an index folder, which lists the segments and layers of a commit, and other small files.

Replacing the manifest is the commit. The checkpoint of a load is replaced only after a segment and its layer
are on disk, so everything it lists exists. A lock file admits one writer at a time. Segments and layers to
which neither manifest nor checkpoint refers may be deleted.

Damage is found by comparing the files of a commit with their recorded sizes and checksums. The manifest has
the checksum of each layer, and of each segment's table of checksums.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict, replace

from esr.errors import IndexMissing, IndexUnusable
from esr.folder.format.files import (
    FileCheck,
    Numbers,
    check_file,
    decode_sealed,
    recorded_check,
    replace_json,
)
from esr.index.withdrawn import NONE_WITHDRAWN, Withdrawn
from esr.index.writer import Description, outdated_analyzer
from esr.locks import is_locked, take_lock
from esr.processes import map_together

LAYERS = "layers"
"""The subfolder of the layers."""


class LayerInfo(Struct, frozen=True):
    """The manifest's entry of a layer, which covers documents `start` to `stop` (exclusive) of a segment.

    `recipe` is the digest of the recipe that made it, None for enrichment that came with the documents.
    """

    name: str
    segment: str
    start: int
    stop: int
    parts: tuple[str, ...]
    recipe: str | None

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> LayerInfo:
        return cls(**{**fields, "parts": tuple(fields["parts"])})

    @property
    def documents(self) -> int:
        return self.stop - self.start

    def overlaps(self, other: LayerInfo) -> bool:
        share_parts = self.segment == other.segment and set(self.parts) & set(other.parts)
        return bool(share_parts) and self.start < other.stop and other.start < self.stop


def new_layer_name() -> str:
    """Generate a unique name for a layer's file."""
    return uuid.uuid4().hex[:12]


def resolve_owners(layers: Sequence[LayerInfo], part: str, documents: int) -> Numbers:
    """The index of the layer that applies to each document for a part, -1 for none.

    Of several layers with the part, the last one applies.
    """
    owners = np.full(documents, -1)
    for number, layer in enumerate(layers):
        if part in layer.parts:
            owners[layer.start : layer.stop] = number
    return owners


def split_by_owner(owners: Numbers) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of documents with the same owner, as start, stop and owner.

    Documents without an owner are skipped.
    """
    borders = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(owners)]
    for start, stop in pairwise(borders):
        if stop > start and owners[start] >= 0:
            yield start, stop, int(owners[start])


# The manifest

MANIFEST_NAME = "esr-index.json"
BACKUP_NAME = "esr-backup.json"
"""The file that marks a folder as a backup, and names the folder that it is a backup of."""
FORMAT = 5
SEGMENTS = "segments"
"""The subfolder of the segments."""
CHECKSUMS = "checksums.json"
"""The file of a segment with the checks of its other files."""
UNNAMED = "0"
"""The name of the generation before the first load."""


class Manifest(Struct, frozen=True):
    """A commit of an index.

    `layers` are in the order in which they were written: later ones take precedence. `recipes` are by digest.
    `generation_name` is the name shown by `esr indices`; enrichment adds commits to a generation.
    `kept_generations` are the last commits of other generations, newest first, rejected ones last; their own
    `kept_generations` are empty. `is_rejected` marks a generation that a rollback has skipped. `aliases` maps
    the displayed form of a name to its aliases, `short_forms` the key of one to the keys of its short forms.
    `withdrawn` are the documents that were removed for good.
    `checksums` has the checks of the segments' tables of checksums and of the layers, by path. What an older
    version has written has none.
    """

    description: Description
    segments: tuple[str, ...] = ()
    commit_number: int = 0
    layers: tuple[LayerInfo, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    format: int = field(default_factory=lambda: FORMAT)
    generation_name: str = UNNAMED
    kept_generations: tuple[Manifest, ...] = ()
    is_rejected: bool = False
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    short_forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    checksums: Mapping[str, FileCheck] = field(default_factory=dict)
    withdrawn: Withdrawn = NONE_WITHDRAWN

    @property
    def has_index(self) -> bool:
        """Whether it belongs to a generation, possibly without documents. False before the first load."""
        return bool(self.segments) or self.generation_name != UNNAMED

    @property
    def newest_name(self) -> str:
        """The greatest generation name of this commit and the kept ones."""
        return max(commit.generation_name for commit in (self, *self.kept_generations))

    def next_generation(
        self,
        name: str,
        segments: tuple[str, ...],
        description: Description,
        layers: Iterable[LayerInfo] = (),
        keep: int = 0,
    ) -> Manifest:
        """The first commit of a new generation.

        `layers` are those of the new segments. Segments reused from this commit retain theirs. The `keep`
        newest generations are kept, starting with this one.
        """
        retained = (layer for layer in self.layers if layer.segment in segments)
        commit = Manifest(
            description,
            segments,
            self.commit_number + 1,
            (*retained, *layers),
            self.recipes,
            generation_name=name,
            kept_generations=self._all_generations()[:keep],
            aliases=self.aliases,
            short_forms=self.short_forms,
            checksums=self.checksums,
            withdrawn=self.withdrawn,
        )
        return commit._without_unused_recipes()

    def with_layers(
        self, layers: tuple[LayerInfo, ...], recipes: Mapping[str, Mapping[str, Any]]
    ) -> Manifest:
        """The next commit, with the same documents and these layers."""
        commit = replace(self, commit_number=self.commit_number + 1, layers=layers, recipes=recipes)
        return commit._without_unused_recipes()

    def with_aliases(self, aliases: Mapping[str, Sequence[str]]) -> Manifest:
        """The next commit, with these aliases of names, or this commit if they are unchanged."""
        if aliases == self.aliases:
            return self
        return replace(self, commit_number=self.commit_number + 1, aliases=aliases)

    def with_short_forms(self, short_forms: Mapping[str, Sequence[str]]) -> Manifest:
        """The next commit, with these short forms of names, or this commit if they are unchanged."""
        if short_forms == self.short_forms:
            return self
        return replace(self, commit_number=self.commit_number + 1, short_forms=short_forms)

    def with_withdrawn(self, withdrawn: Withdrawn) -> Manifest:
        """The next commit, with these documents removed for good, or this commit if they are unchanged."""
        if withdrawn == self.withdrawn:
            return self
        return replace(self, commit_number=self.commit_number + 1, withdrawn=withdrawn)

    def rolled_back_to(self, name: str) -> Manifest:
        """The next commit, which serves a kept generation, keeps the current one and rejects newer ones."""
        generations = self._all_generations()
        (target,) = (commit for commit in generations if commit.generation_name == name)
        others = tuple(
            replace(commit, is_rejected=commit.is_rejected or commit.generation_name > name)
            for commit in generations
            if commit.generation_name != name
        )
        return replace(
            target, commit_number=self.commit_number + 1, kept_generations=others, is_rejected=False
        )

    def without_generations(self, names: Container[str]) -> Manifest:
        """The next commit, without these kept generations."""
        kept = tuple(commit for commit in self.kept_generations if commit.generation_name not in names)
        return replace(self, commit_number=self.commit_number + 1, kept_generations=kept)

    def _all_generations(self) -> tuple[Manifest, ...]:
        """This generation, if any, and the kept ones, newest first, rejected ones last."""
        own = (replace(self, kept_generations=()),) if self.has_index else ()
        newest_first = sorted(
            (*own, *self.kept_generations), key=lambda commit: commit.generation_name, reverse=True
        )
        return tuple(sorted(newest_first, key=lambda commit: commit.is_rejected))

    @property
    def checked_files(self) -> list[str]:
        """The paths of the files whose checks `checksums` holds."""
        tables = [f"{SEGMENTS}/{name}/{CHECKSUMS}" for name in self.segments]
        return [*tables, *(f"{LAYERS}/{layer.name}" for layer in self.layers)]

    def with_checksums(self, folder: Path) -> Manifest:
        """This commit, with the checks of its new files added."""
        checks = {path: self.checksums.get(path) or _read_check(folder / path) for path in self.checked_files}
        return replace(self, checksums={path: check for path, check in checks.items() if check})

    def layers_of(self, segment: str) -> list[LayerInfo]:
        return [layer for layer in self.layers if layer.segment == segment]

    def _without_unused_recipes(self) -> Manifest:
        used = {layer.recipe for layer in self.layers}
        return replace(self, recipes={key: self.recipes[key] for key in self.recipes if key in used})

    def as_dict(self) -> dict[str, Any]:
        """Convert to the stored form."""
        return {
            "description": self.description.as_dict(),
            "segments": self.segments,
            "generation": self.commit_number,
            "layers": [asdict(layer) for layer in self.layers],
            "recipes": self.recipes,
            "format": self.format,
            "made": self.generation_name,
            "kept": [commit.as_dict() for commit in self.kept_generations],
            **({"rejected": True} if self.is_rejected else {}),
            **({"aliases": self.aliases} if self.aliases else {}),
            **({"short_forms": self.short_forms} if self.short_forms else {}),
            **({"checksums": self.checksums} if self.checksums else {}),
            **({"withdrawn": self.withdrawn.as_dict()} if self.withdrawn else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Manifest:
        return cls(
            Description.from_dict(data["description"]),
            tuple(data["segments"]),
            data["generation"],
            tuple(map(LayerInfo.from_dict, data["layers"])),
            data["recipes"],
            data["format"],
            generation_name=data["made"],
            kept_generations=tuple(map(cls.from_dict, data["kept"])),
            is_rejected=data.get("rejected", False),
            aliases=data.get("aliases", {}),
            short_forms=data.get("short_forms", {}),
            checksums=_decode_checks(data),
            withdrawn=Withdrawn.from_dict(data.get("withdrawn", {})),
        )


def _decode_checks(data: Mapping[str, Any]) -> dict[str, FileCheck]:
    return {path: FileCheck(*check) for path, check in data.get("checksums", {}).items()}


class ManifestDamaged(IndexUnusable):
    """The manifest is damaged."""

    ADVICE = "restore a backup with esr restore, or delete the folder and load everything again"

    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"{path} is damaged, {problem}: {self.ADVICE}")
        self.path, self.problem = path, str(problem)

    def __reduce__(self) -> tuple[type[ManifestDamaged], tuple[Path, str]]:
        return type(self), (self.path, self.problem)


def _read_check(path: Path) -> FileCheck | None:
    """The check of a table of checksums or of a layer, None if an older version of esr wrote it."""
    try:
        return check_file(path) if path.name == CHECKSUMS else recorded_check(path)
    except FileNotFoundError:
        return None


def read_manifest(folder: Path) -> Manifest:
    """Read the last commit. Raises IndexMissing, or IndexUnusable, also if `esr migrate` is required."""
    commit = read_any_format(folder)
    if commit.format != FORMAT:
        raise IndexUnusable(
            f"{folder} has index format {commit.format}, this esr searches {FORMAT}: run esr migrate"
        )
    if not commit.description.is_current:
        raise IndexUnusable(outdated_analyzer(str(folder), commit.description))
    return commit


def read_any_format(folder: Path) -> Manifest:
    """Read the last commit, also one in an older format, of which only the documents may be read."""
    try:
        data = decode_sealed((folder / MANIFEST_NAME).read_bytes())
    except NotADirectoryError as error:
        raise IndexUnusable(f"{folder} is a file, not an index folder") from error
    except FileNotFoundError as error:
        if not folder.exists() or is_bare(folder):
            raise IndexMissing(f"there is no index at {folder}: make one with esr load") from error
        if (folder / BACKUP_NAME).exists():
            raise IndexUnusable(
                f"{folder} is a backup that was never finished: run esr backup again"
            ) from error
        if (folder / SEGMENTS).exists():
            raise ManifestDamaged(folder / MANIFEST_NAME, "it is missing") from error
        raise IndexUnusable(f"{folder} is not an index: it has no {MANIFEST_NAME}") from error
    except (OSError, ValueError) as error:
        raise ManifestDamaged(folder / MANIFEST_NAME, error) from error
    format = data.get("format")
    if not isinstance(format, int):
        raise ManifestDamaged(folder / MANIFEST_NAME, "it is incomplete")
    if not 1 <= format <= FORMAT:
        raise IndexUnusable(f"{folder} has index format {format}, this esr knows {FORMAT}: use a newer esr")
    try:
        return Manifest.from_dict(data)
    except (KeyError, TypeError) as error:
        raise ManifestDamaged(folder / MANIFEST_NAME, "it is incomplete") from error


def commit(folder: Path, manifest: Manifest) -> Manifest:
    """Replace the manifest atomically: readers see either the old commit or the new one.

    Returns the commit as it was written, with checksums.
    """
    manifest = manifest.with_checksums(folder)
    replace_json(folder / MANIFEST_NAME, manifest.as_dict())
    return manifest


# The checkpoint of a load

CHECKPOINT_NAME = "esr-load.json"
_STORED_NAMES = {"generation_name": "made", "digest": "content", "is_migration": "migrates"}
"""Stored names of attributes, where they differ."""


class Checkpoint(Struct, frozen=True):
    """The progress of a load, by which it is resumed after a crash.

    `base` is the number of the commit it started from. `documents` is the number of documents read and stored
    so far. `digest` is the digest of their JSON, by which a resumed load recognizes them.
    """

    generation_name: str
    description: Description
    append: bool
    base: int
    segments: tuple[str, ...] = ()
    layers: tuple[LayerInfo, ...] = ()
    documents: int = 0
    digest: str = ""
    is_migration: bool = False
    """Whether the load is a migration, which reads the documents of the index itself."""
    checksums: Mapping[str, FileCheck] = field(default_factory=dict)
    """Checks of its segments and layers, as in a manifest."""

    def as_manifest(self) -> Manifest:
        """The segments and layers written so far, as a commit."""
        return Manifest(
            self.description,
            self.segments,
            layers=self.layers,
            generation_name=self.generation_name,
            checksums=self.checksums,
        )

    def with_segment(self, segment: str, layer: LayerInfo | None, documents: int, digest: str) -> Checkpoint:
        """The checkpoint after one more segment has been written to disk."""
        layers = self.layers if layer is None else (*self.layers, layer)
        return replace(
            self, segments=(*self.segments, segment), layers=layers, documents=documents, digest=digest
        )


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the checkpoint of an unfinished load, None if it is missing or unreadable."""
    try:
        return _from_dict(decode_sealed((folder / CHECKPOINT_NAME).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> Checkpoint:
    """Replace the checkpoint. Returns it as it was written, with checksums."""
    checkpoint = replace(checkpoint, checksums=checkpoint.as_manifest().with_checksums(folder).checksums)
    stored = {_STORED_NAMES.get(name, name): value for name, value in to_builtins(checkpoint).items()}
    replace_json(folder / CHECKPOINT_NAME, stored)
    return checkpoint


def remove_checkpoint(folder: Path) -> None:
    (folder / CHECKPOINT_NAME).unlink(missing_ok=True)


def _from_dict(data: Mapping[str, Any]) -> Checkpoint:
    attributes = {stored: name for name, stored in _STORED_NAMES.items()}
    fields = {attributes.get(name, name): value for name, value in data.items()}
    fields["description"] = Description(**data["description"])
    fields["segments"] = tuple(data["segments"])
    fields["layers"] = tuple(map(LayerInfo.from_dict, data["layers"]))
    fields["checksums"] = _decode_checks(data)
    return Checkpoint(**fields)


# The lock, and clean-up

LOCK_NAME = "lock"


@contextmanager
def hold_writer_lock(folder: Path) -> Iterator[None]:
    """Hold the writer lock. Raises IndexUnusable if another process does.

    The system releases it when the process ends.
    """
    while True:
        with (folder / LOCK_NAME).open("w") as file:
            try:
                take_lock(file)
            except BlockingIOError as error:
                raise IndexUnusable(
                    f"another load into {folder}, or its enrichment, is running: wait until it has finished"
                ) from error
            # A writer that removes the index removes the lock file too; then this lock is on a deleted file:
            # try again.
            if _is_at(folder / LOCK_NAME, file.fileno()):
                yield
                return


def is_being_written(folder: Path) -> bool:
    """Whether a process holds the writer lock. Neither writes nor takes it."""
    return is_locked(folder / LOCK_NAME)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def is_bare(folder: Path) -> bool:
    """Whether a folder is empty, or contains only the files of a load or backup killed in its first step."""
    left = {f"{MANIFEST_NAME}.new", f"{BACKUP_NAME}.new", LOCK_NAME}
    try:
        return {entry.name for entry in folder.iterdir()} <= left
    except PermissionError:
        return False


def remove_index(folder: Path) -> None:
    """Delete the files of an index without segments, and the folder if nothing else is in it."""
    for name in (MANIFEST_NAME, CHECKPOINT_NAME):
        (folder / name).unlink(missing_ok=True)
        (folder / f"{name}.new").unlink(missing_ok=True)
    (folder / LOCK_NAME).unlink(missing_ok=True)
    for name in (SEGMENTS, LAYERS):
        with suppress(OSError):
            (folder / name).rmdir()
    with suppress(OSError):
        folder.rmdir()


def delete_unreferenced(folder: Path, commit: Manifest | None = None) -> None:
    """Delete the segments and layers that a commit, by default the last one, does not refer to.

    Failed or killed writers left them, or they have been replaced. Files that cannot be deleted are left to
    the next writer.
    """
    paths = list_unreferenced(folder, commit or read_any_format(folder))
    if files := [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]:
        map_together(_delete, files, _DELETIONS)
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


_DELETIONS = 8
"""How many files are deleted at once. Each waits for the disk's journal."""


def _delete(file: Path) -> None:
    with suppress(OSError):
        file.unlink()


def list_unreferenced(folder: Path, commit: Manifest) -> list[Path]:
    """List the segments and layers to which neither this commit nor the checkpoint of a load refers."""
    commits = (commit, *commit.kept_generations)
    referenced = {
        SEGMENTS: {name for commit in commits for name in commit.segments},
        LAYERS: {layer.name for commit in commits for layer in commit.layers},
    }
    unfinished = read_checkpoint(folder)
    if unfinished is not None:
        referenced[SEGMENTS] |= set(unfinished.segments)
        referenced[LAYERS] |= {layer.name for layer in unfinished.layers}
    return [
        path
        for kind, names in referenced.items()
        for path in ((folder / kind).iterdir() if (folder / kind).exists() else ())
        if path.name not in names
    ]


# Damage


SMALL = 1 << 12
"""Files of up to this many bytes are read whenever their segment is opened."""


class Damage(NamedTuple):
    """What is wrong with a file, given by its path in the folder of the index."""

    path: str
    problem: str


class SegmentDamaged(IndexUnusable):
    """A file of a segment, or a layer, is not as it was written."""

    def __init__(self, path: Path, problem: str = "files are missing or truncated") -> None:
        super().__init__(
            f"{path} is damaged, {problem}: go back to the generation before with esr rollback, "
            "restore a backup with esr restore, or load everything again with --if-exists replace"
        )
        self.path, self.problem = path, problem

    def __reduce__(self) -> tuple[type[SegmentDamaged], tuple[Path, str]]:
        return type(self), (self.path, self.problem)


class Part(NamedTuple):
    """A segment or a layer: its path in the folder, and its check in the manifest, None if there is none."""

    path: str
    check: FileCheck | None

    @property
    def is_layer(self) -> bool:
        return self.path.startswith(f"{LAYERS}/")


def parts_of(commit: Manifest) -> list[Part]:
    """The segments and layers of a commit."""
    return [
        Part(path.removesuffix(f"/{CHECKSUMS}"), commit.checksums.get(path)) for path in commit.checked_files
    ]


def read_checks(folder: Path, part: Part) -> dict[str, FileCheck]:
    """The checks of all files of a part, by their path in the folder. It must have a check.

    Raises SegmentDamaged if the table of checksums is damaged.
    """
    assert part.check is not None
    if part.is_layer:
        return {part.path: part.check}
    path = f"{part.path}/{CHECKSUMS}"
    damage = _examine(folder, path, part.check, read=True)
    try:
        if damage is None:
            table = decode_sealed((folder / path).read_bytes())
            checks = {f"{part.path}/{name}": FileCheck(*check) for name, check in table.items()}
            return {path: part.check, **checks}
    except (OSError, ValueError, TypeError) as error:
        damage = Damage(path, str(error))
    raise SegmentDamaged(folder / path, damage.problem)


def _examine(folder: Path, path: str, check: FileCheck, *, read: bool) -> Damage | None:
    """Compare a file with its check. Returns None if they agree.

    The content is compared if `read` is set, if the file is small, or if its modification time has changed.
    """
    name = f"{folder}/{path}"
    try:
        status = os.stat(name)
        if status.st_size != check.size:
            return Damage(path, f"it has {status.st_size:,} bytes instead of {check.size:,}")
        is_doubtful = read or check.size <= SMALL or status.st_mtime_ns != check.modified
        if is_doubtful and check_file(name)[:2] != check[:2]:
            return Damage(path, "its checksum does not match")
    except FileNotFoundError:
        return Damage(path, "it is missing")
    except OSError as error:
        return Damage(path, f"it cannot be read: {error.strerror or error}")
    return None


def find_damage(
    folder: Path, part: Part, *, read: bool = True, names: Collection[str] = ()
) -> Iterator[Damage]:
    """Yield the damage of a segment or a layer, nothing if it has no checksums.

    `read`: compare the content of every file or, with `names`, of the files with these names. The content of
    small and of modified files is always compared.
    """
    if part.check is None:
        return
    try:
        checks = read_checks(folder, part)
    except SegmentDamaged as error:
        yield Damage(str(error.path.relative_to(folder)), error.problem)
        return
    for path, check in checks.items():
        is_read = read and (not names or path.rpartition("/")[2] in names)
        damage = _examine(folder, path, check, read=is_read)
        if damage is not None:
            yield damage


def require_intact(
    folder: Path, parts: Iterable[Part], *, read: bool = True, names: Collection[str] = ()
) -> None:
    """Raise SegmentDamaged for the first damage that `find_damage` finds in these parts."""
    for part in parts:
        for path, problem in find_damage(folder, part, read=read, names=names):
            raise SegmentDamaged(folder / path, problem)
