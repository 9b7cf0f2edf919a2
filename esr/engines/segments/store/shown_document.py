"""What sentences show of their document, read from its blob without the rest.

Each hit reads a blob. msgspec makes objects of these types in two thirds of the time of lists and dicts, and
skips what they do not name.
"""

from __future__ import annotations

import msgspec
from isal import isal_zlib

from esr.documents.document import default_id_prefix
from esr.engines.json_reader import read_json


class ShownSentence(msgspec.Struct, array_like=True, gc=False):
    """A sentence as `document_codec` stores it, as far as hits show it. Without an id, it has the default."""

    text: str
    id: str | None = None


class ShownDocument(msgspec.Struct, gc=False):
    """A document with the fields that its sentences show."""

    id: str
    sentences: list[ShownSentence]
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    keywords: tuple[str, ...] = ()

    @property
    def id_prefix(self) -> str:
        """The start of the default ids of the sentences."""
        return default_id_prefix(self.id)


_decode = msgspec.json.Decoder(ShownDocument).decode


def read_shown(blob: bytes | memoryview) -> ShownDocument:
    """The document of a blob."""
    encoded = isal_zlib.decompress(blob)
    try:
        return _decode(encoded)
    except msgspec.DecodeError:  # such as numbers that JSON does not have, in what is not shown
        return msgspec.convert(read_json(encoded), ShownDocument)
