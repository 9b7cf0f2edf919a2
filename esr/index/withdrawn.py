"""The documents that were removed from an index for good, which `esr sync` does not deliver again.

The list belongs to a generation: a rollback goes back to that of the generation that it serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from esr.text.dates import normalise_date, parse_date_start
from esr.text.document import Document


class Withdrawn(Struct, frozen=True):
    """Removed documents: those with one of the `ids`, and those dated before a moment.

    `before` is in milliseconds since the epoch.
    """

    ids: frozenset[str] = frozenset()
    before: int | None = None

    def __bool__(self) -> bool:
        return bool(self.ids) or self.before is not None

    def covers(self, document: Document) -> bool:
        """Whether a document was removed, or is as old as those that were."""
        if document.id in self.ids:
            return True
        if self.before is None or document.date is None:
            return False
        return parse_date_start(normalise_date(document.date)) < self.before

    def add(self, ids: Iterable[str], before: int | None = None) -> Withdrawn:
        """These documents and further ones."""
        moments = [moment for moment in (self.before, before) if moment is not None]
        return Withdrawn(self.ids.union(ids), max(moments, default=None))

    def without(self, ids: Iterable[str]) -> Withdrawn:
        """These documents, less those with one of the ids."""
        return Withdrawn(self.ids.difference(ids), self.before)

    def as_dict(self) -> dict[str, Any]:
        """The list as JSON, in which indices store it."""
        return {"ids": sorted(self.ids), **({} if self.before is None else {"before": self.before})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Withdrawn:
        return cls(frozenset(data.get("ids", ())), data.get("before"))


NONE_WITHDRAWN = Withdrawn()
