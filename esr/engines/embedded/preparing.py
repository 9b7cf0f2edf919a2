"""Documents prepared for a segment, some hundred at a time: packed, and their terms as numbers.

Of the documents' JSON nothing else is needed, and the same comes of it at any time and in any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from esr import analysis
from esr.analysis.numbering import Numbered, Numbering
from esr.documents import Document
from esr.engines.embedded.stored import packed


class Batch(NamedTuple):
    """The blobs of some documents, and the terms of their texts: of each its sentences', then its title's."""

    blobs: list[bytes]
    terms: Numbered


class Preparing:
    """Makes batches."""

    def __init__(self, analyzer: str, title: bool) -> None:
        self._numbering = Numbering(analysis.get(analyzer))
        self._title = title

    def texts(self, document: Document) -> list[str]:
        """The texts whose terms are wanted, the title last: empty if there is none or it does not count."""
        title = document.title if self._title else None
        return [*(sentence.text for sentence in document.sentences), title or ""]

    def batch(self, codes: Sequence[bytes], texts: Sequence[str]) -> Batch:
        return Batch(list(map(packed, codes)), self._numbering.numbered(texts))
