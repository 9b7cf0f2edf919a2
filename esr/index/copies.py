"""A group of copies: sentences that several documents share, also slightly edited, and where each stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Appearance(NamedTuple):
    """A sentence of a group: its id, its position in its document from 0, and the document's id, date as
    written, and source.
    """

    sentence_id: str
    document_id: str
    position: int
    date: str | None
    source: str | None


class CopyGroup(NamedTuple):
    """Sentences that are copies of each other, by date, then in collection order; undated ones come last.

    They are in at least two documents.
    """

    appearances: tuple[Appearance, ...]

    @property
    def first(self) -> Appearance:
        """The first appearance."""
        return self.appearances[0]

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len({appearance.document_id for appearance in self.appearances})

    @property
    def sources(self) -> Sequence[str]:
        """The different sources, in the order of their first appearance."""
        return [
            *dict.fromkeys(
                appearance.source for appearance in self.appearances if appearance.source is not None
            )
        ]

    def without_documents(self, hidden: Collection[str]) -> CopyGroup | None:
        """The group without these documents, None if fewer than two remain."""
        return make_group(
            [appearance for appearance in self.appearances if appearance.document_id not in hidden]
        )


def make_group(appearances: Sequence[Appearance]) -> CopyGroup | None:
    """The group of these sentences, in order; None if they are all in one document."""
    if len({appearance.document_id for appearance in appearances}) < 2:
        return None
    return CopyGroup(tuple(appearances))
