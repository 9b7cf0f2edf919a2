"""Completions as you type: words, names, sources, attributes and fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from esr.index.contract import Index
from esr.index.names import name_key
from esr.index.questions import (
    Names,
    NamesWithPrefix,
    Values,
    WordsWithPrefix,
    WrittenForms,
)
from esr.query import FIELDS, Field, NoteKind, ValueKind, split_field, write_value
from esr.query.chunks import SIGNS, Scanner
from esr.query.interpretation import ENTITY_FIELDS
from esr.ranking.searcher import Searcher
from esr.ranking.speakers import MAX_NAME_WORDS
from esr.ranking.spelling import count_holders
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import BY_LANGUAGE, WORDS_ANALYZER
from esr.text.attributes import META, META_PREFIX, is_attribute

SHORTEST = 2
"""Minimum number of letters of a prefix to be completed."""
_FAIR_SHARE = 0.01
"""Minimum frequency of a completion, as a share of the typed word's frequency, if that is a word itself."""
_FEWER = 10
"""The ratio of a word's occurrences to sentences with its terms above which it is the end of other words."""
_SPARE = 2
"""Factor of the number of words fetched, since some are only ends of others."""
_OF_ALL_TYPES = 8
"""Factor of the number of names fetched if only names of one type are wanted."""
_QUOTES = '"“”„＂'

Kind = Literal["word", "name", "source", "attribute", "field"]


class Completion(NamedTuple):
    """A completion of the end of a typed query.

    `query` is the whole text with the completion. `frequency` is approximate: sentences, or for a source or
    an attribute documents, or for a field its values.
    """

    text: str
    kind: Kind
    frequency: int
    query: str


def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
    """Complete the end of a query with the most frequent names and words, names first.

    After `source:` these are sources, after a field of attributes its values, after `meta.` keys, and after a
    field of names only names. Names of fields with values in the index come last.
    """
    index = searcher.index
    chunk = text[_find_last_chunk(text) :]
    name = chunk.lstrip(SIGNS + "(")
    field, value = split_field(name) or (None, "")
    if field is None and name.lower().startswith(META_PREFIX):
        start, begun = len(text) - len(name), name[len(META_PREFIX) :].removeprefix('"')
        return [
            Completion(
                key.form, "attribute", key.documents, f"{text[:start]}{META_PREFIX}{_quote_key(key.form)}:"
            )
            for key in index.vocabulary(Values(META)).with_prefix(begun, limit)
            if not set(key.form) & set('"\n')
        ]
    if field and field.kind is ValueKind.NAME:
        before, named = text.removesuffix(value), name.removesuffix(value)
        kind, values = _values(index, field, value.lstrip(_QUOTES), limit)
        written = ((form, count, write_value(named, form)) for form, count in values)
        return [Completion(form, kind, count, before + suffix) for form, count, suffix in written if suffix]
    if field and field.kind is not ValueKind.WORDS:
        return []
    fields = list(_complete_field(index, text, name)) if field is None else []
    others = [*_complete_name(index, text, limit // 2), *_complete_word(index, text, limit)]
    return [*others[: max(limit - len(fields), 1)], *fields][:limit]


def _complete_field(index: Index, text: str, begun: str) -> Iterator[Completion]:
    """Yield the fields whose name begins with the last chunk and for which the index has values."""
    begun = begun.lower()
    for field in FIELDS if len(begun) >= SHORTEST else ():
        if field.name.startswith(begun) and (count := count_values_of(index, field)):
            written = f"{field.name}:"
            yield Completion(written, "field", count, text[: len(text) - len(begun)] + written)


_SOME_NAMES = 200
"""Number of the most frequent names that are examined for names of a type."""


def count_values_of(index: Index, field: Field) -> int:
    """About how many values a field has in an index. Of names, some are counted; else, all documents."""
    if field.name == "source" or is_attribute(field.name):
        return len(index.vocabulary(Values(field.name)))
    if field.name in ENTITY_FIELDS:
        return sum(1 for _ in _names(index, "", _SOME_NAMES // _OF_ALL_TYPES, ENTITY_FIELDS[field.name]))
    return index.statistics([]).collection.documents


def _find_last_chunk(text: str) -> int:
    """The start of the last chunk: of a field with an open quote, else after the last white space."""
    scanner = Scanner(text, None)
    scanner.scan()
    for note in scanner.notes:
        if note.kind is NoteKind.QUOTE and split_field(text[note.start :].lstrip(SIGNS)):
            return note.start
    return max(text.rfind(space) for space in " \t\n") + 1


def _values(index: Index, field: Field, begun: str, limit: int) -> tuple[Kind, list[tuple[str, int]]]:
    """The kind of the values of a field, and the values with this prefix, each with its frequency."""
    if field.name == "source" or is_attribute(field.name):
        values = index.vocabulary(Values(field.name)).with_prefix(begun, limit)
        kind: Kind = "source" if field.name == "source" else "attribute"
        return kind, [(value.form, value.documents) for value in values]
    return "name", list(islice(_names(index, begun, limit, ENTITY_FIELDS.get(field.name)), limit))


def _complete_name(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Yield names that begin with as many of the last words as possible."""
    words = list(get_analyzer(WORDS_ANALYZER).tokens(text))[-MAX_NAME_WORDS:]
    if not words or words[-1].end < len(text):
        return
    for first in range(len(words)):
        start = words[first].start
        if len(text) - start > SHORTEST:
            names = list(islice(_names(index, text[start:], limit), limit))
            yield from (Completion(form, "name", count, text[:start] + form) for form, count in names)
            if names:
                return


def _names(index: Index, begun: str, limit: int, type: str | None = None) -> Iterator[tuple[str, int]]:
    """Yield names with a prefix, of one type or of any, with their numbers of sentences."""
    keys = index.vocabulary(
        NamesWithPrefix(name_key(begun), limit if type is None else limit * _OF_ALL_TYPES)
    )
    for name in index.vocabulary(Names(keys)).values():
        if name.has_type(type):
            yield name.form, name.sentences


def _complete_word(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Yield words with the last word as prefix, except those that are rare compared with it."""
    tokens = list(get_analyzer(WORDS_ANALYZER).tokens(text))
    if not tokens or tokens[-1].end < len(text) or len(tokens[-1].term) < SHORTEST:
        return
    start, _, prefix = tokens[-1]
    words = index.vocabulary(WordsWithPrefix(prefix, _SPARE * limit))
    least = _FAIR_SHARE * dict(words).get(prefix, 0)
    for word, count in _remove_endings(index, [word for word in words if word[1] >= least])[:limit]:
        yield Completion(word, "word", count, text[:start] + word)


def _remove_endings(index: Index, words: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The words without those that the index's analyzer removes from others, such as the end of *ABD'nin*.

    Hardly any sentence has their terms. Other words may have them only in their usual spelling. Those without
    terms, such as stop words, stay.
    """
    if index.analyzer.name == BY_LANGUAGE:  # terms are those of a language
        return words
    rare = _find_rare(index, words, [word for word, _ in words])
    forms = index.vocabulary(WrittenForms([word for word, _ in rare])) if rare else []
    endings = _find_rare(index, rare, forms)
    return [word for word in words if word not in endings]


def _find_rare(index: Index, words: Sequence[tuple[str, int]], forms: Sequence[str]) -> list[tuple[str, int]]:
    """The words with far more occurrences than sentences that have the terms of their written form."""
    counted = zip(words, count_holders(index, forms), strict=True)
    return [word for word, holders in counted if holders is not None and _FEWER * holders < word[1]]


def _quote_key(key: str) -> str:
    """The key as it is written in a field name, quoted if needed."""
    return f'"{key}"' if re.search(r"[\s:]", key) else key
