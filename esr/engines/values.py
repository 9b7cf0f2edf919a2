"""The values of a field of documents, such as sources: found in any case, listed, and the nearest to one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from esr.documents.attributes import value_key


class Value(NamedTuple):
    """A value under the form that most documents have, of several the first by code points.

    `documents` counts those that have any of its `forms`.
    """

    form: str
    documents: int
    forms: tuple[str, ...]


class ValueTable:
    """Values that differ in case alone are one."""

    def __init__(self, documents: Iterable[tuple[str, int]]) -> None:
        """`documents`: how many have each written form."""
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
        """The value that a text names, in any case."""
        return self._values.get(value_key(text))

    def form(self, written: str) -> str:
        """The form under which a value is shown, by one of its forms."""
        value = self.find(written)
        return value.form if value else written

    @property
    def has_variants(self) -> bool:
        """Whether a value has several forms."""
        return any(len(value.forms) > 1 for value in self._values.values())

    def with_prefix(self, prefix: str, limit: int) -> list[Value]:
        """The values of which a word begins so, those of most documents first, then by form."""
        start = f" {value_key(prefix)}"
        matches = [value for key, value in self._values.items() if start in f" {key}"]
        return sorted(matches, key=lambda value: (-value.documents, value.form))[:limit]

    def nearest(self, text: str) -> Value | None:
        """The value that is written most like a text, if one is."""
        from difflib import get_close_matches  # which few searches need

        matches = get_close_matches(value_key(text), self._values, n=1, cutoff=0.5)
        return self._values[matches[0]] if matches else None
