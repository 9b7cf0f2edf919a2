"""Finds who says a quotation, and the verb, in the sentence of the quotation, to be marked there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from esr.corpus.names_and_quotes import Quotation

Span = tuple[int, int]


def find_attribution(quotation: Quotation) -> list[Span]:
    """The characters of the speaker and of the verb in the sentence, in order.

    They are those nearest to the quotation, outside of it. Empty if the speaker is in another sentence.
    """
    start, end = quotation.start, quotation.end
    verb = _nearest(quotation, quotation.cue, start, end)
    speaker = _nearest(quotation, quotation.speaker, *(verb or (start, end)))
    return sorted(span for span in (speaker, verb) if span) if speaker else []


def _nearest(quotation: Quotation, text: str | None, start: int, end: int) -> Span | None:
    """The characters of a text outside of the quotation that are nearest to `start` to `end`."""
    if not text or not text[0].isalnum():
        return None
    matches = re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", quotation.sentence)
    spans = (match.span() for match in matches if not quotation.start <= match.start() < quotation.end)
    return min(spans, key=lambda span: max(start - span[1], span[0] - end), default=None)


def split_sentence(quotation: Quotation) -> Iterator[tuple[str, str]]:
    """The pieces of the sentence of a quotation with their kinds: "quotation", "attribution", or empty."""
    spans = [(*span, "attribution") for span in find_attribution(quotation)]
    at = 0
    for start, end, kind in _in_order([*spans, (quotation.start, quotation.end, "quotation")]):
        if start > at:
            yield quotation.sentence[at:start], ""
        yield quotation.sentence[start:end], kind
        at = end
    if at < len(quotation.sentence):
        yield quotation.sentence[at:], ""


def _in_order(spans: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The spans in order, without those that overlap one before."""
    at = 0
    for start, end, kind in sorted(spans):
        if start >= at:
            yield start, end, kind
            at = end
