"""A topic: a query with an id, and fields that add words to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from esr.errors import UsageError, unknown

TITLE = "title"
FIELDS = (TITLE, "desc", "narr")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's id, and its texts among `title`, `desc` and `narr`.

    `kind` is its type, such as `event` or `opinion`, or None. `documents` are the documents that it names,
    best first, as in the Novelty track.
    """

    id: str
    fields: Mapping[str, str]
    kind: str | None = None
    documents: tuple[str, ...] = field(default=())

    def query(self, fields: str = TITLE) -> str:
        """The text to search for: one field, or several, like `title+desc`.

        Missing fields are left out. Raises UsageError for an unknown field, or if the topic has none of them.
        """
        texts = [self.fields[name] for name in split_fields(fields) if self.fields.get(name)]
        if not texts:
            existing = ", ".join(name for name, text in self.fields.items() if text) or "no text at all"
            raise UsageError(f"topic {self.id} has no {fields}: it has {existing}")
        return " ".join(texts)


def split_fields(fields: str) -> list[str]:
    """The names in a text like `title+desc`. Raises UsageError for an unknown one."""
    names = [name.strip() for name in fields.split("+")]
    for name in names:
        if name not in FIELDS:
            raise unknown("field of a topic", name, FIELDS)
    return names
