"""A topic: what a searcher wants to know, as evaluation campaigns write it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from esr.errors import UsageError, unknown

TITLE = "title"
FIELDS = (TITLE, "desc", "narr")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's id and texts, `title`, `desc` and `narr`, as far as it has them.

    `kind` is its type, as `event` or `opinion`, or None; `documents` are the documents that it names,
    best first, as topics of the Novelty track do.
    """

    id: str
    fields: Mapping[str, str]
    kind: str | None = None
    documents: tuple[str, ...] = field(default=())

    def query(self, fields: str = TITLE) -> str:
        """The text to search for: one field, or several as in `title+desc`.

        Of several it takes those that the topic has. Raises UsageError for an unknown field, or if the
        topic has none of them.
        """
        texts = [self.fields[name] for name in names(fields) if self.fields.get(name)]
        if not texts:
            has = ", ".join(name for name, text in self.fields.items() if text) or "no text at all"
            raise UsageError(f"topic {self.id} has no {fields}: it has {has}")
        return " ".join(texts)


def names(fields: str) -> list[str]:
    """The names in `title+desc`. Raises UsageError for an unknown one."""
    wanted = [name.strip() for name in fields.split("+")]
    for name in wanted:
        if name not in FIELDS:
            raise unknown("field of a topic", name, FIELDS)
    return wanted
