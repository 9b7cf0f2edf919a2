"""Alignment of a quotation with a text: word by word, with the fewest edits, anywhere in the text.

Case, accents, punctuation, quotation marks, hyphens and apostrophes do not count. An ellipsis in the
quotation stands for any words, and text in [brackets] for a few words that the editor replaced or added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple
from unicodedata import combining, normalize

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.plugin.provisional import import_lazily

if TYPE_CHECKING:
    from rapidfuzz.distance import OSA
else:
    OSA = import_lazily("rapidfuzz.distance.OSA")

Kind = Literal["word", "ellipsis", "bracket"]
MAX_REPLACED = 8
"""Maximum words of a text that one bracket of a quotation replaces."""

_JOINER = "\u2060"
"""Stands for a bracket inside a word, such as [T]he, so that positions stay the same."""
_IN_WORD = re.compile(r"\[(\w{1,3})\](?=\w)|(?<=\w)\[(['’]?\w{1,4})\]")
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Letters of scripts without blanks between words, each of which counts as a word."""
_LETTER = rf"(?![{_UNSPACED}])[\w{_JOINER}]"
_WORD = (
    rf"[{_UNSPACED}]|\d+(?:[.,]\d+)*(?![^\W\d_])|(?:[^\W\d_]\.)+[^\W\d_]\b"
    rf"|(?:{_LETTER})+(?:['’‘ʼ´`](?:{_LETTER})+)*"
)
_ELLIPSIS = r"[\[(]\s*(?:…|\.\s?\.\s?\.+)\s*[\])]|…|\.\s?\.\s?\.+"
_WORDS = re.compile(_WORD)
_TOKENS = re.compile(rf"(?P<ellipsis>{_ELLIPSIS})|(?P<bracket>\[[^\[\]]*\])|(?P<word>{_WORD})")
_LEFT_OUT = re.compile(rf"[{_JOINER}'’‘ʼ´`.,_]")
_FEW, _SHORT, _LEAST_SPELLED = 2, 4, 3
"""Words that are the same by chance: at most so many beside one another, of at most so many letters. Words of
so many letters can be misspelled."""
_COMMENTS = frozenset({"sic", "emphasis added", "my emphasis"})
"""Brackets that stand for no word of the original."""


class Token(NamedTuple):
    """A word, an ellipsis or a bracket, with its characters in the text. `key` is what is compared."""

    key: str
    start: int
    end: int
    kind: Kind = "word"


class Difference(Struct, frozen=True):
    """Words of the quotation, and the words in their place in the original; one of both may be empty.

    `start` and `end` are characters of the quotation, `original_start` and `original_end` of the original.
    """

    text: str
    original: str
    start: int
    end: int
    original_start: int
    original_end: int


class Alignment(Struct, frozen=True):
    """Where a quotation is in a text, as characters of the text, and what differs there.

    `edits` counts the words that differ, and `words` those of the quotation outside of brackets. `cost`
    counts misspelled and moved words by half. `longest` is the cost of the longest stretch of words that
    differ, where short words that are the same by chance do not end a stretch, and `in_half` the cost in the
    half of the quotation that has most of it.
    """

    start: int
    end: int
    edits: int
    cost: float
    longest: float
    in_half: float
    words: int
    differences: tuple[Difference, ...]

    @property
    def similarity(self) -> float:
        """The share of the words that need no edit, from 0 to 1."""
        return max(0.0, 1.0 - self.edits / self.words)


def read_words(text: str) -> list[Token]:
    """The words of a text."""
    return [
        Token(_key(match[0]), *match.span()) for match in _WORDS.finditer(_join_words(text)) if _key(match[0])
    ]


def read_quotation(text: str) -> list[Token]:
    """The words, ellipses and brackets of a quotation, without ellipses at its ends."""
    tokens = list(_read_tokens(_join_words(text)))
    while tokens and tokens[-1].kind == "ellipsis":
        tokens.pop()
    first = next((n for n, token in enumerate(tokens) if token.kind != "ellipsis"), 0)
    return tokens[first:]


def _read_tokens(text: str) -> Iterator[Token]:
    before: Kind | None = None
    for match in _TOKENS.finditer(text):
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        key = " ".join(token.key for token in read_words(match[0])) if kind == "bracket" else _key(match[0])
        is_empty = (kind == "word" and not key) or (kind == "bracket" and key in _COMMENTS)
        if is_empty or (kind == "ellipsis" and before == kind):
            continue
        before = kind
        yield Token(key, *match.span(), kind)


def _join_words(text: str) -> str:
    """The text with each bracket inside a word replaced by one other character."""
    return (
        _IN_WORD.sub(lambda match: f"{_JOINER}{match[1] or match[2]}{_JOINER}", text) if "[" in text else text
    )


def _key(word: str) -> str:
    if not word.isalnum():
        word = _LEFT_OUT.sub("", word)
    if not word.isascii():
        word = "".join(c for c in normalize("NFKD", word) if not combining(c))
    return word.casefold()


_SKIPPED, _REPLACED = 1e-4, 1e-2
"""What a word costs that an ellipsis or a bracket stands for: little, so that the shortest way is taken."""


_REPLACED_WORD, _ADDED = 1.0005, 1.001
"""What a word of the quotation costs that has another one, or none, in its place.

A word of the original that is left out costs 1, so that alignments reach to the last same word."""


class _Step(NamedTuple):
    """A word of the quotation beside one of the original; one of both may be None.

    `is_free` if they are the same, or if an ellipsis or a bracket stands for the word of the original.
    """

    quoted: int | None
    original: int | None
    is_free: bool


def align(
    quotation: Sequence[Token], original: Sequence[Token], text: str, original_text: str
) -> Alignment | None:
    """Align a quotation (`read_quotation`) with the words of a text. None if no word is the same.

    It takes time in proportion to the product of both lengths.
    """
    words = sum(token.kind == "word" for token in quotation)
    if not words or not original:
        return None
    keys = [token.key for token in original]
    steps = _trace(quotation, keys, _fill(quotation, keys))
    matched = [step.original for step in steps if step.is_free and None not in (step.quoted, step.original)]
    if not matched:
        return None
    beside = [step.original for step in steps if step.original is not None]
    differences, edits, halves = [], _count_excess(quotation, steps), [0.0, 0.0]
    cost, longest, stretch = float(edits), 0.0, 0.0
    middle = len(text) // 2
    for is_same, group in _group(steps):
        if is_same:
            if not _is_by_chance(quotation, group):
                stretch = 0.0
            continue
        quoted = [quotation[step.quoted] for step in group if step.quoted is not None]
        replaced = [original[step.original] for step in group if step.original is not None]
        if "".join(token.key for token in quoted) != "".join(token.key for token in replaced):
            run, slips = max(len(quoted), len(replaced)), _count_slips(quoted, replaced)
            run_cost = run - slips / 2
            edits, cost, stretch = edits + run, cost + run_cost, stretch + run_cost
            longest = max(longest, stretch)
            (start, end), (original_start, original_end) = (
                _span(quoted, quotation, steps, group, 0),
                _span(replaced, original, steps, group, 1),
            )
            in_second = sum(token.start >= middle for token in quoted) if quoted else run * (start >= middle)
            second = run_cost * in_second / run
            halves = [halves[0] + run_cost - second, halves[1] + second]
            differences.append(
                Difference(
                    text[start:end],
                    original_text[original_start:original_end],
                    start,
                    end,
                    original_start,
                    original_end,
                )
            )
    start, end = original[beside[0]].start, original[beside[-1]].end
    return Alignment(start, end, edits, cost, longest, max(halves), words, tuple(differences))


def _is_by_chance(quotation: Sequence[Token], group: Sequence[_Step]) -> bool:
    """Whether words that are the same may be so by chance: a few short ones."""
    same = [quotation[step.quoted] for step in group if step.quoted is not None]
    return len(same) <= _FEW and all(
        token.kind == "word" and len(token.key) <= _SHORT and token.key.isascii() for token in same
    )


def _count_slips(quoted: Sequence[Token], replaced: Sequence[Token]) -> int:
    """The words of a difference that were only misspelled or moved."""
    left = [token.key for token in replaced]
    others = []
    slips = 0
    for token in quoted:
        if token.key in left:
            left.remove(token.key)
            slips += 1
        else:
            others.append(token.key)
    for key in others:
        near = next((word for word in left if _is_misspelled(key, word)), None)
        if near is not None:
            left.remove(near)
            slips += 1
    return slips


def _is_misspelled(word: str, other: str) -> bool:
    if min(len(word), len(other)) < _LEAST_SPELLED:
        return False
    return bool(OSA.distance(word, other, score_cutoff=1) <= 1)


def _fill(quotation: Sequence[Token], keys: Sequence[str]) -> npt.NDArray[np.float64]:
    """The least cost of the first i tokens of the quotation up to word j of the original.

    Of shape (tokens + 1, words + 1). The quotation may begin before any word.
    """
    size = len(keys)
    numbers = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    original = np.array([numbers[key] for key in keys], np.int64)
    steps = np.arange(size + 1, dtype=np.float64)
    costs = np.zeros((len(quotation) + 1, size + 1))
    for i, token in enumerate(quotation):
        before = costs[i]
        if token.kind == "word":
            least = before + _ADDED
            least[1:] = np.minimum(
                least[1:], before[:-1] + _REPLACED_WORD * (original != numbers.get(token.key, -1))
            )
            costs[i + 1] = np.minimum.accumulate(least - steps) + steps
        else:
            skipped = steps * (_SKIPPED if token.kind == "ellipsis" else _REPLACED)
            costs[i + 1] = np.minimum.accumulate(before - skipped) + skipped
    return costs


_ROUNDING = 1e-9


def _trace(quotation: Sequence[Token], keys: Sequence[str], costs: npt.NDArray[np.float64]) -> list[_Step]:
    """The cheapest way through the costs, in order."""
    i, j = len(quotation), int(np.argmin(costs[-1]))
    rows: list[list[float]] = costs.tolist()
    steps: list[_Step] = []
    while i:
        token, most, before = quotation[i - 1], rows[i][j] + _ROUNDING, rows[i - 1]
        if token.kind != "word":
            if before[j] <= most:
                i -= 1
            else:
                j -= 1
                steps.append(_Step(None, j, True))
            continue
        is_same = j > 0 and keys[j - 1] == token.key
        if j and before[j - 1] + _REPLACED_WORD * (not is_same) <= most:
            i, j = i - 1, j - 1
            steps.append(_Step(i, j, is_same))
        elif before[j] + _ADDED <= most:
            i -= 1
            steps.append(_Step(i, None, False))
        else:
            j -= 1
            steps.append(_Step(None, j, False))
    return steps[::-1]


def _group(steps: Sequence[_Step]) -> Iterator[tuple[bool, list[_Step]]]:
    """The runs of steps that are free, and of those that are not."""
    for is_free, group in groupby(steps, lambda step: step.is_free):
        yield is_free, list(group)


def _count_excess(quotation: Sequence[Token], steps: Sequence[_Step]) -> int:
    """The words that brackets replace beyond MAX_REPLACED each."""
    brackets = sum(token.kind == "bracket" for token in quotation)
    if not brackets or any(token.kind == "ellipsis" for token in quotation):
        return 0
    skipped = sum(step.is_free and step.quoted is None for step in steps)
    return max(0, skipped - brackets * MAX_REPLACED)


def _span(
    differing: Sequence[Token],
    tokens: Sequence[Token],
    steps: Sequence[_Step],
    group: Sequence[_Step],
    side: int,
) -> tuple[int, int]:
    """The characters of words that differ; without any, the place after the word before them."""
    if differing:
        return differing[0].start, differing[-1].end
    at = next(n for n, step in enumerate(steps) if step is group[0])
    before = [n for n in (step[side] for step in steps[:at]) if n is not None]
    if before:
        end = tokens[before[-1]].end
        return end, end
    after = [n for n in (step[side] for step in steps[at:]) if n is not None]
    start = tokens[after[0]].start if after else 0
    return start, start
