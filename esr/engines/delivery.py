"""A delivery: documents that come to an index after its load, or leave it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from esr.documents import Located


@dataclass(slots=True)
class DeliveryReport:
    """What a delivery did. `missing` are ids that were to be removed and are not there."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    missing: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def any(self) -> bool:
        """Whether the index is another afterwards."""
        return bool(self.added or self.changed or self.removed)


class Delivery(Protocol):
    """Brings a delivery into an index: all of it in one step, or nothing. Methods raise EsrError only."""

    def append(self, documents: Iterable[Located]) -> DeliveryReport:
        """Add documents, and put those that are there with other content in the place of the old.

        Those that are there and the same are passed over, so a delivery may come twice. What comes stands
        after what stays, in the order of the delivery.
        """

    def remove(self, ids: Iterable[str]) -> DeliveryReport:
        """Remove the documents of these ids. One that is not there is no error."""
