"""A dependency tree drawn with characters: a word a line, below its head, in the sentence's order."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from esr.dependency.layout import layout
from esr.documents import ParseWord


def text_tree(parse: Sequence[ParseWord], marked: Collection[int], chosen: Collection[int] = ()) -> str:
    """Query words (`marked`, positions) stand in brackets, those of the set that scored with a star.

    hit
    ├─ [earthquake] *
    │  └─ an
    └─ [china] *
       └─ northern
    """
    trees = layout(parse)
    lines, before = [], [""] * len(parse)
    for word in trees.down:
        head = trees.heads[word]
        branch = ""
        if head >= 0:
            last = trees.children[head][-1] == word
            branch = before[head] + ("└─ " if last else "├─ ")
            before[word] = before[head] + ("   " if last else "│  ")
        name = printable(parse[word].word)
        if word in marked or word in chosen:
            name = f"[{name}]"
        lines.append(f"{branch}{name}{' *' if word in chosen else ''}\n")
    return "".join(lines)


def printable(word: str) -> str:
    """The word on one line, what cannot be shown replaced."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in word)
