"""Finds quotations in a document, each with its speaker, by the rules of its language.

Text between marks is a quotation if a verb of speech governs it, or if it is a complete sentence; a word or a
title in marks is none. Its speaker is named next to the verb, or is that of the previous quotation.

Marks are paired across sentences. A paragraph that repeats the opening mark continues the speech of the
previous one. An opening mark without a closing one extends to the end of its paragraph, or of its sentence if
paragraphs are unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from esr.enrichment.quote_speakers import (
    CLOSING_MARKS,
    DocumentNames,
    Grammar,
    Phrase,
    grammar,
    names_speaker,
    read_words,
)
from esr.features.furniture import find_links_and_headings
from esr.text.document import Document, Quote

MAX_SENTENCES = 10
"""Maximum sentences from an opening mark to its closing one if paragraphs are unknown."""
MAX_CONTINUED = 3
"""Maximum sentences of a paragraph that ends without the closing mark if paragraphs are unknown."""
_MISTYPED_END = re.compile(r"[,.?!]['’]\w")
"""An apostrophe that closes a quotation with another mark."""
_SINGLE = "‘‚›‹"
"""Marks that also serve other purposes, and count only in pairs."""
_SAME_SIDE = "“„「『«``"
"""Marks that open even directly after another mark."""
_CHARACTERS = "".join(
    sorted({c for c in "".join([*CLOSING_MARKS, *CLOSING_MARKS.values()]) if c not in "`'"})
)
_MARK = re.compile(f"``|''|[{_CHARACTERS}]")

Spans = list[tuple[int, int]]
"""Characters of the joined text, one piece for each paragraph."""


class JoinedText:
    """The sentences of a document as one text, with a line break between paragraphs."""

    def __init__(self, document: Document) -> None:
        self.starts: list[int] = []
        parts: list[str] = []
        length, before = 0, None
        for n, sentence in enumerate(document.sentences):
            paragraph = sentence.paragraph
            if n:
                is_new = paragraph is not None and before is not None and paragraph != before
                parts.append("\n" if is_new else " ")
                length += 1
            self.starts.append(length)
            parts.append(sentence.text.replace("\n", " "))
            length += len(sentence.text)
            before = paragraph
        self.text = "".join(parts)
        links, headings = find_links_and_headings([sentence.text for sentence in document.sentences])
        self._links = frozenset(links)
        self._asides = sorted({*links, *headings})
        self.has_paragraphs = "\n" in self.text

    def sentence_at(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1

    def sentence_start(self, position: int) -> int:
        return self.starts[self.sentence_at(position)]

    def sentence_end(self, position: int) -> int:
        number = self.sentence_at(position) + 1
        return self.starts[number] - 1 if number < len(self.starts) else len(self.text)

    def has_aside(self, start: int, end: int) -> bool:
        """Whether a link to another article or a heading begins after `start` and before `end`."""
        first = bisect_right(self._asides, self.sentence_at(start))
        return first < len(self._asides) and self.starts[self._asides[first]] < end

    def is_in_link(self, position: int) -> bool:
        """Whether the sentence at a position begins with the label of a link, such as READ MORE."""
        return self.sentence_at(position) in self._links

    def paragraph_end(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def spans_by_sentence(self, pieces: Spans) -> list[tuple[int, int, int]]:
        """The pieces as triples of sentence, start and end, in characters of the sentence."""
        found = []
        for start, end in pieces:
            for number in range(self.sentence_at(start), self.sentence_at(max(start, end - 1)) + 1):
                first = self.starts[number]
                last = self.sentence_end(first)
                begin, stop = max(start, first), min(end, last)
                if self.text[begin:stop].strip():
                    found.append((number, begin - first, stop - first))
        return found


def pair_marks(text: JoinedText) -> list[Spans]:
    """The pieces of each text from an opening to its closing mark, in order. Nested marks are skipped."""
    found: list[Spans] = []
    pieces: Spans = []
    opening, start = "", 0
    for match in _MARK.finditer(text.text):
        mark, at = match[0], match.start()
        opens = _opens(text.text, match)
        if opening and _is_too_far(text, start, at):
            end = _end_of_unclosed(text, start)
            if opens and mark == opening and text.has_paragraphs and not text.text[end:at].strip():
                pieces.append((start, end))
                start = at
                continue
            if opening not in _SINGLE:
                found.append([*pieces, (start, end)])
            opening, pieces = "", []
        if not opening:
            if opens:
                opening, start = mark, at
        elif mark in _closing_marks(opening) and _closes(text.text, match, opening):
            found.append([*pieces, (start, match.end())])
            opening, pieces = "", []
        elif opens and mark == opening and _continues_later(text, start, at):
            pieces.append((start, at - 1))
            start = at
        elif opens and (mark == opening or (opening in _SINGLE and mark not in _SINGLE)):
            opening, start = mark, at  # the previous mark was not closed
    if opening and opening not in _SINGLE:
        found.append([*pieces, (start, _end_of_unclosed(text, start))])
    return found


def _end_of_unclosed(text: JoinedText, start: int) -> int:
    return text.paragraph_end(start) if text.has_paragraphs else text.sentence_end(start)


def _is_too_far(text: JoinedText, start: int, at: int) -> bool:
    if text.has_paragraphs:
        return "\n" in text.text[start:at]
    return text.sentence_at(at) - text.sentence_at(start) > MAX_SENTENCES or text.has_aside(start, at)


def _continues_later(text: JoinedText, start: int, at: int) -> bool:
    """Whether an opening mark at `at` repeats the unclosed one at `start`, if paragraphs are unknown."""
    number = text.sentence_at(at)
    is_first = not text.has_paragraphs and at == text.starts[number]
    is_near = is_first and number - text.sentence_at(start) <= MAX_CONTINUED
    return is_near and not _MISTYPED_END.search(text.text[start:at])


def _closing_marks(opening: str) -> str:
    """The marks that may close this one. Straight and curly marks may be mixed."""
    return CLOSING_MARKS[opening] + {"“": '"', '"': "”"}.get(opening, "")


def _around(text: str, match: re.Match[str]) -> tuple[str, str]:
    """The characters before and after a mark."""
    return text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]


def _opens(text: str, match: re.Match[str]) -> bool:
    mark, (before, after) = match[0], _around(text, match)
    if mark not in CLOSING_MARKS:
        return False
    is_free = not before or before.isspace() or before in "([{—–-:：…/" or before in CLOSING_MARKS
    if mark in "「『":
        return True
    if mark in "‘‚":
        return is_free and after.isalpha()
    if mark in _SAME_SIDE:
        has_text = bool(after) and (not after.isspace() or mark == "«")
        return has_text and (is_free or not before.isascii() or (after.isalnum() and not before.isalnum()))
    return is_free and bool(after) and not after.isspace() and after not in ">,;)"


def _closes(text: str, match: re.Match[str], opening: str) -> bool:
    mark, (before, after) = match[0], _around(text, match)
    if opening in _SINGLE:
        return not after.isalnum() and not before.isspace()
    if mark == opening or mark in CLOSING_MARKS:  # this mark may also open
        if before.isspace():
            return not after or after.isspace() or opening == "«"
        return mark != "“" or opening != "“" or not after.isalnum()
    return True


VERSION = 8
"""Increment it when the rules change."""
_REACH = 250
"""Maximum characters from a quotation to a verb after it."""
_REACH_BEFORE = 150
"""Maximum characters between a verb and the quotation after it."""
_MIN_WORDS, _LONG = 3, 8
"""Minimum words of a quotation, and of one within a sentence that no verb governs."""
_SHARE = 0.5
"""Minimum share of the text governed by a verb that is between marks."""
_FEW_WORDS = 40
"""Maximum words between two paragraphs of one speech."""
_MARKS = "”\"’»“『』」«›‹'"
_SENTENCE_END = re.compile(rf"[.?!…—–。！？-][{_MARKS}]*$")
_CLAUSE_END = re.compile(rf"[,.?!][{_MARKS}]+$")
_LEADS_TO = re.compile(r"[,:：]\s*$")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_SIGNATURE = re.compile(r"\s*[―—–]\s*((?:[^\W\d_a-zß-ÿ][\w.’'-]*\s+){1,4}[^\W\d_a-zß-ÿ][\w’'-]*)\.?\s*")
"""A name that signs a quotation: "“We left.” — Ann Lee"."""
_NAMED_BEFORE_COLON = re.compile(r"\s*((?:[^\W\d_a-zß-ÿ][\w.’'-]*\s+){0,4}[^\W\d_a-zß-ÿ][\w.’'-]*)\s*:\s*")


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


def find_quotes(document: Document, language: str) -> list[tuple[Quote, ...]]:
    """The quotations in each sentence of a document, whose language is given by its code."""
    text = JoinedText(document)
    found: list[list[Quote]] = [[] for _ in document.sentences]
    quotations = find_quotations(text, language)
    if quotations:
        names = _resolve(document, text, language, quotations)
        for (pieces, source, _), name in zip(quotations, names, strict=True):
            speaker, cue = (source.speaker, source.cue or None) if source else (None, None)
            for number, start, end in text.spans_by_sentence(pieces):
                found[number].append(Quote(start, end, speaker, name, cue))
    return list(map(tuple, found))


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
        words = max(len(re.findall(r"\w+(?:[’'-]\w+)*", quoted)), len(_UNSPACED.findall(quoted)) // 2)
        source = self._source(start, end, low, high)
        if source is not None and not self._is_mostly_quoted(source, n, end):
            source = None
        is_shown = source is not None and source.is_near
        is_shown = is_shown and bool(_CLAUSE_END.search(quoted) or _LEADS_TO.search(between))
        if source is not None and (is_shown or (words >= _MIN_WORDS and not _is_title(quoted))):
            before = previous.source if previous else None
            if source.speaker is None and before and self._in_sentence_of(previous, start):
                source = source._replace(speaker=before.speaker, at=before.at)
            if not self._is_next_to_verb(source) and not self._may_say(source, quoted):
                source = source._replace(speaker=None, at=source.cue_at)
            return Quotation(pieces, source, before is not None and before.cue_at == source.cue_at)
        if words < _MIN_WORDS:
            return None
        clause = self._text[self._clause_start(start, low) : start]
        if not re.search(r"\w", clause) and self._is_sentence(quoted, end):
            if previous is None:
                return Quotation(pieces, None, False)
            follows = "\n" not in self._text[previous.pieces[-1][1] : start]
            goes_on = (follows or self._continues(previous, start)) and self._may_say(previous.source, quoted)
            return Quotation(pieces, previous.source if goes_on else None, follows)
        if previous is not None and self._in_sentence_of(previous, start):
            return Quotation(pieces, previous.source, True)
        if words >= _LONG or _LEADS_TO.search(between):
            subject = self._grammar.subject(clause)
            if subject and self._is_in_headline(subject, start - len(clause)):
                subject = None
            if subject and subject.text.lower() in self._grammar.other_pronouns:
                subject = None
            source = _source_of(subject, start - len(clause), None, -1) if subject else None
            return Quotation(pieces, source if self._may_say(source, quoted) else None, False)
        return None

    def _may_say(self, source: Source | None, quoted: str) -> bool:
        """Whether a source that no verb names may be that of a quotation: few people name themselves."""
        if source is None or source.speaker is None:
            return True
        return not names_speaker(self._grammar, quoted, source.speaker)

    def _is_next_to_verb(self, source: Source) -> bool:
        """Whether no comma is between a speaker and the verb: "Bay was glad for Lee, saying" may be Bay."""
        if source.speaker is None or source.at >= source.cue_at:
            return True
        return "," not in self._text[source.at + len(source.speaker) : source.cue_at]

    def _is_sentence(self, quoted: str, end: int) -> bool:
        return bool(_SENTENCE_END.search(quoted)) or self._text[end : end + 1] in (".", ",")

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
        if before and before.speaker and self._is_in_headline(Phrase(before.speaker, before.at)):
            before = before._replace(speaker=None, at=before.cue_at)
        if after is None or before is None:
            return after or before
        goes_on = self._text[end - 2 : end - 1] in ",?!" or self._text[end : end + 1] == ","
        first, second = (after, before) if goes_on else (before, after)
        return first if first.speaker or not second.speaker else second

    def _is_in_headline(self, speaker: Phrase, offset: int = 0) -> bool:
        """Whether a speaker before a verb may be a part of a headline: "READ MORE: We love Lee Bay said"."""
        is_pronoun = speaker.text.lower() in self._grammar.all_pronouns
        return not is_pronoun and self._joined.is_in_link(speaker.start + offset)

    def _source_after(self, start: int, end: int, high: int) -> Source | None:
        """The source in the text after a quotation: "…," she said."""
        text, rules = self._text, self._grammar
        at = end
        while text[at : at + 1] and text[at] in " ,―—–-":
            at += 1
        signed = _SIGNATURE.fullmatch(text, end, self._joined.sentence_end(at)) if at < high else None
        if signed and not text[self._joined.sentence_start(start) : start].strip():
            return Source(signed[1], signed.start(1), "", end)
        last = text[max(start, end - 2) : end]
        goes_on = last[0] in ",?!" or text[end : end + 1] == ","
        if at >= len(text) or text[at] == "\n" or text[end : end + 1] in (".", ";", ":"):
            return None
        if "." in last and text[end : end + 1] != "," and not text[at].islower():
            return None
        right = text[at : min(high, self._joined.sentence_end(at), at + _REACH)]
        if (by := rules.by.match(right)) and (found := rules.after_verb(right[by.end() :])):
            return _source_of(found, at + by.end(), by[0], at)
        cue = rules.find_cue(rules.cue_after, right)
        if cue is None:
            new = rules.new_cue.match(right) if goes_on else None
            if new is None:
                return None
            if new["before"]:
                return Source(new["before"].strip(), at, new["cue"], at)
            found = rules.after_verb(right[new.end() :])
            return _source_of(found, at + new.end(), new["after"], at) if found else None
        left = right[: cue.start()]
        words = [word.lower() for word in re.findall(r"\w+", left) if word.lower() not in rules.fillers]
        if not words:
            found = rules.after_verb(right[cue.end() :])
            return _source_of(found, at + cue.end(), cue[0], at + cue.start())
        is_adverbial = words[0] in rules.no_beginning and "," not in left
        if words[0] in rules.openers or is_adverbial or re.search("[;:]", left):
            return None
        found = rules.before_verb(left)
        return _source_of(found, at, cue[0], at + cue.start()) if found else None

    def _source_before(self, start: int, low: int) -> Source | None:
        """The source in the text before a quotation: She said, "…"."""
        text, rules = self._text, self._grammar
        clause = self._clause_start(start, low)
        left = text[clause:start]
        if not left.strip() and clause and (head := text[:clause].rstrip()).endswith(":"):
            clause = max(low, self._joined.sentence_start(len(head) - 1))
            left = text[clause : len(head)]
        by = rules.by.search(left)
        if by and len(left) - by.end() < _REACH_BEFORE and (found := rules.after_verb(left[by.end() :])):
            return _source_of(found, clause + by.end(), by[0], clause + by.start(), is_near=False)
        named = _NAMED_BEFORE_COLON.fullmatch(left)
        if named and rules.has_name(read_words(named[1])):
            return Source(named[1], clause + named.start(1), ":", clause)
        cues = list(rules.cue.finditer(left)) or list(rules.cue_before.finditer(left))
        for cue in reversed(cues):
            gap = left[cue.end() :]
            if len(gap) > _REACH_BEFORE:
                return None
            if not rules.is_verb(left, cue):
                continue
            if re.search(r"(?<!\b[A-Z][a-z]{2})(?<!\b[A-Z][a-z])[.!?;]\s", gap):
                return None
            is_near = len(gap.split()) <= _MIN_WORDS or bool(_LEADS_TO.search(gap))
            subject = left[: cue.start()]
            found, offset = None, 0
            if cue[0].endswith("ing") and subject.rstrip().endswith(","):
                found = rules.subject(subject)  # "Ann Lee met Bo Day, saying"
            found = found or rules.before_verb(subject)
            if _LEADS_TO.search(gap) and (found is None or not subject.strip()):
                found, offset = rules.after_verb(gap), cue.end()
            if found is None:
                found, offset = rules.subject(subject), 0
            if found is not None or is_near:
                place = clause + cue.start()
                return _source_of(found, clause + offset, cue[0], place, is_near, clause + cue.end())
        return None


def _source_of(
    found: Phrase | None,
    offset: int,
    cue: str | None,
    cue_at: int,
    is_near: bool = True,
    content: int | None = None,
) -> Source:
    speaker, at = (found.text, offset + found.start) if found else (None, cue_at)
    return Source(speaker, at, cue or "", cue_at, is_near, content)


def _is_title(quoted: str) -> bool:
    """Whether this looks like the title of a work: few words, with capitals."""
    words = re.findall(r"\w+", quoted)
    return len(words) <= 5 and all(word[0].isupper() or len(word) <= 3 for word in words)


# Names

_WINDOW = 3
"""Number of sentences before a pronoun that may have its name, if paragraphs are unknown."""


def _resolve(
    document: Document, text: JoinedText, language: str, quotations: Sequence[Quotation]
) -> list[str | None]:
    """The key of the name of each quotation's speaker; None if uncertain."""
    rules = grammar(language)
    names = DocumentNames(rules, [document.title or "", *(s.text for s in document.sentences)])
    found: dict[int, str | None] = {}  # by the position of the speaker
    spoken = {q.source.at: q.source.speaker for q in quotations if q.source and q.source.speaker}
    for at, speaker in spoken.items():
        if speaker.lower() not in rules.all_pronouns:
            found[at] = names.resolve(speaker)
    persons = {name for name in found.values() if name}
    for at, speaker in sorted(spoken.items()):
        if speaker.lower() in rules.pronouns:
            name = _name_before(text, at, rules, names, found, quotations)
            found[at] = name if name and (name in persons or names.is_titled(name)) else None
    return [_name_in(text, rules, quotation, found) for quotation in quotations]


def _name_in(
    text: JoinedText, rules: Grammar, quotation: Quotation, found: Mapping[int, str | None]
) -> str | None:
    """The name of a quotation's speaker. A pronoun does not stand for a name that the quotation has."""
    source = quotation.source
    if source is None or source.speaker is None:
        return None
    name = found.get(source.at)
    if name is not None and source.speaker.lower() in rules.pronouns:
        quoted = " ".join(text.text[start:end] for start, end in quotation.pieces)
        return None if names_speaker(rules, quoted, name) else name
    return name


def _name_before(
    text: JoinedText,
    at: int,
    rules: Grammar,
    names: DocumentNames,
    found: Mapping[int, str | None],
    quotations: Sequence[Quotation],
) -> str | None:
    """The only full name that speaks or begins a sentence in this paragraph or the previous one, or None."""
    if text.has_paragraphs:
        begin = text.text.rfind("\n", 0, max(text.text.rfind("\n", 0, at), 0)) + 1
    else:
        begin = text.starts[max(0, text.sentence_at(at) - _WINDOW)]
    candidates = {name for place, name in found.items() if begin <= place < at}
    for number in range(text.sentence_at(begin), text.sentence_at(at) + 1):
        first = text.starts[number]
        if any(start <= first < end for quotation in quotations for start, end in quotation.pieces):
            continue
        subject = rules.subject(text.text[first : min(at, text.sentence_end(first))])
        if subject and subject.text.lower() not in rules.all_pronouns:
            candidates.add(names.resolve(subject.text))
    name = candidates.pop() if len(candidates) == 1 else None
    return name if name and " " in name else None
