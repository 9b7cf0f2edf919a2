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
from esr.queries import Field, ValueKind, split_field, write_value
from esr.ranking.searcher import Searcher

MAX_NAME_WORDS = 3
"""Words at the end of a query that may be the beginning of one name."""
SHORTEST = 2
"""Letters from which a word is completed."""


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
    chunk_start = max(text.rfind(space) for space in " \t\n") + 1
    chunk = text[chunk_start:]
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
        kind, found = _values(index, field, value.lstrip('"'), limit)
        written = ((form, count, write_value(named, form)) for form, count in found)
        return [Completion(form, kind, count, before + own) for form, count, own in written if own]
    return [*_complete_name(index, text, limit // 2), *_complete_word(index, text, limit)][:limit]


def _values(index: Index, field: Field, begun: str, limit: int) -> tuple[Kind, list[tuple[str, int]]]:
    """The values of a field that begin so: what they are, and how often each occurs."""
    if field.name == "source" or is_attribute(field.name):
        values = index.values(field.name).with_prefix(begun, limit)
        kind: Kind = "source" if field.name == "source" else "attribute"
        return kind, [(value.form, value.documents) for value in values]
    return "name", list(islice(_names(index, begun, limit), limit))


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


def _names(index: Index, begun: str, limit: int) -> Iterator[tuple[str, int]]:
    """Names that begin so, with their sentences."""
    keys = index.name_keys(name_key(begun), limit)
    for name in index.find_names(keys).values():
        yield name.form, name.sentences


def _complete_word(index: Index, text: str, limit: int) -> Iterator[Completion]:
    """Words that begin like the last one."""
    tokens = list(analysis.get(WORDS).tokens(text))
    if not tokens or tokens[-1].end < len(text) or len(tokens[-1].term) < SHORTEST:
        return
    start, _, prefix = tokens[-1]
    for word, count in index.words_with_prefix(prefix, limit):
        yield Completion(word, "word", count, text[:start] + word)


def _quote_key(key: str) -> str:
    """The key as the name of a field."""
    return f'"{key}"' if re.search(r"[\s:]", key) else key
