"""Errors of a full disk or of a file that may not become larger, as messages for people."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from esr.errors import EsrError
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import tempfile
else:
    tempfile = import_lazily("tempfile")

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The numbers of the errors of writing more than the disk, a quota or `ulimit -f` allows."""


@contextmanager
def explain_temporary_file(content: str) -> Iterator[None]:
    """Raise EsrError where the block fails to write a temporary file for lack of space or a limit of size.

    Temporary files have no names, so the message has their folder and `content`, a noun phrase for what is
    in the file. Other errors pass.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        advice = "raise the limit (ulimit -f)"
        reason = "it is larger than this process may write"
        if error.errno != errno.EFBIG:
            advice = "free some space, or name a folder on another disk in TMPDIR,"
            reason = "the disk is full"
        raise EsrError(
            f"cannot write a temporary file in {tempfile.gettempdir()} with {content}, {reason}: "
            f"{advice} and try again"
        ) from error
