"""Paths that a user names: how messages show them, and the files below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from esr.errors import InputError

STANDARD_INPUT = "-"
_TEXT_SUFFIXES = (".jsonl", ".ndjson", ".txt")
"""Of files that are text for the most part, as those with markup are not."""


class FoundFile(NamedTuple):
    """A file to read. `below` is its path in the folder that was named; None if the file itself was."""

    path: str
    below: str | None = None


def display_name(path: str) -> str:
    """The name that messages show for a path. Bytes that are not UTF-8 are escaped, so it can be printed."""
    if path == STANDARD_INPUT:
        return "standard input"
    return path.encode("utf-8", "backslashreplace").decode()


def is_hidden(name: str) -> bool:
    """Whether a file or folder with this name is left out of the folder that it is in."""
    return name.startswith(".")


def iterate_files(
    folder: str,
    below: str = "",
    parents: frozenset[tuple[int, int]] = frozenset(),
    on_error: Callable[[InputError], None] | None = None,
) -> Iterator[str]:
    """The files in a folder and its subfolders, sorted by name, as paths relative to it. No hidden ones.

    A folder that cannot be read is passed to `on_error`; without it, it raises InputError.
    """
    current = os.path.join(folder, below)
    try:
        status = os.stat(current)
        with os.scandir(current) as scan:
            entries = sorted((entry for entry in scan if not is_hidden(entry.name)), key=lambda e: e.name)
    except OSError as error:
        problem = InputError(display_name(current), f"cannot be read: {error.strerror or error}")
        if on_error is None:
            raise problem from None
        on_error(problem)
        return
    ancestors = parents | {(status.st_dev, status.st_ino)}
    for entry in entries:
        path = os.path.join(below, entry.name)
        if entry.is_dir():
            # A link to a parent folder would never end.
            target = os.stat(entry.path)
            if (target.st_dev, target.st_ino) not in ancestors:
                yield from iterate_files(folder, path, ancestors, on_error)
        elif entry.is_file() or not os.path.exists(entry.path):  # opening a dangling link reports the error
            yield path


def count_text_bytes(paths: Iterable[str]) -> int:
    """The bytes of those of these files that are JSON Lines or plain text. Folders are not looked into."""
    return sum(
        os.path.getsize(path) for path in paths if path.endswith(_TEXT_SUFFIXES) and os.path.isfile(path)
    )
