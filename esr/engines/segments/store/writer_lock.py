"""The lock that allows an index folder one writer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import IndexUnusable

NAME = "lock"


@contextmanager
def hold_writer_lock(folder: Path) -> Iterator[None]:
    """Raises IndexUnusable if another writer holds it. The system releases it when the process ends."""
    import fcntl

    with (folder / NAME).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise IndexUnusable(
                f"another load into {folder}, or its enrichment, is running: wait until it has finished"
            ) from error
        yield
