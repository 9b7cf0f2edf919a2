"""Which analyzer fits a collection: that of the language of its documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from esr.analysis import definitions
from esr.analysis.definitions import Definition

ONE_LANGUAGE = 0.9
"""The share of documents in one language from which its analyzer is chosen."""
_MAX_TOLD = 3


class Choice(NamedTuple):
    """An analyzer and why it was chosen."""

    analyzer: str
    reason: str


def choose(languages: Iterable[str | None]) -> Choice:
    """The analyzer for documents in these languages, given as codes; None where a language is not known."""
    counts = Counter(map(primary_language, languages))
    unknown = counts.pop("", 0)
    known = counts.total()
    if not known:
        return Choice(definitions.DEFAULT, f"no language of the first {unknown:,} documents is known")
    code, count = counts.most_common(1)[0]
    if count >= ONE_LANGUAGE * known:
        definition = definitions.for_language(code)
        return Choice(definition.name, f"{count:,} of the first {known + unknown:,} documents are in {code}")
    parts = (f"{code} {count:,}" for code, count in counts.most_common(_MAX_TOLD))
    more = ", …" if len(counts) > _MAX_TOLD else ""
    return Choice(
        definitions.MULTILINGUAL,
        f"the first {known + unknown:,} documents are in several languages: {', '.join(parts)}{more}",
    )


def primary_language(language: str | None) -> str:
    """The language of a tag such as en-GB, in lower case; empty if unknown."""
    return (language or "").strip().lower().replace("_", "-").split("-", 1)[0]


def misfits(languages: Mapping[str, int], definition: Definition) -> Mapping[str, int]:
    """The languages that an analyzer is not made for, with their numbers of documents.

    An analyzer of no language, as `plain` and `multilingual`, is made for all.
    """
    if not definition.languages:
        return {}
    return {code: n for code, n in languages.items() if code and code not in definition.languages}
