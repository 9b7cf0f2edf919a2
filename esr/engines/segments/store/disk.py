"""Errors of the disk, told as what they mean for an index."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from esr.errors import EsrError, IndexUnusable

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def disk_errors(folder: Path, verb: str = "load") -> Iterator[None]:
    """Turns errors of the disk into EsrError (it is full) or IndexUnusable (it is closed to us)."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise EsrError(
                f"the disk is full: {folder} keeps what it had; make room and {verb} again"
            ) from error
        raise IndexUnusable(f"cannot write to {folder}: {error.strerror or error}") from error
