"""The names of the indices behind an alias. Each load has one of sentences and one of documents.

A name is the alias, the time at which the load began, and the kind: the index templates match on the kind.
"""

from __future__ import annotations

import re

from esr.engines.generations import new_generation_name

SENTENCES, DOCUMENTS = "-esr-sentences", "-esr-documents"
_STAMPED = re.compile(rf"-(\d{{8}}t\d{{12}}(?:-\d+)?){SENTENCES}")


def documents_index(index: str) -> str:
    """The index of documents beside an index of sentences."""
    return index.removesuffix(SENTENCES) + DOCUMENTS


def sentences_index(index: str) -> str:
    """The index of sentences of the load that an index of either kind belongs to."""
    return index.removesuffix(DOCUMENTS) + SENTENCES if index.endswith(DOCUMENTS) else index


def new_sentences_index(alias: str, newest: str, number: int = 0) -> str:
    """The name of an index of sentences that begins now; `number` tells those of one moment apart.

    `newest` is the name of the newest generation that there is.
    """
    return f"{alias}-{new_generation_name(newest)}{f'-{number}' if number else ''}{SENTENCES}"


def generation_name(index: str) -> str:
    """The name of the generation whose newest index of sentences this is."""
    match = _STAMPED.search(index)
    return match[1] if match else index.removesuffix(SENTENCES)


def belongs_to(index: str, alias: str) -> bool:
    """Whether this is an index of sentences of the alias. One of `news-de` is none of `news`."""
    return index.startswith(alias) and _STAMPED.fullmatch(index, len(alias)) is not None


def lucene_pattern(alias: str) -> str:
    """A regular expression of Lucene for the indices of an alias, of both kinds.

    A wildcard will not do: `news-*` would also match the indices of an alias `news-de`.
    """
    stamped = rf"/{re.escape(alias)}-[0-9]{{8}}t[0-9]{{12}}(-[0-9]+)?({SENTENCES}|{DOCUMENTS})/"
    return stamped.replace(r"\-", "-")
