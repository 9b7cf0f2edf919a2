"""Pairs quotation marks across the sentences of a document.

A paragraph that repeats the opening mark continues the speech of the previous one. An opening mark without a
closing one extends to the end of its paragraph, or of its sentence if paragraphs are unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

from esr.features.furniture import find_links_and_headings
from esr.text.document import Document

CLOSING_MARKS: Mapping[str, str] = {
    "“": "”“",  # English, Spanish, Turkish, Chinese; the opening mark on both sides is a common typing error
    "„": "“”",  # German, Czech; Polish, Romanian, Dutch
    "”": "”",  # Swedish, Finnish
    "«": "»",  # French, Italian, Russian, Arabic
    "»": "«»",  # Danish, German in print; Finnish
    "「": "」",  # Japanese, Chinese
    "『": "』",
    "＂": "＂",
    '"': '"',
    "``": "''",
    "‘": "’",  # British English
    "‚": "‘",  # German
    ",,": "''”“\"",  # Dutch, as typed: two commas, two apostrophes
    "‹": "›",
    "›": "‹",
}
"""The marks that may close a quotation, by the mark that opens it."""

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
_REVERSED = {'"': re.compile(r"[。，！？]$"), "”": re.compile(r"[\u0621-\u064a][.،!؟]?$")}
"""What is before the mark “ if it closes another mark in Chinese, or in Arabic from right to left."""
_ONLY_IN_PAIRS = frozenset({*_SINGLE, ",,"})
"""Marks that are none unless they are closed."""
_CHARACTERS = "".join(
    sorted({c for c in "".join([*CLOSING_MARKS, *CLOSING_MARKS.values()]) if c not in "`',"})
)
_MARK = re.compile(f"``|''|,,(?!,)|[{_CHARACTERS}]")

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
        self.text: str = "".join(parts)
        links, headings = find_links_and_headings([sentence.text for sentence in document.sentences])
        self._links = frozenset(links)
        self._asides = sorted({*links, *headings})
        self.has_paragraphs: bool = "\n" in self.text

    def sentence_at(self, position: int) -> int:
        """The number of the sentence at a position of the text, from 0."""
        return bisect_right(self.starts, position) - 1

    def sentence_start(self, position: int) -> int:
        """The position at which the sentence at a position begins."""
        return self.starts[self.sentence_at(position)]

    def sentence_end(self, position: int) -> int:
        """The position after the sentence at a position."""
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
        """The position after the paragraph at a position."""
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def spans_by_sentence(self, pieces: Spans) -> list[tuple[int, int, int]]:
        """The pieces as triples of sentence, start and end, in characters of the sentence."""
        spans = []
        for start, end in pieces:
            for number in range(self.sentence_at(start), self.sentence_at(max(start, end - 1)) + 1):
                first = self.starts[number]
                last = self.sentence_end(first)
                begin, stop = max(start, first), min(end, last)
                if self.text[begin:stop].strip():
                    spans.append((number, begin - first, stop - first))
        return spans


def pair_marks(text: JoinedText) -> list[Spans]:
    """The pieces of each text from an opening to its closing mark, in order. Nested marks are skipped."""
    spans: list[Spans] = []
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
            if opening not in _ONLY_IN_PAIRS:
                spans.append([*pieces, (start, end)])
            opening, pieces = "", []
        if not opening:
            if opens:
                opening, start = mark, at
        elif mark in _closing_marks(opening) and _closes(text.text, match, opening):
            spans.append([*pieces, (start, match.end())])
            opening, pieces = "", []
        elif opens and mark == opening and _continues_later(text, start, at):
            pieces.append((start, at - 1))
            start = at
        elif opens and (mark == opening or (opening in _SINGLE and mark not in _SINGLE)):
            opening, start = mark, at  # the previous mark was not closed
    if opening and opening not in _ONLY_IN_PAIRS:
        spans.append([*pieces, (start, _end_of_unclosed(text, start))])
    return spans


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
    """The marks that may close this one. Straight and curly marks may be mixed.

    An opening mark closes another one only in scripts where this is a common typing error.
    """
    return CLOSING_MARKS[opening] + {"“": '"', '"': "”“", "”": "“"}.get(opening, "")


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
    if mark == ",,":  # may follow a comma: "zei Koerts,,,maar toch''"
        return bool(after) and (is_free or before in ",;.")
    if mark in _SAME_SIDE:
        has_text = bool(after) and (not after.isspace() or mark == "«")
        return has_text and (is_free or not before.isascii() or (after.isalnum() and not before.isalnum()))
    return is_free and bool(after) and not after.isspace() and after not in ">,;)"


def _closes(text: str, match: re.Match[str], opening: str) -> bool:
    mark, (before, after) = match[0], _around(text, match)
    if mark == "“" and opening in _REVERSED:
        return _REVERSED[opening].search(text, max(match.start() - 2, 0), match.start()) is not None
    if opening in _SINGLE:
        return not after.isalnum() and not before.isspace()
    if mark == opening or mark in CLOSING_MARKS:  # this mark may also open
        if before.isspace():
            return not after or after.isspace() or opening == "«"
        return mark != "“" or opening != "“" or not after.isalnum()
    return True
