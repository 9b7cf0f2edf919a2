"""A source as a file to seek in: zip and Parquet have their table of contents at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from esr.loaders.base import Source


@contextmanager
def seekable(source: Source) -> Iterator[IO[bytes]]:
    """The file where it lies; else its bytes as they are, in a temporary file that has no name."""
    if source.path is not None:
        with open(source.path, "rb") as file:
            yield file
    else:
        with tempfile.TemporaryFile(prefix="esr-") as file:
            shutil.copyfileobj(source.stream, file)
            file.seek(0)
            yield file
