"""As-you-type completion: words, names and sources of the collection for the end of what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from esr.ranking.searcher import Searcher


class Completion(NamedTuple):
    """What may be meant by the last word that was typed. `query` is the text with it, `sentences` how many
    sentences have it."""

    text: str
    kind: Literal["word", "name", "source"]
    sentences: int
    query: str


def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
    """The most frequent completions of the last word of a query."""
    return ()
