"""What writes an index: the interfaces, what a load reports, and how the index was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from esr.documents import Located
from esr.errors import InputError


@dataclass(frozen=True, slots=True)
class Description:
    """How an index was made: the settings that all documents loaded into it share."""

    analyzer: str
    title: bool
    """Whether the terms of a title count once in the context of their document."""

    def as_dict(self) -> dict[str, Any]:
        return {"analyzer": self.analyzer, "title": self.title}


@dataclass(slots=True)
class LoadReport:
    """What a load did."""

    documents: int = 0
    sentences: int = 0
    without_sentences: int = 0
    unchanged: int = 0
    set_aside: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class IndexWriter(Protocol):
    """Loads documents into an index. Searches see nothing of a load until it has finished."""

    def load(self, documents: Iterable[Located]) -> LoadReport: ...


class Migration(Protocol):
    """Converts an index to the format of this esr. Searches by the older esr continue meanwhile."""

    def run(self) -> LoadReport:
        """Convert all of it, or nothing that searches see. Continues a migration that was killed."""


def content_conflict(where: str, document_id: str) -> InputError:
    """The error for a document to append that the index has with other content."""
    return InputError(
        where,
        f"document {document_id!r} is in the index with other content: "
        "update it with esr append, or load everything again with --if-exists replace",
    )
