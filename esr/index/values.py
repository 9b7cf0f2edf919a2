"""The values of a field of documents. Forms that differ only in case are one value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from esr.errors import find_nearest
from esr.text.attributes import value_key


class Value(NamedTuple):
    """A value under its most frequent written form, ties by code point order.

    `documents` counts the documents that have any of its `forms`.
    """

    form: str
    documents: int
    forms: tuple[str, ...]


class ValueTable:
    """The values of a field of documents. Forms that differ only in case are one value."""

    def __init__(self, documents: Iterable[tuple[str, int]]) -> None:
        """`documents` pairs each written form with its number of documents."""
        by_key: dict[str, list[tuple[str, int]]] = {}
        for form, count in sorted(documents, key=lambda value: (-value[1], value[0])):
            by_key.setdefault(value_key(form), []).append((form, count))
        self._values = {
            key: Value(forms[0][0], sum(count for _, count in forms), tuple(form for form, _ in forms))
            for key, forms in by_key.items()
        }

    def __len__(self) -> int:
        return len(self._values)

    def find(self, text: str) -> Value | None:
        """The value with this form, in any case."""
        return self._values.get(value_key(text))

    def form(self, written: str) -> str:
        """The displayed form of the value with a written form."""
        value = self.find(written)
        return value.form if value else written

    @property
    def has_variants(self) -> bool:
        """Whether any value has several forms."""
        return any(len(value.forms) > 1 for value in self._values.values())

    def with_prefix(self, prefix: str, limit: int) -> list[Value]:
        """The values in which a word has this prefix, most documents first, ties by form."""
        start = f" {value_key(prefix)}"
        matches = [value for key, value in self._values.items() if start in f" {key}"]
        return sorted(matches, key=lambda value: (-value.documents, value.form))[:limit]

    def nearest(self, text: str) -> Value | None:
        """The value most similar to a text, None if none is similar."""
        match = find_nearest(value_key(text), self._values)
        return None if match is None else self._values[match]
