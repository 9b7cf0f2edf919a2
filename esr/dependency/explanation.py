"""Explains which sets of query terms gave a sentence its score, and draws its dependency trees.

Trees are drawn as SVG or as text: each word below its head, in the sentence's order. Links of the SVG go from
one row to the next, so none crosses a word. The picture has no script, loads nothing and is drawn in
`currentColor`, so that it has the light or dark colours of the page around it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np

from esr.dependency.cliques import Array, CliqueEvidence, Cliques
from esr.dependency.random_fields import Decay, Potential, Potentials
from esr.dependency.tdsr import BestSets
from esr.text.document import ParseWord

PotentialName = Literal["syntactic", "proximity"]


@dataclass(frozen=True, slots=True)
class TermSet:
    """The best set of TDSR. `words` are positions in the sentence, none if the parse lacks the term."""

    terms: tuple[str, ...]
    words: tuple[int, ...]
    distance: float
    strength: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Relation:
    """A set of terms that adds to an MRF's score, with its best choice of words.

    `in_a_row`: whether the terms are contiguous in the query. `words` are positions in the sentence, and
    `ancestor` that of their lowest common ancestor. `value` is the potential, `adds` the potential times its
    weight.
    """

    potential: PotentialName
    terms: tuple[str, ...]
    in_a_row: bool
    words: tuple[int, ...]
    ancestor: int
    distance: float
    height: float
    value: float
    adds: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def find_best_set(
    evidence: CliqueEvidence, best_sets: BestSets, sentence: int, counts: Array | None = None
) -> TermSet | None:
    """Find the first of the best sets of a sentence; None if it has no query term.

    `counts` is as in `nearest_distances`.
    """
    size, strength = int(best_sets.sizes[sentence]), float(best_sets.scores[sentence])
    if size == 0:
        return None
    if size == 1:
        occurrences = evidence.occurrences
        posting = occurrences.posting_starts[sentence]
        if posting < occurrences.posting_starts[sentence + 1]:
            node = occurrences.nodes[occurrences.posting_firsts[posting]]
            word = int(node - occurrences.forest.starts[sentence])
            return TermSet((evidence.terms[occurrences.posting_terms[posting]],), (word,), 0.0, strength)
        assert counts is not None, "a term that is not in the parse is in the text"
        term = evidence.terms[int((counts[:, sentence] > 0).argmax())]
        return TermSet((term,), (), 0.0, strength)
    cliques = next(cliques for cliques in evidence.cliques if cliques.size == size)
    choices = np.flatnonzero(cliques.sentences[cliques.sets] == sentence)
    best = int(choices[cliques.distances[choices].argmin()])
    return TermSet(
        _terms(evidence, cliques, best), _words(cliques, best), float(cliques.distances[best]), strength
    )


def find_relations(
    evidence: CliqueEvidence, potentials: Potentials, settings: Mapping[str, float | str], sentence: int
) -> list[Relation]:
    """Find the sets that add to a sentence's score, greatest addition first."""
    decay = Decay.from_settings(settings)
    parts: tuple[tuple[PotentialName, Potential, str], ...] = (
        ("syntactic", potentials.syntactic, "lambda_SR"),
        ("proximity", potentials.proximity, "lambda_PR"),
    )
    relations = [
        _relation(evidence, name, potential, best, value, float(settings[weight]))
        for name, potential, weight in parts
        for best, value in _best_choices(potential, decay, sentence)
    ]
    return sorted(relations, key=lambda relation: -relation.adds)


def _best_choices(potential: Potential, decay: Decay, sentence: int) -> list[tuple[int, float]]:
    """The best choice of each set of a sentence: its row in the potential, and its value."""
    values = potential.values(decay)
    ends = np.append(potential.first_choices[1:], len(values))
    best_choices = []
    for number in np.flatnonzero(potential.sentences == sentence):
        first = potential.first_choices[number]
        best = int(first + values[first : ends[number]].argmax())
        best_choices.append((best, float(values[best])))
    return best_choices


def _relation(
    evidence: CliqueEvidence,
    name: PotentialName,
    potential: Potential,
    best: int,
    value: float,
    weight: float,
) -> Relation:
    cliques, row = _find_choice(evidence, int(potential.choices[best]))
    occurrences = cliques.occurrences
    start = occurrences.forest.starts[cliques.sentences[cliques.sets[row]]]
    ancestor = occurrences.paths.ancestors(cliques.members[:1, row], cliques.lca_depths[[row]])[0] - start
    return Relation(
        name,
        _terms(evidence, cliques, row),
        bool(cliques.is_contiguous[cliques.sets[row]]),
        _words(cliques, row),
        int(ancestor),
        float(cliques.distances[row]),
        float(potential.heights[best]),
        value,
        weight * value,
    )


def _find_choice(evidence: CliqueEvidence, number: int) -> tuple[Cliques, int]:
    """Find a choice, numbered through all cliques: its cliques, and its row there."""
    for cliques in evidence.cliques:
        if number < len(cliques.sets):
            return cliques, number
        number -= len(cliques.sets)
    raise IndexError(number)


def _terms(evidence: CliqueEvidence, cliques: Cliques, choice: int) -> tuple[str, ...]:
    return tuple(evidence.terms[term] for term in cliques.terms[:, cliques.sets[choice]])


def _words(cliques: Cliques, choice: int) -> tuple[int, ...]:
    occurrences = cliques.occurrences
    start = occurrences.forest.starts[cliques.sentences[cliques.sets[choice]]]
    return tuple((occurrences.nodes[cliques.members[:, choice]] - start).tolist())


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """By the position of a word: its head (-1: root), depth and children. `preorder` lists heads first."""

    heads: list[int]
    depths: list[int]
    children: list[list[int]]
    preorder: list[int]


def lay_out(parse: Sequence[ParseWord]) -> TreeLayout:
    """Lay out a parse whose heads lead to roots. `preorder` visits children in order."""
    heads = [word.head for word in parse]
    children: list[list[int]] = [[] for _ in parse]
    for word, head in enumerate(heads):
        if head >= 0:
            children[head].append(word)
    depths, preorder = [0] * len(heads), []
    stack = [word for word in reversed(range(len(heads))) if heads[word] < 0]
    while stack:
        word = stack.pop()
        preorder.append(word)
        for child in reversed(children[word]):
            depths[child] = depths[word] + 1
            stack.append(child)
    return TreeLayout(heads, depths, children, preorder)


def words_between(trees: TreeLayout, words: Collection[int]) -> set[int]:
    """The words whose links to their heads are on a path between two of the given words."""
    below = [0] * len(trees.heads)
    for word in words:
        below[word] = 1
    for word in reversed(trees.preorder):
        if trees.heads[word] >= 0:
            below[trees.heads[word]] += below[word]
    total = {root: below[root] for root in trees.preorder if trees.heads[root] < 0}
    # A link is on a path if some of the tree's given words are below it and others are not.
    root_of: dict[int, int] = {}
    for word in trees.preorder:
        root_of[word] = word if trees.heads[word] < 0 else root_of[trees.heads[word]]
    return {
        word for word in trees.preorder if trees.heads[word] >= 0 and 0 < below[word] < total[root_of[word]]
    }


def text_tree(
    parse: Sequence[ParseWord], query_words: Collection[int], scoring_words: Collection[int] = ()
) -> str:
    """Draw the tree with one word per line.

    Query words (by position) are in brackets; those of the set that scored have a star:

        hit
        ├─ [earthquake] *
        │  └─ an
        └─ [china] *
           └─ northern
    """
    trees = lay_out(parse)
    lines, indents = [], [""] * len(parse)
    for word in trees.preorder:
        head = trees.heads[word]
        branch = ""
        if head >= 0:
            is_last = trees.children[head][-1] == word
            branch = indents[head] + ("└─ " if is_last else "├─ ")
            indents[word] = indents[head] + ("   " if is_last else "│  ")
        name = printable(parse[word].word)
        if word in query_words or word in scoring_words:
            name = f"[{name}]"
        lines.append(f"{branch}{name}{' *' if word in scoring_words else ''}\n")
    return "".join(lines)


def printable(word: str) -> str:
    """The word on one line, with unprintable characters replaced."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in word)


SET_COLOUR, PATH_COLOUR = "#a3262e", "#c8553d"
"""Colours of the set's words, behind white letters, and of the paths between them.

Visible on light and on dark pages.
"""

_FONT_SIZE, _LETTER_WIDTH, _WIDE_LETTER_WIDTH = 14, 7.9, 14.0
_ROW_HEIGHT, _BOX_HEIGHT, _MIN_STEP, _GAP, _MARGIN = 54, 24, 26, 10, 12
_MAX_LETTERS = 24
_OWN_COLOURS = (
    "<style>svg:root{color:#1b1b1c;background:#fefefe}"
    "@media (prefers-color-scheme:dark){svg:root{color:#e8e8ea;background:#16181c}}</style>"
)


class Box(NamedTuple):
    """The label of a word, the horizontal middle of its box, and the width of the box."""

    label: str
    x: float
    width: float


def svg_tree(
    parse: Sequence[ParseWord],
    query_words: Collection[int],
    scoring_words: Collection[int] = (),
    *,
    standalone: bool = True,
) -> str:
    """Draw the tree. Query words (by position) are outlined, those of the set that scored are filled.

    `standalone` adds colours for light and dark schemes. Leave them out inside a page, whose security policy
    may forbid styles.
    """
    trees = lay_out(parse)
    boxes = _place_boxes(trees, [_shorten(printable(word.word)) for word in parse])
    width = max((x + box_width / 2 for _, x, box_width in boxes), default=0) + _MARGIN
    height = (max(trees.depths, default=0) + 1) * _ROW_HEIGHT
    sentence = escape(" ".join(printable(word.word) for word in parse))
    style = _OWN_COLOURS if standalone else ""
    links = _draw_links(trees, boxes, words_between(trees, scoring_words))
    words = _draw_words(trees, boxes, query_words, scoring_words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="esr-tree" role="img" '
        f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="{_FONT_SIZE}" '
        f'text-anchor="middle" fill="currentColor"><title>Dependency tree of: {sentence}</title>{style}'
        f"{links}{words}</svg>\n"
    )


def _place_boxes(trees: TreeLayout, labels: Sequence[str]) -> list[Box]:
    """Place the words in order, so that no two in a row overlap."""
    row_ends: dict[int, float] = {}
    boxes: list[Box] = []
    for depth, label in zip(trees.depths, labels, strict=True):
        width = sum(map(_letter_width, label)) + 12
        x = row_ends.get(depth, _MARGIN - _GAP) + _GAP + width / 2
        if boxes:
            x = max(x, boxes[-1].x + _MIN_STEP)
        row_ends[depth] = x + width / 2
        boxes.append(Box(label, x, width))
    return boxes


def _draw_links(trees: TreeLayout, boxes: Sequence[Box], path: Collection[int]) -> str:
    """Draw the links to heads, with those on the path between scoring words last, on top."""
    lines = []
    words = (word for word in trees.preorder if trees.heads[word] >= 0)
    for word in sorted(words, key=lambda word: word in path):
        head = trees.heads[word]
        x_head, x_word = boxes[head].x, boxes[word].x
        top = _middle(trees, head) + _BOX_HEIGHT / 2
        bottom = _middle(trees, word) - _BOX_HEIGHT / 2
        half = (top + bottom) / 2
        stroke = 'stroke="currentColor" opacity=".45"'
        if word in path:
            stroke = f'stroke="{PATH_COLOUR}" stroke-width="2.5"'
        lines.append(
            f'<path d="M{x_head:.1f} {top:.1f}C{x_head:.1f} {half:.1f} {x_word:.1f} {half:.1f} '
            f'{x_word:.1f} {bottom:.1f}" fill="none" {stroke}/>'
        )
    return "".join(lines)


def _draw_words(
    trees: TreeLayout,
    boxes: Sequence[Box],
    query_words: Collection[int],
    scoring_words: Collection[int],
) -> str:
    elements = []
    for word, (label, x, width) in enumerate(boxes):
        y, text_style = _middle(trees, word), ""
        if word in query_words or word in scoring_words:
            fill = SET_COLOUR if word in scoring_words else "none"
            text_style = (
                ' fill="#ffffff" font-weight="600"' if word in scoring_words else ' font-weight="600"'
            )
            elements.append(
                f'<rect x="{x - width / 2:.1f}" y="{y - _BOX_HEIGHT / 2:.1f}" rx="6" '
                f'width="{width:.1f}" height="{_BOX_HEIGHT}" fill="{fill}" '
                f'stroke="{PATH_COLOUR}" stroke-width="1.5"/>'
            )
        elements.append(
            f'<text x="{x:.1f}" y="{y + _FONT_SIZE * 0.35:.1f}"{text_style}>{escape(label)}</text>'
        )
    return "".join(elements)


def _middle(trees: TreeLayout, word: int) -> float:
    """The vertical middle of the word's row."""
    return trees.depths[word] * _ROW_HEIGHT + _ROW_HEIGHT / 2


def _shorten(label: str) -> str:
    return label if len(label) <= _MAX_LETTERS else label[: _MAX_LETTERS - 1] + "…"


def _letter_width(letter: str) -> float:
    is_wide = unicodedata.east_asian_width(letter) in "WF" or letter in "WMmw@%"
    return _WIDE_LETTER_WIDTH if is_wide else _LETTER_WIDTH
