"""Opens a folder for a load: what it holds, and the writer."""

from __future__ import annotations

from pathlib import Path

from esr.engines.options import LoadOptions
from esr.engines.segments.store import manifest
from esr.engines.segments.store.cleanup import is_bare
from esr.engines.segments.store.disk_errors import translate_disk_errors
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.engines.writer import Description


def describe_existing(where: str, if_exists: str) -> Description | None:
    """How the index in this folder was made, or None if there is none.

    Raises IndexUnusable if the folder holds something else.
    """
    folder = Path(where)
    with translate_disk_errors(folder):
        if not folder.exists() or (folder.is_dir() and is_bare(folder)):
            return None
    commit = manifest.read_any_format(folder)
    return commit.description if commit.has_index else None


def create_writer(where: str, description: Description, options: LoadOptions, append: bool) -> FolderWriter:
    """Raises IndexUnusable for an index of another format, which cannot be appended to."""
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
