"""The manifest: the one file that says what makes the index. Replacing it is the commit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from esr.engines.index import Description
from esr.engines.segments.store import checkpoint
from esr.engines.segments.store.arrays import replace_json
from esr.engines.segments.store.layer import LAYERS, Run
from esr.errors import IndexMissing, IndexUnusable

NAME = "esr-index.json"
FORMAT = 1
SEGMENTS = "segments"
UNNAMED = "0"
"""The generation of an index that was made before generations had names."""
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A commit of an index. `layers` are in their order: the later has the word; `recipes` by digest.

    `generation` counts commits. `made` names the generation, as `esr indices` shows it: enrichment commits
    within one. `kept` are the last commits of others, the newest first, and keep none themselves.
    """

    description: Description
    segments: tuple[str, ...] = ()
    generation: int = 0
    layers: tuple[Run, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    format: int = field(default_factory=lambda: FORMAT)
    made: str = UNNAMED
    kept: tuple[Manifest, ...] = ()

    def next(
        self,
        made: str,
        segments: tuple[str, ...],
        description: Description,
        layers: Iterable[Run] = (),
        keep: int = 0,
    ) -> Manifest:
        """The commit after this one, of another generation. Layers of segments that stay, stay.

        `layers` are of new segments. `keep` generations are kept, this one the first of them.
        """
        stay = (*(run for run in self.layers if run.segment in segments), *layers)
        others = self._with_kept()[:keep]
        fresh = Manifest(
            description, segments, self.generation + 1, stay, self.recipes, made=made, kept=others
        )
        return fresh._without_unused()

    def enriched(self, layers: tuple[Run, ...], recipes: Mapping[str, Mapping[str, Any]]) -> Manifest:
        """The commit after this one, with the same documents and other layers."""
        fresh = replace(self, generation=self.generation + 1, layers=layers, recipes=recipes)
        return fresh._without_unused()

    def back_to(self, made: str) -> Manifest:
        """The commit after this one, that serves a kept generation and keeps this one."""
        others = self._with_kept()
        (wanted,) = (each for each in others if each.made == made)
        rest = tuple(each for each in others if each.made != made)
        return replace(wanted, generation=self.generation + 1, kept=rest)

    def without(self, made: Container[str]) -> Manifest:
        """The commit after this one, that keeps these generations no longer."""
        rest = tuple(each for each in self.kept if each.made not in made)
        return replace(self, generation=self.generation + 1, kept=rest)

    def _with_kept(self) -> tuple[Manifest, ...]:
        """This generation, if it holds anything, and the kept ones, the newest first."""
        mine = (replace(self, kept=()),) if self.segments else ()
        return tuple(sorted((*mine, *self.kept), key=lambda each: each.made, reverse=True))

    def layers_of(self, segment: str) -> list[Run]:
        return [run for run in self.layers if run.segment == segment]

    def _without_unused(self) -> Manifest:
        used = {run.recipe for run in self.layers}
        return replace(self, recipes={key: self.recipes[key] for key in self.recipes if key in used})


def read(folder: Path) -> Manifest:
    """The last commit. Raises IndexMissing or IndexUnusable, also for one that needs `esr migrate`."""
    found = read_any(folder)
    if found.format != FORMAT:
        raise IndexUnusable(
            f"{folder} has index format {found.format}, this esr searches {FORMAT}: run esr migrate"
        )
    return found


def read_any(folder: Path) -> Manifest:
    """The same, of this esr's format or of an older one, of which no more than documents is looked at."""
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
    if not isinstance(found, int) or not 1 <= found <= FORMAT:
        raise IndexUnusable(f"{folder} has index format {found}, this esr knows {FORMAT}: use a newer esr")
    try:
        return _from_dict(data)
    except (KeyError, TypeError) as error:
        raise IndexUnusable(f"{folder / NAME} is not whole: remove the folder and load again") from error


def _from_dict(data: Mapping[str, Any]) -> Manifest:
    layers = [Run(**(run | {"parts": tuple(run["parts"])})) for run in data.get("layers", ())]
    return Manifest(
        Description(**data["description"]),
        tuple(data["segments"]),
        data["generation"],
        tuple(layers),
        data.get("recipes", {}),
        data["format"],
        made=data.get("made", UNNAMED),
        kept=tuple(map(_from_dict, data.get("kept", ()))),
    )


def commit(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step: a reader sees the old one or the new one."""
    replace_json(folder / NAME, asdict(manifest))


def is_bare(folder: Path) -> bool:
    """Whether a folder is empty, or has no more in it than a load that was killed at its first step."""
    return {entry.name for entry in folder.iterdir()} <= {f"{NAME}.new", _LOCK}


def remove(folder: Path) -> None:
    """Take back an index that never held anything. The folder goes too, if nothing else is in it."""
    for name in (NAME, f"{NAME}.new", checkpoint.NAME, f"{checkpoint.NAME}.new", _LOCK):
        (folder / name).unlink(missing_ok=True)
    for name in (SEGMENTS, LAYERS):
        with suppress(OSError):
            (folder / name).rmdir()
    with suppress(OSError):
        folder.rmdir()


def sweep(folder: Path) -> None:
    """Remove what the last commit does not name: left by a failed or killed writer, or replaced."""
    for found in unnamed(folder, read_any(folder)):
        shutil.rmtree(found, ignore_errors=True) if found.is_dir() else found.unlink(missing_ok=True)


def unnamed(folder: Path, last: Manifest) -> list[Path]:
    """The segments and layers that neither this commit nor a checkpoint of a load names."""
    begun = checkpoint.read(folder)
    every = (last, *last.kept)
    named = {
        SEGMENTS: {name for each in every for name in each.segments},
        LAYERS: {run.name for each in every for run in each.layers},
    }
    if begun is not None:
        named[SEGMENTS] |= set(begun.segments)
        named[LAYERS] |= {run.name for run in begun.layers}
    return [
        found
        for kind, names in named.items()
        for found in ((folder / kind).iterdir() if (folder / kind).exists() else ())
        if found.name not in names
    ]


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
