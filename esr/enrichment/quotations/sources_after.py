"""Finds the source of a quotation behind it, or between dashes within it: "…," she said."""

from __future__ import annotations

import re

from esr.enrichment.quotations.marked_document import DASH, MarkedDocument
from esr.enrichment.quotations.noun_phrases import Phrase
from esr.enrichment.quotations.quotation import Source, source_of
from esr.enrichment.quotations.sources_before import is_set_off
from esr.enrichment.quotations.sources_without_verbs import find_source_without_verb_after
from esr.enrichment.quotations.speakers import Grammar
from esr.enrichment.quotations.word_lists import CAPITAL, read_words

_REACH = 250
"""Maximum characters from a quotation to a verb after it."""
_SIGNATURE = re.compile(rf"\s*[―—–]\s*((?:{CAPITAL}[\w.’'-]*\s+){{1,4}}{CAPITAL}[\w’'-]*)\.?\s*")
"""A name that signs a quotation: "“We left.” — Ann Lee"."""
_FIRST_WORD = re.compile(r"\s*,?\s+([^\W\dA-ZÀ-Ý]\w+)")
_ASIDE = re.compile(r"[\s,.!?…]\s?[–—-]\s+(?=\w)([^–—\"“”«»]{3,150}?)[,.;]?\s[–—-](?:\s|[.,]\W*$)")
"""An aside between dashes within a quotation: "„To prawda – mówi Ann Lee – ale …”"."""


def find_source_after(document: MarkedDocument, start: int, end: int, high: int) -> Source | None:
    """The source in the text after a quotation: "…," she said."""
    text, rules = document.text, document.grammar
    at = end
    while text[at : at + 1] and text[at] in " ,،―—–-":
        at += 1
    signed = _SIGNATURE.fullmatch(text, end, document.joined.sentence_end(at)) if at < high else None
    if signed and not text[document.joined.sentence_start(start) : start].strip():
        return Source(signed[1], signed.start(1), "", end)
    sentence_end = document.joined.sentence_end(at)
    is_joined = rules.is_unspaced and text[end:high] == ""  # a body in marks: “……，”“红会”发言人
    match = rules.pattern_after.match(text, end, sentence_end if is_joined else min(high, sentence_end))
    if match is not None:
        speaker, cue = match["speaker"] or None, match["cue"]
        return Source(speaker, match.start("speaker" if speaker else "cue"), cue, match.start("cue"))
    if (source := _find_source_that_takes_up(document, end, high)) is not None:
        return source
    mark = end - 2 if text.startswith("''", end - 2) else end - 1
    last = text[max(start, mark - 1) : mark + 1]
    goes_on = last[0] in ",?!،؟" or text[end : end + 1] in (",", "،")
    goes_on = goes_on or (rules.has_dashes and bool(DASH.match(text, end)))
    if at >= len(text) or text[at] == "\n" or text[end : end + 1] in (".", ";", ":"):
        return None
    if "." in last and text[end : end + 1] not in (",", "،") and not text[at].islower():
        return None
    right = text[at : min(high, document.joined.sentence_end(at), at + _REACH)]
    if (source := find_source_without_verb_after(rules, right, at, goes_on)) is not None:
        return source
    cue = rules.find_cue(rules.cue_after, right)
    if cue is None:
        return _find_unlisted_verb(rules, right, at) if goes_on else None
    left = right[: cue.start()]
    inverted = rules.inverted.search(left)
    rest = rules.aside.sub(" ", left.replace(inverted[0], "", 1) if inverted else left)
    words = [word.lower() for word in re.findall(r"\w+", rest) if word.lower() not in rules.fillers]
    if inverted and not words:
        return source_of(Phrase(inverted[1], inverted.start(1)), at, cue[0], at + cue.start())
    behind = right[cue.end() :]
    is_reported = 0 < len(words) <= 2 and words[-1] in rules.as_in
    if is_reported and (agent := rules.agent("", cue[0], behind)):
        return source_of(agent, at + cue.end(), cue[0], at)  # "secondo quanto riferito da Ann Lee"
    if not words or (len(words) == 1 and words[0] in rules.as_in):
        place = rules.read_in.match(behind.lstrip()) if cue[0].lower() in rules.read else None
        if place and (name := rules.noun_after(behind.lstrip()[place.end() :])):
            return source_of(name, at + len(right) - len(behind.lstrip()) + place.end(), cue[0], at)
        name = rules.after_verb(behind) if cue[0].lower() not in rules.never_before else None
        return source_of(name, at + cue.end(), cue[0], at + cue.start())
    is_adverbial = words[0] in rules.no_beginning and "," not in left
    if is_adverbial and rules.has_dashes and DASH.match(text, end):
        name = rules.after_verb(right[cue.end() :])
        return source_of(name, at + cue.end(), cue[0], at + cue.start())
    if words[-1].endswith(rules.nominal):
        return Source(None, at + cue.start(), cue[0], at + cue.start(), False)
    if name := _find_speaker_behind_clause(rules, left, behind):
        return source_of(name, at + cue.end(), cue[0], at + cue.start(), False)
    is_other = is_adverbial or (rules.is_nonfinite(cue[0]) and not rules.has_bare_nouns)
    if words[0] in rules.openers or is_other or re.search("[;:]", left):
        return None
    name = rules.before_verb(left)
    return source_of(name, at, cue[0], at + cue.start()) if name else None


def _find_speaker_behind_clause(rules: Grammar, left: str, behind: str) -> Phrase | None:
    """The speaker behind a clause and a verb that is set off: (“…”, benché piova,) "ha scritto Lee"."""
    if not rules.has_wide_attributions or not is_set_off(rules, left):
        return None
    name = rules.after_verb(behind)
    following = read_words(behind[name.start + len(name.text) :])[:1] if name else []
    is_end = all(word.text in ".,;" or word.bare in rules.prepositions for word in following)
    return name if is_end else None


def _find_source_that_takes_up(document: MarkedDocument, end: int, high: int) -> Source | None:
    """The source in a sentence that takes up the quotation before it: "“….” Lo ha detto Ann Lee."."""
    text, rules = document.text, document.grammar
    at = end
    while text[at : at + 1] and text[at] in " .,:;–—-":
        at += 1
    lead = rules.taken_up.match(text, at, high)
    if lead is None:
        return None
    right = text[lead.end() : min(high, document.joined.sentence_end(at))]
    cue = rules.find_cue(rules.cue_after, right)
    if cue is None or any(word.bare not in rules.fillers for word in read_words(right[: cue.start()])):
        return None
    name = rules.after_verb(right[cue.end() :])
    return source_of(name, lead.end() + cue.end(), cue[0], lead.end() + cue.start()) if name else None


def _find_unlisted_verb(rules: Grammar, right: str, at: int) -> Source | None:
    """The source in the text after a quotation, whose verb is in no list."""
    new = rules.new_cue.match(right)
    if new is None:
        return None
    if before := new.groupdict().get("before"):
        return Source(before.strip(), at, new["cue"], at)
    name = rules.after_verb(right[new.end() :])
    return source_of(name, at + new.end(), new["after"], at) if name else None


def find_agent_of_participle(document: MarkedDocument, end: int, high: int) -> Source | None:
    """The agent of any participle directly behind a quotation: "lo slogan “…” gridato da Ann Lee"."""
    right = document.text[end : min(high, document.joined.sentence_end(end - 1))]
    verb = _FIRST_WORD.match(right)
    agent = document.grammar.agent("", verb[1], right[verb.end() :]) if verb else None
    return source_of(agent, end + verb.end(), verb[1], end + verb.start(1)) if agent and verb else None


def find_source_behind_sentence(document: MarkedDocument, end: int, high: int) -> Source | None:
    """The source at the end of a sentence that is quoted in part: "Il piano “…”, ha detto Lee."."""
    right = document.text[end : min(high, document.joined.sentence_end(end - 1))]
    for cue in document.grammar.cue_after.finditer(right):
        if name := _find_speaker_behind_clause(document.grammar, right[: cue.start()], right[cue.end() :]):
            return source_of(name, end + cue.end(), cue[0], end + cue.start(), False)
    return None


def find_agent_after(
    document: MarkedDocument, source: Source, start: int, end: int, low: int
) -> Source | None:
    """The source whose agent is behind the quotation: "è stato definito “…” da Ann Lee"."""
    subject = document.text[document.clause_start(start, low) : source.cue_at]
    right = document.text[end : document.joined.sentence_end(end - 1)]
    by = document.grammar.passive_by.match(right.lstrip())
    if by is None or source.cue_at >= start or not document.grammar.is_passive(subject, source.cue):
        return None
    at = end + len(right) - len(right.lstrip()) + by.end()
    name = document.grammar.after_verb(right.lstrip()[by.end() :])
    return source._replace(speaker=name.text, at=at + name.start) if name else None


def find_source_within(document: MarkedDocument, start: int, end: int) -> Source | None:
    """The source between dashes within a quotation, whose first words are a verb and its speaker."""
    rules = document.grammar
    for aside in _ASIDE.finditer(document.text, start, end):
        cue = rules.find_cue(rules.cue_after, aside[1])
        if cue is None and rules.has_wide_attributions:
            cue = rules.new_cue.match(aside[1])
        if cue is None:
            continue
        if any(word.bare not in rules.fillers for word in read_words(aside[1][: cue.start()])):
            continue
        place = aside.start(1)
        name = rules.after_verb(aside[1][cue.end() :])
        return source_of(name, place + cue.end(), cue[0], place + cue.start())
    return None
