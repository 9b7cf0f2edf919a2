"""The manifest: the one file that says what makes the index. Replacing it is the commit."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from esr.engines.embedded.arrays import sync_folder
from esr.engines.embedded.layer import LAYERS, Run
from esr.engines.index import Description
from esr.errors import IndexMissing, IndexUnusable

NAME = "esr-index.json"
FORMAT = 1
SEGMENTS = "segments"
_FRESH, _LOCK = f"{NAME}.new", "lock"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A commit of an index. `layers` are in their order: the later has the word; `recipes` by digest."""

    description: Description
    segments: tuple[str, ...] = ()
    generation: int = 0
    layers: tuple[Run, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    format: int = FORMAT

    def next(
        self, segments: tuple[str, ...], description: Description, given: Iterable[Run] = ()
    ) -> Manifest:
        """The commit after this one. Layers of segments that stay, stay; `given` come with the new ones."""
        kept = (*(run for run in self.layers if run.segment in segments), *given)
        return Manifest(description, segments, self.generation + 1, kept, self.recipes)._without_unused()

    def enriched(self, layers: tuple[Run, ...], recipes: Mapping[str, Mapping[str, Any]]) -> Manifest:
        """The commit after this one, with the same documents and other layers."""
        fresh = Manifest(self.description, self.segments, self.generation + 1, layers, recipes)
        return fresh._without_unused()

    def layers_of(self, segment: str) -> list[Run]:
        return [run for run in self.layers if run.segment == segment]

    def _without_unused(self) -> Manifest:
        used = {run.recipe for run in self.layers}
        return replace(self, recipes={key: self.recipes[key] for key in self.recipes if key in used})


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
        layers = [Run(**(run | {"parts": tuple(run["parts"])})) for run in data.get("layers", ())]
        return Manifest(
            Description(**data["description"]),
            tuple(data["segments"]),
            data["generation"],
            tuple(layers),
            data.get("recipes", {}),
        )
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
    for name in (SEGMENTS, LAYERS):
        with suppress(OSError):
            (folder / name).rmdir()
    with suppress(OSError):
        folder.rmdir()


def sweep(folder: Path) -> None:
    """Remove what the last commit does not name: left by a failed or killed writer, or replaced."""
    last = read(folder)
    named = {SEGMENTS: set(last.segments), LAYERS: {run.name for run in last.layers}}
    for kind, names in named.items():
        for found in (folder / kind).iterdir() if (folder / kind).exists() else ():
            if found.name not in names:
                shutil.rmtree(found, ignore_errors=True) if found.is_dir() else found.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep other writers out. The system lets go of it when the process ends, however it ends."""
    import fcntl

    with (folder / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise IndexUnusable(
                f"another load into {folder}, or its enrichment, is running: wait until it has ended"
            ) from error
        yield
