"""The parts of a document that is a zip archive of XML, such as DOCX, ODT and ePub."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from esr.plugin import InputError, Source, open_seekable
from esr.plugin.provisional import DEFAULT_LIMITS, Budget, markup

ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
"""The first bytes of files of older programs, and of files encrypted by a password."""


_FRAME = rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|_rels/|docProps/|customXml/)"


def sniff_open_xml(folder: bytes) -> Callable[[bytes], bool]:
    """A test whether an archive begins with a member common to these formats, and has one in `folder`."""
    pattern = re.compile(_FRAME + rb".*PK\x03\x04.{26}" + folder, re.DOTALL)
    return lambda head: head.startswith(ZIP) and bool(pattern.match(head))


class ZipParts:
    """The parts of a document. Their unpacked size is limited as in all archives."""

    def __init__(self, source: Source, file: Any, archive: zipfile.ZipFile) -> None:
        self._source = source
        self._archive = archive
        self.budget: Budget = Budget(source.name, DEFAULT_LIMITS)
        self.budget.packed = file.seek(0, 2)
        self.names: frozenset[str] = frozenset(archive.namelist())

    def iterate(self, part: str, *names: str) -> Iterator[Any]:
        """The outermost elements with these names in a part; none if there is no such part."""
        if part not in self.names:
            return
        with self._archive.open(part) as stream:
            limited = self.budget.limit_unpacked(cast(BinaryIO, stream))
            name = f"{self._source.name}/{part}"
            yield from markup.iterate_elements(Source(name, name, limited), frozenset(names))

    def read(self, part: str, size: int) -> bytes:
        """The first bytes of a part, at most `size`."""
        with self._archive.open(part) as stream:
            return self.budget.limit_unpacked(cast(BinaryIO, stream)).read(size)

    def spend_all(self) -> None:
        """Count the declared sizes of all parts, beyond which a library that reads them unpacks nothing."""
        self.budget.spend(sum(info.file_size for info in self._archive.infolist()))


@contextmanager
def open_parts(source: Source, *required: str) -> Iterator[tuple[ZipParts, Any]]:
    """The archive and its open file. Raises InputError if it has none of the required parts."""
    with open_seekable(source) as file:
        if file.read(len(_OLE)) == _OLE:
            raise InputError(
                source.name,
                "is encrypted, or in the format of an older program: save it again without a password",
            )
        with zipfile.ZipFile(file) as archive:
            parts = ZipParts(source, file, archive)
            if parts.names.isdisjoint(required):
                problem = f"broken document: it has no {required[-1]}; fetch the file again"
                raise InputError(source.name, problem)
            if any(info.flag_bits & 1 for info in archive.infolist()):
                raise InputError(source.name, "is encrypted: save it without a password")
            yield parts, file
