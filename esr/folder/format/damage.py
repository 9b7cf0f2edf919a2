"""Damage: finds the files of a commit that differ from their recorded sizes and checksums."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from isal.isal_zlib import crc32

from esr.errors import IndexUnusable
from esr.folder.format.files import (
    FileCheck,
    Unopened,
    check_file,
    decode_sealed,
    refuse_unopened,
)
from esr.folder.format.layer_info import LAYERS
from esr.folder.format.manifest import CHECKSUMS, SEGMENTS, Manifest, period_of_segment

SMALL = 1 << 12
"""Files of up to this many bytes are read whenever their segment is opened."""


class Damage(NamedTuple):
    """What is wrong with a file, given by its path in the folder of the index."""

    path: str
    problem: str


class SegmentDamaged(IndexUnusable):
    """A file of a segment, or a layer, is not as it was written."""

    def __init__(self, path: Path, problem: str = "files are missing or truncated") -> None:
        period = _period_of_file(path)
        of_period = "" if period is None else f", with documents of the period {period}"
        super().__init__(
            f"{path} is damaged, {problem}{of_period}: go back to the generation before with esr rollback, "
            "restore a backup with esr restore, or load everything again with --if-exists replace. "
            "esr verify lists all damaged files"
        )
        self.path: Path = path
        self.problem: str = problem

    def __reduce__(self) -> tuple[type[SegmentDamaged], tuple[Path, str]]:
        return type(self), (self.path, self.problem)


def _period_of_file(path: Path) -> str | None:
    """The period of the segment that a path leads to or into; None of any other path."""
    *_, name = ("", *(name for folder, name in pairwise(path.parts) if folder == SEGMENTS))
    return period_of_segment(name)


class Part(NamedTuple):
    """A segment or a layer: its path in the folder, and its check in the manifest, None if there is none."""

    path: str
    check: FileCheck | None

    @property
    def is_layer(self) -> bool:
        return self.path.startswith(f"{LAYERS}/")

    def is_in(self, slice: tuple[int, int] | None) -> bool:
        """Whether it belongs to the slice (i, n), the i-th of n; None is the whole index.

        This depends only on its path, so several machines agree, whatever is written meanwhile.
        """
        return slice is None or crc32(self.path.encode()) % slice[1] == slice[0] - 1


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
        refuse_unopened(folder / path, error)
        damage = Damage(path, str(error))
    raise SegmentDamaged(folder / path, damage.problem)


def _examine(folder: Path, path: str, check: FileCheck, *, read: bool) -> Damage | None:
    """Compare a file with its check. Returns None if they agree.

    The content is compared if `read` is set, if the file is small, or if its modification time has changed.
    Raises Unopened if the file may not be opened.
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
        refuse_unopened(name, error)
        return Damage(path, f"it cannot be read: {error.strerror or error}")
    return None


@contextmanager
def note_unopened(unopened: list[str] | None) -> Iterator[None]:
    """Add the reason of an Unopened to the list, if there is one, instead of raising it."""
    try:
        yield
    except Unopened as error:
        if unopened is None:
            raise
        unopened.append(str(error))


def find_damage(
    folder: Path,
    part: Part,
    *,
    read: bool = True,
    names: Collection[str] = (),
    unopened: list[str] | None = None,
) -> Iterator[Damage]:
    """Yield the damage of a segment or a layer, nothing if it has no checksums.

    `read`: compare the content of every file or, with `names`, of the files with these names. The content of
    small and of modified files is always compared.

    Raises Unopened if a file may not be opened; with `unopened`, adds the reason to this list and goes on.
    """
    if part.check is None:
        return
    checks: dict[str, FileCheck] = {}
    try:
        with note_unopened(unopened):
            checks = read_checks(folder, part)
    except SegmentDamaged as error:
        yield Damage(str(error.path.relative_to(folder)), error.problem)
    for path, check in checks.items():
        is_read = read and (not names or path.rpartition("/")[2] in names)
        damage = None
        with note_unopened(unopened):
            damage = _examine(folder, path, check, read=is_read)
        if damage is not None:
            yield damage


def require_intact(
    folder: Path, parts: Iterable[Part], *, read: bool = True, names: Collection[str] = ()
) -> None:
    """Raise SegmentDamaged for the first damage that `find_damage` finds in these parts, and as it does."""
    for part in parts:
        for path, problem in find_damage(folder, part, read=read, names=names):
            raise SegmentDamaged(folder / path, problem)
