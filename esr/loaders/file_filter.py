"""Which files of folders and archives are read, by patterns for their names or paths."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple


class FileFilter(NamedTuple):
    """Patterns of the shell. A pattern with a slash is for a path below the folder, any other for a name.

    What it says of a folder holds for all files in it. `*` stands for slashes too.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def accepts(self, path: str) -> bool:
        """Whether to read the file with this path below the folder or archive that was named."""
        is_included = not self.include or any(_matches(path, pattern) for pattern in self.include)
        return is_included and not any(_matches(path, pattern) for pattern in self.exclude)


EVERYTHING = FileFilter()


def _matches(path: str, pattern: str) -> bool:
    pattern = pattern.rstrip("/")
    if "/" not in pattern:
        return any(fnmatchcase(name, pattern) for name in path.split("/"))
    pattern = pattern.removeprefix(".").removeprefix("/")
    return any(fnmatchcase(part, pattern) for part in _iterate_parents(path))


def _iterate_parents(path: str) -> Iterator[str]:
    """The path, and those of the folders it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]
