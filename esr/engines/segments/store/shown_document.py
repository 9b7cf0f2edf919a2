"""What sentences show of their document, read from its blob without the rest.

Each hit reads a blob. msgspec makes objects of these types in two thirds of the time of lists and dicts, and
skips what they do not name.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import getsizeof

import msgspec
from isal import isal_zlib

from esr.engines.json_reader import read_json

_BYTES, _SENTENCE_BYTES = 800, 48
"""What a document takes beside its sentences, and a sentence beside its text."""


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
    def nbytes(self) -> int:
        """About as many bytes of memory as it takes: its texts, the objects around them, and the rest."""
        texts = sum([getsizeof(sentence.text) for sentence in self.sentences])
        return _BYTES + texts + _SENTENCE_BYTES * len(self.sentences)


_decode = msgspec.json.Decoder(ShownDocument).decode


def read_shown(blobs: Iterable[bytes | memoryview]) -> list[ShownDocument]:
    """The documents of blobs, in their order."""
    # Step by step: what a step executes comes into the processor's cache once.
    encoded = list(map(isal_zlib.decompress, blobs))
    try:
        return list(map(_decode, encoded))
    except msgspec.DecodeError:  # such as numbers that JSON does not have, in what is not shown
        return [msgspec.convert(read_json(each), ShownDocument) for each in encoded]
