"""The layout of a sentence's trees for drawing: heads, children, depths, and the paths between words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from esr.documents import ParseWord


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """By position of a word: its head (-1: root), depth and children. `preorder` lists heads first."""

    heads: list[int]
    depths: list[int]
    children: list[list[int]]
    preorder: list[int]


def lay_out(parse: Sequence[ParseWord]) -> TreeLayout:
    """The layout of a parse whose heads lead to roots. `preorder` visits children in their order."""
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
    """The words whose link to their head is on a path between two of these words."""
    below = [0] * len(trees.heads)
    for word in words:
        below[word] = 1
    for word in reversed(trees.preorder):
        if trees.heads[word] >= 0:
            below[trees.heads[word]] += below[word]
    total = {root: below[root] for root in trees.preorder if trees.heads[root] < 0}
    # A link is between words if some of its tree's words are below it, and others are not.
    root_of: dict[int, int] = {}
    for word in trees.preorder:
        root_of[word] = word if trees.heads[word] < 0 else root_of[trees.heads[word]]
    return {
        word for word in trees.preorder if trees.heads[word] >= 0 and 0 < below[word] < total[root_of[word]]
    }
