"""Checks quotations: whether they are in an index word by word or nearly, who said them, and where first.

Candidates come from the index: sentences with the words of the quotation as a phrase, oldest first, and the
best ones for its words. `esr.evidence.alignment` compares each with the quotation. A quotation of several
sentences, or one that a candidate has only in part, is also compared with the sentences around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from esr.evidence.alignment import Difference, read_quotation, read_words
from esr.evidence.quotation_candidates import read_candidates, read_rare_phrases, split_parts
from esr.evidence.quotation_marks import find_quotations
from esr.evidence.quotation_matches import NEAREST, Match, StoredSentences, Verdict, compare, judge
from esr.plugin import UsageError
from esr.plugin.provisional import (
    CERTAIN,
    PROBABLE,
    Names,
    Quote,
    Searcher,
    SentenceRecord,
    date_key,
    find_form,
    is_pronoun,
)
from esr.plugin.provisional import EngineIndex as Index

MAX_TEXT_CHARS = 200_000
"""Maximum length of a text to check."""
MAX_QUOTATIONS = 200
"""Maximum number of quotations of a text."""
LATER = 50
"""Maximum number of later appearances."""
_GOOD = 0.8
"""Similarity from which no further candidates are read."""
_MAX_WORDS = 600
"""Maximum number of words that are compared at once."""


class CitedSentence(Struct, frozen=True):
    """A sentence of an index, with what a citation of it needs."""

    sentence_id: str
    document_id: str
    date: str | None
    source: str | None
    title: str | None
    text: str


class Appearance(CitedSentence, frozen=True):
    """Where an index has a quotation, or words like it.

    `text` is the sentence, or the sentences if the quotation spans several; `start` and `end` are the
    characters of the quotation in it. `speaker` is a name if it is known, or else as written, and `certainty`
    "certain" or "probable" for a name. `differences` are from the quotation that was checked.
    """

    start: int
    end: int
    verdict: Verdict
    similarity: float
    speaker: str | None
    certainty: str | None
    differences: tuple[Difference, ...]


class CheckedQuotation(Struct, frozen=True):
    """A quotation, its characters `start` to `end` in the checked text, and what the index has of it.

    `first` is the oldest appearance with the fewest differences, which `differences` lists. `later` are the
    others, oldest first; those in other words may be older than `first`. `nearest` are the most similar
    sentences if the verdict is "none". `speaker` and `certainty` are those of the first appearance with this
    verdict that has a speaker: certain ones first, then probable ones.
    """

    text: str
    start: int
    end: int
    verdict: Verdict
    speaker: str | None
    certainty: str | None
    first: Appearance | None
    later: tuple[Appearance, ...]
    differences: tuple[Difference, ...]
    nearest: tuple[Appearance, ...]


class QuotationCheck(Struct, frozen=True):
    """The quotations of a text in their order."""

    quotations: tuple[CheckedQuotation, ...]

    def as_dict(self) -> dict[str, Any]:
        """`{"quotations": [{"text", "verdict", "speaker", "first", "later", "differences", "nearest"}]}`"""
        data: dict[str, Any] = to_builtins(self)
        return data


def check_text(searcher: Searcher, text: str) -> QuotationCheck:
    """Check the quotations of a text, or all of it if it has no quotation marks.

    Raises UsageError for a text without words, a text that is too long, or too many quotations.
    """
    if not text.strip():
        raise UsageError("there is no quotation: give its words")
    if len(text) > MAX_TEXT_CHARS:
        raise UsageError(f"the text has {len(text):,} characters: at most {MAX_TEXT_CHARS:,} are checked")
    marked = find_quotations(text)
    if len(marked) > MAX_QUOTATIONS:
        raise UsageError(f"there are {len(marked):,} quotations: at most {MAX_QUOTATIONS} are checked")
    spans = list_quotations(text)
    if not any(read_words(text[start:end]) for start, end in spans):
        raise UsageError("the quotation has no word")

    def check(index: Index) -> QuotationCheck:
        latest = Searcher(index, owns_index=False)
        return QuotationCheck(tuple(check_quotation(latest, text[start:end], start) for start, end in spans))

    return searcher.index.on_latest(check)


def list_quotations(text: str) -> list[tuple[int, int]]:
    """The characters of each quotation that is checked: all of a text without quotation marks.

    A quotation of more than _MAX_WORDS words is divided into parts, so that each of its words is compared.
    """
    start = len(text) - len(text.lstrip())
    spans = find_quotations(text) or [(start, start + len(text.strip()))]
    return [part for span in spans for part in _divide(text, *span)]


def _divide(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    tokens = read_quotation(text[start:end])
    if len(tokens) <= _MAX_WORDS:
        yield start, end
        return
    size = math.ceil(len(tokens) / math.ceil(len(tokens) / _MAX_WORDS))
    for first in range(0, len(tokens), size):
        part = tokens[first : first + size]
        yield start + part[0].start, start + part[-1].end


def check_quotation(searcher: Searcher, text: str, start: int = 0) -> CheckedQuotation:
    """Check one quotation, without its marks, on a snapshot. `start` is where it begins in a text."""
    index, tokens = searcher.index, read_quotation(text)
    stored = StoredSentences(index)
    parts = split_parts(text, tokens)
    records = {record.sentence_id: record for record in read_candidates(searcher, text, parts)}
    matches = compare(stored, text, tokens, list(records.values()))
    if parts and (not matches or matches[0].alignment.similarity < _GOOD):
        others = {record.sentence_id: record for record in read_rare_phrases(index, text, parts[0])}
        if others.keys() - records.keys():
            matches = compare(stored, text, tokens, list((records | others).values()))
    best = [match for match in matches if judge(match.alignment) != "none"]
    appearances = list(_describe(index, stored, best or matches[:NEAREST]))
    end = start + len(text)
    if not best:
        return CheckedQuotation(text, start, end, "none", None, None, None, (), (), tuple(appearances))
    least = min(match.alignment.edits for match in best)
    order = sorted(range(len(best)), key=lambda n: _order(best[n].window.record))
    first = next(n for n in order if best[n].alignment.edits == least)
    later = tuple(appearances[n] for n in order if n != first)[:LATER]
    spoken = [
        appearance
        for appearance in (appearances[first], *later)
        if appearance.speaker and appearance.verdict == appearances[first].verdict
    ]
    surely = min(spoken, key=lambda appearance: _CERTAINTIES.index(appearance.certainty), default=None)
    return CheckedQuotation(
        text,
        start,
        end,
        appearances[first].verdict,
        surely.speaker if surely else None,
        surely.certainty if surely else None,
        appearances[first],
        later,
        appearances[first].differences,
        (),
    )


_CERTAINTIES = (CERTAIN, PROBABLE, None)


def _order(record: SentenceRecord) -> tuple[bool, int, str, int]:
    return *date_key(record.date), record.document_id, record.position


def _describe(index: Index, stored: StoredSentences, matches: Sequence[Match]) -> Iterator[Appearance]:
    quotes = _find_quotes(stored, matches)
    keys = [quote.name for quote in quotes if quote and quote.name]
    names = index.vocabulary(Names(list(dict.fromkeys(keys)))) if keys else {}
    for (window, alignment), quote in zip(matches, quotes, strict=True):
        record, speaker, certainty = window.record, None, None
        if quote is not None:
            speaker, certainty = quote.speaker, quote.certainty
            if quote.name:
                known = names.get(quote.name)
                speaker = known.form if known else find_form(quote.name, [speaker or ""])
            elif speaker and is_pronoun(speaker, record.language):  # which says nothing without its sentence
                speaker = None
        yield Appearance(
            window.ids[0],
            record.document_id,
            record.date,
            record.source,
            record.title,
            window.text,
            alignment.start,
            alignment.end,
            judge(alignment),
            round(alignment.similarity, 4),
            speaker,
            certainty,
            alignment.differences,
        )


def _find_quotes(stored: StoredSentences, matches: Sequence[Match]) -> list[Quote | None]:
    """The stored quotation that has most of each match; None without one."""
    quotes = stored.read_quotes([id for match in matches for id in match.window.ids])
    chosen: list[Quote | None] = []
    for window, alignment in matches:
        best: Quote | None = None
        most = 0
        for id, start in zip(window.ids, window.starts, strict=True):
            for quote in quotes[id]:
                shared = min(alignment.end, start + quote.end) - max(alignment.start, start + quote.start)
                if shared > most:
                    best, most = quote, shared
        chosen.append(best if 2 * most >= alignment.end - alignment.start else None)
    return chosen
