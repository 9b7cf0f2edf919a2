"""The files of the novelty track as NIST publishes them: finding and unpacking them."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from esr.lab.reproduce.annotations import Annotations, find_annotations
from esr.plugin import EsrError, InputError

# Topics, documents and judgements of each year (docs/formulas.md, A.14).
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
"""File names of the judgements of the second task, any of which may exist. Without one, a year has only the
first task."""
YEARS = tuple(NAMES)
_KINDS = ("topics", "documents", "judgements")


@dataclass(frozen=True)
class RawFiles:
    """The files of one year. `new` has the judgements of the second task, or is None."""

    year: str
    topics: Path
    archive: Path
    qrels: Path
    new: Path | None = None


AQUAINT = ("apw", "nyt", "xie")
"""The folders of AQUAINT (LDC2002T31): one per agency, with one per year and a file for each day."""


class AvailableFiles(NamedTuple):
    """The years with files in a folder, the years without any, and the other files."""

    years: list[RawFiles]
    absent: list[str]
    annotations: Annotations
    aquaint: list[Path]


def find_raw_files(folder: Path) -> AvailableFiles:
    """Find the files by name, anywhere below the folder.

    Raises InputError for an incomplete year, for two files with the same name, and if there are no files at
    all.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "there is no such folder")
    known_names = {name for table in (NAMES, NEW_NAMES) for names in table.values() for name in names}
    paths: dict[str, list[Path]] = {}
    all_paths = list(_walk(folder))
    for path in all_paths:
        if path.name in known_names:
            paths.setdefault(path.name, []).append(path)
    for name, same_name in paths.items():
        if len(same_name) > 1:
            raise InputError(
                str(folder), f"has two files named {name}: {same_name[0]} and {same_name[1]}; remove one"
            )
    aquaint: list[Path] = []
    others: list[Path] = []
    for path in all_paths:
        is_aquaint = any(part.lower() in AQUAINT for part in path.relative_to(folder).parts[:-2])
        (aquaint if is_aquaint else others).append(path)
    annotations = find_annotations(others)
    available = AvailableFiles([], [], annotations, aquaint)
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
    """All files below a folder; folders and their files are in alphabetical order."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(files))


# Unpacking


MAX_BYTES = 4_000_000_000
"""Maximum unpacked size of an archive. The three years have some 30 MB together."""
_MARK = ".unpacked.json"


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES) -> list[Path]:
    """Unpack a .tar.gz into `folder`, and return its files as paths relative to it, sorted.

    Files of an earlier call are reused unless the archive has changed. Texts that are not UTF-8 are read as
    Latin-1, the encoding of the newswire of those years, and written as UTF-8. Raises InputError for an
    archive that is broken or contains anything but plain files inside its folder.
    """
    status = archive.stat()
    mark = {"archive": str(archive.resolve()), "bytes": status.st_size, "time": status.st_mtime_ns}
    if _read_mark(folder) != mark:
        if folder.exists() and not (folder / _MARK).is_file():
            raise EsrError(f"{folder} exists, but esr did not create it: name another --work folder")
        new_folder = folder.with_name(f".{folder.name}.unpacking")
        try:
            _remove(new_folder)
            new_folder.mkdir(parents=True)
            _extract(archive, new_folder, max_bytes)
            (new_folder / _MARK).write_text(json.dumps(mark), "utf-8")
            _remove(folder)
            new_folder.rename(folder)
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise InputError(
                str(archive), f"cannot be unpacked ({error}): it may be truncated, so copy it again"
            ) from None
        except OSError as error:
            problem = f"cannot be unpacked into {folder}: {error.strerror or error}"
            raise InputError(str(archive), problem) from None
        finally:
            _remove(new_folder)
    # Some archivers add hidden files such as `._x`.
    files = [path for path in folder.rglob("[!.]*") if path.is_file()]
    return sorted(path.relative_to(folder) for path in files)


def _extract(archive: Path, folder: Path, max_bytes: int) -> None:
    remaining = max_bytes
    with tarfile.open(archive, "r:gz") as tar:
        for name, content in _iterate_files(archive, tar):
            data = content.read(remaining + 1)
            remaining -= len(data)
            if remaining < 0:
                raise InputError(
                    str(archive), f"contains more than {max_bytes:,} bytes: this is not the Novelty data"
                )
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_to_utf8(data))


def _iterate_files(archive: Path, tar: tarfile.TarFile) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    for member in tar:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
            raise InputError(str(archive), f"rejected: {member.name!r} is a path outside of the folder")
        if member.isdir():
            continue
        content = tar.extractfile(member) if member.isfile() else None
        if content is None:
            raise InputError(str(archive), f"rejected: {member.name!r} is a link or a device, not a file")
        yield name, content


def _to_utf8(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        return data  # compressed itself: the reader decompresses it
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def _read_mark(folder: Path) -> object:
    try:
        return json.loads((folder / _MARK).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
