"""Ids that are none: words such as `not_available`, and what many different documents of a file share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from esr.loaders.format import Record

WINDOW = 500
"""How many documents of a file are looked at before the first of them gets its id."""
_WINDOW_CHARS = 4 * 2**20
_MIN_DOCUMENTS = 10
_MIN_SHARE = 0.05
"""As many documents, and this share of those looked at, have an id that is none."""
_MIN_COMMON_WORDS = 0.6
"""Versions of a document have in common this share of the words of the one with fewer."""
_COMPARED_CHARS = 4000
_WORD = re.compile(r"\w+")
_NO_LETTERS = re.compile(r"[\W_]+")
_PLACEHOLDERS = frozenset(
    (
        *("empty", "missing", "na", "nan", "nil", "noid", "nolink", "none", "notapplicable", "notavailable"),
        *("notfound", "notgiven", "notset", "nourl", "null", "tbd", "unavailable", "undefined", "unknown"),
    )
)


def is_placeholder(value: Any) -> bool:
    """Whether this is a word for an id or address that is not known."""
    return isinstance(value, str) and _NO_LETTERS.sub("", value).lower() in _PLACEHOLDERS


class IdCheck:
    """Tells the ids of one file that are none."""

    def __init__(self) -> None:
        self._shared: frozenset[str] = frozenset()

    def look_ahead(self, results: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """The results unchanged. The first ones are read before any is yielded, to see which ids they share.

        What is raised while they are read is raised after those before it.
        """
        window: list[tuple[int, Any]] = []
        failure: Exception | None = None
        size = 0
        try:
            for result in results:
                window.append(result)
                size += _estimate_size(result[1])
                if len(window) == WINDOW or size > _WINDOW_CHARS:
                    break
        except Exception as error:  # of any library that reads a format
            failure = error
        self._shared = _find_shared([result.fields for _, result in window if isinstance(result, Record)])
        yield from chain(window, results)
        if failure:
            raise failure

    def is_no_id(self, value: Any) -> bool:
        """Whether an id, or an address as one, is none."""
        return isinstance(value, str) and value in self._shared

    def is_no_address(self, value: Any) -> bool:
        """Whether an address makes no id."""
        return is_placeholder(value) or self.is_no_id(value)


def _find_shared(documents: list[Mapping[str, Any]]) -> frozenset[str]:
    """The ids and addresses that so many documents have that they are none. Versions of one count once."""
    first: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for fields in documents:
        values = [fields[name] for name in ("id", "url") if isinstance(fields.get(name), str)]
        for value in dict.fromkeys(filter(None, values)):
            if value not in first:
                first[value] = _words(fields)
                counts[value] = 1
            elif not _has_common_words(first[value], _words(fields)):
                counts[value] += 1
    least = max(_MIN_DOCUMENTS, _MIN_SHARE * len(documents))
    return frozenset(id for id, count in counts.items() if count >= (2 if is_placeholder(id) else least))


def _words(fields: Mapping[str, Any]) -> set[str]:
    text = " ".join(str(fields[name]) for name in ("title", "text", "sentences") if fields.get(name))
    return set(_WORD.findall(text[:_COMPARED_CHARS].casefold()))


def _has_common_words(some: set[str], others: set[str]) -> bool:
    return len(some & others) >= _MIN_COMMON_WORDS * min(len(some), len(others))


def _estimate_size(result: Any) -> int:
    if not isinstance(result, Record):
        return 0
    values = result.fields.values()
    return sum(len(value) if isinstance(value, str) else len(str(value)) for value in values)
