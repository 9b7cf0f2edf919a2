"""Values of filters that an index does not have, each with the nearest that it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from esr.documents.attributes import META, META_PREFIX
from esr.engines.entities import entity_key
from esr.engines.filters import Filters
from esr.engines.names import Name, NameFilter, parse_name_filter
from esr.engines.resolve import Vocabulary
from esr.engines.values import ValueTable

_BEGINNINGS = (3, 1)
"""Characters of a name that are taken for right at first, and those that are taken for right then."""
_CANDIDATES = 1000
_KNOWN_VALUES = 5


class UnknownFilter(NamedTuple):
    """A value of a filter that no sentence passes. `nearest` is one that sentences pass, in the same form.

    `field` is the query argument: `source`, `entity`, `author`, `section`, `keyword` or `meta`.
    """

    field: str
    value: str
    message: str
    nearest: str | None


def find_unknown_filters(vocabulary: Vocabulary, filters: Filters) -> tuple[UnknownFilter, ...]:
    """The sources, attributes and names in the filters that the index does not have."""
    return (
        *(unknown for text in filters.sources for unknown in _unknown_value(vocabulary, "source", text)),
        *(
            unknown
            for wanted in filters.attributes
            for name in wanted.names
            for text in wanted.values
            for unknown in _unknown_value(vocabulary, name, text)
        ),
        *_unknown_names(vocabulary, filters),
    )


def nearest_name(vocabulary: Vocabulary, key: str) -> Name | None:
    """The name that is written most like a key, among the most frequent that begin as it does."""
    from difflib import get_close_matches  # which few searches need

    for length in _BEGINNINGS:
        candidates = vocabulary.name_keys(key[:length], _CANDIDATES)
        for match in get_close_matches(key, candidates, n=1, cutoff=0.6):
            return vocabulary.find_names([match]).get(match)
    return None


def _unknown_value(vocabulary: Vocabulary, field: str, text: str) -> Iterator[UnknownFilter]:
    """The value of a field as unknown, unless documents have it; or the key of metadata."""
    argument, key, pair = field, "", text
    if field.startswith(META_PREFIX):
        argument, key = META, field.removeprefix(META_PREFIX)
        pair = f"{key}={text}"
        if vocabulary.values(META).find(key) is None:
            problem, near = _describe(vocabulary.values(META), "metadata", key)
            yield UnknownFilter(META, pair, problem, near and f"{near}={text}")
            return
    values = vocabulary.values(field)
    if values.find(text) is None:
        problem, near = _describe(values, key or field, text)
        yield UnknownFilter(argument, pair, problem, f"{key}={near}" if key and near else near)


def _describe(values: ValueTable, kind: str, text: str) -> tuple[str, str | None]:
    """What to say of an unknown value, and the nearest one."""
    near = values.nearest(text)
    known = [value.form for value in values.with_prefix("", _KNOWN_VALUES)]
    hint = f"did you mean {near.form!r}?" if near else f"known: {', '.join(known) or 'none'}"
    return f"unknown {kind} {text!r}: {hint}", near and near.form


def _unknown_names(vocabulary: Vocabulary, filters: Filters) -> Iterator[UnknownFilter]:
    for text in filters.entities:
        wanted = parse_name_filter(text)
        name = vocabulary.find_names([wanted.key]).get(wanted.key)
        if name is None:
            near = nearest_name(vocabulary, wanted.key)
            yield UnknownFilter(
                "entity", text, _describe_unknown(vocabulary, wanted, near), near and near.form
            )
        elif not name.has_type(wanted.type):
            article = "an" if name.type[0] in "aeiou" else "a"
            form = f'"{name.form}"' if " " in name.form else name.form
            problem = (
                f"{name.form!r} is {article} {name.type} in this index, not: {wanted.type}; "
                f"search for {entity_key(name.type, form)}"
            )
            yield UnknownFilter("entity", text, problem, entity_key(name.type, name.form))


def _describe_unknown(vocabulary: Vocabulary, wanted: NameFilter, near: Name | None) -> str:
    if near is not None:
        return f"unknown name {wanted.text!r}: did you mean {near.form!r}?"
    if not vocabulary.name_keys("", 1):
        return f"unknown name {wanted.text!r}: the index has no names, find them with esr enrich"
    return f"unknown name {wanted.text!r}: no sentence has it"
