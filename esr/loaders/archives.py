"""Reads the files in zip and tar archives one after the other, as streams.

Nothing is extracted to disk, so a malicious member name such as `../../etc/passwd` is harmless.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal, cast

from esr.errors import InputError, to_one_line
from esr.loaders.files import Budget, PeekedSource, decompress, open_seekable
from esr.loaders.format import Source

# An archive can contain itself.
MAX_DEPTH = 3
SUFFIXES = (".tar", ".tgz", ".zip")
# tarfile reads GNU and pax headers into memory at once; no real one is longer.
_MAX_HEADER_BYTES = 2**20
_NAME_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)

ArchiveType = Literal["zip", "tar"]


def detect_archive_type(file: PeekedSource) -> ArchiveType | None:
    """The archive type by the first bytes, or by the name for very old tar files, which have no signature."""
    if file.raw_head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if file.raw_head[257:262] == b"ustar" or file.source.id_path.lower().endswith(".tar"):
        return "tar"
    return None


def iterate_members(file: PeekedSource, archive_type: ArchiveType, budget: Budget) -> Iterator[PeekedSource]:
    """The regular files in an archive, decompressed, in archive order. Read each one before advancing.

    Hidden files are skipped, as in folders. Raises InputError and the errors of zipfile and tarfile.
    """
    iterate = _iterate_zip if archive_type == "zip" else _iterate_tar
    for name, open_member in iterate(file.source, budget):
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if not parts or any(part.startswith(".") or part == "__MACOSX" for part in parts):
            continue
        with _open_member(file.source, parts, open_member, budget) as member:
            yield member


@contextmanager
def _open_member(
    archive: Source, parts: list[str], open_member: Callable[[], BinaryIO], budget: Budget
) -> Iterator[PeekedSource]:
    member_path = "/".join(parts)
    root, suffix = os.path.splitext(archive.id_path)
    folder = root if suffix.lower() in SUFFIXES else archive.id_path
    with open_member() as stream:
        source = Source(f"{archive.name}/{to_one_line(member_path)}", f"{folder}/{member_path}", stream)
        with decompress(source, member_path, budget) as member:
            yield member


def _iterate_zip(source: Source, budget: Budget) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    with open_seekable(source) as file:
        budget.packed = max(budget.packed, os.fstat(file.fileno()).st_size if source.path else 0)
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, lambda info=info: _open_in_zip(source, archive, info, budget)  # type: ignore[misc]


def _open_in_zip(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> BinaryIO:
    where = f"{source.name}/{to_one_line(info.filename)}"
    if info.flag_bits & 1:
        raise InputError(where, "is encrypted: unpack the archive first")
    try:
        return budget.limit_unpacked(cast(BinaryIO, archive.open(info)))
    except NotImplementedError as error:
        raise InputError(
            where, f"uses an unsupported compression ({to_one_line(error)}): repack it with deflate"
        ) from None


def _iterate_tar(source: Source, budget: Budget) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    with tarfile.open(fileobj=source.stream, mode="r|", tarinfo=_StrictTarInfo) as archive:
        for info in archive:
            archive.members = []  # type: ignore[attr-defined]  # tarfile would keep all of them
            if info.isreg():
                yield info.name, lambda info=info: _open_in_tar(source, archive, info)  # type: ignore[misc]


def _open_in_tar(source: Source, archive: tarfile.TarFile, info: tarfile.TarInfo) -> BinaryIO:
    if info.issparse():  # it may expand to petabytes of zeros
        raise InputError(
            f"{source.name}/{to_one_line(info.name)}", "is a sparse file: repack it without --sparse"
        )
    return cast(BinaryIO, archive.extractfile(info))


class _StrictTarInfo(tarfile.TarInfo):
    """Raises ReadError for a corrupt header, which tarfile mistakes for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str | None, errors: str) -> _StrictTarInfo:
        try:
            header = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type]
        except tarfile.HeaderError as error:
            if type(error).__name__ in ("EmptyHeaderError", "EOFHeaderError"):
                raise
            raise tarfile.ReadError(f"corrupt header: {error}") from None
        if header.type in _NAME_HEADERS and header.size > _MAX_HEADER_BYTES:
            raise tarfile.ReadError("a header is longer than 1 MiB")
        return header
