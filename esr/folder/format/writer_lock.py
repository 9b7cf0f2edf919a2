"""The writer lock, a file that admits one writer of a folder at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import IndexUnusable
from esr.locks import is_locked, take_lock

LOCK_NAME = "lock"
OTHER_LOAD = "another load into {}, or its enrichment,"
"""What holds the lock of an index."""


class WriterRunning(IndexUnusable):
    """Another process holds the writer lock."""


@contextmanager
def hold_writer_lock(folder: Path, *, shared: bool = False, others: str = OTHER_LOAD) -> Iterator[None]:
    """Hold the writer lock. Raises WriterRunning if another process does; `others` says which for {}.

    With `shared`, others may hold it that do the same. The system releases it when the process ends.
    """
    while True:
        with (folder / LOCK_NAME).open("w+") as file:
            try:
                take_lock(file, shared=shared)
            except BlockingIOError as error:
                raise WriterRunning(
                    f"{others.format(folder)} is running: wait until it has finished"
                ) from error
            # A writer that removes the index removes the lock file too; then this lock is on a deleted file:
            # try again.
            if _is_at(folder / LOCK_NAME, file.fileno()):
                yield
                return


def is_being_written(folder: Path) -> bool:
    """Whether a process holds the writer lock. Neither writes nor takes it."""
    return is_locked(folder / LOCK_NAME)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
