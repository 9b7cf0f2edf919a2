"""The statistics of words as readers meet them: the name, the formula and the meaning of each.

The formulas and their symbols are those of docs/formulas.md, section H.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

PAGE = "docs/formulas.md, section H"


class Formula(NamedTuple):
    """A statistic: its name, how it is computed, and what that says."""

    label: str
    text: str
    meaning: str


FORMULAS: Mapping[str, Formula] = {
    "logdice": Formula(
        "logDice", "14 + log2( 2 a / (n + cf(t)) )", "words that seldom occur elsewhere; at most 14"
    ),
    "log-likelihood": Formula(
        "log-likelihood",
        "2 sum over the four cells of O log( O / E )",
        "words for which chance is the worst explanation; 10.83 corresponds to p = .001",
    ),
    "mi": Formula("MI", "log2( a / e )", "rare words that keep to this one"),
    "t": Formula("t-score", "(a - e) / sqrt(a)", "frequent words"),
    "log-ratio": Formula(
        "log ratio", "log2( (a / T1) / (b / T2) )", "how large a difference is: 1 is twice as frequent"
    ),
    "%diff": Formula(
        "%DIFF", "100 (a / T1 - b / T2) / (b / T2)", "by how many percent a word is more frequent"
    ),
    "per million": Formula("per million", "1,000,000 n / T", "occurrences per million words of the index"),
}
SYMBOLS: Mapping[str, str] = {
    "near": "a: occurrences near the word; n: occurrences of the word; cf(t): occurrences in all; "
    "e: expected occurrences near it; O, E: observed and expected cells of the table near and elsewhere, of "
    "this word and all others",
    "parts": "a, b: occurrences in either part; T1, T2: words of either part; O, E: observed and expected "
    "cells of the table of both parts, of this word and all others",
    "groups": "n: occurrences in the group; T: words of the group",
}
"""What the symbols stand for, by the kind of count."""
