"""Deletes segments and layers to which neither manifest nor checkpoint refers, and empty indices."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from esr.folder.format.checkpoint import CHECKPOINT_NAME, read_checkpoint
from esr.folder.format.files import sync_folder
from esr.folder.format.layer_info import LAYERS
from esr.folder.format.manifest import MANIFEST_NAME, RESTORE_NAME, SEGMENTS, Manifest, read_any_format
from esr.folder.format.writer_lock import LOCK_NAME
from esr.processes import map_together


def remove_index(folder: Path) -> None:
    """Delete the files of an index without segments, and the folder if nothing else is in it.

    The manifest goes last: without it, segments would be those of a damaged index. A power failure changes
    nothing of this order.
    """
    for name in (SEGMENTS, LAYERS):
        with suppress(OSError):
            (folder / name).rmdir()
    if (folder / SEGMENTS).exists():
        return  # a file that cannot be deleted is left to the next writer
    sync_folder(folder)
    for name in (RESTORE_NAME, MANIFEST_NAME, CHECKPOINT_NAME):
        (folder / name).unlink(missing_ok=True)
        (folder / f"{name}.new").unlink(missing_ok=True)
    (folder / LOCK_NAME).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def delete_unreferenced(folder: Path, commit: Manifest | None = None) -> None:
    """Delete the segments and layers that a commit, by default the last one, does not refer to.

    Failed or killed writers left them, or they have been replaced. Files that cannot be deleted are left to
    the next writer. So are all if the commit that is read cannot be made durable, as after its writer failed:
    a crash could bring back the one before, which may refer to them.
    """
    if commit is None:
        try:
            sync_folder(folder)
        except OSError:
            return
        commit = read_any_format(folder)
    paths = list_unreferenced(folder, commit)
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
        LAYERS: {name for commit in commits for name in commit.layer_files},
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
