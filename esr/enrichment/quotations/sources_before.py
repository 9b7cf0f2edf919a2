"""Finds the source of a quotation by a verb of speech before it: She said, "…"."""

from __future__ import annotations

import re

from esr.enrichment.quotations.marked_document import (
    DASH,
    LEADS_TO,
    REACH_OF_CLAUSE,
    SENTENCE_WITHIN,
    MarkedDocument,
)
from esr.enrichment.quotations.noun_phrases import Phrase
from esr.enrichment.quotations.quotation import Source, source_of
from esr.enrichment.quotations.sources_without_verbs import (
    find_source_named_before,
    find_source_without_verb,
    read_pattern,
)
from esr.enrichment.quotations.speakers import Grammar
from esr.enrichment.quotations.word_lists import read_words

_REACH_BEFORE = 150
"""Maximum characters between a verb and the quotation after it."""
_FEW_BETWEEN, _FEW_WITH_OBJECT = 3, 8
"""Maximum words between a verb and a quotation that are almost beside each other, and with an object."""
_REST_OF_OFFICE = re.compile(r"(?:\s+[\w’'-]*\w[\w’'-]*){0,7}(?:,|\s[–—-]\s)")
_NOTHING = re.compile(r"(?P<subject>)")
_DASH_AT_END = re.compile(r"\s[–—-]\s*$")


def find_source_before(document: MarkedDocument, start: int, low: int) -> Source | None:
    """The source in the text before a quotation: She said, "…"."""
    text, rules = document.text, document.grammar
    clause = document.clause_start(start, low)
    left = text[clause:start]
    if not left.strip() and clause and (head := text[:clause].rstrip()).endswith(":"):
        clause = max(low, document.joined.sentence_start(len(head) - 1))
        left = text[clause : len(head)]
    if (source := find_source_without_verb(document, left, clause)) is not None:
        return source
    for cue in reversed(_find_cues(rules, left)):
        gap = left[cue.end() :]
        if len(gap) > _REACH_BEFORE:
            return None
        if not rules.is_verb(left, cue):
            continue
        if SENTENCE_WITHIN.search(gap):
            return None
        is_near = _is_near(rules, cue[0], gap)
        subject, cue_at = left[: cue.start()], clause + cue.start()
        name, offset, content = None, 0, cue.end()
        is_apart = is_set_off(rules, subject)
        if not _is_compared(rules, subject) and (agent := rules.agent(subject, cue[0], gap)):
            return source_of(agent, clause + cue.end(), cue[0], cue_at)
        if cleft := rules.cleft_speaker(subject, cue[0]):
            return source_of(cleft, clause, cue[0], cue_at, is_near, clause + content)
        is_participle = cue[0].endswith("ing")
        is_participle |= rules.has_named_appositions and rules.is_nonfinite(cue[0])
        if is_participle and is_apart:  # "Ann Lee met Bo Day, saying"
            name = rules.subject(subject) or _find_subject_of_earlier_verb(rules, subject)
        elif cue[0].lower() in rules.read and (place := _find_place(rules, subject, cue[0], gap)):
            name, offset = place
        elif (is_apart and cue[0] in rules.inserted) or _is_compared(rules, subject):
            by = rules.passive_by.search(gap) if _is_compared(rules, subject) else None
            if by and (agent := rules.after_verb(gap[by.end() :])):  # "come riferito da Ann Lee"
                return source_of(agent, clause + cue.end() + by.end(), cue[0], clause + cue.start())
            name, length = _find_inserted(rules, gap)  # "What Bo Day wants is, said Ann Lee, …"
            offset = cue.end() if name else 0
            if length:
                content += length
                is_near = is_near or len(gap[length:].split()) <= _FEW_BETWEEN
        elif rules.is_verb_first:
            name = None if rules.is_nonfinite(cue[0]) else rules.after_verb(gap)
            offset = cue.end() if name else 0
            is_weak = rules.cue.fullmatch(cue[0]) is None and rules.is_joined(subject)
            if is_weak and (earlier := rules.subject(subject)):
                name, offset = earlier, 0  # "came and described the visit"
        elif name := _find_inserted_speaker(rules, subject, gap):
            offset = cue.end()
        if rules.is_subject_first:
            name = rules.before_quotation(subject)
        name = name or rules.before_verb(subject)
        may_follow = not rules.is_nonfinite(cue[0])
        if may_follow and LEADS_TO.search(gap) and (name is None or not subject.strip()):
            name, offset = rules.after_verb(gap), cue.end()
        if name is None:
            name, offset = rules.subject(subject), 0
        if name is not None or is_near:
            return source_of(name, clause + offset, cue[0], cue_at, is_near, clause + content)
    return None


def _find_cues(rules: Grammar, left: str) -> list[re.Match[str]]:
    """The verbs of speech before a quotation, or else those that report only directly before it."""
    cues = list(rules.cue.finditer(left))
    if rules.has_wide_attributions:  # "ha definito la legge" (una “…”)
        cues = [cue for cue in cues if rules.is_verb(left, cue)]
    return cues or list(rules.cue_before.finditer(left))


def _is_near(rules: Grammar, cue: str, gap: str) -> bool:
    """Whether a verb is almost next to a quotation, or has an object: "definì la legge sul lavoro"."""
    words = gap.split()
    may_have_object = rules.has_wide_attributions and "," not in gap and not rules.cue.fullmatch(cue)
    return len(words) <= (_FEW_WITH_OBJECT if may_have_object else _FEW_BETWEEN) or bool(LEADS_TO.search(gap))


def _find_place(rules: Grammar, subject: str, cue: str, gap: str) -> tuple[Phrase, int] | None:
    """What somebody reads in, and where the text that has it begins: "In una nota" (si legge)."""
    if rules.has_bare_nouns:
        for first in rules.read_in.finditer(subject.lower()):
            name = rules.noun_after(subject[first.end() :])
            if name and name.text.split()[0] not in rules.fillers:
                return name, first.end()
    before = re.search(r"[\w’']+(?:\s+[\w’']+){0,3}\s*$", subject)
    if before and (place := rules.read_in.search(before[0].lower())):
        name = rules.noun_after(before[0][place.end() :])
        return (name, before.start() + place.end()) if name else None
    behind = next((word.start for word in read_words(gap) if word.bare not in rules.fillers), len(gap))
    place = rules.read_in.match(gap, behind)
    name = rules.noun_after(gap[place.end() :]) if place else None
    return (name, len(subject) + len(cue) + place.end()) if name and place else None


def is_set_off(rules: Grammar, subject: str) -> bool:
    """Whether a comma is before a verb and its auxiliaries: "La legge, ha" (rilevato Ann Lee)."""
    if not rules.has_wide_attributions:
        return subject.rstrip().endswith(",")
    words = read_words(subject)
    while words and words[-1].bare in rules.auxiliaries:
        del words[-1]
    return bool(words) and words[-1].text in ",–—-"


def _is_compared(rules: Grammar, subject: str) -> bool:
    """Whether a conjunction leads to a verb and the speaker behind it: "come" (dice Ann Lee)."""
    words = read_words(subject)
    while rules.has_wide_attributions and words and words[-1].bare in rules.auxiliaries:
        del words[-1]
    return bool(words) and words[-1].bare in rules.as_in


def _find_inserted(rules: Grammar, gap: str) -> tuple[Phrase | None, int]:
    """The speaker after an inserted verb, and where what is reported goes on; 0 if unknown."""
    name = rules.after_verb(gap)
    if name is None or not rules.has_wide_attributions:
        return _before_comma(name, gap), 0
    rest = _REST_OF_OFFICE.match(gap, name.start + len(name.text))
    return (name, rest.end()) if rest else (None, 0)


def _find_inserted_speaker(rules: Grammar, left: str, gap: str) -> Phrase | None:
    """The speaker after a verb that is set off from what is quoted: "Plan, pisze Ann Lee, “…”"."""
    if inverted := rules.inverted.match(gap):
        return Phrase(inverted[1], inverted.start(1))
    if not rules.has_bare_nouns or (name := rules.after_verb(gap)) is None:
        return None
    if name.text.lower() in rules.all_pronouns:
        return name
    before, words = rules.before_verb(left), read_words(left)
    after = gap[name.start + len(name.text) :]
    is_led_to = after.startswith(":") and rules.has_name(read_words(name.text))
    if is_led_to and words and words[-1].bare in rules.relatives:
        return name  # "przypomniał, co powiedział Jan Lis: „…”"
    if _DASH_AT_END.search(left) and DASH.match(after):
        return name
    is_topic = before is not None and before.start == 0 and " " not in before.text and left.count(",") == 1
    is_speaker = before is not None and not is_topic and rules.has_name(read_words(before.text))
    if is_speaker or not left.rstrip().endswith((",", "-", "–", "—")):
        return None
    following = read_words(after)[:1]
    is_end = any(word.text in ",:–—-" or word.bare in rules.no_beginning for word in following)
    return name if is_end else None


def _find_subject_of_earlier_verb(rules: Grammar, left: str) -> Phrase | None:
    """The subject of the last verb of speech in a text: "(Ieri) Ann Lee (ha detto la sua,)" (dicendo)."""
    cues = list(rules.cue.finditer(left)) if rules.has_wide_attributions else []
    names = (rules.before_verb(left[: cue.start()]) for cue in reversed(cues) if rules.is_verb(left, cue))
    return next((name for name in names if name and rules.has_name(read_words(name.text))), None)


def find_source_of_clause(document: MarkedDocument, start: int, n: int) -> Source | None:
    """The source of a part of what a clause reports: "Ann Lee dijo ayer que el plan es “…”"."""
    rules = document.grammar
    first, left = document.sentence_before(start, n)
    if (match := rules.pattern_of_clause.search(left)) is not None:
        return read_pattern(rules, match, left, first)._replace(is_near=False)
    for cue in reversed(list(rules.cue.finditer(left))):
        gap = left[cue.end() :]
        if len(gap) > REACH_OF_CLAUSE or SENTENCE_WITHIN.search(gap):
            break
        is_led_to = cue[0].split()[-1] in rules.conjunctions  # "dire che"
        clause = _NOTHING.match(gap) if is_led_to else rules.reported.match(gap)
        if clause is None or not rules.is_verb(left, cue):
            continue
        name, offset = None, first
        if not rules.is_verb_first:
            subject = left[: cue.start()]
            name = rules.cleft_speaker(subject, cue[0]) or rules.before_verb(subject)
        if name is None and not rules.is_nonfinite(cue[0]):
            name, offset = rules.after_verb(clause["subject"] or ""), first + cue.end()
        if rules.has_bare_nouns and cue[0] in rules.read:
            place = _find_place(rules, left[: cue.start()], cue[0], gap)
            name, offset = (place[0], first + place[1]) if place else (name, offset)
        if name is None and rules.is_verb_first:
            name, offset = rules.before_verb(left[: cue.start()]) or rules.subject(left), first
        return source_of(name, offset, cue[0], first + cue.start(), False, first + cue.end())
    return find_source_named_before(document, first, left)


def _before_comma(phrase: Phrase | None, text: str) -> Phrase | None:
    """A phrase of a text, if a comma follows it."""
    return phrase if phrase and text[phrase.start + len(phrase.text) :].startswith(",") else None
