"""The raw files of the TREC Novelty track: what they are called, and where they lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from esr.errors import InputError

# docs/formulas.md, A.14
NAMES: dict[str, tuple[str, str, str]] = {
    "2002": ("novelty_topics.txt", "novelty.tar.gz", "min_qrels.relevant"),
    "2003": ("03.novelty.topics.txt", "documents.tar.gz", "qrels.relevant.03.txt"),
    "2004": ("novelty04.topics.txt", "04docs.tar.gz", "04.qrels.relevant"),
}
YEARS = tuple(NAMES)
_KINDS = ("topics", "documents", "judgements")


@dataclass(frozen=True)
class Raw:
    """The files of one year."""

    year: str
    topics: Path
    archive: Path
    qrels: Path


class Held(NamedTuple):
    """The years that a folder holds, and those of which it has no file at all."""

    years: list[Raw]
    absent: list[str]


def find(folder: Path) -> Held:
    """The files, anywhere below the folder, by their names.

    Raises InputError for a year of which some files are missing, for a name that stands twice, and for a
    folder without any of the files.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "there is no such folder")
    wanted = {name for names in NAMES.values() for name in names}
    places: dict[str, list[Path]] = {}
    for path in _walk(folder):
        if path.name in wanted:
            places.setdefault(path.name, []).append(path)
    for name, found in places.items():
        if len(found) > 1:
            raise InputError(
                str(folder), f"has two files called {name}: {found[0]} and {found[1]}; leave one"
            )
    held = Held([], [])
    for year, names in NAMES.items():
        missing = [f"{name} ({kind})" for name, kind in zip(names, _KINDS, strict=True) if name not in places]
        if len(missing) == len(names):
            held.absent.append(year)
        elif missing:
            raise InputError(str(folder), f"of {year} there is no {' and no '.join(missing)} in this folder")
        else:
            held.years.append(Raw(year, *(places[name][0] for name in names)))
    if not held.years:
        every = "; ".join(f"{year}: {', '.join(names)}" for year, names in NAMES.items())
        raise InputError(str(folder), f"holds none of the files of the TREC Novelty track ({every})")
    return held


def _walk(folder: Path) -> Iterator[Path]:
    """All files below a folder, in the order of their names."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(files))
