"""Finds the quotations of a joined text, each with its speaker as written and its verb.

Text between marks is a quotation if a verb of speech governs it, or if it is a complete sentence; a word or a
title in marks is none. Its speaker is named next to the verb, or is that of the previous quotation.
"""

from __future__ import annotations

import re

from esr.enrichment.quotations.document_names import names_speaker
from esr.enrichment.quotations.marked_document import (
    CLAUSE_END,
    LEADS_TO,
    MARKS,
    OPENING,
    SENTENCE_END,
    MarkedDocument,
)
from esr.enrichment.quotations.marks import JoinedText, Spans
from esr.enrichment.quotations.noun_phrases import Phrase
from esr.enrichment.quotations.quotation import Quotation, Source
from esr.enrichment.quotations.sources_after import (
    find_agent_after,
    find_agent_of_participle,
    find_source_after,
    find_source_behind_sentence,
    find_source_within,
)
from esr.enrichment.quotations.sources_before import find_source_before, find_source_of_clause
from esr.enrichment.quotations.sources_without_verbs import (
    find_source_of_first_words,
    find_source_of_headline,
)
from esr.enrichment.quotations.speakers import Grammar
from esr.enrichment.quotations.speakers_elsewhere import (
    add_name_behind_marks,
    add_other_speaker,
    add_subject,
    add_subject_before_title,
)
from esr.enrichment.quotations.titles import is_name_in_marks, is_title, may_be_listed
from esr.enrichment.quotations.word_lists import read_words

_MIN_WORDS, _LONG = 3, 8
"""Minimum words of a quotation, and of one within a sentence that no verb governs."""
_MAX_JOINING = 3
"""Maximum words between two texts in marks that are joined: "“folle” e un “errore”"."""
_FEW_IN_TITLE = 4
"""Maximum words of a title in a list: "“Rano”, “Most na rzece”, “Noc”"."""
_LONGEST_TITLE = 12
"""Minimum words of a quotation that may otherwise be a title."""
_SHARE = 0.5
"""Minimum share of the text governed by a verb that is between marks."""
_FEW_WORDS = 40
"""Maximum words between two paragraphs of one speech."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")


def find_quotations(text: JoinedText, language: str) -> list[Quotation]:
    """The quotations of a document, in order."""
    document = MarkedDocument(text, language)
    quotations: list[Quotation] = []
    for n, pieces in enumerate(document.spans):
        quotation = _read(document, n, pieces, quotations[-1] if quotations else None)
        if quotation is not None:
            quotations.append(quotation)
    return quotations


def _read(document: MarkedDocument, n: int, pieces: Spans, previous: Quotation | None) -> Quotation | None:
    """The quotation between a pair of marks; None if the text between them is no quotation."""
    start, end = pieces[0][0], pieces[-1][1]
    low, high = _bounds(document, n)
    quoted, between = document.text[start:end], document.text[low:start]
    is_part = quoted.lstrip(OPENING)[:1].islower() or _is_within_clause(document, start, low)
    is_name = is_name_in_marks(document, between, end, quoted, is_part)
    if is_name and not (is_part and document.grammar.has_capitals):
        return None
    words = max(len(re.findall(r"\w+(?:[’'-]\w+)*", quoted)), len(_UNSPACED.findall(quoted)) // 2)
    source = _find_source(document, start, end, low, high)
    if source is not None and not _is_mostly_quoted(document, source, n, end):
        source = None
    if source is None and is_part:
        source = _find_source_of_part(document, n, words, low, high)
    if source is None and is_name:
        return None
    source = _complete_source(document, source, n, previous)
    is_shown = source is not None and source.is_near
    is_shown = is_shown and bool(CLAUSE_END.search(quoted) or LEADS_TO.search(between))
    if source is not None and (is_shown or (words >= _MIN_WORDS and not is_title(quoted))):
        return _quote_with_source(document, source, n, quoted, previous)
    if words < _MIN_WORDS:
        return None
    return _quote_without_verb(document, n, words, is_part, previous)


def _bounds(document: MarkedDocument, n: int) -> tuple[int, int]:
    """Where the quotation before the one of a number ends, and where the next one begins."""
    low = document.spans[n - 1][-1][1] if n else 0
    high = document.spans[n + 1][0][0] if n + 1 < len(document.spans) else len(document.text)
    return low, high


def _complete_source(
    document: MarkedDocument, source: Source | None, n: int, previous: Quotation | None
) -> Source | None:
    """A source with the speaker that is elsewhere than beside its verb, or the agent of any participle."""
    start, end = document.spans[n][0][0], document.spans[n][-1][1]
    if source is None or source.speaker is None:
        source = find_agent_of_participle(document, end, _bounds(document, n)[1]) or source
    if source is not None and source.speaker is None:
        source = add_subject_before_title(document, source, n, start, previous)
        source = source if source.speaker else add_other_speaker(document, source, n, start, end)
    if source is not None and source.speaker is not None:
        source = add_name_behind_marks(document, source, n)
    return source


def _quote_with_source(
    document: MarkedDocument, source: Source, n: int, quoted: str, previous: Quotation | None
) -> Quotation:
    """The quotation of a source; without a speaker, it has that of the sentence or of the one before."""
    pieces, start = document.spans[n], document.spans[n][0][0]
    before = previous.source if previous else None
    if source.speaker is None and before and document.is_in_sentence_of(previous, start):
        source = source._replace(speaker=before.speaker, at=before.at)
    if source.speaker is None:
        source = add_subject(document, source, n, start)
    if not _is_next_to_verb(document, source) and not _may_say(document.grammar, source, quoted):
        source = source._replace(speaker=None, at=source.cue_at)
    return Quotation(pieces, source, before is not None and before.cue_at == source.cue_at)


def _quote_without_verb(
    document: MarkedDocument, n: int, words: int, is_part: bool, previous: Quotation | None
) -> Quotation | None:
    """The quotation of some words that no verb governs: a sentence, the rest of one, or a long text."""
    pieces, (low, _) = document.spans[n], _bounds(document, n)
    start, end = pieces[0][0], pieces[-1][1]
    quoted, between = document.text[start:end], document.text[low:start]
    is_work = document.grammar.has_works_in_marks and is_title(quoted.strip(MARKS + " "))
    headline = None if is_work else find_source_of_headline(document, start)
    if headline is not None and _may_say(document.grammar, headline, quoted):
        return Quotation(pieces, headline, False)
    clause = document.text[document.clause_start(start, low) : start]
    is_listed = clause.strip() == "," and words <= _FEW_IN_TITLE and may_be_listed(document.grammar, quoted)
    if not is_listed and not re.search(r"\w", clause) and _is_sentence(document, quoted, end):
        if previous is None:
            return Quotation(pieces, None, False)
        follows = "\n" not in document.text[previous.pieces[-1][1] : start]
        goes_on = follows or _continues(document, previous, start)
        goes_on = goes_on and _may_say(document.grammar, previous.source, quoted)
        return Quotation(pieces, previous.source if goes_on else None, follows)
    if previous is not None and document.is_in_sentence_of(previous, start):
        is_speaker = previous.source is not None and start <= previous.source.at < end
        return None if is_speaker else Quotation(pieces, previous.source, True)
    is_led_to = _is_led_to(document, between, quoted, end)
    if is_work or is_listed or not (is_led_to or _is_long(document, start, end, words, is_part)):
        return None
    source = find_source_of_first_words(document, clause, start)
    return Quotation(pieces, source if _may_say(document.grammar, source, quoted) else None, False)


def _find_source(document: MarkedDocument, start: int, end: int, low: int, high: int) -> Source | None:
    """The source beside a quotation: the one behind it, the one before it, or one within it."""
    after, before = find_source_after(document, start, end, high), find_source_before(document, start, low)
    if before and (agent := find_agent_after(document, before, start, end, low)):
        return agent
    if after is None and before is None:
        return find_source_within(document, start, end)
    if after and not after.speaker and document.grammar.is_subject_first:
        clause = document.clause_start(start, low)
        if name := document.grammar.before_quotation(document.text[clause:start]):
            after = after._replace(speaker=name.text, at=clause + name.start)
    if before and before.speaker and document.is_in_headline(Phrase(before.speaker, before.at)):
        before = before._replace(speaker=None, at=before.cue_at)
    if after is None or before is None:
        return after or before
    goes_on = document.last_sign(end) in ",?!،؟" or document.text[end : end + 1] in (",", "،")
    first, second = (after, before) if goes_on else (before, after)
    is_by = after.cue_at < after.at and document.grammar.by.fullmatch(after.cue) is not None
    if document.grammar.has_wide_attributions and is_by and second.speaker and not second.is_near:
        return second  # "Ann Lee ha detto che il piano “…”, secondo Reuters"
    if document.grammar.inverted.match(f"-{first.speaker}") and second.speaker and not second.is_near:
        return second  # "Selon Ann Lee, « … », a-t-elle dit"
    return first if first.speaker or not second.speaker else second


def _find_source_of_part(document: MarkedDocument, n: int, words: int, low: int, high: int) -> Source | None:
    """The source of a part of a clause, which has some words."""
    start, end = document.spans[n][0][0], document.spans[n][-1][1]
    source = None
    if words >= _MIN_WORDS:
        source = find_source_of_clause(document, start, n) or find_source_behind_sentence(document, end, high)
    return source or _find_source_of_list(document, n, document.text[low:start])


def _find_source_of_list(document: MarkedDocument, n: int, between: str) -> Source | None:
    """The source of what is joined to other text between marks: "“folle” e un “errore”"."""
    rules, words = document.grammar, read_words(between)
    others = rules.openers | rules.articles | rules.prepositions
    is_joined = n > 0 and 0 < len(words) <= _MAX_JOINING and words[0].bare in rules.openers
    if not rules.has_wide_attributions or not is_joined or any(w.bare not in others for w in words):
        return None
    low = document.spans[n - 2][-1][1] if n > 1 else 0
    return find_source_before(document, document.spans[n - 1][0][0], low)


def _is_mostly_quoted(document: MarkedDocument, source: Source, n: int, end: int) -> bool:
    """Whether most of the text governed by a distant verb is between marks."""
    if source.is_near or source.content is None:
        return True
    pieces = (piece for pieces in document.spans[max(0, n - 3) : n + 1] for piece in pieces)
    inside = sum(min(stop, end) - first for first, stop in pieces if first >= source.content)
    return inside >= _SHARE * (end - source.content)


def _is_within_clause(document: MarkedDocument, start: int, low: int) -> bool:
    """Whether a quotation without capitals continues the clause before it."""
    clause = document.text[document.clause_start(start, low) : start].rstrip()
    is_led_to = clause.endswith((":", "："))
    return not document.grammar.has_capitals and bool(re.search(r"\w", clause)) and not is_led_to


def _is_long(document: MarkedDocument, start: int, end: int, words: int, is_part: bool) -> bool:
    """Whether text between marks that no verb governs is too long to be only set off.

    Where titles have a single capital, text that begins with one may be a long title.
    """
    most = document.grammar.set_off
    if most is None:
        return words >= _LONG
    if is_part:
        is_gloss = document.text[start - 1 : start] == "(" and document.text[end : end + 1] == ")"
        return words >= _LONG or (words > most and not is_gloss)
    before = document.text[document.joined.sentence_start(start) : start].rstrip()
    is_led_to = before.endswith(":") or not re.search(r"\w", before)
    return words >= (_LONG if is_led_to else _LONGEST_TITLE)


def _is_led_to(document: MarkedDocument, between: str, quoted: str, end: int) -> bool:
    """Whether a colon leads to a quotation that no verb shows; a list of titles has a colon, too."""
    if between.rstrip().endswith((":", "：")):
        rest = document.text[end : document.joined.sentence_end(end - 1)]
        return not re.search(r"\w", rest) or _is_sentence(document, quoted, end)
    is_whole = document.grammar.is_subject_first or bool(SENTENCE_END.search(quoted))
    return is_whole and bool(LEADS_TO.search(between))


def _may_say(rules: Grammar, source: Source | None, quoted: str) -> bool:
    """Whether a source that no verb names may be that of a quotation: few people name themselves."""
    if source is None or source.speaker is None:
        return True
    return not names_speaker(rules, quoted, source.speaker)


def _is_next_to_verb(document: MarkedDocument, source: Source) -> bool:
    """Whether no comma is between a speaker and the verb: "Bay was glad for Lee, saying" may be Bay."""
    if source.speaker is None or source.at >= source.cue_at:
        return True
    return "," not in document.text[source.at + len(source.speaker) : source.cue_at]


def _is_sentence(document: MarkedDocument, quoted: str, end: int) -> bool:
    """Whether a quotation ends like a sentence."""
    ends = (".", ",") if document.grammar.has_capitals else (".", ",", "。", "，", "؟")
    return bool(SENTENCE_END.search(quoted)) or document.text[end : end + 1] in ends


def _continues(document: MarkedDocument, previous: Quotation, start: int) -> bool:
    """Whether a quotation at the beginning of a paragraph continues that of the previous paragraph."""
    between = document.text[previous.pieces[-1][1] : start]
    return between.count("\n") == 1 and len(between.split()) < _FEW_WORDS
