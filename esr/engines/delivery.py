"""A delivery: documents added to an index after its load, or removed from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct, field

from esr.documents import Located


class DeliveryReport(Struct):
    """What a delivery did. `missing` are the ids to remove that the index does not have."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    missing: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        """Whether the delivery changes the index."""
        return bool(self.added or self.changed or self.removed)


FindIds = Callable[[], Iterable[str]]


def no_ids() -> Iterable[str]:
    """Nothing to remove."""
    return ()


class Delivery(Protocol):
    """Applies a delivery to an index in one step, or not at all. Methods raise EsrError only."""

    def append(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        """Add documents, and replace those that the index has with other content.

        Documents that the index already has unchanged are skipped, so a delivery may be repeated. New and
        changed documents follow those that stay, in the order of the delivery. Each id comes once:
        `esr.loaders.same_ids` sees to it.

        `find_removed` is called when all documents have been read. The documents with the ids that it gives,
        of which none is in the delivery, are removed in the same step.
        """

    def compare(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        """The counts that `append` would report; nothing is written."""

    def remove(self, ids: Iterable[str]) -> DeliveryReport:
        """Remove the documents with these ids. An id that the index does not have is not an error."""
