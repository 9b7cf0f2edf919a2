"""A source as a seekable file: zip and Parquet have their table of contents at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from esr.loaders.format import Source


@contextmanager
def open_seekable(source: Source) -> Iterator[IO[bytes]]:
    """The source's file, or else a copy of its bytes in an unnamed temporary file."""
    if source.path is not None:
        with open(source.path, "rb") as file:
            yield file
    else:
        with tempfile.TemporaryFile(prefix="esr-") as file:
            shutil.copyfileobj(source.stream, file)
            file.seek(0)
            yield file
