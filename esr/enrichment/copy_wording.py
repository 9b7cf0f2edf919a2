"""Compares two sentences by their words, in order: whether one may be a copy of the other.

Most of their words must be the same in the same order, and more of them if the sentences are short or have
different names, numbers or negations, as reports made from a template have. Words of furniture and of stock
phrases do not count: what many documents say on many days is no copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from esr.features.furniture import find_furniture

LEAST_IN_ORDER = (0.67, 0.62)
"""The least share of words that two copies have in common, in the same order; the second of long ones."""
LONG = 16
"""Sentences are long if they have so many words in common, in the same order."""
LEAST_WITH_OTHER_NAMES, LEAST_WITH_OTHER_NUMBERS = (0.77, 0.7), 0.97
"""The least such share if each has a name (again of long sentences), or a number, that the other lacks."""
SHORT = 9
"""Sentences are short if they have at most so many words in common."""
LEAST_OF_SHORT = (0.82, 0.9, 0.97)
"""The least such share of short sentences if one has a name, a number, or a negation that the other lacks."""
LEAST_WITHIN_SOURCE = 0.9
"""The least share of two sentences of one source that are not long. It repeats its own templates."""
BETWEEN_SOURCES = 0.05
"""How much less the share of sentences of different sources may be: they have different templates."""
LEAST_TELLING, FEW_TELLING, LEAST_OF_FEW = 4, 3, 0.8
"""The least number of different words of some length in common: tables of figures have fewer. The second if
the share is at least the third, and neither text has a number."""
LEAST_WITH_TWO_NAMES = (0.9, 0.8)
"""The least share if each has two names that the other lacks, as those of matches have, and of long ones."""
LEAST_OF_QUESTIONS = 0.9
"""The least share of short questions, which interviewers ask in the same words."""
STOCK_WORDS = 4
"""The number of words of a stock phrase. A longer phrase is made of several."""
STOCK_PHRASE_DOCUMENTS, STOCK_PHRASE_SHARE, STOCK_PHRASE_DAYS = 10, 500, 8
"""A phrase is stock if so many of the compared documents have it, and one in so many, on so many days."""
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.integer]

_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff]"
_WORD = re.compile(rf"{_UNSPACED}|\w+")
"""A word, or a character of a script without spaces."""
_NUMBERS = {
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "half"),
}
_NEGATIONS = {
    *("not", "no", "never", "cannot", "nor", "neither", "without", "nobody", "nothing", "none"),
    "t",  # of don't
    *(
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keiner",
        "nie",
        "ohne",
        "ne",
        "pas",
        "jamais",
        "sans",
        "nunca",
        "sin",
    ),
    *("não", "non", "mai", "senza", "не", "нет", "никогда", "без", "niet", "geen", "nooit", "не", "不", "没"),
}
_TELLING_LETTERS = 4
"""A word of so many letters tells something; so does any word beyond ASCII."""


class Wording:
    """The words of a text as copies are compared by: in lower case, in order, with the numbers, names and
    negations. `telling` are the different words that count.
    """

    def __init__(self, text: str) -> None:
        written = _WORD.findall(text)
        self.words: list[str] = [word.lower() for word in written]
        self.different: frozenset[str] = frozenset(self.words)
        self.numbers: list[str] = [
            word for word in self.words if word in _NUMBERS or any(map(str.isdigit, word))
        ]
        self.is_question: bool = text.rstrip("\"'”’ ").endswith("?")
        self.negations: int = sum(word in _NEGATIONS for word in self.words)
        self.names: frozenset[str] = frozenset(word.lower() for word in written[1:] if word[0].isupper())
        self.names -= frozenset(self.numbers)
        self.telling: frozenset[str] = (
            frozenset() if is_boilerplate(text) else frozenset(filter(_is_telling, self.words))
        )

    def leave_out(self, stock: Mask) -> None:
        """Let the words of stock phrases not count. `stock` says of each word whether it is in one."""
        remaining = {word for word, is_stock in zip(self.words, stock.tolist(), strict=True) if not is_stock}
        self.telling &= remaining


_CUES = re.compile(
    r"contributed to this (?:report|article|story)|\bfor (?:a )?comment\b|responsible for the material"
    r"|\bupdated (?:with|to (?:reflect|include))|edited (?:excerpts|transcript)|^\W*the author is\b"
    r"|(?:edited|condensed) for (?:clarity|length)|\breport(?:ed|ing) (?:from|by)\b|claims? of responsibility"
    r"|\bthoughts (?:and prayers )?are\b|\bshare this (?:slide|with)\b|for more (?:ideas|information)"
    r"|\binvestigations? (?:is|was|are|were|remains?) (?:still )?(?:ongoing|under way)|check back for"
    r"|\binvestigation into the \w+ (?:is|was) (?:still )?ongoing"
    r"|interview (?:was|has been) conducted|^\W*contributors?:|information you want to share"
    r"|diversions (?:are )?in place|\broad (?:is|has been) (?:currently )?closed|latest and breaking news"
    r"|\bsign up\b|\bnewsletter\b|\byour inbox\b|\bfollow (?:us|me|him|her|\w+) on\b|\bfind us on\b",
    re.IGNORECASE,
)
"""What sentences about a report itself have: who wrote it, who was asked, where to read more."""


def is_boilerplate(text: str) -> bool:
    """Whether a sentence is about a report or a site itself, or furniture. It is no copy of any other."""
    return bool(_CUES.search(text) or find_furniture([text])[0])


def _is_telling(word: str) -> bool:
    return (len(word) >= _TELLING_LETTERS or not word.isascii()) and not word[0].isdigit()


def read_wordings(texts: Iterable[str], document: Integers, day: Integers) -> list[Wording]:
    """The wordings of n texts without stock phrases, with the document and the day of each, of shape (n,)."""
    wordings = [Wording(text) for text in texts]
    for wording, stock in zip(wordings, find_stock(wordings, document, day), strict=True):
        wording.leave_out(stock)
    return wordings


def find_stock(wordings: Sequence[Wording], document: Integers, day: Integers) -> list[Mask]:
    """Whether each word of n wordings is in a stock phrase.

    Phrases of a script without spaces are never stock, since a few characters are too short for one.
    """
    sizes = np.array([len(wording.words) for wording in wordings], np.int64)
    ends = np.cumsum(sizes)
    count = int(ends[-1]) if len(ends) else 0
    is_stock = np.zeros(count, bool)
    if count >= STOCK_WORDS:
        numbers: dict[str, int] = {}
        words = np.fromiter(
            (numbers.setdefault(word, len(numbers)) for wording in wordings for word in wording.words),
            np.int64,
            count,
        )
        unspaced = np.array([bool(re.match(_UNSPACED, word)) for word in numbers])[words]
        text = np.repeat(np.arange(len(sizes)), sizes)
        first = np.arange(count - STOCK_WORDS + 1)
        within = text[first] == text[first + STOCK_WORDS - 1]
        phrase = np.zeros(len(first), np.int64)
        for place in range(STOCK_WORDS):
            within &= ~unspaced[first + place]
            # The numbers of the phrases so far and the next word make a new number.
            _, phrase = np.unique(phrase << 32 | words[first + place], return_inverse=True)
        first, phrase = first[within], phrase[within]
        least = max(STOCK_PHRASE_DOCUMENTS, len(np.unique(document)) // STOCK_PHRASE_SHARE)
        is_met = _count_different(phrase, document[text[first]]) >= least
        is_met &= _count_different(phrase, day[text[first]]) >= STOCK_PHRASE_DAYS
        starts = first[is_met[phrase]]
        for place in range(STOCK_WORDS):
            is_stock[starts + place] = True
    return np.split(is_stock, ends[:-1]) if wordings else []


def _count_different(keys: Integers, values: Integers) -> Integers:
    """By key, the number of different values."""
    _, numbers = np.unique(values, return_inverse=True)
    pairs = np.unique(keys.astype(np.int64) << 32 | numbers)
    return np.bincount(pairs >> 32, minlength=int(keys.max(initial=-1)) + 1)


def measure_copy(first: Wording, second: Wording, is_same_source: bool | None = None) -> float:
    """The share of words that two texts have in common in the same order, 0.0 if they are no copies.

    `is_same_source`: whether both are of one source, None if that says nothing.
    """
    telling = len(first.telling & second.telling)
    if telling < FEW_TELLING:
        return 0.0
    common = count_in_order(first.words, second.words)
    share = 2 * common / (len(first.words) + len(second.words))
    if telling < LEAST_TELLING and (share < LEAST_OF_FEW or first.numbers or second.numbers):
        return 0.0
    least = _need(first, second, common)
    if is_same_source and common < LONG:
        least = max(least, LEAST_WITHIN_SOURCE)
    elif is_same_source is False and least < 1:
        least -= BETWEEN_SOURCES
    return share if share >= least else 0.0


def _need(first: Wording, second: Wording, common: int) -> float:
    """The least share of two sentences with so many common words."""
    is_long = common >= LONG
    other_names = (len(first.names - second.different), len(second.names - first.different))
    sizes = len(first.numbers), len(second.numbers)
    numbers = count_in_order(first.numbers, second.numbers)
    least = LEAST_IN_ORDER[is_long]
    if all(other_names):
        least = LEAST_WITH_OTHER_NAMES[is_long]
    if all(other_names) and not is_long and _differ_in_names_alone(first, second):
        least = 1.0
    if min(other_names) > 1:
        least = LEAST_WITH_TWO_NAMES[is_long]
    if numbers < min(sizes):
        least = LEAST_WITH_OTHER_NUMBERS
    if first.is_question and second.is_question and common <= LONG:
        least = max(least, LEAST_OF_QUESTIONS)
    if common <= SHORT:
        differs = (any(other_names), numbers < max(sizes), first.negations != second.negations)
        least = max(
            [least, *(share for share, differ in zip(LEAST_OF_SHORT, differs, strict=True) if differ)]
        )
    return least


def _differ_in_names_alone(first: Wording, second: Wording) -> bool:
    """Whether all words that one has and the other lacks are names, as if one was filled in for another."""
    return (
        first.different - second.different <= first.names
        and second.different - first.different <= second.names
    )


def count_in_order(first: Sequence[str], second: Iterable[str]) -> int:
    """The length of the longest common subsequence of words, by bits (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    all_bits = free = (1 << len(first)) - 1
    for word in second:
        matches = free & places.get(word, 0)
        free = ((free + matches) | (free - matches)) & all_bits
    return len(first) - free.bit_count()
