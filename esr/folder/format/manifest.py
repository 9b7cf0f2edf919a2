"""The manifest of an index folder, which lists the segments and layers of a commit.

Replacing the manifest is the commit. It has the checksum of each layer, and of each segment's table of
checksums.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict, replace

from esr.errors import IndexMissing, IndexUnusable
from esr.folder.format.files import (
    FileCheck,
    check_file,
    decode_sealed,
    recorded_check,
    refuse_unopened,
    replace_json,
)
from esr.folder.format.layer_info import LAYERS, LayerInfo
from esr.folder.format.writer_lock import LOCK_NAME
from esr.index.withdrawn import NONE_WITHDRAWN, Withdrawn
from esr.index.writer import Description, outdated_analyzer

MANIFEST_NAME = "esr-index.json"
BACKUP_NAME = "esr-backup.json"
"""The file that marks a folder as a backup, and names the folder that it is a backup of."""
RESTORE_NAME = "esr-restore.json"
"""The file that marks a new folder until its restoration is finished, and names the backup."""
FORMAT = 5
SEGMENTS = "segments"
"""The subfolder of the segments."""
CHECKSUMS = "checksums.json"
"""The file of a segment with the checks of its other files."""
_PERIOD_END = "."
"""What follows the period in the name of a segment of a divided index."""
UNNAMED = "0"
"""The name of the generation before the first load."""


def name_segment(unique: str, period: str | None) -> str:
    """The name of a segment: in a divided index, with the period of its documents, as in 2017-03.5d2f."""
    return unique if period is None else f"{period}{_PERIOD_END}{unique}"


def period_of_segment(name: str) -> str | None:
    """The period of a segment, by its name; None in an index that is not divided."""
    return name.rpartition(_PERIOD_END)[0] or None


class Manifest(Struct, frozen=True):
    """A commit of an index.

    `layers` are in the order in which they were written: later ones take precedence. `recipes` are by digest.
    `generation_name` is the name shown by `esr indices`; enrichment adds commits to a generation.
    `kept_generations` are the last commits of other generations, newest first, rejected ones last; their own
    `kept_generations` are empty. `is_rejected` marks a generation that a rollback has skipped. `aliases` maps
    the displayed form of a name to its aliases, `short_forms` the key of one to the keys of its short forms.
    `withdrawn` are the documents that were removed for good.
    `table` is the name, among the layers, of the file with the table of vectors, "" without one.
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
    table: str = ""

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
            table=self.table,
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

    def with_table(self, table: str) -> Manifest:
        """The next commit, with the table of vectors in this file of the layers."""
        return replace(self, commit_number=self.commit_number + 1, table=table)

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
        remaining = tuple(commit for commit in self.kept_generations if commit.generation_name not in names)
        return replace(self, commit_number=self.commit_number + 1, kept_generations=remaining)

    def _all_generations(self) -> tuple[Manifest, ...]:
        """This generation, if any, and the kept ones, newest first, rejected ones last."""
        current = (replace(self, kept_generations=()),) if self.has_index else ()
        newest_first = sorted(
            (*current, *self.kept_generations), key=lambda commit: commit.generation_name, reverse=True
        )
        return tuple(sorted(newest_first, key=lambda commit: commit.is_rejected))

    @property
    def checked_files(self) -> list[str]:
        """The paths of the files whose checks `checksums` holds."""
        tables = [f"{SEGMENTS}/{name}/{CHECKSUMS}" for name in self.segments]
        return [*tables, *(f"{LAYERS}/{name}" for name in self.layer_files)]

    @property
    def layer_files(self) -> list[str]:
        """The names of its files among the layers: the layers, and the table of vectors."""
        return [*(layer.name for layer in self.layers), *([self.table] if self.table else [])]

    def with_checksums(self, folder: Path) -> Manifest:
        """This commit, with the checks of its new files added."""
        checks = {path: self.checksums.get(path) or read_check(folder / path) for path in self.checked_files}
        return replace(self, checksums={path: check for path, check in checks.items() if check})

    def segment_of(self, path: Path) -> str | None:
        """The segment that a file of a segment, or a layer, belongs to; None for any other file.

        `path` is relative to the folder of the index.
        """
        kind, name, *_ = (*path.parts, "")
        if kind == LAYERS:
            name = next((layer.segment for layer in self.layers if layer.name == name), "")
        return name if name in self.segments else None

    def without_segments(self, names: Container[str]) -> Manifest:
        """What remains of the commit without these segments, for reading."""
        return replace(
            self,
            segments=tuple(name for name in self.segments if name not in names),
            layers=tuple(layer for layer in self.layers if layer.segment not in names),
        )

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
            **({"table": self.table} if self.table else {}),
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
            checksums=decode_checks(data),
            withdrawn=Withdrawn.from_dict(data.get("withdrawn", {})),
            table=data.get("table", ""),
        )


def decode_checks(data: Mapping[str, Any]) -> dict[str, FileCheck]:
    return {path: FileCheck(*check) for path, check in data.get("checksums", {}).items()}


_Name = Annotated[str, Meta(pattern=r"^\w[\w.-]*$")]
"""The name of a segment or a layer, which is no path."""
_Count = Annotated[int, Meta(ge=0)]


class _StoredDescription(Struct):
    analyzer: str
    title: bool
    analyzer_version: int = 1
    by: str | None = None


class _StoredLayer(Struct):
    name: _Name
    segment: _Name
    start: _Count
    stop: _Count
    parts: list[str]
    recipe: str | None


class _StoredRecipe(Struct):
    made_with: dict[str, Any] = {}


class _StoredWithdrawn(Struct):
    ids: list[str] = []
    before: int | None = None


class _Stored(Struct):
    """The types of a manifest. One without a checksum, as older versions wrote, may have been edited."""

    description: _StoredDescription
    segments: list[_Name]
    generation: int
    layers: list[_StoredLayer]
    recipes: dict[str, _StoredRecipe]
    format: int
    made: str
    kept: list[_Stored]
    rejected: bool = False
    aliases: dict[str, list[str]] = {}
    short_forms: dict[str, list[str]] = {}
    checksums: dict[str, tuple[int, int, int]] = {}
    withdrawn: _StoredWithdrawn = field(default_factory=_StoredWithdrawn)
    table: str = ""

    def __post_init__(self) -> None:
        if not {layer.recipe for layer in self.layers} <= {None, *self.recipes}:
            raise ValueError("a layer has an unknown recipe")


class ManifestDamaged(IndexUnusable):
    """The manifest is damaged."""

    ADVICE = "restore a backup with esr restore, or delete the folder and load everything again"

    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"{path} is damaged, {problem}: {self.ADVICE}")
        self.path: Path = path
        self.problem: str = str(problem)

    def __reduce__(self) -> tuple[type[ManifestDamaged], tuple[Path, str]]:
        return type(self), (self.path, self.problem)


def read_check(path: Path) -> FileCheck | None:
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
        if (folder / RESTORE_NAME).exists():
            backup = read_mark(folder / RESTORE_NAME) or "BACKUP"
            raise IndexUnusable(
                f"{folder} is not restored yet: finish it with esr restore {backup} --index {folder}, "
                "without --slice, when all slices are copied"
            ) from error
        if (folder / SEGMENTS).exists():
            raise ManifestDamaged(folder / MANIFEST_NAME, "it is missing") from error
        raise IndexUnusable(f"{folder} is not an index: it has no {MANIFEST_NAME}") from error
    except (OSError, ValueError) as error:
        refuse_unopened(folder / MANIFEST_NAME, error)
        raise ManifestDamaged(folder / MANIFEST_NAME, error) from error
    format = data.get("format")
    if not isinstance(format, int):
        raise ManifestDamaged(folder / MANIFEST_NAME, "it is incomplete")
    if not 1 <= format <= FORMAT:
        raise IndexUnusable(f"{folder} has index format {format}, this esr knows {FORMAT}: use a newer esr")
    try:
        convert(data, _Stored)
        return Manifest.from_dict(data)
    except (KeyError, TypeError, ValidationError) as error:
        raise ManifestDamaged(folder / MANIFEST_NAME, "it is incomplete") from error


def commit(folder: Path, manifest: Manifest) -> Manifest:
    """Replace the manifest atomically: readers see either the old commit or the new one.

    Returns the commit as it was written, with checksums.
    """
    manifest = manifest.with_checksums(folder)
    replace_json(folder / MANIFEST_NAME, manifest.as_dict())
    return manifest


def read_mark(path: Path) -> str | None:
    """The folder that a mark names, such as that of a backup; None if there is no mark or it is damaged."""
    try:
        return str(decode_sealed(path.read_bytes())["of"])
    except (OSError, ValueError, KeyError):
        return None


def is_bare(folder: Path) -> bool:
    """Whether a folder is empty, or has only files of a load, backup or restore killed in its first step."""
    left = {*(f"{name}.new" for name in (MANIFEST_NAME, BACKUP_NAME, RESTORE_NAME)), LOCK_NAME}
    try:
        return {entry.name for entry in folder.iterdir()} <= left
    except PermissionError:
        return False
