"""Finds the raw files of the TREC Novelty track."""

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
NEW_NAMES: dict[str, tuple[str, ...]] = {
    "2002": ("min_qrels.new",),
    "2003": ("qrels.novel.03.txt", "qrels.new.03.txt"),
    "2004": ("04.qrels.novel", "04.qrels.new"),
}
"""The judgements of the second task, under any of these names. Without them a year has only the first."""
YEARS = tuple(NAMES)
_KINDS = ("topics", "documents", "judgements")


@dataclass(frozen=True)
class RawFiles:
    """The files of one year. `new` has the judgements of the second task, None without them."""

    year: str
    topics: Path
    archive: Path
    qrels: Path
    new: Path | None = None


class AvailableFiles(NamedTuple):
    """The years in a folder, and the years of which it has no file."""

    years: list[RawFiles]
    absent: list[str]


def find(folder: Path) -> AvailableFiles:
    """The files anywhere below the folder, by their names.

    Raises InputError for an incomplete year, for two files with the same name, and for a folder without any
    of the files.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "there is no such folder")
    known_names = {name for table in (NAMES, NEW_NAMES) for names in table.values() for name in names}
    paths: dict[str, list[Path]] = {}
    for path in _walk(folder):
        if path.name in known_names:
            paths.setdefault(path.name, []).append(path)
    for name, same_name in paths.items():
        if len(same_name) > 1:
            raise InputError(
                str(folder), f"has two files named {name}: {same_name[0]} and {same_name[1]}; remove one"
            )
    available = AvailableFiles([], [])
    for year, names in NAMES.items():
        missing = [f"{name} ({kind})" for name, kind in zip(names, _KINDS, strict=True) if name not in paths]
        if len(missing) == len(names):
            available.absent.append(year)
        elif missing:
            raise InputError(str(folder), f"the files of {year} are incomplete: add {' and '.join(missing)}")
        else:
            topics, archive, qrels = names
            new = next((paths[name][0] for name in NEW_NAMES[year] if name in paths), None)
            available.years.append(RawFiles(year, paths[topics][0], paths[archive][0], paths[qrels][0], new))
    if not available.years:
        expected = "; ".join(f"{year}: {', '.join(names)}" for year, names in NAMES.items())
        raise InputError(str(folder), f"has none of the files of the TREC Novelty track ({expected})")
    return available


def _walk(folder: Path) -> Iterator[Path]:
    """All files below a folder, sorted by name."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(files))
