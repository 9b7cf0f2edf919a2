"""Unpacks an archive into a folder once: plain files only, never outside of the folder, as UTF-8."""

from __future__ import annotations

import json
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from esr.errors import EsrError, InputError

MAX_BYTES = 4_000_000_000
"""The three years together have some 30 MB, so larger archives are not theirs."""
_MARK = ".unpacked.json"


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES) -> list[Path]:
    """Unpack a .tar.gz into `folder`, and return its files as paths below it, sorted by name.

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
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if _is_visible_file(path))


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
        return data  # compressed again: the reader decompresses it
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


def _is_visible_file(path: Path) -> bool:
    """Excludes hidden files such as `._x`, which some archivers add."""
    return path.is_file() and not path.name.startswith(".")
