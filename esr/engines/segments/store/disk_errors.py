"""Errors of the disk, reported by what they mean for an index."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import EsrError, IndexUnusable

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def translate_disk_errors(folder: Path, command: str = "load") -> Iterator[None]:
    """Turn an OSError into EsrError if the disk is full, into IndexUnusable otherwise.

    `command` is the verb of what the user does, to be repeated.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE:
            raise EsrError(
                f"the disk is full, {folder} is unchanged: free some space and {command} again"
            ) from error
        raise IndexUnusable(f"cannot write to {folder}: {error.strerror or error}") from error
