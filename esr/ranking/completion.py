"""As-you-type completion: words, names and sources of the collection for the end of what was typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from esr import analysis
from esr.analysis.definitions import WORDS
from esr.documents.attributes import META, META_PREFIX, is_attribute
from esr.engines.index import Index
from esr.engines.keys import name_key
from esr.queries import Field, NoteKind, ValueKind, split_field, write_value
from esr.queries.interpretation import ENTITY_FIELDS
from esr.queries.scanner import SIGNS, Scanner
from esr.ranking.searcher import Searcher

MAX_NAME_WORDS = 3
"""Words at the end of a query that may be the beginning of one name."""
SHORTEST = 2
"""Letters from which a word is completed."""
_FAIR_SHARE = 0.01
"""What a completion of a word that is complete itself has at least of its frequency."""
_OF_ALL_TYPES = 8
"""How many times more names are looked at where only those of one type are wanted."""
_QUOTES = '"“”„＂'

Kind = Literal["word", "name", "source", "attribute"]


class Completion(NamedTuple):
    """What may be meant by the end of what was typed.

    `query` is the text with it; `frequency` says about how many sentences, or documents with a source or an
    attribute, have it.
    """

    text: str
    kind: Kind
    frequency: int
    query: str


def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
    """The most frequent names and words that may be meant by the end of a query, names first.

    After `source:`, sources; after a field of attributes, their values; after `meta.`, keys; after a field of
    names, names.
    """
    index = searcher.index
    chunk = text[_find_last_chunk(text) :]
    name = chunk.lstrip("+-")
    field, value = split_field(name) or (None, "")
    if field is None and name.lower().startswith(META_PREFIX):
        start, begun = len(text) - len(name), name[len(META_PREFIX) :].removeprefix('"')
        return [
            Completion(
                key.form, "attribute", key.documents, f"{text[:start]}{META_PREFIX}{_quote_key(key.form)}:"
            )
            for key in index.values(META).with_prefix(begun, limit)
            if not set(key.form) & set('"\n')
        ]
    if field and field.kind is ValueKind.NAME:
        before, named = text.removesuffix(value), name.removesuffix(value)
        kind, found = _values(index, field, value.lstrip(_QUOTES), limit)
        written = ((form, count, write_value(named, form)) for form, count in found)
        return [Completion(form, kind, count, before + own) for form, count, own in written if own]
    return [*_complete_name(index, text, limit // 2), *_complete_word(index, text, limit)][:limit]


def _find_last_chunk(text: str) -> int:
    """Where the field begins whose quotes are open at the end, or else the end of the last white space."""
    scanner = Scanner(text)
    scanner.scan()
    for note in scanner.notes:
        if note.kind is NoteKind.QUOTE and split_field(text[note.start :].lstrip(SIGNS)):
            return note.start
    return max(text.rfind(space) for space in " \t\n") + 1


def _values(index: Index, field: Field, begun: str, limit: int) -> tuple[Kind, list[tuple[str, int]]]:
    """The values of a field that begin so: what they are, and how often each occurs."""
    if field.name == "source" or is_attribute(field.name):
        values = index.values(field.name).with_prefix(begun, limit)
        kind: Kind = "source" if field.name == "source" else "attribute"
        return kind, [(value.form, value.documents) for value in values]
    return "name", list(islice(_names(index, begun, limit, ENTITY_FIELDS[field.name]), limit))


def _complete_name(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Names that begin with as many of the last words as possible."""
    words = list(analysis.get(WORDS).tokens(text))[-MAX_NAME_WORDS:]
    if not words or words[-1].end < len(text):
        return
    for first in range(len(words)):
        start = words[first].start
        if len(text) - start > SHORTEST:
            found = list(islice(_names(index, text[start:], limit), limit))
            yield from (Completion(form, "name", count, text[:start] + form) for form, count in found)
            if found:
                return


def _names(index: Index, begun: str, limit: int, type: str | None = None) -> Iterator[tuple[str, int]]:
    """Names that begin so, of a type or of any, with their sentences."""
    keys = index.name_keys(name_key(begun), limit if type is None else limit * _OF_ALL_TYPES)
    for name in index.find_names(keys).values():
        if name.has_type(type):
            yield name.form, name.sentences


def _complete_word(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Words that begin like the last one, less those that are rare beside it."""
    tokens = list(analysis.get(WORDS).tokens(text))
    if not tokens or tokens[-1].end < len(text) or len(tokens[-1].term) < SHORTEST:
        return
    start, _, prefix = tokens[-1]
    words = index.words_with_prefix(prefix, limit)
    least = _FAIR_SHARE * dict(words).get(prefix, 0)
    for word, count in words:
        if count >= least:
            yield Completion(word, "word", count, text[:start] + word)


def _quote_key(key: str) -> str:
    """The key as the name of a field."""
    return f'"{key}"' if re.search(r"[\s:]", key) else key
