"""The sources of a collection: found in any case, listed, and the nearest to one that is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from esr.engines.keys import source_key


class Source(NamedTuple):
    """A source under the form that most documents have, of several the first by code points.

    `documents` counts those that have any of its `forms`.
    """

    form: str
    documents: int
    forms: tuple[str, ...]


class SourceTable:
    """Sources that differ in case alone are one."""

    def __init__(self, documents: Iterable[tuple[str, int]]) -> None:
        """`documents`: how many have each written form."""
        by_key: dict[str, list[tuple[str, int]]] = {}
        for form, count in sorted(documents, key=lambda source: (-source[1], source[0])):
            by_key.setdefault(source_key(form), []).append((form, count))
        self._sources = {
            key: Source(forms[0][0], sum(count for _, count in forms), tuple(form for form, _ in forms))
            for key, forms in by_key.items()
        }

    def find(self, text: str) -> Source | None:
        """The source that a text names, in any case."""
        return self._sources.get(source_key(text))

    def form(self, written: str) -> str:
        """The form under which a source is shown, by one of its forms."""
        source = self.find(written)
        return source.form if source else written

    @property
    def has_variants(self) -> bool:
        """Whether a source has several forms."""
        return any(len(source.forms) > 1 for source in self._sources.values())

    def with_prefix(self, prefix: str, limit: int) -> list[Source]:
        """The sources of which a word begins so, those of most documents first, then by form."""
        start = f" {source_key(prefix)}"
        matches = [source for key, source in self._sources.items() if start in f" {key}"]
        return sorted(matches, key=lambda source: (-source.documents, source.form))[:limit]

    def nearest(self, text: str) -> Source | None:
        """The source that is written most like a text, if one is."""
        matches = get_close_matches(source_key(text), self._sources, n=1, cutoff=0.5)
        return self._sources[matches[0]] if matches else None
