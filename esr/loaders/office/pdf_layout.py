"""The layout of pages of PDF: columns, paragraphs, and headers and footers that pages repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil

from esr.loaders.office.pdf_lines import Line, Page
from esr.plugin.provisional import compile_lazily

_EDGE_LINES = 2
"""Number of lines at the top and at the bottom of a page that may be furniture."""
_DIGITS = compile_lazily(r"\d+")
_PAGE_NUMBER = compile_lazily(
    r"\W*(?:\w{1,6}\.? )?(?:\d{1,4}|[ivxlc]{1,6})(?:\W{1,3}(?:\w{1,4} )?\d{1,4})?\W*", re.I
)

FurnitureKey = tuple[str, int]


def find_furniture(pages: Sequence[Page]) -> set[FurnitureKey]:
    """The keys of lines at the edges of pages that two fifths of the pages have, apart from their numbers."""
    counts = Counter(key for page in pages for key in {_make_key(line) for line in _find_edges(page)})
    needed = max(2, ceil(0.4 * len(pages)))
    furniture = {key for key, count in counts.items() if count >= needed}
    # If all lines of all pages repeat, they are the text.
    return furniture if any(remove_furniture(page, furniture) for page in pages) else set()


def _find_edges(page: Page) -> Sequence[Line]:
    lines = sorted(page, key=lambda line: -line.top)
    return lines if len(lines) <= 2 * _EDGE_LINES else [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]


def _make_key(line: Line) -> FurnitureKey:
    """The line without its numbers, and its height on the page. Page numbers may alternate between sides."""
    text = "#" if _PAGE_NUMBER.fullmatch(line.text) else _DIGITS.sub("#", line.text.lower())
    return text, round(line.bottom / 6)


def remove_furniture(page: Page, furniture: set[FurnitureKey]) -> Page:
    if not furniture:
        return page
    edges = {line for line in _find_edges(page) if _make_key(line) in furniture}
    return [line for line in page if line not in edges]


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
        for column in _split_columns(band, gutter):
            yield from order_columns(column)
        band = []
        if line is not None:
            yield [line]


def _split_columns(lines: Page, gutter: float) -> Sequence[Page]:
    sides = [line for line in lines if line.right <= gutter], [line for line in lines if line.left >= gutter]
    letters = "".join(line.text for line in lines)
    right_to_left = sum("\u0590" <= letter < "\u0900" for letter in letters)
    return sides[::-1] if 2 * right_to_left > len(letters) else sides


def _find_gutter(lines: Page) -> float | None:
    """The left edge of a column that has another one to its left; None if there are no columns."""
    if len(lines) < 2 * _MIN_LINES:
        return None
    best, widest = 0, None
    for gutter in sorted({round(line.left) - 0.6 for line in lines}):
        left = [line for line in lines if line.right <= gutter]
        right = [line for line in lines if line.left >= gutter]
        crossing = len(lines) - len(left) - len(right)
        fewer = min(len(left), len(right))
        if fewer < _MIN_LINES or 3 * crossing > fewer or fewer - crossing <= best:
            continue
        if _overlap(left, right) and all(_average_length(side) >= _MIN_LETTERS for side in (left, right)):
            best, widest = fewer - crossing, gutter
    return widest


def _overlap(left: Page, right: Page) -> bool:
    """Whether two columns are side by side over at least half the height of the shorter one."""
    ranges = [(min(line.bottom for line in side), max(line.top for line in side)) for side in (left, right)]
    common = min(ranges[0][1], ranges[1][1]) - max(ranges[0][0], ranges[1][0])
    return 2 * common >= min(top - bottom for bottom, top in ranges)


def _average_length(lines: Page) -> float:
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


SENTENCE_END = compile_lazily(r"[.!?:…。！？։۔؟।][\"'”’»)\]]*$")


def is_continuation(lines: Page) -> bool:
    """Whether lines begin with the continuation of a sentence."""
    first = lines[0].text[0]
    return first.islower() or first.lower() == first.upper()


def split_paragraphs(column: Page) -> Iterator[Page]:
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
        is_short = right - above.right > 0.15 * (right - left) and SENTENCE_END.search(above.text)
        is_indented = 0.6 * em < below.left - left < 6 * em and above.left - left < 0.4 * em
        is_other_size = abs(above.height - below.height) > 0.4 * max(above.height, below.height)
        if is_apart or is_short or is_indented or is_other_size:
            yield paragraph
            paragraph = []
        paragraph.append(below)
    yield paragraph
