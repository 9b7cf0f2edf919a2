"""A document with the text between its marks, and what is asked of it wherever a source is looked for."""

from __future__ import annotations

import re

from esr.enrichment.quotations.marks import JoinedText, Spans, pair_marks
from esr.enrichment.quotations.noun_phrases import Phrase
from esr.enrichment.quotations.quotation import Quotation
from esr.enrichment.quotations.speakers import Grammar, grammar
from esr.enrichment.quotations.word_lists import CAPITAL

REACH_OF_CLAUSE = 300
"""Maximum characters between a verb and a part of what the clause after it reports."""
MARKS = "”\"’»“『』」«›‹'"
OPENING = '“„"«»‘‚‹›`,” \xa0\u202f'
SENTENCE_END: re.Pattern[str] = re.compile(rf"[.?!…—–。！？؟-](?:\s?»|[{MARKS}]*)$")
CLAUSE_END: re.Pattern[str] = re.compile(rf"[,.?!،؟，。？！](?:\s?»|[{MARKS}]+)$")
SENTENCE_WITHIN: re.Pattern[str] = re.compile(r"(?<!\b[A-Z][a-z]{2})(?<!\b[A-Z][a-z])[.!?;؟؛]\s")
"""The end of a sentence within a text, not behind an abbreviation."""
LEADS_TO: re.Pattern[str] = re.compile(r"[,:：،]\s*$")
"""What leads to a quotation, at the end of the text before it."""
DASH: re.Pattern[str] = re.compile(r"\s*[–—-]\s")
MARKED_AFTER: re.Pattern[str] = re.compile(rf"\s*[„“«\"]\s?({CAPITAL}[^„“”«»\"]{{1,40}}?)\s?[“”»\"](?![\w])")
"""A name in marks after a verb: "pisze „Życie Warszawy”"."""


class MarkedDocument:
    """The text of a document, the places of what its marks enclose, and the grammar of its language."""

    def __init__(self, joined: JoinedText, language: str) -> None:
        self.joined: JoinedText = joined
        self.text: str = joined.text
        self.grammar: Grammar = grammar(language)
        self.spans: list[Spans] = pair_marks(joined)

    def clause_start(self, start: int, low: int) -> int:
        """Where the sentence of a place begins, or `low` if what is quoted before ends later."""
        return max(self.joined.sentence_start(start), low)

    def sentence_before(self, place: int, n: int) -> tuple[int, str]:
        """The beginning of a sentence and its text up to a place, with blanks for what is between marks."""
        first = self.joined.sentence_start(place)
        left = self.text[first:place]
        for start, end in (piece for pieces in self.spans[max(0, n - 3) : n] for piece in pieces):
            begin, stop = max(start - first, 0), max(end - first, 0)
            left = left[:begin] + " " * (min(stop, len(left)) - begin) + left[stop:]
        return first, left

    def is_in_headline(self, speaker: Phrase, offset: int = 0) -> bool:
        """Whether a speaker before a verb may be a part of a headline: "READ MORE: We love Lee Bay said"."""
        is_pronoun = speaker.text.lower() in self.grammar.all_pronouns
        return not is_pronoun and self.joined.is_in_link(speaker.start + offset)

    def last_sign(self, end: int) -> str:
        """The last sign between marks: before a French mark after the blank."""
        last = end - (3 if self.text.startswith("''", end - 2) else 2)
        if self.text[end - 1 : end] == "»" and self.text[last : last + 1].isspace():
            last -= 1
        return self.text[last : last + 1]

    def is_in_sentence_of(self, previous: Quotation | None, start: int) -> bool:
        """Whether a place is in the sentence in which the previous quotation ends."""
        if previous is None:
            return False
        end = previous.pieces[-1][1] - 1
        return self.joined.sentence_at(end) == self.joined.sentence_at(start)
