"""The lock that allows an index folder one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import IndexUnusable

NAME = "lock"


@contextmanager
def hold_writer_lock(folder: Path) -> Iterator[None]:
    """Raises IndexUnusable if another writer holds it. The system releases it when the process ends."""
    import fcntl

    while True:
        with (folder / NAME).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise IndexUnusable(
                    f"another load into {folder}, or its enrichment, is running: wait until it has finished"
                ) from error
            # A writer that removes the index removes the file: the next one would lock another.
            if _is_at(folder / NAME, file.fileno()):
                yield
                return


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
