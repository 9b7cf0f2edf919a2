"""How much a file or a folder takes on the disk."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def size_on_disk(path: Path) -> int:
    """The bytes of a file, or of the files in a folder. What a writer has deleted takes none."""
    size = 0
    with suppress(FileNotFoundError):
        for file in path.iterdir() if path.is_dir() else [path]:
            with suppress(FileNotFoundError):
                size += file.stat().st_size
    return size
