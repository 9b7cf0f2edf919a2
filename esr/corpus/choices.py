"""What the arguments of questions about a corpus may be, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

LINES, WIDTH = 100, 50
"""Defaults: lines of a concordance, and characters on each side of the node."""
_ORDINALS = {1: "first", 2: "second", 3: "third"}
SORTS: Mapping[str, str] = {
    "newest": "newest first",
    "oldest": "oldest first",
    "best": "best first, by the ranking",
    "source": "by source",
    "node": "by the words that were found",
    **{f"left{n}": f"by the words to the left, from the {ordinal}" for n, ordinal in _ORDINALS.items()},
    **{f"right{n}": f"by the words to the right, from the {ordinal}" for n, ordinal in _ORDINALS.items()},
}
"""The orders of lines. Ties are newest first. Where the sentence ends, lines come after all others."""

WINDOW, COLLOCATIONS, MIN_COUNT = 5, 50, 5
"""Defaults: words on each side, collocations shown, and minimum occurrences of a term near the node."""
UNITS: Mapping[str, str] = {
    "stems": "forms with the same term of the index's analyzer count together",
    "forms": "each form as it is written, without case and accents",
}
MEASURES = ("logdice", "log-likelihood", "mi", "t")
"""The measures of collocations. MI, the binary logarithm of observed over expected occurrences, favours rare
terms, t favours frequent ones."""
Grouping = Literal["month", "source", "year", "week", "day"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
KEY_WORDS = 50
"""Default number of key words."""
ORDERS: Mapping[str, str] = {
    "log-likelihood": "the most certain differences first",
    "log-ratio": "the largest differences first",
}
"""The orders of key words."""

NAMES, COMPANIONS, SENTENCES, MAX_NETWORK = 50, 20, 5, 500
"""Defaults: names of a list, companions and sentences of a name; and the maximum names of a network."""
QUOTATIONS, STATEMENTS = 20, 100
"""Default numbers of quotations of a list, and of those that are put in the order of time."""
