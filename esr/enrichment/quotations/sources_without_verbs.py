"""Finds the source of a quotation where no verb of speech shows it.

It is before a colon, at the beginning of a headline, or with another word: "according to", "the comment of".
"""

from __future__ import annotations

import re

from esr.enrichment.quotations.marked_document import (
    LEADS_TO,
    MARKED_AFTER,
    MARKS,
    REACH_OF_CLAUSE,
    SENTENCE_WITHIN,
    MarkedDocument,
)
from esr.enrichment.quotations.noun_phrases import Phrase
from esr.enrichment.quotations.quotation import Source, source_of
from esr.enrichment.quotations.speakers import Grammar
from esr.enrichment.quotations.word_lists import CAPITAL, read_words

_REACH_BEFORE = 150
"""Maximum characters between words that show a speaker and the quotation after them."""
_MAX_MARKED = 3
"""Maximum words of a name in marks."""
_NAMED_BEFORE_COLON = re.compile(
    rf"\s*((?:{CAPITAL}[\w.’'-]*\s+(?:(?:van|von|de|den|der|del|di|da)\s+){{0,2}}){{0,4}}{CAPITAL}[\w.’'-]*)\s*:\s*"
)


def find_source_without_verb(document: MarkedDocument, left: str, clause: int) -> Source | None:
    """The source that something else than a verb shows before a quotation: "According to Ann Lee"."""
    rules = document.grammar
    match = rules.pattern_before.search(left)
    is_near = rules.is_unspaced or not (match and rules.find_cue(rules.cue, left[match.end("speaker") :]))
    if match is not None and is_near:
        return read_pattern(rules, match, left, clause)
    by = rules.by.search(left)
    rest = left[by.end() :] if by else ""
    if _has_verb_of_clause(rules, rest) or (rules.is_verb_first and rules.find_cue(rules.cue, rest)):
        by = None
    if by and len(left) - by.end() < _REACH_BEFORE and (name := rules.after_by(by[0], left[by.end() :])):
        return source_of(name, clause + by.end(), by[0], clause + by.start(), is_near=False)
    if (noun := _find_noun_before(rules, left, clause)) is not None:
        return noun
    agent = rules.agent_before_colon.search(left)
    if agent and (name := rules.after_verb(agent["agent"])) and name.text == agent["agent"].strip():
        return Source(name.text, clause + agent.start("agent"), ":", clause + agent.start("agent"))
    named = _NAMED_BEFORE_COLON.fullmatch(left)
    if named and _is_name(document, named[1], clause + named.start(1)):
        return Source(named[1], clause + named.start(1), ":", clause)
    return None


def read_pattern(rules: Grammar, match: re.Match[str], left: str, clause: int) -> Source:
    """The source that the pattern of the language found before a quotation."""
    cue_at = clause + match.start("cue")
    if not match["speaker"]:
        earlier = rules.pattern_of_clause.search(left[: match.start("cue")])
        name = Phrase(earlier["speaker"], earlier.start("speaker")) if earlier else None
        return source_of(name, clause, match["cue"], cue_at, True, clause + len(left))
    speaker = clause + match.start("speaker")
    named = rules.has_wide_attributions
    name = rules.after_verb(left[match.start("speaker") :]) if named else None
    name = name if name and name.start else Phrase(match["speaker"], 0)
    return Source(name.text, speaker + name.start, match["cue"], cue_at, True, clause + len(left))


def _find_noun_before(rules: Grammar, left: str, clause: int) -> Source | None:
    """The source of what a noun leads to: "Il commento di Ann Lee:" (“…”)."""
    noun = rules.speech_noun.search(left)
    if noun is None or not (left.rstrip().endswith(":") or rules.is_that.search(left, noun.end())):
        return None
    name = rules.after_verb(left[noun.end() :]) or rules.noun_after(left[noun.end() :])
    return name and source_of(name, clause + noun.end(), noun[0].strip(), clause + noun.start())


def _is_name(document: MarkedDocument, speaker: str, at: int) -> bool:
    """Whether what stands before a colon is a name."""
    rules = document.grammar
    # Letters of other scripts have no case in the pattern, so it may have taken a verb.
    verbs = rules.cue_before if rules.is_caseless else rules.cue
    if (not speaker.isascii() and verbs.search(speaker)) or rules.begins_apart(speaker):
        return False
    words = read_words(speaker)
    is_person = words[0].bare in rules.persons
    return rules.has_name(words) and (is_person or _is_named(document, speaker, at))


def find_source_without_verb_after(rules: Grammar, right: str, at: int, goes_on: bool) -> Source | None:
    """The source that something else than a verb shows after a quotation: "…," according to Ann Lee."""
    if (by := rules.by.match(right)) and (name := rules.after_by(by[0], right[by.end() :])):
        return source_of(name, at + by.end(), by[0], at)
    if goes_on and (by := rules.by_after.match(right)) and (name := rules.after_verb(right[by.end() :])):
        rest = right[by.end() + name.start + len(name.text) :]
        if not rules.cue_after.search(rest):
            return source_of(name, at + by.end(), by[0], at)
    return find_noun_after(rules, right, at)


def find_noun_after(rules: Grammar, right: str, at: int) -> Source | None:
    """The source of a noun behind a quotation: "“…”, è la tesi di Ann Lee"."""
    noun = rules.speech_noun.search(right)
    if noun is None:
        return None
    others = rules.auxiliaries | rules.articles | rules.fillers
    if any(word.bare not in others for word in read_words(right[: noun.start()])):
        return None
    name = rules.after_verb(right[noun.end() :])
    return source_of(name, at + noun.end(), noun[0].strip(), at + noun.start()) if name else None


def find_source_named_before(document: MarkedDocument, first: int, left: str) -> Source | None:
    """The source that a word without a verb names at the beginning: "Selon lui, le plan est “…”"."""
    rules = document.grammar
    by = rules.by.search(left) if rules.set_off is not None else None
    place = first + by.end() if by and rules.has_marked_sources else None
    marked = MARKED_AFTER.match(document.text, place) if place else None
    if by and marked and len(marked[1].split()) <= _MAX_MARKED:
        return Source(marked[1], marked.start(1), by[0], first + by.start(), False)
    if by is None or SENTENCE_WITHIN.search(left, by.end()) or len(left) - by.end() > REACH_OF_CLAUSE:
        return None
    name = rules.after_by(by[0], left[by.end() :])
    return source_of(name, first + by.end(), by[0], first + by.start(), False) if name else None


def _has_verb_of_clause(rules: Grammar, text: str) -> bool:
    """Whether a verb in a text reports a clause: "(según la agencia,) Ann Lee dijo que" (“…”)."""
    return any(rules.reported.match(text, cue.end()) for cue in rules.cue.finditer(text))


def find_source_of_headline(document: MarkedDocument, start: int) -> Source | None:
    """The source that a headline begins with: "Il Cremlino: è “…”"."""
    if not document.grammar.has_wide_attributions:
        return None
    first = document.joined.sentence_start(start)
    match = document.grammar.headline.match(document.text, first, start)
    if match is None or not document.grammar.has_name(read_words(match[1])):
        return None
    return Source(match[1], match.start(1), ":", first)


def find_source_of_first_words(document: MarkedDocument, clause: str, start: int) -> Source | None:
    """The source of a quotation that no verb governs: the name with which its clause begins."""
    if document.grammar.is_verb_first and not LEADS_TO.search(clause):
        return None
    subject = _find_name_before_colon(document.grammar, clause) or document.grammar.subject(clause)
    if subject and document.is_in_headline(subject, start - len(clause)):
        return None
    if subject and subject.text.lower() in document.grammar.other_pronouns:
        return None
    if subject and not _is_named(document, subject.text, start - len(clause) + subject.start):
        return None
    return source_of(subject, start - len(clause), None, -1) if subject else None


def _find_name_before_colon(rules: Grammar, clause: str) -> Phrase | None:
    """The name between an office and a colon: "Il commento del leader, Ann Lee:" (“…”)."""
    match = rules.name_and_colon.search(clause) if rules.has_wide_attributions else None
    is_name = match is not None and rules.has_name(read_words(match[1]))
    return Phrase(match[1], match.start(1)) if match and is_name else None


def _is_named(document: MarkedDocument, speaker: str, at: int) -> bool:
    """Whether a speaker whom no verb shows has a name, a title or is a pronoun.

    One word with the capital of the first word of a sentence is no name, unless the document has it
    with a capital elsewhere: "Fazit: „…“".
    """
    rules, words = document.grammar, read_words(speaker)
    if rules.is_caseless or rules.may_begin_with_name or speaker.lower() in rules.all_pronouns:
        return True
    names = [word for word in words if rules.has_name([word])]
    if len(names) != 1 or any(word.bare in rules.titles for word in words):
        return True
    place = at + names[0].start
    if rules.has_wide_attributions:
        following = read_words(document.text[at + len(speaker) : document.joined.sentence_end(at)])[:1]
        is_subject = any(word.bare in rules.auxiliaries | rules.articles for word in following)
        if is_subject or words[0].bare in rules.bodies:
            return True
    if rules.is_subject_first and document.text[at + len(speaker) :].startswith(","):
        return True
    return document.text[document.joined.sentence_start(place) : place].strip(MARKS + "“„ ") != "" or any(
        _is_within(document, match.start())
        for match in re.finditer(rf"(?<!\w){re.escape(names[0].text)}(?!\w)", document.text)
    )


def _is_within(document: MarkedDocument, position: int) -> bool:
    """Whether a small word or a comma is before a place, so that a sentence does not begin there."""
    before = document.text[document.joined.sentence_start(position) : position].rstrip()
    return (before[-1:].isalpha() and before.split()[-1][0].islower()) or before.endswith(",")
