"""PDF with a text layer, read by PDFium: one document per file, and the page of each sentence.

PDFium gives letters and their boxes. This module builds lines from them, orders lines by column, removes the
headers and footers that pages repeat, and joins lines into paragraphs.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import groupby, pairwise
from math import ceil
from typing import Any, NamedTuple
from unicodedata import combining

from esr.errors import InputError, to_one_line
from esr.loaders.encoding import MAX_DOCUMENT_BYTES
from esr.loaders.fields import read_list
from esr.loaders.files import open_seekable
from esr.loaders.format import Record, Remark, Source, loads
from esr.loaders.ids import make_id_from_path
from esr.stdlib import cached_property, compile_lazily
from esr.text.document import PAGE, join_pieces
from esr.text.printed_lines import find_uncut_words, join_lines
from esr.text.written_dates import to_iso_date

_END = b"%%EOF"
_END_BYTES = 2048
# A page of text has some thousand letters. Reading one with more than this would take minutes.
_MAX_PAGE_LETTERS = 500_000


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


@loads(
    "pdf",
    "PDF with a text layer: one document per file, with the page of each sentence; its path is the id",
    suffixes=(".pdf",),
    sniff=lambda head: head.startswith(b"%PDF-"),
    needs=("pypdfium2",),
    is_confined=True,
)
def read(source: Source) -> Iterator[Record | Remark]:
    """The record of the file. Raises InputError if it is broken or encrypted, or has only pictures."""
    import pypdfium2

    with open_seekable(source) as file:
        file.seek(max(0, file.seek(0, 2) - _END_BYTES))
        if _END not in file.read():
            raise InputError(source.name, "broken PDF: it has no end, so fetch the file again")
        file.seek(0)
        try:
            with closing(pypdfium2.PdfDocument(file)) as document:
                pages = list(_read_pages(source, document))
                metadata = document.get_metadata_dict(skip_empty=True)
        except pypdfium2.PdfiumError as error:
            raise InputError(source.name, _describe(to_one_line(error))) from None
    if not any(pages):
        raise InputError(
            source.name,
            "has no text layer, only pictures: recognise its text first, for example with ocrmypdf",
        )
    if not all(pages):
        yield Remark(source.name, "have pages without a text layer, of which nothing was read", "files")
    furniture = find_furniture(pages)
    if furniture:
        yield Remark(source.name, "have headers or footers that pages repeat, which were left out", "files")
    title = _find_title(metadata, pages[0], furniture)
    yield Record(
        source.name,
        {
            "id": make_id_from_path(source),
            "title": title,
            "date": _find_date(metadata),
            "authors": read_list("authors", _PLACEHOLDER.sub("", metadata.get("Author") or "")),
            "keywords": read_list("keywords", metadata.get("Keywords") or ""),
            "metadata": {"pages": len(pages)},
            "text": join_pieces(_join_pages(pages, furniture, title)),
        },
    )


def _describe(problem: str) -> str:
    if "password" in problem.lower():
        return "is encrypted: save it without a password"
    return f"broken PDF: {problem.rstrip('.')}; fetch the file again"


def _read_pages(source: Source, document: Any) -> Iterator[Page]:
    """The lines of each page. Raises PdfiumError, and InputError if there are too many."""
    letters = 0
    for number in range(len(document)):
        with closing(document[number]) as page, closing(page.get_textpage()) as text:
            count = text.count_chars()
            letters += count
            if count > _MAX_PAGE_LETTERS or letters > MAX_DOCUMENT_BYTES:
                raise InputError(
                    f"{source.name}:page {number + 1}", "has more letters than any text: leave the file out"
                )
            yield list(_read_lines(page, text, count))


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
_OF_GLYPHS = compile_lazily(r"[\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff\ua8e0-\ua8ff\ua9e0-\uaa7f]")
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


def _read_lines(page: Any, text: Any, count: int) -> Iterator[Line]:
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
        here = (0.0, 0.0, 0.0, 0.0) if is_blank else turn(box.left, box.bottom, box.right, box.top)
        if not is_blank and letters:
            height = edges[3] - edges[1]
            middle = (here[1] + here[3]) / 2
            end = edges[2]
            if here[0] - end > 1.2 * height and any(map(_OF_GLYPHS.match, letters[-2:])):
                end = drawn.reach(end, here[0], edges[1], edges[3])
            is_far = here[0] - end > 1.2 * height or here[0] < edges[0] - height
            if is_far and (_FROM_RIGHT.match(letter) or any(map(_FROM_RIGHT.match, letters))):
                # A right-to-left word may be stored from its left end.
                is_far = max(here[0] - edges[2], edges[0] - here[2]) > _LONGEST_WORD * height
            is_end = is_far or not edges[1] < middle < edges[3]
        if is_end and letters:
            if line := _to_line(letters, spans):
                yield Line(line, *edges)
            letters, spans = [], []
        if is_blank:
            letters += letter if letters else ""
            spans += [(0.0, 0.0)] if letters else []
            continue
        may_be_joined = len(letters) > 1 and letters[-1] == " " and _OF_GLYPHS.match(letters[-2])
        is_guessed = may_be_joined and raw.FPDFText_IsGenerated(text.raw, n - 1) == 1
        if is_guessed and not drawn.has_gap(spans[-2][1], here[0], edges[1], edges[3]):
            del letters[-1], spans[-1]
        edges = [*map(min, edges[:2], here[:2]), *map(max, edges[2:], here[2:])] if letters else [*here]
        letters.append("-" if letter == _LINE_END_HYPHEN else letter)
        spans.append((here[0], here[2]))


_LONGEST_WORD = 8
"""Maximum width of a word as a multiple of the height of its letters."""
# Arabic digits run from left to right, so they are left out.
_FROM_RIGHT = compile_lazily(r"[\u0590-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_MAX_MOVED = 200
"""Maximum number of letters of a word."""


def _to_line(letters: list[str], spans: list[tuple[float, float]]) -> str:
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
                places = sorted(word, key=lambda n: _place_from_right(n, word, letters, spans))
            read += [letters[n] for n in places] + [" "]
    return read


def _place_from_right(
    n: int, places: Sequence[int], letters: list[str], spans: list[tuple[float, float]]
) -> tuple[float, bool]:
    """A sort key: the middle of a letter, from right to left; a combining mark has that of its letter."""
    middle = sum(spans[n]) / 2
    if not combining(letters[n]):
        return -middle, False
    bases = [sum(spans[place]) / 2 for place in places if not combining(letters[place])]
    return -min(bases, key=lambda base: abs(base - middle), default=middle), True


# Headers and footers

_EDGE_LINES = 2
"""Number of lines at the top and at the bottom of a page that may be furniture."""
_DIGITS = compile_lazily(r"\d+")
_PAGE_NUMBER = compile_lazily(
    r"\W*(?:\w{1,6}\.? )?(?:\d{1,4}|[ivxlc]{1,6})(?:\W{1,3}(?:\w{1,4} )?\d{1,4})?\W*", re.I
)

_Key = tuple[str, int]


def find_furniture(pages: Sequence[Page]) -> set[_Key]:
    """The keys of lines at the edges of pages that two fifths of the pages have, apart from their numbers."""
    counts = Counter(key for page in pages for key in {_furniture_key(line) for line in _edges(page)})
    needed = max(2, ceil(0.4 * len(pages)))
    furniture = {key for key, count in counts.items() if count >= needed}
    # If all lines of all pages repeat, they are the text.
    return furniture if any(_without_furniture(page, furniture) for page in pages) else set()


def _edges(page: Page) -> Sequence[Line]:
    lines = sorted(page, key=lambda line: -line.top)
    return lines if len(lines) <= 2 * _EDGE_LINES else [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]


def _furniture_key(line: Line) -> _Key:
    """The line without its numbers, and its height on the page. Page numbers may alternate between sides."""
    text = "#" if _PAGE_NUMBER.fullmatch(line.text) else _DIGITS.sub("#", line.text.lower())
    return text, round(line.bottom / 6)


def _without_furniture(page: Page, furniture: set[_Key]) -> Page:
    if not furniture:
        return page
    edges = {line for line in _edges(page) if _furniture_key(line) in furniture}
    return [line for line in page if line not in edges]


# Columns

_MIN_LINES = 3
_MIN_LETTERS = 15
"""Minimum average letters of a column's lines. Shorter ones are cells of a table."""


def order_columns(lines: Page) -> Iterator[Page]:
    """The columns of lines in reading order, each from top to bottom."""
    gutter = _find_gutter(lines)
    if gutter is None:
        if lines:
            yield list(_join_rows(lines))
        return
    band: Page = []
    # Lines across the gutter, such as headlines, end the columns above them.
    for line in [*sorted(lines, key=lambda line: -line.top), None]:
        if line is not None and not line.left < gutter < line.right:
            band.append(line)
            continue
        for column in _split(band, gutter):
            yield from order_columns(column)
        band = []
        if line is not None:
            yield [line]


def _split(lines: Page, gutter: float) -> Sequence[Page]:
    sides = [line for line in lines if line.right <= gutter], [line for line in lines if line.left >= gutter]
    letters = "".join(line.text for line in lines)
    right_to_left = sum("\u0590" <= letter < "\u0900" for letter in letters)
    return sides[::-1] if 2 * right_to_left > len(letters) else sides


def _find_gutter(lines: Page) -> float | None:
    """The left edge of a column that has another one to its left; None if there are no columns."""
    if len(lines) < 2 * _MIN_LINES:
        return None
    best, found = 0, None
    for gutter in sorted({round(line.left) - 0.6 for line in lines}):
        left = [line for line in lines if line.right <= gutter]
        right = [line for line in lines if line.left >= gutter]
        crossing = len(lines) - len(left) - len(right)
        fewer = min(len(left), len(right))
        if fewer < _MIN_LINES or 3 * crossing > fewer or fewer - crossing <= best:
            continue
        if _overlap(left, right) and all(_mean_length(side) >= _MIN_LETTERS for side in (left, right)):
            best, found = fewer - crossing, gutter
    return found


def _overlap(left: Page, right: Page) -> bool:
    """Whether two columns are side by side over at least half the height of the shorter one."""
    ranges = [(min(line.bottom for line in side), max(line.top for line in side)) for side in (left, right)]
    common = min(ranges[0][1], ranges[1][1]) - max(ranges[0][0], ranges[1][0])
    return 2 * common >= min(top - bottom for bottom, top in ranges)


def _mean_length(lines: Page) -> float:
    return sum(len(line.text) for line in lines) / len(lines)


def _join_rows(lines: Page) -> Iterator[Line]:
    """The lines of a column from top to bottom. Cells side by side are joined into one line."""
    row: Page = []
    for line in sorted(lines, key=lambda line: -line.top):
        if row and (line.bottom + line.top) / 2 < row[0].bottom:
            yield _join_row(row)
            row = []
        row.append(line)
    if row:
        yield _join_row(row)


def _join_row(cells: Page) -> Line:
    cells = sorted(cells, key=lambda cell: cell.left)
    lefts, bottoms, rights, tops = zip(*(cell[1:] for cell in cells), strict=True)
    return Line(" ".join(cell.text for cell in cells), min(lefts), min(bottoms), max(rights), max(tops))


# Paragraphs

_SENTENCE_END = compile_lazily(r"[.!?:…。！？։۔؟।][\"'”’»)\]]*$")


def _join_pages(
    pages: Sequence[Page], furniture: set[_Key], title: str | None
) -> Iterator[tuple[str, dict[str, float]]]:
    """The paragraphs with their pages, joined across columns and pages."""
    words = find_uncut_words(line.text for page in pages for line in page)
    pending: list[str] = []
    begin = 1
    for number, page in enumerate(pages, 1):
        for column in order_columns(_without_furniture(page, furniture)):
            for n, lines in enumerate(_split_paragraphs(column)):
                continues = not n and pending and not _SENTENCE_END.search(pending[-1]) and _is_rest(lines)
                if pending and not continues:
                    yield from _build_paragraph(pending, words, begin, title)
                    pending = []
                begin = begin if pending else number
                pending += [line.text for line in lines]
    yield from _build_paragraph(pending, words, begin, title)


def _is_rest(lines: Page) -> bool:
    """Whether lines begin with the continuation of a sentence."""
    first = lines[0].text[0]
    return first.islower() or first.lower() == first.upper()


def _build_paragraph(
    lines: list[str], words: Any, page: int, title: str | None
) -> Iterator[tuple[str, dict[str, float]]]:
    text = join_lines(lines, words)
    if text and not (page == 1 and text == title):
        yield text, {PAGE: page}


def _split_paragraphs(column: Page) -> Iterator[Page]:
    """The paragraphs of a column. They end at wider gaps, short lines, indents and changes of size."""
    if not column:
        return
    from statistics import median  # slow to import

    distances = [above.bottom - below.bottom for above, below in pairwise(column)]
    usual = median(distances) if distances else 0
    left, right = median(line.left for line in column), max(line.right for line in column)
    paragraph = [column[0]]
    for above, below, distance in zip(column, column[1:], distances, strict=False):
        em = min(above.height, below.height) or 1
        is_apart = distance > 1.35 * usual and distance > 1.5 * em
        is_short = right - above.right > 0.15 * (right - left) and _SENTENCE_END.search(above.text)
        is_indented = 0.6 * em < below.left - left < 6 * em and above.left - left < 0.4 * em
        is_other_size = abs(above.height - below.height) > 0.4 * max(above.height, below.height)
        if is_apart or is_short or is_indented or is_other_size:
            yield paragraph
            paragraph = []
        paragraph.append(below)
    yield paragraph


# Title and date

# Programs write "(anonymous)" or "(unspecified)" for properties that are not set.
_PLACEHOLDER = compile_lazily(r"\((?:anonymous|unspecified|none|null)\)$", re.I)
_FILE_NAME = compile_lazily(
    r"(?:microsoft (?:word|powerpoint)|untitled|unbenannt|sans titre|.*\.\w{2,5}$)", re.I
)
_TITLE_SIZE = 1.25
"""Minimum height of a title's letters, relative to those of most lines."""


def _find_title(metadata: dict[str, str], first: Page, furniture: set[_Key]) -> str | None:
    """The title in the metadata, unless it is a file name, or else the largest lines."""
    stated = " ".join((metadata.get("Title") or "").replace("\0", " ").split())
    if stated and not _FILE_NAME.match(stated) and not _PLACEHOLDER.match(stated):
        return stated
    lines = [line for line in _without_furniture(first, furniture) if any(map(str.isalpha, line.text))]
    if len(lines) < 2:
        return None
    from statistics import median

    largest = max(line.height for line in lines)
    if largest < _TITLE_SIZE * median(line.height for line in lines):
        return None
    title = [line for line in lines if line.height > 0.85 * largest]
    return join_lines(line.text for line in sorted(title, key=lambda line: -line.top)[:4])


_DATE = compile_lazily(r"(?:D:)?(\d{4})(\d\d)(\d\d)")


def _find_date(metadata: dict[str, str]) -> str | None:
    """The day of creation, or else of the last change."""
    for name in ("CreationDate", "ModDate"):
        if match := _DATE.match(metadata.get(name) or ""):
            return to_iso_date("-".join(match.groups()))
    return None
