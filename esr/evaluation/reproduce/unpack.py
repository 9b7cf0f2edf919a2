"""An archive unpacked into a folder, once: plain files only, never outside of the folder, as UTF-8."""

from __future__ import annotations

import json
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from esr.errors import EsrError, InputError

MOST_BYTES = 4_000_000_000
"""The three years together have some 30 MB: more than this is no archive of theirs."""
_MARK = ".unpacked.json"


def unpack(archive: Path, folder: Path, most: int = MOST_BYTES) -> list[Path]:
    """The files of a .tar.gz below `folder`, as paths below it, in the order of their names.

    What an earlier call has unpacked is taken as it is, unless the archive has changed. Texts that are not
    UTF-8 are taken for Latin-1, as the newswire of those years is, and written as UTF-8. Raises InputError
    for an archive that is broken or holds anything but plain files within itself.
    """
    status = archive.stat()
    mark = {"archive": str(archive.resolve()), "bytes": status.st_size, "time": status.st_mtime_ns}
    if _marked(folder) != mark:
        if folder.exists() and not (folder / _MARK).is_file():
            raise EsrError(f"{folder} is in the way, esr did not make it: name another --work folder")
        fresh = folder.with_name(f".{folder.name}.unpacking")
        try:
            _remove(fresh)
            fresh.mkdir(parents=True)
            _extract(archive, fresh, most)
            (fresh / _MARK).write_text(json.dumps(mark), "utf-8")
            _remove(folder)
            fresh.rename(folder)
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise InputError(str(archive), f"cannot be unpacked, is it cut off? ({error})") from None
        except OSError as error:
            what = f"cannot be unpacked into {folder}: {error.strerror or error}"
            raise InputError(str(archive), what) from None
        finally:
            _remove(fresh)
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if _is_wanted(path))


def _extract(archive: Path, folder: Path, most: int) -> None:
    room = most
    with tarfile.open(archive, "r:gz") as tar:
        for name, content in _plain_files(archive, tar):
            data = content.read(room + 1)
            room -= len(data)
            if room < 0:
                raise InputError(
                    str(archive), f"holds more than {most:,} bytes: this is not the Novelty data"
                )
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_as_utf8(data))


def _plain_files(archive: Path, tar: tarfile.TarFile) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    for member in tar:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
            raise InputError(str(archive), f"refused: {member.name!r} would be written outside of the folder")
        if member.isdir():
            continue
        content = tar.extractfile(member) if member.isfile() else None
        if content is None:
            raise InputError(str(archive), f"refused: {member.name!r} is a link or a device, not a file")
        yield name, content


def _as_utf8(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        return data  # packed once more: the reader unpacks it
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def _marked(folder: Path) -> object:
    try:
        return json.loads((folder / _MARK).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _is_wanted(path: Path) -> bool:
    """A file that is not hidden, as `._x` is that some archivers add."""
    return path.is_file() and not path.name.startswith(".")
