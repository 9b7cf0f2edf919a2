"""A dependency tree as a picture in SVG: words from left to right as in the sentence, each below its head.

Links go from one row to the next, so none crosses a word. The picture has no script and takes nothing from
elsewhere. Its ink is `currentColor`: within a page it is the page's, on light and on dark.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from html import escape

from esr.dependency.layout import Layout, between, layout
from esr.dependency.text_tree import printable
from esr.documents import ParseWord

MARK, WAY = "#a3262e", "#c8553d"
"""Of the set's words, under white letters; and of the ways between them: seen on light and on dark paper."""

_FONT, _LETTER, _WIDE = 14, 7.9, 14.0
_ROW, _PILL, _STEP, _GAP, _EDGE = 54, 24, 26, 10, 12
_LONGEST = 24
_OWN_COLOURS = (
    "<style>svg:root{color:#1b1b1c;background:#fefefe}"
    "@media (prefers-color-scheme:dark){svg:root{color:#e8e8ea;background:#16181c}}</style>"
)


def svg_tree(
    parse: Sequence[ParseWord],
    marked: Collection[int],
    chosen: Collection[int] = (),
    *,
    alone: bool = True,
) -> str:
    """The picture. `marked`: positions of query words, outlined; `chosen`: of the set that scored, filled.

    `alone` gives it colours of its own for both colour schemes; leave them out within a page, whose rules
    may forbid styles.
    """
    trees = layout(parse)
    names = [_short(printable(word.word)) for word in parse]
    widths = [sum(map(_width, name)) + 12 for name in names]
    x = _columns(trees, widths)
    width = max((at + own / 2 for at, own in zip(x, widths, strict=True)), default=0) + _EDGE
    height = (max(trees.depths, default=0) + 1) * _ROW
    sentence = escape(" ".join(printable(word.word) for word in parse))
    style = _OWN_COLOURS if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="esr-tree" role="img" '
        f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="{_FONT}" '
        f'text-anchor="middle" fill="currentColor"><title>Dependency tree of: {sentence}</title>{style}'
        f"{_links(trees, x, between(trees, chosen))}{_words(trees, x, widths, names, marked, chosen)}</svg>\n"
    )


def _columns(trees: Layout, widths: list[float]) -> list[float]:
    """Where the words' middles stand: in order, and none over another of its row."""
    ends: dict[int, float] = {}
    x: list[float] = []
    for depth, width in zip(trees.depths, widths, strict=True):
        free = ends.get(depth, _EDGE - _GAP) + _GAP + width / 2
        x.append(max(free, x[-1] + _STEP) if x else free)
        ends[depth] = x[-1] + width / 2
    return x


def _links(trees: Layout, x: list[float], way: Collection[int]) -> str:
    """Those on the way between chosen words last, over the others."""
    drawn = []
    for word in sorted((word for word in trees.down if trees.heads[word] >= 0), key=lambda word: word in way):
        head = trees.heads[word]
        top, bottom = _middle(trees, head) + _PILL / 2, _middle(trees, word) - _PILL / 2
        half = (top + bottom) / 2
        look = f'stroke="{WAY}" stroke-width="2.5"' if word in way else 'stroke="currentColor" opacity=".45"'
        drawn.append(
            f'<path d="M{x[head]:.1f} {top:.1f}C{x[head]:.1f} {half:.1f} {x[word]:.1f} {half:.1f} '
            f'{x[word]:.1f} {bottom:.1f}" fill="none" {look}/>'
        )
    return "".join(drawn)


def _words(
    trees: Layout,
    x: list[float],
    widths: list[float],
    names: list[str],
    marked: Collection[int],
    chosen: Collection[int],
) -> str:
    drawn = []
    for word, name in enumerate(names):
        y, ink = _middle(trees, word), ""
        if word in marked or word in chosen:
            fill = MARK if word in chosen else "none"
            ink = ' fill="#ffffff" font-weight="600"' if word in chosen else ' font-weight="600"'
            drawn.append(
                f'<rect x="{x[word] - widths[word] / 2:.1f}" y="{y - _PILL / 2:.1f}" rx="6" '
                f'width="{widths[word]:.1f}" height="{_PILL}" fill="{fill}" '
                f'stroke="{WAY}" stroke-width="1.5"/>'
            )
        drawn.append(f'<text x="{x[word]:.1f}" y="{y + _FONT * 0.35:.1f}"{ink}>{escape(name)}</text>')
    return "".join(drawn)


def _middle(trees: Layout, word: int) -> float:
    return trees.depths[word] * _ROW + _ROW / 2


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _width(letter: str) -> float:
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" or letter in "WMmw@%" else _LETTER
