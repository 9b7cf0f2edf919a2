"""Deletes what an index folder no longer needs."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from esr.engines.segments.store import checkpoint, manifest, writer_lock
from esr.engines.segments.store.layer_info import LAYERS
from esr.engines.segments.store.manifest import SEGMENTS, Manifest


def is_bare(folder: Path) -> bool:
    """Whether a folder holds nothing, or only what a load killed in its first step left."""
    return {entry.name for entry in folder.iterdir()} <= {f"{manifest.NAME}.new", writer_lock.NAME}


def remove_index(folder: Path) -> None:
    """Delete the files of an index without segments, and the folder if nothing else is in it."""
    for name in (manifest.NAME, checkpoint.NAME):
        (folder / name).unlink(missing_ok=True)
        (folder / f"{name}.new").unlink(missing_ok=True)
    (folder / writer_lock.NAME).unlink(missing_ok=True)
    for name in (SEGMENTS, LAYERS):
        with suppress(OSError):
            (folder / name).rmdir()
    with suppress(OSError):
        folder.rmdir()


def delete_unreferenced(folder: Path, commit: Manifest | None = None) -> None:
    """Delete segments and layers that a failed or killed writer left, or that have been replaced.

    They are those to which `commit` does not refer; by default, the last one.
    """
    for path in list_unreferenced(folder, commit or manifest.read_any_format(folder)):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def list_unreferenced(folder: Path, commit: Manifest) -> list[Path]:
    """The segments and layers that neither this commit nor the checkpoint of a load refers to."""
    commits = (commit, *commit.kept_generations)
    referenced = {
        SEGMENTS: {name for commit in commits for name in commit.segments},
        LAYERS: {layer.name for commit in commits for layer in commit.layers},
    }
    unfinished = checkpoint.read(folder)
    if unfinished is not None:
        referenced[SEGMENTS] |= set(unfinished.segments)
        referenced[LAYERS] |= {layer.name for layer in unfinished.layers}
    return [
        path
        for kind, names in referenced.items()
        for path in ((folder / kind).iterdir() if (folder / kind).exists() else ())
        if path.name not in names
    ]
