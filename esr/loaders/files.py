"""Finds, filters, opens and decompresses source files as streams, including those in zip and tar archives.

A few KB can expand to petabytes (a "zip bomb"), so a `Budget` limits the unpacked size of each file. Zip,
Parquet and PDF need a seekable file, because their table of contents is at the end. Members are never
extracted to their paths, so a malicious member name such as `../../etc/passwd` is harmless.
"""

from __future__ import annotations

import bz2
import gzip
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from gzip import BadGzipFile
from lzma import LZMAError
from tarfile import HeaderError, ReadError
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, Self, cast

from esr.disk_errors import explain_temporary_file
from esr.errors import InputError, to_one_line
from esr.extras import require
from esr.loaders.format import Source, open_stream
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
else:
    zstd = import_lazily("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

STANDARD_INPUT = "-"
_MAILDIR = {"cur", "new", "tmp"}
"""The folders of a Maildir: a folder of mail with a file for each message."""
_TEXT_SUFFIXES = (".jsonl", ".ndjson", ".txt")
"""Suffixes of files that consist mostly of text, unlike files with markup."""


class FoundFile(NamedTuple):
    """A file to read. `below` is its path below the folder given by the user; None if the file was given."""

    path: str
    below: str | None = None


def display_name(path: str) -> str:
    """The path for messages. Bytes that are not UTF-8 are escaped, so that it can be printed."""
    if path == STANDARD_INPUT:
        return "standard input"
    return path.encode("utf-8", "backslashreplace").decode()


def to_utf8_path(path: str) -> str:
    """The path with each byte of its name that is not UTF-8 as in addresses: `caf%E9.txt`."""
    if path.isascii():
        return path
    return "".join(
        f"%{ord(letter) - 0xDC00:02X}" if "\udc80" <= letter <= "\udcff" else letter for letter in path
    )


def is_dangling(path: str) -> bool:
    """Whether the path is a link that leads to no file, or to itself."""
    return os.path.islink(path) and not os.path.exists(path)


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is hidden, and so skipped in a folder."""
    return name.startswith(".")


def iterate_files(
    folder: str,
    below: str = "",
    parents: frozenset[tuple[int, int]] = frozenset(),
    on_error: Callable[[InputError], None] | None = None,
) -> Iterator[str]:
    """The files in a folder and its subfolders, sorted by name, as relative paths, without hidden ones.

    A folder that cannot be read is passed to `on_error`; without it, it raises InputError.
    """
    current = os.path.join(folder, below)
    try:
        status = os.stat(current)
        if (status.st_dev, status.st_ino) in parents:
            return  # following a link to a parent folder would never end
        with os.scandir(current) as scan:
            entries = sorted((entry for entry in scan if not is_hidden(entry.name)), key=lambda e: e.name)
    except OSError as error:
        problem = InputError(display_name(current), f"cannot be read: {error.strerror or error}")
        if on_error is None:
            raise problem from None
        on_error(problem)
        return
    if {entry.name for entry in entries} >= _MAILDIR:
        # `tmp` has incomplete messages; files next to the three folders belong to the mail server.
        entries = [entry for entry in entries if entry.name != "tmp" and entry.is_dir()]
    ancestors = parents | {(status.st_dev, status.st_ino)}
    for entry in entries:
        path = os.path.join(below, entry.name)
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:  # a link to itself
            is_folder, is_file = False, False
        if is_folder:
            yield from iterate_files(folder, path, ancestors, on_error)
        elif is_file or not os.path.exists(entry.path):  # opening a broken link reports the error
            yield path


def count_text_bytes(paths: Iterable[str]) -> int:
    """The total size in bytes of the files that are JSON Lines or plain text. Folders are not searched."""
    return sum(
        os.path.getsize(path) for path in paths if path.endswith(_TEXT_SUFFIXES) and os.path.isfile(path)
    )


class FileFilter(NamedTuple):
    """Shell patterns. A pattern with a slash matches a path below the folder, any other one a name.

    A pattern that matches a folder applies to all files in it. `*` also matches slashes.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def accepts(self, path: str) -> bool:
        """Whether to read the file with this path below the given folder or archive."""
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
    """The path and its parent folders."""
    while path:
        yield path
        path = path.rpartition("/")[0]


# Up to this size, no ratio is suspicious: a short file of blanks compresses to almost nothing.
FREE_BYTES = 64 * 2**20


class Limits(NamedTuple):
    """`expansion` is the maximum ratio of unpacked to packed size, `unpacked` the maximum of unpacked bytes.

    News compresses to between a third and a tenth; 200 leaves room for very repetitive markup.
    """

    expansion: int = 200
    unpacked: int = 256 * 2**30


DEFAULT_LIMITS = Limits()


class ExpansionError(InputError):
    """A packed file expands beyond the limits. The rest of it is not read."""


class Budget:
    """Counts the packed and unpacked bytes of one file, including all archives in it."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self.packed: int = 0
        self.unpacked: int = 0

    def spend(self, unpacked: int) -> None:
        """Count unpacked bytes. Raises ExpansionError."""
        self.unpacked += unpacked
        if self.unpacked > self._limits.unpacked:
            raise ExpansionError(
                self._name,
                f"unpacks to more than {self._limits.unpacked / 2**30:g} GiB: "
                "if that is right, raise the limit with --max-unpacked",
            )
        if self.unpacked > max(FREE_BYTES, self._limits.expansion * self.packed):
            raise ExpansionError(
                self._name,
                f"unpacks to more than {self._limits.expansion} times its size, like a zip bomb: "
                "if that is right, raise the limit with --max-expansion",
            )

    def count_packed(self, stream: BinaryIO) -> BinaryIO:
        """A stream of the same bytes, which counts them as packed."""
        return _wrap(stream, self._add_packed)

    def limit_unpacked(self, stream: BinaryIO) -> BinaryIO:
        """A stream of the same bytes, which counts them as unpacked. Reading raises ExpansionError."""
        return _wrap(stream, self.spend)

    def _add_packed(self, packed: int) -> None:
        self.packed += packed


def _wrap(stream: BinaryIO, count: Callable[[int], None]) -> BinaryIO:
    def take(size: int) -> bytes:
        data = stream.read(size)
        count(len(data))
        return data

    return open_stream(take)


_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BZIP2_MAGIC = b"BZh"
_SUFFIXES = (".gz", ".zst", ".bz2")
# Enough for zstd --long; a frame may request a window of terabytes.
_ZSTD_WINDOW_LOG = 27
HEAD_BYTES = 4096


class PeekedSource(NamedTuple):
    """A source and its first bytes, which can still be read from its stream.

    `head` is in UTF-8 without leading blanks; `raw_head` is unchanged. `is_blank`: the source is blank.
    """

    source: Source
    head: bytes
    is_blank: bool
    raw_head: bytes


@contextmanager
def open_source(path: str, id_path: str, budget: Budget | None = None) -> Iterator[PeekedSource]:
    """Open a path, or `-` for standard input. The source gets `id_path` without `.gz`, `.bz2` and `.zst`.

    Opening and reading raise OSError, EOFError, zlib.error or ZstdError, and ExpansionError if the file
    unpacks to more than the budget allows. A source counts as blank if it consists of whitespace only and is
    shorter than HEAD_BYTES.
    """
    budget = budget or Budget(display_name(path), DEFAULT_LIMITS)
    with ExitStack() as stack:
        stream = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(open(path, "rb"))
        file_path = path if path != STANDARD_INPUT and os.path.isfile(path) else None
        source = Source(display_name(path), id_path, budget.count_packed(stream), file_path)
        yield stack.enter_context(decompress(source, path, budget))


@contextmanager
def decompress(source: Source, file_name: str, budget: Budget) -> Iterator[PeekedSource]:
    """Unpack gzip, bzip2 or Zstandard, recognised by the first bytes or the file name."""
    with ExitStack() as stack:
        magic = source.stream.read(len(_ZSTD_MAGIC))
        stream = _prepend(magic, source.stream)
        path = source.path
        if magic.startswith(_GZIP_MAGIC) or file_name.lower().endswith(".gz"):
            stream = budget.limit_unpacked(cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream))))
            path = None
        elif magic.startswith(_BZIP2_MAGIC) or file_name.lower().endswith(".bz2"):
            unpacked = stack.enter_context(bz2.BZ2File(stream))
            stream = budget.limit_unpacked(cast(BinaryIO, unpacked))
            path = None
        elif magic == _ZSTD_MAGIC or file_name.lower().endswith(".zst"):
            stream = budget.limit_unpacked(_open_zstd(stream))
            path = None
        id_path = source.id_path
        if id_path.lower().endswith(_SUFFIXES):
            id_path = os.path.splitext(id_path)[0]
        raw_head = stream.read(HEAD_BYTES)
        head = _to_utf8(raw_head).removeprefix(BOM_UTF8).lstrip()
        yield PeekedSource(
            Source(source.name, id_path, _prepend(raw_head, stream), path),
            head,
            is_blank=not head and len(raw_head) < HEAD_BYTES,
            raw_head=raw_head,
        )


def _open_zstd(stream: BinaryIO) -> BinaryIO:
    if sys.version_info < (3, 14):
        require("Zstandard (.zst)", "backports.zstd")
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    return cast(BinaryIO, zstd.ZstdFile(stream, options=options))


def _to_utf8(head: bytes) -> bytes:
    """The first bytes, converted from UTF-16 to UTF-8 for XML or JSON, to detect the format."""
    if not head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return head
    text = head.decode("utf-16", "ignore").lstrip()
    return text.encode() if text.startswith(("<", "{", "[")) else head


def _prepend(head: bytes, stream: BinaryIO) -> BinaryIO:
    """A stream of bytes that were read ahead, then the rest of `stream`."""

    def take(size: int) -> bytes:
        nonlocal head
        data, head = head[:size] or stream.read(size), head[size:]
        return data

    return open_stream(take)


@contextmanager
def open_seekable(source: Source) -> Iterator[IO[bytes]]:
    """The source's file, or a copy of its bytes in an unnamed temporary file, open at its start in the block.

    Raises OSError, also if the disk is too full for the copy.
    """
    if source.path is not None:
        with open(source.path, "rb") as file:
            yield file
    else:
        with tempfile.TemporaryFile(prefix="esr-") as file:
            shutil.copyfileobj(source.stream, file)
            file.seek(0)
            yield file


# For a corrupt header, zipfile may raise NotImplementedError (an unknown version or method) or
# UnicodeDecodeError (a name that is not UTF-8).
_CORRUPT = (
    *(BadGzipFile, EOFError, zlib.error, LZMAError),
    *(zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, tarfile.TarError),
)


@contextmanager
def raise_input_errors(name: str) -> Iterator[None]:
    """Convert errors of reading and decompressing inside the block to InputErrors with this name."""
    try:
        with explain_temporary_file(f"a copy of {name}"):
            yield
    except _CORRUPT as error:
        raise _corrupt_file(name, error) from None
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or to_one_line(error)}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # its library may not be installed
            raise
        raise _corrupt_file(name, error) from None


def _corrupt_file(name: str, error: Exception) -> InputError:
    # zipfile raises an EOFError without a message.
    reason = to_one_line(error) or "it ends too early"
    return InputError(
        name, f"cannot be unpacked ({reason}): it may be truncated, so fetch or create it again"
    )


# An archive can contain itself.
# Archives

MAX_ARCHIVE_DEPTH = 3
ARCHIVE_SUFFIXES = (".tar", ".tgz", ".zip")
# tarfile reads GNU and pax headers into memory at once; real ones are shorter.
_MAX_HEADER_BYTES = 2**20
_LONG_HEADER = "a header is longer than 1 MiB"
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
    folder = root if suffix.lower() in ARCHIVE_SUFFIXES else archive.id_path
    with open_member() as stream:
        source = Source(
            f"{archive.name}/{to_one_line(member_path)}", to_utf8_path(f"{folder}/{member_path}"), stream
        )
        with decompress(source, member_path, budget) as member:
            yield member


def _iterate_zip(source: Source, budget: Budget) -> Iterator[tuple[str, Callable[[], BinaryIO]]]:
    with open_seekable(source) as file:
        budget.packed = max(budget.packed, os.fstat(file.fileno()).st_size if source.path else 0)
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if info.filename and not info.is_dir():  # which fails without a name
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
    """Raises ReadError for a corrupt header, or none, which tarfile would take for the end of the archive.

    A block of zeros ends an archive. One that was cut off between two members has none.
    """

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:  # the name of the argument is that of the library
        start = _position(tarfile)
        try:
            header = super().fromtarfile(tarfile)
        except HeaderError as error:
            name = type(error).__name__
            if name == "EmptyHeaderError" and start:
                raise ReadError("it has no end") from None
            if name in ("EmptyHeaderError", "EOFHeaderError"):
                raise
            raise ReadError(f"corrupt header: {error}") from None
        if _position(tarfile) - start > _MAX_HEADER_BYTES:
            raise ReadError(_LONG_HEADER)
        return header

    @classmethod
    def frombuf(cls, buf: Any, encoding: str | None, errors: str) -> Self:
        """Before a long header is read, in the versions of Python that call this method."""
        header = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type]
        if header.type in _NAME_HEADERS and header.size > _MAX_HEADER_BYTES:
            raise ReadError(_LONG_HEADER)
        return header


def _position(archive: tarfile.TarFile) -> int:
    position: int = archive.fileobj.tell()
    return position
