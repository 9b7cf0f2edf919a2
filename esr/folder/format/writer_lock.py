"""The writer lock, a file that admits one writer of a folder at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import IndexUnusable
from esr.locks import is_locked, take_lock

LOCK_NAME = "lock"


@contextmanager
def hold_writer_lock(folder: Path) -> Iterator[None]:
    """Hold the writer lock. Raises IndexUnusable if another process does.

    The system releases it when the process ends.
    """
    while True:
        with (folder / LOCK_NAME).open("w") as file:
            try:
                take_lock(file)
            except BlockingIOError as error:
                raise IndexUnusable(
                    f"another load into {folder}, or its enrichment, is running: wait until it has finished"
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
