"""The files in zip and tar archives, read one after the other as streams. Nothing is ever extracted.

So a member's name, however it climbs (`../../etc/passwd`), is only a name.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal, cast

from esr.errors import InputError
from esr.loaders.base import Source, one_line
from esr.loaders.limits import Budget
from esr.loaders.opened import Opened, unpacked
from esr.loaders.seekable import seekable

# An archive can hold itself, for ever.
MAX_DEPTH = 3
_ENDINGS = (".tar", ".tgz", ".zip")
# The names of GNU and pax headers are read as a whole; no real one is longer.
_MAX_HEADER_BYTES = 2**20
_NAMING = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)

Kind = Literal["zip", "tar"]


def kind(file: Opened) -> Kind | None:
    """Which archive a file is, by its first bytes, or by its name where a very old tar tells nothing."""
    if file.start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if file.start[257:262] == b"ustar" or file.source.relative.lower().endswith(".tar"):
        return "tar"
    return None


def members(file: Opened, kind: Kind, budget: Budget) -> Iterator[Opened]:
    """The regular files in an archive, unpacked, in its order. Read each before asking for the next.

    Hidden ones are passed over, as in folders. Raises what zipfile and tarfile raise, and InputError.
    """
    read = _zip if kind == "zip" else _tar
    for name, opener in read(file.source, budget):
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if not parts or any(part.startswith(".") or part == "__MACOSX" for part in parts):
            continue
        with _member(file.source, parts, opener, budget) as member:
            yield member


@contextmanager
def _member(
    archive: Source, parts: list[str], opener: Callable[[], BinaryIO], budget: Budget
) -> Iterator[Opened]:
    below = "/".join(parts)
    root, ending = os.path.splitext(archive.relative)
    folder = root if ending.lower() in _ENDINGS else archive.relative
    with opener() as stream:
        source = Source(f"{archive.name}/{one_line(below)}", f"{folder}/{below}", stream)
        with unpacked(source, below, budget) as member:
            yield member


def _zip(source: Source, budget: Budget) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    with seekable(source) as file:
        budget.packed = max(budget.packed, os.fstat(file.fileno()).st_size if source.path else 0)
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, lambda info=info: _zipped(source, archive, info, budget)  # type: ignore[misc]


def _zipped(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> BinaryIO:
    where = f"{source.name}/{one_line(info.filename)}"
    if info.flag_bits & 1:
        raise InputError(where, "is encrypted: unpack the archive first")
    try:
        return budget.bounded(cast(BinaryIO, archive.open(info)))
    except NotImplementedError as error:
        raise InputError(where, f"cannot be unpacked ({one_line(error)}): pack it with deflate") from None


def _tar(source: Source, budget: Budget) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    with tarfile.open(fileobj=source.stream, mode="r|", tarinfo=_Header) as archive:
        for info in archive:
            archive.members = []  # type: ignore[attr-defined]  # it would keep all
            if info.isreg():
                yield info.name, lambda info=info: _tarred(source, archive, info)  # type: ignore[misc]


def _tarred(source: Source, archive: tarfile.TarFile, info: tarfile.TarInfo) -> BinaryIO:
    if info.issparse():  # its holes may be petabytes of zeros
        raise InputError(f"{source.name}/{one_line(info.name)}", "is a sparse file: pack it without --sparse")
    return cast(BinaryIO, archive.extractfile(info))


class _Header(tarfile.TarInfo):
    """A header that must be whole: tarfile takes a spoilt one in the middle for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str | None, errors: str) -> _Header:
        try:
            header = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type]
        except tarfile.HeaderError as error:
            if type(error).__name__ in ("EmptyHeaderError", "EOFHeaderError"):
                raise
            raise tarfile.ReadError(f"spoilt header: {error}") from None
        if header.type in _NAMING and header.size > _MAX_HEADER_BYTES:
            raise tarfile.ReadError("a header of more than 1 MiB")
        return header
