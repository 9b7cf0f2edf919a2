"""Character filters of Elasticsearch, in Python: what a text goes through before it is cut into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from esr.analysis.patterns import compile_pattern

Replace = Callable[[re.Match[str]], str]


class CharFilter(NamedTuple):
    """Replaces each match of a pattern in a text.

    The pattern may be compiled when it is first asked for, which takes longer than a search: a text in ASCII
    does not need that of a filter that does not touch it.
    """

    pattern: Callable[[], re.Pattern[str]]
    replace: Replace
    touches_ascii: bool
    """Whether it may change a text of ASCII characters."""


class FilteredText(NamedTuple):
    """A text after its character filters, and where each of its characters begins in the original.

    `origins` ends with the length of the original. It is None if nothing changed.
    """

    text: str
    origins: Sequence[int] | None


def build_char_filters(chain: Sequence[Mapping[str, Any]]) -> list[CharFilter]:
    """The filters of a definition. Raises ValueError for a type that this module lacks."""
    return [_BUILDERS[settings["type"]](settings) for settings in chain]


def apply(filters: Sequence[CharFilter], text: str) -> str:
    """The text after all filters."""
    is_ascii = text.isascii()
    for pattern, replace, touches_ascii in filters:
        if touches_ascii or not is_ascii:
            text = pattern().sub(replace, text)
    return text


def apply_with_origins(filters: Sequence[CharFilter], text: str) -> FilteredText:
    """The text after all filters, and where its characters come from."""
    origins: Sequence[int] | None = None
    is_ascii = text.isascii()
    for pattern, replace, touches_ascii in filters:
        if is_ascii and not touches_ascii:
            continue
        pieces, places, done = [], [], 0
        for match in pattern().finditer(text):
            replacement = replace(match)
            start, end = match.span()
            pieces += [text[done:start], replacement]
            # What replaces several characters begins where they begin.
            places += [*range(done, start), *([start] * len(replacement))]
            done = end
        if done == 0:
            continue
        places += range(done, len(text) + 1)
        text = "".join([*pieces, text[done:]])
        origins = places if origins is None else [origins[place] for place in places]
    return FilteredText(text, origins)


def _mapping(settings: Mapping[str, Any]) -> CharFilter:
    """The longest key at each position is replaced, as in Lucene."""
    values = dict(map(_parse_rule, settings["mappings"]))

    @cache
    def pattern() -> re.Pattern[str]:
        several = sorted((key for key in values if len(key) > 1), key=len, reverse=True)
        one = _set(key for key in values if len(key) == 1)
        # The first characters stand before the others so that few places are looked at twice.
        both = f"(?={_set(key[0] for key in several)})(?:{'|'.join(map(re.escape, several))})|{one}"
        return re.compile(both if several else one)

    return CharFilter(pattern, lambda match: values[match[0]], any(key.isascii() for key in values))


def _set(characters: Iterable[str]) -> str:
    return f"[{''.join(map(re.escape, sorted(set(characters))))}]"


def _parse_rule(rule: str) -> tuple[str, str]:
    key, value = rule.split("=>")
    return _unescape(key.strip()), _unescape(value.strip())


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), text)


def _pattern_replace(settings: Mapping[str, Any]) -> CharFilter:
    pattern, replacement = compile_pattern(settings["pattern"]), settings.get("replacement", "")
    return CharFilter(lambda: pattern, lambda _: replacement, True)


_BUILDERS: Mapping[str, Callable[[Mapping[str, Any]], CharFilter]] = {
    "mapping": _mapping,
    "pattern_replace": _pattern_replace,
}
