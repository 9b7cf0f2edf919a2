"""Opens a folder for a load: what is in it, and the writer."""

from __future__ import annotations

from pathlib import Path

from esr.engines.options import LoadOptions
from esr.engines.segments.store import manifest
from esr.engines.segments.store.disk import disk_errors
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.engines.writer import Description


def describe_existing(where: str) -> Description | None:
    """How the index in this folder was made, or None if there is none, or an empty one.

    Raises IndexUnusable if the folder holds something else.
    """
    folder = Path(where)
    with disk_errors(folder):
        if not folder.exists() or (folder.is_dir() and manifest.is_bare(folder)):
            return None
    found = manifest.read_any(folder)
    return found.description if found.segments else None


def create_writer(where: str, description: Description, options: LoadOptions, append: bool) -> FolderWriter:
    """Raises IndexUnusable if an index to append to has another format."""
    if append:
        manifest.read(Path(where))
    return FolderWriter(
        where,
        description,
        append=append,
        keep=options.keep,
        resume=options.resume,
        set_aside=options.set_aside,
    )
