"""What a quotation is: the text between marks, and its source, a speaker with a verb."""

from __future__ import annotations

from typing import NamedTuple

from esr.enrichment.quotations.marks import Spans
from esr.enrichment.quotations.noun_phrases import Phrase


class Source(NamedTuple):
    """A speaker and the verb, with their positions in the text.

    `is_near`: whether the verb is almost next to the quotation. `content` is the position where reported
    content begins, for a verb before it.
    """

    speaker: str | None
    at: int
    cue: str
    cue_at: int
    is_near: bool = True
    content: int | None = None


class Quotation(NamedTuple):
    """A quotation in the joined text. `follows`: it continues the previous one, as in "…," she said, "…"."""

    pieces: Spans
    source: Source | None
    follows: bool


def source_of(
    phrase: Phrase | None,
    offset: int,
    cue: str | None,
    cue_at: int,
    is_near: bool = True,
    content: int | None = None,
) -> Source:
    """The source whose speaker is a phrase of a text that begins at an offset, or that has no speaker."""
    speaker, at = (phrase.text, offset + phrase.start) if phrase else (None, cue_at)
    return Source(speaker, at, cue or "", cue_at, is_near, content)
