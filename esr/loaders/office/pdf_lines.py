"""Lines of a page of PDF, from the letters and boxes that PDFium gives."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from unicodedata import combining

from esr.plugin.provisional import cached_property, compile_lazily


class Line(NamedTuple):
    """A line of a column, or a cell of a table, with its box in points from the lower left corner."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


Page = list[Line]
_LINE_END_HYPHEN = "\2"
"""PDFium's character for a hyphen at the end of a line."""


_Box = tuple[float, float, float, float]
_Turn = Callable[[float, float, float, float], _Box]


def _stay(left: float, bottom: float, right: float, top: float) -> _Box:
    return left, bottom, right, top


# By the page's clockwise rotation, how boxes of the unrotated page are converted.
_TURNS: dict[int, _Turn] = {
    90: lambda left, bottom, right, top: (bottom, -right, top, -left),
    180: lambda left, bottom, right, top: (-right, -top, -left, -bottom),
    270: lambda left, bottom, right, top: (-top, left, -bottom, right),
}


# Scripts in which a syllable is drawn as several glyphs.
_GLYPHS = compile_lazily(r"[\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff\ua8e0-\ua8ff\ua9e0-\uaa7f]")
_NO_BLANK = 0.1
"""Maximum width of a gap that is no blank, as a multiple of the height of letters."""
_WIDE_GAP = 0.3
"""Minimum width of a gap that separates words without a blank, in heights of letters, as in a menu."""
_LETTERS_A_BLANK = 20
"""Maximum letters per drawn blank in a text whose blanks are drawn."""


class _DrawnText:
    """The boxes of the text of a page as drawn, read on first use.

    Browsers assign all letters of a syllable to its first glyph. PDFium takes the other glyphs for a gap, and
    inserts a blank there.
    """

    def __init__(self, page: Any, letters: int, turn: _Turn) -> None:
        self._page, self._letters, self._turn = page, letters, turn

    @cached_property
    def _boxes(self) -> list[_Box]:
        """The boxes sorted by left edge. Boxes of blanks have no width; text in forms has no boxes."""
        from pypdfium2 import raw

        edges = [ctypes.c_float() for _ in range(4)]
        boxes = []
        for number in range(raw.FPDFPage_CountObjects(self._page.raw)):
            drawn = raw.FPDFPage_GetObject(self._page.raw, number)
            is_text = raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_TEXT
            if is_text and raw.FPDFPageObj_GetBounds(drawn, *edges):
                boxes.append(self._turn(*(edge.value for edge in edges)))
        return sorted(boxes)

    @cached_property
    def _draws_blanks(self) -> bool:
        blanks = sum(right == left for left, _, right, _ in self._boxes)
        return blanks * _LETTERS_A_BLANK >= self._letters

    def has_gap(self, before: float, left: float, bottom: float, top: float) -> bool:
        """Whether a line has a gap between the right edge of a letter and the left edge of the next."""
        height = top - bottom
        gap = left - self.reach(before, left, bottom, top)
        if not self._draws_blanks:
            return gap > _NO_BLANK * height
        near = self._between(before - _NO_BLANK * height, left - _NO_BLANK * height, bottom, top)
        return gap > _WIDE_GAP * height or any(box[0] == box[2] for box in near)

    def reach(self, before: float, left: float, bottom: float, top: float) -> float:
        """The right edge of the boxes between the right edge of a letter and the next letter.

        A box that extends far beyond the left edge of the next letter contains that letter and the gap.
        """
        height = top - bottom
        near = self._between(before - height, left - _NO_BLANK * height, bottom, top)
        return max((box[2] for box in near if box[2] < left + height), default=before)

    def _between(self, first: float, last: float, bottom: float, top: float) -> list[_Box]:
        """The boxes of a line whose left edges are in this range."""
        start, stop = (bisect_left(self._boxes, (at,)) for at in (first, last))
        return [box for box in self._boxes[start:stop] if box[1] <= top and box[3] >= bottom]


def read_lines(page: Any, text: Any, count: int) -> Iterator[Line]:
    """The lines of a page in the order of the file, cut at gaps wider than blanks."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()  # filled for each letter; with the height of the font
    pointer = ctypes.byref(box)
    turn = _TURNS.get(page.get_rotation(), _stay)
    drawn = _DrawnText(page, count, turn)
    letters: list[str] = []
    spans: list[tuple[float, float]] = []
    edges = [0.0, 0.0, 0.0, 0.0]
    for n in range(count + 1):
        letter = chr(raw.FPDFText_GetUnicode(text.raw, n) or 32) if n < count else "\n"
        is_end = letter in "\r\n"
        is_blank = letter.isspace() or not raw.FPDFText_GetLooseCharBox(text.raw, n, pointer)
        place = (0.0, 0.0, 0.0, 0.0) if is_blank else turn(box.left, box.bottom, box.right, box.top)
        if not is_blank and letters:
            height = edges[3] - edges[1]
            middle = (place[1] + place[3]) / 2
            end = edges[2]
            if place[0] - end > 1.2 * height and any(map(_GLYPHS.match, letters[-2:])):
                end = drawn.reach(end, place[0], edges[1], edges[3])
            is_far = place[0] - end > 1.2 * height or place[0] < edges[0] - height
            if is_far and (_FROM_RIGHT.match(letter) or any(map(_FROM_RIGHT.match, letters))):
                # A right-to-left word may be stored from its left end.
                is_far = max(place[0] - edges[2], edges[0] - place[2]) > _LONGEST_WORD * height
            is_end = is_far or not edges[1] < middle < edges[3]
        if is_end and letters:
            if line := join_letters(letters, spans):
                yield Line(line, *edges)
            letters, spans = [], []
        if is_blank:
            letters += letter if letters else ""
            spans += [(0.0, 0.0)] if letters else []
            continue
        may_be_joined = len(letters) > 1 and letters[-1] == " " and _GLYPHS.match(letters[-2])
        is_guessed = may_be_joined and raw.FPDFText_IsGenerated(text.raw, n - 1) == 1
        if is_guessed and not drawn.has_gap(spans[-2][1], place[0], edges[1], edges[3]):
            del letters[-1], spans[-1]
        edges = [*map(min, edges[:2], place[:2]), *map(max, edges[2:], place[2:])] if letters else [*place]
        letters.append("-" if letter == _LINE_END_HYPHEN else letter)
        spans.append((place[0], place[2]))


_LONGEST_WORD = 8
"""Maximum width of a word as a multiple of the height of its letters."""
# Arabic digits run from left to right, so they are left out.
_FROM_RIGHT = compile_lazily(r"[\u0590-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_MAX_MOVED = 200
"""Maximum number of letters of a word."""


def join_letters(letters: list[str], spans: list[tuple[float, float]]) -> str:
    text = "".join(letters)
    return " ".join(("".join(_read_from_right(letters, spans)) if _FROM_RIGHT.search(text) else text).split())


def _read_from_right(letters: list[str], spans: list[tuple[float, float]]) -> list[str]:
    """The letters of a line, with right-to-left words in reading order, by the positions of their letters.

    Files that store Arabic and Hebrew in visual order have the letters of words reversed. Words with digits
    or Latin letters are unchanged. `spans` are the left and right edges of the letters.
    """
    is_other = [letter.isalnum() and not _FROM_RIGHT.match(letter) for letter in letters]
    blanks = [n for n, letter in enumerate(letters) if letter.isspace()]
    edges = pairwise([-1, *blanks, len(letters)])
    words = [range(start + 1, end) for start, end in edges if end > start + 1]
    if 2 * sum(is_other) > len(letters) - len(blanks):
        return letters
    words.sort(key=lambda word: -max(spans[n][1] for n in word))
    read: list[str] = []
    for are_others, run in groupby(words, key=lambda word: any(is_other[n] for n in word)):
        for word in reversed([*run]) if are_others else run:
            places: Sequence[int] = word
            if not are_others and len(word) <= _MAX_MOVED:
                places = sorted(word, key=lambda n: _find_position(n, word, letters, spans))
            read += [letters[n] for n in places] + [" "]
    return read


def _find_position(
    n: int, places: Sequence[int], letters: list[str], spans: list[tuple[float, float]]
) -> tuple[float, bool]:
    """A sort key: the middle of a letter, from right to left; a combining mark has that of its letter."""
    middle = sum(spans[n]) / 2
    if not combining(letters[n]):
        return -middle, False
    bases = [sum(spans[place]) / 2 for place in places if not combining(letters[place])]
    return -min(bases, key=lambda base: abs(base - middle), default=middle), True
