"""Finds the speaker of a verb of speech that has no subject beside it.

The speaker is the subject of another clause or sentence, a name in marks, or behind a name in marks.
"""

from __future__ import annotations

import re

from esr.enrichment.quotations.marked_document import MARKED_AFTER, MarkedDocument
from esr.enrichment.quotations.noun_phrases import Phrase
from esr.enrichment.quotations.quotation import Quotation, Source
from esr.enrichment.quotations.titles import is_title
from esr.enrichment.quotations.word_lists import CAPITAL

_REACH_OF_NAME = 60
"""Maximum characters of a name in marks before a verb."""
_MAX_OPENERS = 2
"""Maximum words before a verb that begins a sentence: "Tout en disant"."""
_MARKED_BEFORE = re.compile(rf"[„“«\"]\s?({CAPITAL}[^„“”«»\".!?]{{1,40}}?)\s?[“”»\"]\s+$")
"""A name in marks before a verb: "„Życie Warszawy” (pisze)"."""


def add_subject(document: MarkedDocument, source: Source, n: int, start: int) -> Source:
    """A source whose verb has no subject of its own, with that of the clause before the quotation."""
    rules = document.grammar
    if rules.is_subject_first:
        first, left = document.sentence_before(start, n)
        name = rules.before_quotation(left)
        source = source._replace(speaker=name.text, at=first + name.start) if name else source
    if source.speaker is not None or not rules.drops_subjects:
        return source
    name = _find_earlier_subject(document, min(source.cue_at, start), n)
    if name is None or (name.text.lower() in rules.all_pronouns and not rules.has_bare_nouns):
        return source
    return source._replace(speaker=name.text, at=name.start)


def _find_earlier_subject(document: MarkedDocument, before: int, n: int) -> Phrase | None:
    """The subject of the last verb of speech of a sentence before a place, or of its first clause.

    What is quoted in that sentence does not count.
    """
    rules = document.grammar
    first, left = document.sentence_before(before, n)
    for cue in reversed(list(rules.cue.finditer(left))):
        if not rules.is_verb(left, cue):
            continue
        if name := rules.before_verb(left[: cue.start()]):
            return Phrase(name.text, name.start + first)
        if name := rules.after_verb(left[cue.end() :]):
            return Phrase(name.text, name.start + first + cue.end())
    name = rules.subject(left)
    return Phrase(name.text, name.start + first) if name else None


def add_subject_before_title(
    document: MarkedDocument, source: Source, n: int, start: int, previous: Quotation | None
) -> Source:
    """A source before a quotation, with the subject before a title in marks: "Lee wrote in “…”:"."""
    if source.cue_at >= start or not n or document.grammar.set_off is None:
        return source
    first, left = document.sentence_before(source.cue_at, n)
    if document.spans[n - 1][-1][1] <= first or document.is_in_sentence_of(previous, start):
        return source
    name = document.grammar.before_verb(left)
    return source._replace(speaker=name.text, at=first + name.start) if name else source


def add_other_speaker(document: MarkedDocument, source: Source, n: int, start: int, end: int) -> Source:
    """A source with a speaker who is a name in marks, or is behind the quotation."""
    source = _add_marked_speaker(document, source, start, end)
    if source.speaker is None:
        source = _add_speaker_behind_marks(document, source, n, end)
    if source.cue_at < start and document.grammar.is_nonfinite(source.cue):
        source = _add_later_subject(document, source, end)
    return source


def _add_marked_speaker(document: MarkedDocument, source: Source, start: int, end: int) -> Source:
    """A source whose speaker is a name in marks directly next to the verb: "pisze „Życie”"."""
    if not document.grammar.has_marked_sources:
        return source
    at = source.cue_at
    name = MARKED_AFTER.match(document.text, at + len(source.cue))
    name = name or _MARKED_BEFORE.search(document.text, max(0, at - _REACH_OF_NAME), at)
    if name is None or start <= name.start(1) < end or not is_title(name[1]):
        return source
    if document.grammar.is_addressee(name[1]):  # "powiedział „Gazecie Wyborczej” Jan Lis"
        place = name.end()
        speaker = document.grammar.after_verb(document.text[place : document.joined.sentence_end(place)])
        return source._replace(speaker=speaker.text, at=place + speaker.start) if speaker else source
    return source._replace(speaker=name[1], at=name.start(1))


def _add_speaker_behind_marks(document: MarkedDocument, source: Source, n: int, end: int) -> Source:
    """A source whose speaker follows a name in marks: "powiedział w gazecie „Życie” Jan Lis"."""
    verb = source.cue_at + len(source.cue)
    for pieces in document.spans[n + 1 : n + 2]:
        (start, stop), gap = pieces[-1], document.text[verb : pieces[-1][0]]
        is_told = end <= verb < start and re.fullmatch(r"(?:\s+\w+){1,6}\s+", gap) and gap.islower()
        name = document.grammar.after_verb(document.text[stop : document.joined.sentence_end(start)])
        if document.grammar.has_bare_nouns and is_told and name:
            return source._replace(speaker=name.text, at=stop + name.start)
    return source


def _add_later_subject(document: MarkedDocument, source: Source, end: int) -> Source:
    """A source that begins a sentence, with the subject of the clause after it: "En disant « … », il"."""
    first = document.joined.sentence_start(source.cue_at)
    if len(document.text[first : source.cue_at].split()) > _MAX_OPENERS:
        return source
    right = document.text[end : document.joined.sentence_end(end - 1)]
    name = document.grammar.subject(right) if "," in right else None
    return source._replace(speaker=name.text, at=end + name.start) if name else source


def add_name_behind_marks(document: MarkedDocument, source: Source, n: int) -> Source:
    """A source with the name of the office of a body in marks: "mówi prezes „Życia”, Jan Lis"."""
    end = source.at + len(source.speaker or "")
    for pieces in document.spans[n + 1 : n + 2]:
        (start, stop), is_office = pieces[-1], document.grammar.is_office(source.speaker or "")
        name = document.grammar.name_behind(document.text[stop : document.joined.sentence_end(start)])
        if is_office and name and start > end and not document.text[end:start].strip():
            return source._replace(speaker=name.text, at=stop + name.start)
    return source
