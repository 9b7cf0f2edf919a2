"""Draws a dependency tree with characters: one word per line, below its head, in the sentence's order."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from esr.dependency.tree_layout import lay_out
from esr.documents import ParseWord


def text_tree(
    parse: Sequence[ParseWord], query_words: Collection[int], scoring_words: Collection[int] = ()
) -> str:
    """Query words (by position) are in brackets, those of the set that scored have a star.

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
