"""A sentence's trees as a drawing needs them: who hangs on whom, how deep, and what lies between words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from esr.documents import ParseWord


@dataclass(frozen=True, slots=True)
class Layout:
    """By position of the word: its head (-1: root), depth and children; `down` has the words, heads first."""

    heads: list[int]
    depths: list[int]
    children: list[list[int]]
    down: list[int]


def layout(parse: Sequence[ParseWord]) -> Layout:
    """Of a parse whose heads lead to roots. `down` goes through a word's children in their order."""
    heads = [word.head for word in parse]
    children: list[list[int]] = [[] for _ in parse]
    for word, head in enumerate(heads):
        if head >= 0:
            children[head].append(word)
    depths, down = [0] * len(heads), []
    waiting = [word for word in reversed(range(len(heads))) if heads[word] < 0]
    while waiting:
        word = waiting.pop()
        down.append(word)
        for child in reversed(children[word]):
            depths[child] = depths[word] + 1
            waiting.append(child)
    return Layout(heads, depths, children, down)


def between(trees: Layout, words: Collection[int]) -> set[int]:
    """The words whose link to their head lies on a way between two of these words."""
    below = [0] * len(trees.heads)
    for word in words:
        below[word] = 1
    for word in reversed(trees.down):
        if trees.heads[word] >= 0:
            below[trees.heads[word]] += below[word]
    total = {root: below[root] for root in trees.down if trees.heads[root] < 0}
    # A link is between words if some of its tree's hang below it, and others do not.
    root_of: dict[int, int] = {}
    for word in trees.down:
        root_of[word] = word if trees.heads[word] < 0 else root_of[trees.heads[word]]
    return {word for word in trees.down if trees.heads[word] >= 0 and 0 < below[word] < total[root_of[word]]}
