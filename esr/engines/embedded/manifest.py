"""The manifest: the one file that says which segments make the index. Replacing it is the commit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from esr.engines.embedded.arrays import sync_folder
from esr.engines.index import Description
from esr.errors import IndexMissing, IndexUnusable

NAME = "esr-index.json"
FORMAT = 1
SEGMENTS = "segments"
_FRESH, _LOCK = f"{NAME}.new", "lock"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A commit of an index."""

    description: Description
    segments: tuple[str, ...] = ()
    generation: int = 0
    format: int = FORMAT

    def next(self, segments: tuple[str, ...], description: Description) -> Manifest:
        """The commit after this one."""
        return Manifest(description, segments, self.generation + 1)


def read(folder: Path) -> Manifest:
    """The last commit. Raises IndexMissing or IndexUnusable."""
    try:
        data = json.loads((folder / NAME).read_text("utf-8"))
    except NotADirectoryError as error:
        raise IndexUnusable(f"{folder} is a file, not an index folder") from error
    except FileNotFoundError as error:
        if not folder.exists():
            raise IndexMissing(f"there is no index at {folder}: make one with esr load") from error
        raise IndexUnusable(f"{folder} is not an index: it has no {NAME}") from error
    except (OSError, ValueError) as error:
        raise IndexUnusable(f"{folder / NAME} cannot be read: {error}") from error
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        raise IndexUnusable(
            f"{folder} has index format {found}, this esr reads {FORMAT}: remove the folder and load again"
        )
    try:
        return Manifest(Description(**data["description"]), tuple(data["segments"]), data["generation"])
    except (KeyError, TypeError) as error:
        raise IndexUnusable(f"{folder / NAME} is not whole: remove the folder and load again") from error


def commit(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step: a reader sees the old one or the new one."""
    fresh = folder / _FRESH
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, folder / NAME)
    sync_folder(folder)


def is_bare(folder: Path) -> bool:
    """Whether a folder is empty, or has no more in it than a load that was killed at its first step."""
    return {entry.name for entry in folder.iterdir()} <= {_FRESH, _LOCK}


def remove(folder: Path) -> None:
    """Take back an index that never held anything. The folder goes too, if nothing else is in it."""
    for name in (NAME, _FRESH, _LOCK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        (folder / SEGMENTS).rmdir()
    with suppress(OSError):
        folder.rmdir()


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep other loaders out. The system lets go of it when the process ends, however it ends."""
    import fcntl

    with (folder / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise IndexUnusable(f"another load into {folder} is running: wait until it has ended") from error
        yield
