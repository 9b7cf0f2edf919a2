"""Finds the quotations of a joined text, each with its speaker as written and its verb.

Text between marks is a quotation if a verb of speech governs it, or if it is a complete sentence; a word or a
title in marks is none. Its speaker is named next to the verb, or is that of the previous quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from esr.enrichment.quotations.document_names import names_speaker
from esr.enrichment.quotations.marks import JoinedText, Spans, pair_marks
from esr.enrichment.quotations.speakers import Phrase, grammar
from esr.enrichment.quotations.word_lists import CAPITAL, read_words

_REACH = 250
"""Maximum characters from a quotation to a verb after it."""
_REACH_BEFORE = 150
"""Maximum characters between a verb and the quotation after it."""
_MIN_WORDS, _LONG = 3, 8
"""Minimum words of a quotation, and of one within a sentence that no verb governs."""
_REACH_OF_CLAUSE = 300
"""Maximum characters between a verb and a part of what the clause after it reports."""
_FEW_IN_TITLE = 4
"""Maximum words of a title in a list: "“Rano”, “Most na rzece”, “Noc”"."""
_LONGEST_TITLE = 12
"""Minimum words of a quotation that may otherwise be a title."""
_REACH_OF_NAME = 60
"""Maximum characters of a name in marks before a verb."""
_MAX_OPENERS = 2
"""Maximum words before a verb that begins a sentence: "Tout en disant"."""
_SHARE = 0.5
"""Minimum share of the text governed by a verb that is between marks."""
_FEW_WORDS = 40
"""Maximum words between two paragraphs of one speech."""
_MARKS = "”\"’»“『』」«›‹'"
_OPENING = '“„"«»‘‚‹›`,” \xa0\u202f'
_SENTENCE_END = re.compile(rf"[.?!…—–。！？؟-](?:\s?»|[{_MARKS}]*)$")
_CLAUSE_END = re.compile(rf"[,.?!،؟，。？！](?:\s?»|[{_MARKS}]+)$")
_SENTENCE_WITHIN = re.compile(r"(?<!\b[A-Z][a-z]{2})(?<!\b[A-Z][a-z])[.!?;؟؛]\s")
_LEADS_TO = re.compile(r"[,:：،]\s*$")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_SIGNATURE = re.compile(rf"\s*[―—–]\s*((?:{CAPITAL}[\w.’'-]*\s+){{1,4}}{CAPITAL}[\w’'-]*)\.?\s*")
"""A name that signs a quotation: "“We left.” — Ann Lee"."""
_NAMED_BEFORE_COLON = re.compile(
    rf"\s*((?:{CAPITAL}[\w.’'-]*\s+(?:(?:van|von|de|den|der|del|di|da)\s+){{0,2}}){{0,4}}{CAPITAL}[\w.’'-]*)\s*:\s*"
)
_MARKED_AFTER = re.compile(rf"\s*[„“«\"]\s?({CAPITAL}[^„“”«»\"]{{1,40}}?)\s?[“”»\"](?![\w])")
_MARKED_BEFORE = re.compile(rf"[„“«\"]\s?({CAPITAL}[^„“”«»\".!?]{{1,40}}?)\s?[“”»\"]\s+$")
"""A name in marks after or before a verb: "pisze „Życie Warszawy”"."""
_REST_OF_OFFICE = re.compile(r"(?:\s+[\w’'-]*\w[\w’'-]*){0,7}(?:,|\s[–—-]\s)")
_FIRST_WORD = re.compile(r"\s*,?\s+([^\W\dA-ZÀ-Ý]\w+)")
_NOTHING = re.compile(r"(?P<subject>)")
_DASH = re.compile(r"\s*[–—-]\s")
_DASH_AT_END = re.compile(r"\s[–—-]\s*$")
_ASIDE = re.compile(r"[\s,.!?…]\s?[–—-]\s+(?=\w)([^–—\"“”«»]{3,150}?)[,.;]?\s[–—-](?:\s|[.,]\W*$)")
"""An aside between dashes within a quotation: "„To prawda – mówi Ann Lee – ale …”"."""


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


def find_quotations(text: JoinedText, language: str) -> list[Quotation]:
    """The quotations of a document, in order."""
    return list(_Finder(text, language).find())


class _Finder:
    def __init__(self, text: JoinedText, language: str) -> None:
        self._joined = text
        self._text = text.text
        self._grammar = grammar(language)
        self._spans = pair_marks(text)

    def find(self) -> Iterator[Quotation]:
        previous: Quotation | None = None
        for n, pieces in enumerate(self._spans):
            quotation = self._read(n, pieces, previous)
            if quotation is not None:
                yield quotation
                previous = quotation

    def _read(self, n: int, pieces: Spans, previous: Quotation | None) -> Quotation | None:
        """The quotation between a pair of marks; None if the text between them is no quotation."""
        start, end = pieces[0][0], pieces[-1][1]
        low = self._spans[n - 1][-1][1] if n else 0
        high = self._spans[n + 1][0][0] if n + 1 < len(self._spans) else len(self._text)
        quoted, between = self._text[start:end], self._text[low:start]
        is_part = quoted.lstrip(_OPENING)[:1].islower() or self._is_within_clause(start, low)
        is_named = self._is_title_of(between, is_part) or self._is_credited(between, end)
        is_named = is_named or self._grammar.is_body(quoted.strip(_OPENING + _MARKS))
        is_named = is_named and not _CLAUSE_END.search(quoted)
        if is_named and not (is_part and self._grammar.has_capitals):
            return None
        words = max(len(re.findall(r"\w+(?:[’'-]\w+)*", quoted)), len(_UNSPACED.findall(quoted)) // 2)
        source = self._source(start, end, low, high)
        if source is not None and not self._is_mostly_quoted(source, n, end):
            source = None
        if source is None and is_part:
            source = self._source_of_part(n, words, low, high)
        if source is None and is_named:
            return None
        if source is None or source.speaker is None:
            source = self._source_of_participle(end, high) or source
        if source is not None and source.speaker is None:
            source = self._with_subject_before_title(source, n, start, previous)
            source = source if source.speaker else self._with_other_speaker(source, n, start, end)
        if source is not None and source.speaker is not None:
            source = self._with_name_behind_marks(source, n)
        is_shown = source is not None and source.is_near
        is_shown = is_shown and bool(_CLAUSE_END.search(quoted) or _LEADS_TO.search(between))
        if source is not None and (is_shown or (words >= _MIN_WORDS and not is_title(quoted))):
            before = previous.source if previous else None
            if source.speaker is None and before and self._in_sentence_of(previous, start):
                source = source._replace(speaker=before.speaker, at=before.at)
            if source.speaker is None:
                source = self._with_subject(source, n, start)
            if not self._is_next_to_verb(source) and not self._may_say(source, quoted):
                source = source._replace(speaker=None, at=source.cue_at)
            return Quotation(pieces, source, before is not None and before.cue_at == source.cue_at)
        if words < _MIN_WORDS:
            return None
        is_work = self._grammar.has_works_in_marks and is_title(quoted.strip(_MARKS + " "))
        headline = None if is_work else self._source_of_headline(start)
        if headline is not None and self._may_say(headline, quoted):
            return Quotation(pieces, headline, False)
        clause = self._text[self._clause_start(start, low) : start]
        is_listed = clause.strip() == "," and words <= _FEW_IN_TITLE and self._may_be_listed(quoted)
        if not is_listed and not re.search(r"\w", clause) and self._is_sentence(quoted, end):
            if previous is None:
                return Quotation(pieces, None, False)
            follows = "\n" not in self._text[previous.pieces[-1][1] : start]
            goes_on = (follows or self._continues(previous, start)) and self._may_say(previous.source, quoted)
            return Quotation(pieces, previous.source if goes_on else None, follows)
        if previous is not None and self._in_sentence_of(previous, start):
            is_speaker = previous.source is not None and start <= previous.source.at < end
            return None if is_speaker else Quotation(pieces, previous.source, True)
        is_led_to = self._is_led_to(between, quoted, end)
        if is_work or is_listed or not (is_led_to or self._is_long(start, end, words, is_part)):
            return None
        source = self._source_of_first_words(clause, start)
        return Quotation(pieces, source if self._may_say(source, quoted) else None, False)

    def _may_be_listed(self, quoted: str) -> bool:
        """Whether text between marks, after a comma, may be one of some titles."""
        is_part = quoted.lstrip(_OPENING)[:1].islower()
        return self._grammar.has_works_in_marks and not is_part and not _SENTENCE_END.search(quoted)

    def _is_within_clause(self, start: int, low: int) -> bool:
        """Whether a quotation without capitals continues the clause before it."""
        clause = self._text[self._clause_start(start, low) : start].rstrip()
        is_led_to = clause.endswith((":", "："))
        return not self._grammar.has_capitals and bool(re.search(r"\w", clause)) and not is_led_to

    def _source_of_part(self, n: int, words: int, low: int, high: int) -> Source | None:
        """The source of a part of a clause, which has some words."""
        start, end = self._spans[n][0][0], self._spans[n][-1][1]
        source = None
        if words >= _MIN_WORDS:
            source = self._source_of_clause(start, n) or self._source_behind_sentence(end, high)
        return source or self._source_of_list(n, self._text[low:start])

    def _source_of_first_words(self, clause: str, start: int) -> Source | None:
        """The source of a quotation that no verb governs: the name with which its clause begins."""
        if self._grammar.is_verb_first and not _LEADS_TO.search(clause):
            return None
        subject = self._named_before_colon(clause) or self._grammar.subject(clause)
        if subject and self._is_in_headline(subject, start - len(clause)):
            return None
        if subject and subject.text.lower() in self._grammar.other_pronouns:
            return None
        if subject and not self._is_named(subject.text, start - len(clause) + subject.start):
            return None
        return _source_of(subject, start - len(clause), None, -1) if subject else None

    def _source_of_headline(self, start: int) -> Source | None:
        """The source that a headline begins with: "Il Cremlino: è “…”"."""
        if not self._grammar.has_wide_attributions:
            return None
        first = self._joined.sentence_start(start)
        match = self._grammar.headline.match(self._text, first, start)
        if match is None or not self._grammar.has_name(read_words(match[1])):
            return None
        return Source(match[1], match.start(1), ":", first)

    def _named_before_colon(self, clause: str) -> Phrase | None:
        """The name between an office and a colon: "Il commento del leader, Ann Lee:" (“…”)."""
        rules = self._grammar
        match = rules.name_and_colon.search(clause) if rules.has_wide_attributions else None
        is_name = match is not None and rules.has_name(read_words(match[1]))
        return Phrase(match[1], match.start(1)) if match and is_name else None

    def _is_long(self, start: int, end: int, words: int, is_part: bool) -> bool:
        """Whether text between marks that no verb governs is too long to be only set off.

        Where titles have a single capital, text that begins with one may be a long title.
        """
        most = self._grammar.set_off
        if most is None:
            return words >= _LONG
        if is_part:
            is_gloss = self._text[start - 1 : start] == "(" and self._text[end : end + 1] == ")"
            return words >= _LONG or (words > most and not is_gloss)
        before = self._text[self._joined.sentence_start(start) : start].rstrip()
        is_led_to = before.endswith(":") or not re.search(r"\w", before)
        return words >= (_LONG if is_led_to else _LONGEST_TITLE)

    def _is_title_of(self, between: str, is_part: bool) -> bool:
        """Whether a word before the mark says that a name or a title follows: "el libro de Ann Lee «…»"."""
        rules, words = self._grammar, read_words(between)
        sign = words.pop().text if words and words[-1].text in ",:" else ""
        while words and not is_part and (words[-1].is_capital or words[-1].bare in rules.prepositions):
            del words[-1]
        return bool(words) and rules.leads_to_name(words[-1].bare + sign.strip(","))

    def _is_credited(self, between: str, end: int) -> bool:
        """Whether the author of a work follows its title: "«…», di Ann Lee"."""
        return not re.search(r"\w", between) and self._grammar.credits.match(self._text, end) is not None

    def _is_led_to(self, between: str, quoted: str, end: int) -> bool:
        """Whether a colon leads to a quotation that no verb shows; a list of titles has a colon, too."""
        if between.rstrip().endswith((":", "：")):
            rest = self._text[end : self._joined.sentence_end(end - 1)]
            return not re.search(r"\w", rest) or self._is_sentence(quoted, end)
        is_whole = self._grammar.is_subject_first or bool(_SENTENCE_END.search(quoted))
        return is_whole and bool(_LEADS_TO.search(between))

    def _may_say(self, source: Source | None, quoted: str) -> bool:
        """Whether a source that no verb names may be that of a quotation: few people name themselves."""
        if source is None or source.speaker is None:
            return True
        return not names_speaker(self._grammar, quoted, source.speaker)

    def _is_name(self, speaker: str, at: int) -> bool:
        """Whether what stands before a colon is a name."""
        rules = self._grammar
        # Letters of other scripts have no case in the pattern, so it may have taken a verb.
        verbs = rules.cue_before if rules.is_caseless else rules.cue
        if (not speaker.isascii() and verbs.search(speaker)) or rules.begins_apart(speaker):
            return False
        words = read_words(speaker)
        is_person = words[0].bare in rules.persons
        return rules.has_name(words) and (is_person or self._is_named(speaker, at))

    def _is_named(self, speaker: str, at: int) -> bool:
        """Whether a speaker whom no verb shows has a name, a title or is a pronoun.

        One word with the capital of the first word of a sentence is no name, unless the document has it
        with a capital elsewhere: "Fazit: „…“".
        """
        rules, words = self._grammar, read_words(speaker)
        if rules.is_caseless or rules.may_begin_with_name or speaker.lower() in rules.all_pronouns:
            return True
        names = [word for word in words if rules.has_name([word])]
        if len(names) != 1 or any(word.bare in rules.titles for word in words):
            return True
        place = at + names[0].start
        if rules.has_wide_attributions:
            following = read_words(self._text[at + len(speaker) : self._joined.sentence_end(at)])[:1]
            is_subject = any(word.bare in rules.auxiliaries | rules.articles for word in following)
            if is_subject or words[0].bare in rules.bodies:
                return True
        if rules.is_subject_first and self._text[at + len(speaker) :].startswith(","):
            return True
        return self._text[self._joined.sentence_start(place) : place].strip(_MARKS + "“„ ") != "" or any(
            self._is_within(match.start())
            for match in re.finditer(rf"(?<!\w){re.escape(names[0].text)}(?!\w)", self._text)
        )

    def _is_within(self, position: int) -> bool:
        """Whether a small word or a comma is before a place, so that a sentence does not begin there."""
        before = self._text[self._joined.sentence_start(position) : position].rstrip()
        return (before[-1:].isalpha() and before.split()[-1][0].islower()) or before.endswith(",")

    def _is_next_to_verb(self, source: Source) -> bool:
        """Whether no comma is between a speaker and the verb: "Bay was glad for Lee, saying" may be Bay."""
        if source.speaker is None or source.at >= source.cue_at:
            return True
        return "," not in self._text[source.at + len(source.speaker) : source.cue_at]

    def _is_sentence(self, quoted: str, end: int) -> bool:
        ends = (".", ",") if self._grammar.has_capitals else (".", ",", "。", "，", "؟")
        return bool(_SENTENCE_END.search(quoted)) or self._text[end : end + 1] in ends

    def _in_sentence_of(self, previous: Quotation | None, start: int) -> bool:
        if previous is None:
            return False
        end = previous.pieces[-1][1] - 1
        return self._joined.sentence_at(end) == self._joined.sentence_at(start)

    def _continues(self, previous: Quotation, start: int) -> bool:
        """Whether a quotation at the beginning of a paragraph continues that of the previous paragraph."""
        between = self._text[previous.pieces[-1][1] : start]
        return between.count("\n") == 1 and len(between.split()) < _FEW_WORDS

    def _is_mostly_quoted(self, source: Source, n: int, end: int) -> bool:
        """Whether most of the text governed by a distant verb is between marks."""
        if source.is_near or source.content is None:
            return True
        pieces = (piece for pieces in self._spans[max(0, n - 3) : n + 1] for piece in pieces)
        inside = sum(min(stop, end) - first for first, stop in pieces if first >= source.content)
        return inside >= _SHARE * (end - source.content)

    def _clause_start(self, start: int, low: int) -> int:
        return max(self._joined.sentence_start(start), low)

    def _source(self, start: int, end: int, low: int, high: int) -> Source | None:
        after, before = self._source_after(start, end, high), self._source_before(start, low)
        if before and (agent := self._agent_after(before, start, end, low)):
            return agent
        if after is None and before is None:
            return self._source_within(start, end)
        if after and not after.speaker and self._grammar.is_subject_first:
            clause = self._clause_start(start, low)
            if name := self._grammar.before_quotation(self._text[clause:start]):
                after = after._replace(speaker=name.text, at=clause + name.start)
        if before and before.speaker and self._is_in_headline(Phrase(before.speaker, before.at)):
            before = before._replace(speaker=None, at=before.cue_at)
        if after is None or before is None:
            return after or before
        goes_on = self._last_sign(end) in ",?!،؟" or self._text[end : end + 1] in (",", "،")
        first, second = (after, before) if goes_on else (before, after)
        is_by = after.cue_at < after.at and self._grammar.by.fullmatch(after.cue) is not None
        if self._grammar.has_wide_attributions and is_by and second.speaker and not second.is_near:
            return second  # "Ann Lee ha detto che il piano “…”, secondo Reuters"
        if self._grammar.inverted.match(f"-{first.speaker}") and second.speaker and not second.is_near:
            return second  # "Selon Ann Lee, « … », a-t-elle dit"
        return first if first.speaker or not second.speaker else second

    def _agent_after(self, source: Source, start: int, end: int, low: int) -> Source | None:
        """The source whose agent is behind the quotation: "è stato definito “…” da Ann Lee"."""
        subject = self._text[self._clause_start(start, low) : source.cue_at]
        right = self._text[end : self._joined.sentence_end(end - 1)]
        by = self._grammar.passive_by.match(right.lstrip())
        if by is None or source.cue_at >= start or not self._grammar.is_passive(subject, source.cue):
            return None
        at = end + len(right) - len(right.lstrip()) + by.end()
        name = self._grammar.after_verb(right.lstrip()[by.end() :])
        return source._replace(speaker=name.text, at=at + name.start) if name else None

    def _with_subject(self, source: Source, n: int, start: int) -> Source:
        """A source whose verb has no subject of its own, with that of the clause before the quotation."""
        rules = self._grammar
        if rules.is_subject_first:
            first, left = self._sentence_before(start, n)
            name = rules.before_quotation(left)
            source = source._replace(speaker=name.text, at=first + name.start) if name else source
        if source.speaker is not None or not rules.drops_subjects:
            return source
        name = self._earlier_subject(min(source.cue_at, start), n)
        rules = self._grammar
        if name is None or (name.text.lower() in rules.all_pronouns and not rules.has_bare_nouns):
            return source
        return source._replace(speaker=name.text, at=name.start)

    def _with_other_speaker(self, source: Source, n: int, start: int, end: int) -> Source:
        """A source with a speaker who is a name in marks, or is behind the quotation."""
        source = self._with_marked_speaker(source, start, end)
        if source.speaker is None:
            source = self._with_speaker_behind_marks(source, n, end)
        if source.cue_at < start and self._grammar.is_nonfinite(source.cue):
            source = self._with_later_subject(source, end)
        return source

    def _with_marked_speaker(self, source: Source, start: int, end: int) -> Source:
        """A source whose speaker is a name in marks directly next to the verb: "pisze „Życie”"."""
        if not self._grammar.has_marked_sources:
            return source
        at = source.cue_at
        name = _MARKED_AFTER.match(self._text, at + len(source.cue))
        name = name or _MARKED_BEFORE.search(self._text, max(0, at - _REACH_OF_NAME), at)
        if name is None or start <= name.start(1) < end or not is_title(name[1]):
            return source
        if self._grammar.is_addressee(name[1]):  # "powiedział „Gazecie Wyborczej” Jan Lis"
            place = name.end()
            speaker = self._grammar.after_verb(self._text[place : self._joined.sentence_end(place)])
            return source._replace(speaker=speaker.text, at=place + speaker.start) if speaker else source
        return source._replace(speaker=name[1], at=name.start(1))

    def _with_name_behind_marks(self, source: Source, n: int) -> Source:
        """A source with the name of the office of a body in marks: "mówi prezes „Życia”, Jan Lis"."""
        end = source.at + len(source.speaker or "")
        for pieces in self._spans[n + 1 : n + 2]:
            (start, stop), is_office = pieces[-1], self._grammar.is_office(source.speaker or "")
            name = self._grammar.name_behind(self._text[stop : self._joined.sentence_end(start)])
            if is_office and name and start > end and not self._text[end:start].strip():
                return source._replace(speaker=name.text, at=stop + name.start)
        return source

    def _with_speaker_behind_marks(self, source: Source, n: int, end: int) -> Source:
        """A source whose speaker follows a name in marks: "powiedział w gazecie „Życie” Jan Lis"."""
        verb = source.cue_at + len(source.cue)
        for pieces in self._spans[n + 1 : n + 2]:
            (start, stop), gap = pieces[-1], self._text[verb : pieces[-1][0]]
            is_told = end <= verb < start and re.fullmatch(r"(?:\s+\w+){1,6}\s+", gap) and gap.islower()
            name = self._grammar.after_verb(self._text[stop : self._joined.sentence_end(start)])
            if self._grammar.has_bare_nouns and is_told and name:
                return source._replace(speaker=name.text, at=stop + name.start)
        return source

    def _with_subject_before_title(
        self, source: Source, n: int, start: int, previous: Quotation | None
    ) -> Source:
        """A source before a quotation, with the subject before a title in marks: "Lee wrote in “…”:"."""
        if source.cue_at >= start or not n or self._grammar.set_off is None:
            return source
        first, left = self._sentence_before(source.cue_at, n)
        if self._spans[n - 1][-1][1] <= first or self._in_sentence_of(previous, start):
            return source
        name = self._grammar.before_verb(left)
        return source._replace(speaker=name.text, at=first + name.start) if name else source

    def _with_later_subject(self, source: Source, end: int) -> Source:
        """A source that begins a sentence, with the subject of the clause after it: "En disant « … », il"."""
        first = self._joined.sentence_start(source.cue_at)
        if len(self._text[first : source.cue_at].split()) > _MAX_OPENERS:
            return source
        right = self._text[end : self._joined.sentence_end(end - 1)]
        name = self._grammar.subject(right) if "," in right else None
        return source._replace(speaker=name.text, at=end + name.start) if name else source

    def _source_within(self, start: int, end: int) -> Source | None:
        """The source between dashes within a quotation, whose first words are a verb and its speaker."""
        rules = self._grammar
        for aside in _ASIDE.finditer(self._text, start, end):
            cue = rules.find_cue(rules.cue_after, aside[1])
            if cue is None and rules.has_wide_attributions:
                cue = rules.new_cue.match(aside[1])
            if cue is None:
                continue
            if any(word.bare not in rules.fillers for word in read_words(aside[1][: cue.start()])):
                continue
            place = aside.start(1)
            name = rules.after_verb(aside[1][cue.end() :])
            return _source_of(name, place + cue.end(), cue[0], place + cue.start())
        return None

    def _earlier_subject(self, before: int, n: int) -> Phrase | None:
        """The subject of the last verb of speech of a sentence before a place, or of its first clause.

        What is quoted in that sentence does not count.
        """
        rules = self._grammar
        first, left = self._sentence_before(before, n)
        for cue in reversed(list(rules.cue.finditer(left))):
            if not rules.is_verb(left, cue):
                continue
            if name := rules.before_verb(left[: cue.start()]):
                return Phrase(name.text, name.start + first)
            if name := rules.after_verb(left[cue.end() :]):
                return Phrase(name.text, name.start + first + cue.end())
        name = rules.subject(left)
        return Phrase(name.text, name.start + first) if name else None

    def _sentence_before(self, place: int, n: int) -> tuple[int, str]:
        """The beginning of a sentence and its text up to a place, with blanks for what is between marks."""
        first = self._joined.sentence_start(place)
        left = self._text[first:place]
        for start, end in (piece for pieces in self._spans[max(0, n - 3) : n] for piece in pieces):
            begin, stop = max(start - first, 0), max(end - first, 0)
            left = left[:begin] + " " * (min(stop, len(left)) - begin) + left[stop:]
        return first, left

    def _source_of_clause(self, start: int, n: int) -> Source | None:
        """The source of a part of what a clause reports: "Ann Lee dijo ayer que el plan es “…”"."""
        rules = self._grammar
        first, left = self._sentence_before(start, n)
        if (match := rules.pattern_of_clause.search(left)) is not None:
            return self._source_of_pattern(match, left, first)._replace(is_near=False)
        for cue in reversed(list(rules.cue.finditer(left))):
            gap = left[cue.end() :]
            if len(gap) > _REACH_OF_CLAUSE or _SENTENCE_WITHIN.search(gap):
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
                place = self._place_read(left[: cue.start()], cue[0], gap)
                name, offset = (place[0], first + place[1]) if place else (name, offset)
            if name is None and rules.is_verb_first:
                name, offset = rules.before_verb(left[: cue.start()]) or rules.subject(left), first
            return _source_of(name, offset, cue[0], first + cue.start(), False, first + cue.end())
        return self._source_named_before(first, left)

    def _source_named_before(self, first: int, left: str) -> Source | None:
        """The source that a word without a verb names at the beginning: "Selon lui, le plan est “…”"."""
        rules = self._grammar
        by = rules.by.search(left) if rules.set_off is not None else None
        place = first + by.end() if by and rules.has_marked_sources else None
        marked = _MARKED_AFTER.match(self._text, place) if place else None
        if by and marked and len(marked[1].split()) <= _MIN_WORDS:
            return Source(marked[1], marked.start(1), by[0], first + by.start(), False)
        if by is None or _SENTENCE_WITHIN.search(left, by.end()) or len(left) - by.end() > _REACH_OF_CLAUSE:
            return None
        name = rules.after_by(by[0], left[by.end() :])
        return _source_of(name, first + by.end(), by[0], first + by.start(), False) if name else None

    def _has_verb_of_clause(self, text: str) -> bool:
        """Whether a verb in a text reports a clause: "(según la agencia,) Ann Lee dijo que" (“…”)."""
        rules = self._grammar
        return any(rules.reported.match(text, cue.end()) for cue in rules.cue.finditer(text))

    def _subject_of_earlier_verb(self, left: str) -> Phrase | None:
        """The subject of the last verb of speech in a text: "(Ieri) Ann Lee (ha detto la sua,)" (dicendo)."""
        rules = self._grammar
        cues = list(rules.cue.finditer(left)) if rules.has_wide_attributions else []
        names = (rules.before_verb(left[: cue.start()]) for cue in reversed(cues) if rules.is_verb(left, cue))
        return next((name for name in names if name and rules.has_name(read_words(name.text))), None)

    def _inserted_speaker(self, left: str, gap: str) -> Phrase | None:
        """The speaker after a verb that is set off from what is quoted: "Plan, pisze Ann Lee, “…”"."""
        rules = self._grammar
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
        if _DASH_AT_END.search(left) and _DASH.match(after):
            return name
        is_topic = (
            before is not None and before.start == 0 and " " not in before.text and left.count(",") == 1
        )
        is_speaker = before is not None and not is_topic and rules.has_name(read_words(before.text))
        if is_speaker or not left.rstrip().endswith((",", "-", "–", "—")):
            return None
        following = read_words(after)[:1]
        is_end = any(word.text in ",:–—-" or word.bare in rules.no_beginning for word in following)
        return name if is_end else None

    def _last_sign(self, end: int) -> str:
        """The last sign between marks: before a French mark after the blank."""
        last = end - (3 if self._text.startswith("''", end - 2) else 2)
        if self._text[end - 1 : end] == "»" and self._text[last : last + 1].isspace():
            last -= 1
        return self._text[last : last + 1]

    def _is_in_headline(self, speaker: Phrase, offset: int = 0) -> bool:
        """Whether a speaker before a verb may be a part of a headline: "READ MORE: We love Lee Bay said"."""
        is_pronoun = speaker.text.lower() in self._grammar.all_pronouns
        return not is_pronoun and self._joined.is_in_link(speaker.start + offset)

    def _source_after(self, start: int, end: int, high: int) -> Source | None:
        """The source in the text after a quotation: "…," she said."""
        text, rules = self._text, self._grammar
        at = end
        while text[at : at + 1] and text[at] in " ,،―—–-":
            at += 1
        signed = _SIGNATURE.fullmatch(text, end, self._joined.sentence_end(at)) if at < high else None
        if signed and not text[self._joined.sentence_start(start) : start].strip():
            return Source(signed[1], signed.start(1), "", end)
        sentence_end = self._joined.sentence_end(at)
        is_joined = rules.is_unspaced and text[end:high] == ""  # a body in marks: “……，”“红会”发言人
        match = rules.pattern_after.match(text, end, sentence_end if is_joined else min(high, sentence_end))
        if match is not None:
            speaker, cue = match["speaker"] or None, match["cue"]
            return Source(speaker, match.start("speaker" if speaker else "cue"), cue, match.start("cue"))
        if (source := self._source_that_takes_up(end, high)) is not None:
            return source
        mark = end - 2 if text.startswith("''", end - 2) else end - 1
        last = text[max(start, mark - 1) : mark + 1]
        goes_on = last[0] in ",?!،؟" or text[end : end + 1] in (",", "،")
        goes_on = goes_on or (rules.has_dashes and bool(_DASH.match(text, end)))
        if at >= len(text) or text[at] == "\n" or text[end : end + 1] in (".", ";", ":"):
            return None
        if "." in last and text[end : end + 1] not in (",", "،") and not text[at].islower():
            return None
        right = text[at : min(high, self._joined.sentence_end(at), at + _REACH)]
        if (source := self._source_without_verb_after(right, at, goes_on)) is not None:
            return source
        cue = rules.find_cue(rules.cue_after, right)
        if cue is None:
            return self._source_of_new_cue(right, at) if goes_on else None
        left = right[: cue.start()]
        inverted = rules.inverted.search(left)
        rest = rules.aside.sub(" ", left.replace(inverted[0], "", 1) if inverted else left)
        words = [word.lower() for word in re.findall(r"\w+", rest) if word.lower() not in rules.fillers]
        if inverted and not words:
            return _source_of(Phrase(inverted[1], inverted.start(1)), at, cue[0], at + cue.start())
        behind = right[cue.end() :]
        is_reported = 0 < len(words) <= 2 and words[-1] in rules.as_in
        if is_reported and (agent := rules.agent("", cue[0], behind)):
            return _source_of(agent, at + cue.end(), cue[0], at)  # "secondo quanto riferito da Ann Lee"
        if not words or (len(words) == 1 and words[0] in rules.as_in):
            place = rules.read_in.match(behind.lstrip()) if cue[0].lower() in rules.read else None
            if place and (name := rules.noun_after(behind.lstrip()[place.end() :])):
                return _source_of(name, at + len(right) - len(behind.lstrip()) + place.end(), cue[0], at)
            name = rules.after_verb(behind) if cue[0].lower() not in rules.never_before else None
            return _source_of(name, at + cue.end(), cue[0], at + cue.start())
        is_adverbial = words[0] in rules.no_beginning and "," not in left
        if is_adverbial and rules.has_dashes and _DASH.match(text, end):
            name = rules.after_verb(right[cue.end() :])
            return _source_of(name, at + cue.end(), cue[0], at + cue.start())
        if words[-1].endswith(rules.nominal):
            return Source(None, at + cue.start(), cue[0], at + cue.start(), False)
        if name := self._speaker_behind_clause(left, behind):
            return _source_of(name, at + cue.end(), cue[0], at + cue.start(), False)
        is_other = is_adverbial or (rules.is_nonfinite(cue[0]) and not rules.has_bare_nouns)
        if words[0] in rules.openers or is_other or re.search("[;:]", left):
            return None
        name = rules.before_verb(left)
        return _source_of(name, at, cue[0], at + cue.start()) if name else None

    def _source_without_verb_after(self, right: str, at: int, goes_on: bool) -> Source | None:
        """The source that something else than a verb shows after a quotation: "…," according to Ann Lee."""
        rules = self._grammar
        if (by := rules.by.match(right)) and (name := rules.after_by(by[0], right[by.end() :])):
            return _source_of(name, at + by.end(), by[0], at)
        if goes_on and (by := rules.by_after.match(right)) and (name := rules.after_verb(right[by.end() :])):
            rest = right[by.end() + name.start + len(name.text) :]
            if not rules.cue_after.search(rest):
                return _source_of(name, at + by.end(), by[0], at)
        return self._source_of_noun_after(right, at)

    def _speaker_behind_clause(self, left: str, behind: str) -> Phrase | None:
        """The speaker behind a clause and a verb that is set off: (“…”, benché piova,) "ha scritto Lee"."""
        if not self._grammar.has_wide_attributions or not self._is_set_off(left):
            return None
        name = self._grammar.after_verb(behind)
        following = read_words(behind[name.start + len(name.text) :])[:1] if name else []
        is_end = all(word.text in ".,;" or word.bare in self._grammar.prepositions for word in following)
        return name if is_end else None

    def _source_of_list(self, n: int, between: str) -> Source | None:
        """The source of what is joined to other text between marks: "“folle” e un “errore”"."""
        rules, words = self._grammar, read_words(between)
        others = rules.openers | rules.articles | rules.prepositions
        is_joined = n > 0 and 0 < len(words) <= _MIN_WORDS and words[0].bare in rules.openers
        if not rules.has_wide_attributions or not is_joined or any(w.bare not in others for w in words):
            return None
        low = self._spans[n - 2][-1][1] if n > 1 else 0
        return self._source_before(self._spans[n - 1][0][0], low)

    def _source_of_participle(self, end: int, high: int) -> Source | None:
        """The agent of any participle directly behind a quotation: "lo slogan “…” gridato da Ann Lee"."""
        right = self._text[end : min(high, self._joined.sentence_end(end - 1))]
        verb = _FIRST_WORD.match(right)
        agent = self._grammar.agent("", verb[1], right[verb.end() :]) if verb else None
        return _source_of(agent, end + verb.end(), verb[1], end + verb.start(1)) if agent and verb else None

    def _source_behind_sentence(self, end: int, high: int) -> Source | None:
        """The source at the end of a sentence that is quoted in part: "Il piano “…”, ha detto Lee."."""
        right = self._text[end : min(high, self._joined.sentence_end(end - 1))]
        for cue in self._grammar.cue_after.finditer(right):
            if name := self._speaker_behind_clause(right[: cue.start()], right[cue.end() :]):
                return _source_of(name, end + cue.end(), cue[0], end + cue.start(), False)
        return None

    def _source_that_takes_up(self, end: int, high: int) -> Source | None:
        """The source in a sentence that takes up the quotation before it: "“….” Lo ha detto Ann Lee."."""
        text, rules = self._text, self._grammar
        at = end
        while text[at : at + 1] and text[at] in " .,:;–—-":
            at += 1
        lead = rules.taken_up.match(text, at, high)
        if lead is None:
            return None
        right = text[lead.end() : min(high, self._joined.sentence_end(at))]
        cue = rules.find_cue(rules.cue_after, right)
        if cue is None or any(word.bare not in rules.fillers for word in read_words(right[: cue.start()])):
            return None
        name = rules.after_verb(right[cue.end() :])
        return _source_of(name, lead.end() + cue.end(), cue[0], lead.end() + cue.start()) if name else None

    def _source_of_new_cue(self, right: str, at: int) -> Source | None:
        """The source in the text after a quotation, whose verb is in no list."""
        new = self._grammar.new_cue.match(right)
        if new is None:
            return None
        if before := new.groupdict().get("before"):
            return Source(before.strip(), at, new["cue"], at)
        name = self._grammar.after_verb(right[new.end() :])
        return _source_of(name, at + new.end(), new["after"], at) if name else None

    def _source_before(self, start: int, low: int) -> Source | None:
        """The source in the text before a quotation: She said, "…"."""
        text, rules = self._text, self._grammar
        clause = self._clause_start(start, low)
        left = text[clause:start]
        if not left.strip() and clause and (head := text[:clause].rstrip()).endswith(":"):
            clause = max(low, self._joined.sentence_start(len(head) - 1))
            left = text[clause : len(head)]
        if (source := self._source_without_verb(left, clause)) is not None:
            return source
        for cue in reversed(self._cues_before(left)):
            gap = left[cue.end() :]
            if len(gap) > _REACH_BEFORE:
                return None
            if not rules.is_verb(left, cue):
                continue
            if _SENTENCE_WITHIN.search(gap):
                return None
            is_near = self._is_near(cue[0], gap)
            subject, cue_at = left[: cue.start()], clause + cue.start()
            name, offset, content = None, 0, cue.end()
            is_set_off = self._is_set_off(subject)
            if not self._is_compared(subject) and (agent := rules.agent(subject, cue[0], gap)):
                return _source_of(agent, clause + cue.end(), cue[0], cue_at)
            if cleft := rules.cleft_speaker(subject, cue[0]):
                return _source_of(cleft, clause, cue[0], cue_at, is_near, clause + content)
            is_participle = cue[0].endswith("ing")
            is_participle |= rules.has_named_appositions and rules.is_nonfinite(cue[0])
            if is_participle and is_set_off:  # "Ann Lee met Bo Day, saying"
                name = rules.subject(subject) or self._subject_of_earlier_verb(subject)
            elif cue[0].lower() in rules.read and (place := self._place_read(subject, cue[0], gap)):
                name, offset = place
            elif (is_set_off and cue[0] in rules.inserted) or self._is_compared(subject):
                by = rules.passive_by.search(gap) if self._is_compared(subject) else None
                if by and (agent := rules.after_verb(gap[by.end() :])):  # "come riferito da Ann Lee"
                    return _source_of(agent, clause + cue.end() + by.end(), cue[0], clause + cue.start())
                name, length = self._inserted(gap)  # "What Bo Day wants is, said Ann Lee, …"
                offset = cue.end() if name else 0
                if length:
                    content += length
                    is_near = is_near or len(gap[length:].split()) <= _MIN_WORDS
            elif rules.is_verb_first:
                name = None if rules.is_nonfinite(cue[0]) else rules.after_verb(gap)
                offset = cue.end() if name else 0
                is_weak = rules.cue.fullmatch(cue[0]) is None and rules.is_joined(subject)
                if is_weak and (earlier := rules.subject(subject)):
                    name, offset = earlier, 0  # "came and described the visit"
            elif name := self._inserted_speaker(subject, gap):
                offset = cue.end()
            if rules.is_subject_first:
                name = rules.before_quotation(subject)
            name = name or rules.before_verb(subject)
            may_follow = not rules.is_nonfinite(cue[0])
            if may_follow and _LEADS_TO.search(gap) and (name is None or not subject.strip()):
                name, offset = rules.after_verb(gap), cue.end()
            if name is None:
                name, offset = rules.subject(subject), 0
            if name is not None or is_near:
                return _source_of(name, clause + offset, cue[0], cue_at, is_near, clause + content)
        return None

    def _cues_before(self, left: str) -> list[re.Match[str]]:
        """The verbs of speech before a quotation, or else those that report only directly before it."""
        rules = self._grammar
        cues = list(rules.cue.finditer(left))
        if rules.has_wide_attributions:  # "ha definito la legge" (una “…”)
            cues = [cue for cue in cues if rules.is_verb(left, cue)]
        return cues or list(rules.cue_before.finditer(left))

    def _is_near(self, cue: str, gap: str) -> bool:
        """Whether a verb is almost next to a quotation, or has an object: "definì la legge sul lavoro"."""
        rules, words = self._grammar, gap.split()
        may_have_object = rules.has_wide_attributions and "," not in gap and not rules.cue.fullmatch(cue)
        return len(words) <= (_LONG if may_have_object else _MIN_WORDS) or bool(_LEADS_TO.search(gap))

    def _source_without_verb(self, left: str, clause: int) -> Source | None:
        """The source that something else than a verb shows before a quotation: "According to Ann Lee"."""
        rules = self._grammar
        match = rules.pattern_before.search(left)
        is_near = rules.is_unspaced or not (match and rules.find_cue(rules.cue, left[match.end("speaker") :]))
        if match is not None and is_near:
            return self._source_of_pattern(match, left, clause)
        by = rules.by.search(left)
        rest = left[by.end() :] if by else ""
        if self._has_verb_of_clause(rest) or (rules.is_verb_first and rules.find_cue(rules.cue, rest)):
            by = None
        if by and len(left) - by.end() < _REACH_BEFORE and (name := rules.after_by(by[0], left[by.end() :])):
            return _source_of(name, clause + by.end(), by[0], clause + by.start(), is_near=False)
        if (noun := self._source_of_noun(left, clause)) is not None:
            return noun
        agent = rules.agent_before_colon.search(left)
        if agent and (name := rules.after_verb(agent["agent"])) and name.text == agent["agent"].strip():
            return Source(name.text, clause + agent.start("agent"), ":", clause + agent.start("agent"))
        named = _NAMED_BEFORE_COLON.fullmatch(left)
        if named and self._is_name(named[1], clause + named.start(1)):
            return Source(named[1], clause + named.start(1), ":", clause)
        return None

    def _source_of_pattern(self, match: re.Match[str], left: str, clause: int) -> Source:
        """The source that the pattern of the language found before a quotation."""
        cue_at = clause + match.start("cue")
        if not match["speaker"]:
            earlier = self._grammar.pattern_of_clause.search(left[: match.start("cue")])
            name = Phrase(earlier["speaker"], earlier.start("speaker")) if earlier else None
            return _source_of(name, clause, match["cue"], cue_at, True, clause + len(left))
        speaker = clause + match.start("speaker")
        named = self._grammar.has_wide_attributions
        name = self._grammar.after_verb(left[match.start("speaker") :]) if named else None
        name = name if name and name.start else Phrase(match["speaker"], 0)
        return Source(name.text, speaker + name.start, match["cue"], cue_at, True, clause + len(left))

    def _source_of_noun(self, left: str, clause: int) -> Source | None:
        """The source of what a noun leads to: "Il commento di Ann Lee:" (“…”)."""
        rules = self._grammar
        noun = rules.speech_noun.search(left)
        if noun is None or not (left.rstrip().endswith(":") or rules.is_that.search(left, noun.end())):
            return None
        name = rules.after_verb(left[noun.end() :]) or rules.noun_after(left[noun.end() :])
        return name and _source_of(name, clause + noun.end(), noun[0].strip(), clause + noun.start())

    def _source_of_noun_after(self, right: str, at: int) -> Source | None:
        """The source of a noun behind a quotation: "“…”, è la tesi di Ann Lee"."""
        rules = self._grammar
        noun = rules.speech_noun.search(right)
        if noun is None:
            return None
        others = rules.auxiliaries | rules.articles | rules.fillers
        if any(word.bare not in others for word in read_words(right[: noun.start()])):
            return None
        name = rules.after_verb(right[noun.end() :])
        return _source_of(name, at + noun.end(), noun[0].strip(), at + noun.start()) if name else None

    def _place_read(self, subject: str, cue: str, gap: str) -> tuple[Phrase, int] | None:
        """What somebody reads in, and where the text that has it begins: "In una nota" (si legge)."""
        rules = self._grammar
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

    def _is_set_off(self, subject: str) -> bool:
        """Whether a comma is before a verb and its auxiliaries: "La legge, ha" (rilevato Ann Lee)."""
        if not self._grammar.has_wide_attributions:
            return subject.rstrip().endswith(",")
        words = read_words(subject)
        while words and words[-1].bare in self._grammar.auxiliaries:
            del words[-1]
        return bool(words) and words[-1].text in ",–—-"

    def _is_compared(self, subject: str) -> bool:
        """Whether a conjunction leads to a verb and the speaker behind it: "come" (dice Ann Lee)."""
        words = read_words(subject)
        while self._grammar.has_wide_attributions and words and words[-1].bare in self._grammar.auxiliaries:
            del words[-1]
        return bool(words) and words[-1].bare in self._grammar.as_in

    def _inserted(self, gap: str) -> tuple[Phrase | None, int]:
        """The speaker after an inserted verb, and where what is reported goes on; 0 if unknown."""
        name = self._grammar.after_verb(gap)
        if name is None or not self._grammar.has_wide_attributions:
            return _before_comma(name, gap), 0
        rest = _REST_OF_OFFICE.match(gap, name.start + len(name.text))
        return (name, rest.end()) if rest else (None, 0)


def _source_of(
    phrase: Phrase | None,
    offset: int,
    cue: str | None,
    cue_at: int,
    is_near: bool = True,
    content: int | None = None,
) -> Source:
    speaker, at = (phrase.text, offset + phrase.start) if phrase else (None, cue_at)
    return Source(speaker, at, cue or "", cue_at, is_near, content)


def _before_comma(phrase: Phrase | None, text: str) -> Phrase | None:
    """A phrase of a text, if a comma follows it."""
    return phrase if phrase and text[phrase.start + len(phrase.text) :].startswith(",") else None


def is_title(quoted: str) -> bool:
    """Whether this looks like the title of a work: few words, with capitals."""
    words = re.findall(r"\w+", quoted)
    return len(words) <= 5 and all(word[0].isupper() or len(word) <= 3 for word in words)
