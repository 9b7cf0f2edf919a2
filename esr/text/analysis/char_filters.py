"""Character filters of analyzers, which change a text before it is split into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from esr.text.analysis.token_filters import compile_pattern

Replace = Callable[[re.Match[str]], str]


class CharFilter(NamedTuple):
    """Replaces each match of a pattern in a text.

    The pattern is compiled on demand, since that takes longer than a search, and ASCII text does not need
    filters that leave ASCII unchanged.
    """

    pattern: Callable[[], re.Pattern[str]]
    replace: Replace
    touches_ascii: bool
    """Whether it may change ASCII text."""


class FilteredText(NamedTuple):
    """A text after character filters, and the position in the original of each character.

    `origins` ends with the length of the original. It is None if nothing changed.
    """

    text: str
    origins: Sequence[int] | None


def build_char_filters(chain: Sequence[Mapping[str, Any]]) -> list[CharFilter]:
    """Build the filters of a definition. Raises ValueError for an unsupported type."""
    return [_BUILDERS[settings["type"]](settings) for settings in chain]


def apply(filters: Sequence[CharFilter], text: str) -> str:
    """Apply all filters to a text."""
    is_ascii = text.isascii()
    for pattern, replace, touches_ascii in filters:
        if touches_ascii or not is_ascii:
            text = pattern().sub(replace, text)
    return text


def apply_with_origins(filters: Sequence[CharFilter], text: str) -> FilteredText:
    """Apply all filters to a text, keeping track of where characters come from."""
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
            # A replacement begins where the replaced characters begin.
            places += [*range(done, start), *([start] * len(replacement))]
            done = end
        if done == 0:
            continue
        places += range(done, len(text) + 1)
        text = "".join([*pieces, text[done:]])
        origins = places if origins is None else [origins[place] for place in places]
    return FilteredText(text, origins)


def _mapping(settings: Mapping[str, Any]) -> CharFilter:
    """Replace the longest key at each position, as in Lucene."""
    values = dict(map(_parse_rule, settings["mappings"]))

    @cache
    def pattern() -> re.Pattern[str]:
        several = sorted((key for key in values if len(key) > 1), key=len, reverse=True)
        single_characters = _set(key for key in values if len(key) == 1)
        # A lookahead for the first characters leaves few positions to examine.
        first, alternatives = _set(key[0] for key in several), "|".join(map(re.escape, several))
        both = f"(?={first})(?:{alternatives})|{single_characters}"
        return re.compile(both if several else single_characters)

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
