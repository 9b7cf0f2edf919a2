"""Brings an index folder into a defined state before a writer starts, and after a load fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from esr.engines.segments.store import checkpoint, manifest
from esr.engines.segments.store.checkpoint import Checkpoint
from esr.engines.segments.store.cleanup import delete_unreferenced, remove_index
from esr.engines.segments.store.manifest import Manifest
from esr.engines.writer import Description
from esr.errors import UsageError


def recover(folder: Path, description: Description) -> Manifest:
    """The last commit, after deleting what a killed writer left.

    A new folder gets an empty commit, so that a crash leaves an index that can be opened.
    """
    if not (folder / manifest.NAME).exists():
        manifest.commit(folder, Manifest(description))
    commit = manifest.read_any_format(folder)
    unfinished = checkpoint.read(folder)
    if unfinished is not None and commit.generation_name == unfinished.generation_name:
        checkpoint.remove(folder)  # the load was killed after its commit
    delete_unreferenced(folder)
    return commit


def start_or_resume(folder: Path, start: Checkpoint, resume: bool) -> Checkpoint:
    """The checkpoint from which a load proceeds: that of an interrupted load, or `start`, which is written.

    Raises UsageError if the interrupted load cannot be resumed.
    """
    last = checkpoint.read(folder) if resume else None
    if last is None:
        checkpoint.remove(folder)
        delete_unreferenced(folder)
        checkpoint.write(folder, start)
        return start
    if (last.description, last.append, last.is_migration) != (
        start.description,
        start.append,
        start.is_migration,
    ):
        raise UsageError(
            "the interrupted load had other options: give the same options, or start over without --resume"
        )
    if last.append and last.base != start.base:
        raise UsageError("the index has changed since the load was interrupted: start over without --resume")
    if last.base != start.base:  # it is newer than the generations that were made meanwhile
        last = replace(last, generation_name=start.generation_name)
        checkpoint.write(folder, last)
    return last


@contextmanager
def clean_up_load(folder: Path, before: Manifest) -> Iterator[None]:
    """Clean up after a load. One that fails leaves no trace, one that is stopped can be resumed."""
    try:
        yield
    except BaseException as error:
        unfinished = checkpoint.read(folder)
        if isinstance(error, Exception) or unfinished is None or not unfinished.segments:
            checkpoint.remove(folder)
            delete_unreferenced(folder)
            if not before.commit_number:
                remove_index(folder)  # there was no index before
        raise
    checkpoint.remove(folder)
    delete_unreferenced(folder)
