"""Rules that say how a sentence differs from a claim: negation, opposites, numbers, dates, names, denials.

Each rule names the words that it goes by, so a reader can check it. contrast.json has the words of the rules
by language. In a language without words there, only numbers in digits and years are compared. A rule says
nothing about which of the two is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from esr.plugin.provisional import cached_property, compile_lazily, get_analyzer

Rule = Literal["negation", "opposite", "denial", "number", "date", "name"]
RULES: Mapping[Rule, str] = {
    "negation": "only one of them negates this",
    "opposite": "the opposite of a word",
    "denial": "a word such as denied or false",
    "number": "another number for the same unit",
    "date": "another date",
    "name": "another name after the same word",
}
"""The rules by name, each with what it goes by."""
REACH = 5
"""How many content words after a negation are negated, at most, in its clause."""
BESIDE = 4
"""How many words away from a word are beside it, at most."""
_TOLERANCE = 0.02
"""Numbers that differ by less than this share are the same number, as rounded ones are."""
_ROUNDED = 1.5
"""A number such as "about 100" may be the same as one up to this many times as great."""


class Contrast(Struct, frozen=True):
    """A difference between a claim and a sentence, by one rule.

    `start` and `end` are the characters of the sentence that differ, `text` these characters. `claimed` are
    the words of the claim that they differ from.
    """

    rule: Rule
    start: int
    end: int
    text: str
    claimed: str


class DifferingPart(Struct, frozen=True):
    """A number, a date or a name of a sentence that the claim lacks, where it has another of its kind."""

    kind: Literal["number", "date", "name"]
    start: int
    end: int
    text: str


class Token(NamedTuple):
    """A word, a number or a sign. `word` is in lower case, `stem` empty for stop words and signs."""

    start: int
    end: int
    word: str
    stem: str
    is_capital: bool


class _Number(NamedTuple):
    at: int
    start: int
    end: int
    value: float
    units: frozenset[str]
    is_bound: bool


class _Date(NamedTuple):
    at: int
    start: int
    end: int
    year: int | None
    month: int | None
    day: int | None


class _Name(NamedTuple):
    """A name in a text, the content word before it, and the preposition between them."""

    start: int
    end: int
    words: frozenset[str]
    before: str
    relation: str


class Words(NamedTuple):
    """The words of the rules in a language."""

    negations: frozenset[str]
    not_negations: tuple[tuple[str, ...], ...]
    preventions: frozenset[str]
    clause_ends: frozenset[str]
    denials: frozenset[str]
    falsehoods: frozenset[str]
    speech: frozenset[str]
    exclusive: Mapping[str, Sequence[tuple[int, int]]]
    numbers: Mapping[str, float]
    scales: Mapping[str, float]
    units: Mapping[str, str]
    bounds: frozenset[str]
    months: Mapping[str, int]
    relations: frozenset[str]
    stop: frozenset[str]
    common: frozenset[str]


NO_WORDS = Words(
    negations=frozenset(),
    not_negations=(),
    preventions=frozenset(),
    clause_ends=frozenset(),
    denials=frozenset(),
    falsehoods=frozenset(),
    speech=frozenset(),
    exclusive={},
    numbers={},
    scales={},
    units={},
    bounds=frozenset(),
    months={},
    relations=frozenset(),
    stop=frozenset(),
    common=frozenset(),
)
"""The words of a language without any."""


def _read_values(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())


@cache
def read_words(language: str | None) -> Words:
    """The words of the rules in a language; those of English for an unknown one, none for others."""
    table = json.loads(Path(__file__).with_name("contrast.json").read_text("utf-8"))
    data = table.get((language or "en").lower().split("-")[0])
    if data is None:
        return NO_WORDS
    exclusive: dict[str, list[tuple[int, int]]] = {}
    for group, members in enumerate(data["exclusive"]):
        for member, words in enumerate(members):
            for word in words.split():
                exclusive.setdefault(word, []).append((group, member))
    return Words(
        frozenset(data["negations"].split()),
        tuple(tuple(phrase.split()) for phrase in data["not_negations"]),
        frozenset(data["preventions"].split()),
        frozenset(data["clause_ends"].split()),
        frozenset(data["denials"].split()),
        frozenset(data["falsehoods"].split()),
        frozenset(data["speech"].split()),
        exclusive,
        {word: float(value) for word, value in _read_values(data["numbers"]).items()},
        {word: float(value) for word, value in _read_values(data["scales"]).items()},
        _read_values(data["units"]),
        frozenset(data["bounds"].split()),
        {word: int(value) for word, value in _read_values(data["months"]).items()},
        frozenset(data["relations"].split()),
        frozenset(data["stop"].split()),
        frozenset(data["common"].split()),
    )


_TOKEN = compile_lazily(r"[$€£]?\d+(?:,\d{3})*(?:\.\d+)?(?:st|[nr]d|th)?(?![^\W\d])|\w+(?:[-'’]\w+)*|[^\w\s]")
_NUMBER = compile_lazily(r"([$€£]?)(\d+(?:,\d{3})*(?:\.\d+)?)(?:st|[nr]d|th)?")
_CLAUSE_SIGNS = frozenset(",;:.!?—–()")


class Statement:
    """A claim or a sentence, read for the rules once."""

    def __init__(self, text: str, language: str | None = None) -> None:
        self.text = text
        self.words: Words = read_words(language)
        self.tokens: list[Token] = list(self._split())
        self.stems: frozenset[str] = frozenset(token.stem for token in self.tokens if token.stem)
        """The stems of its content words, and its numbers in digits."""
        self.negated: Mapping[str, int] = self._find_negated()
        self.dates: list[_Date] = list(self._find_dates())
        self.numbers: list[_Number] = list(self._find_numbers())
        self.names: list[_Name] = list(self._find_names())

    def _split(self) -> Iterator[Token]:
        stem = get_analyzer("english-stem").term
        for match in _TOKEN.finditer(self.text):
            written = match.group()
            word = written.lower().replace("’", "'")
            is_word = word[0].isalnum()
            is_content = is_word and word not in self.words.stop and word not in self.words.negations
            is_content = is_content and not word.endswith("n't")
            content = stem(word.removesuffix("'s")) if is_content else ""
            yield Token(*match.span(), word, content, written[0].isupper())

    def beside(self, at: int) -> frozenset[str]:
        """The stems of the words beside a token, without names and words that are beside anything."""
        near = [*self.tokens[max(0, at - BESIDE) : at], *self.tokens[at + 1 : at + 1 + BESIDE]]
        return frozenset(
            token.stem
            for token in near
            if token.stem and not token.is_capital and token.word not in self.words.common
        )

    def _is_negation(self, number: int) -> bool:
        word = self.tokens[number].word
        if word.endswith("n't"):
            return True
        if word in self.words.denials:
            return True
        if word.replace("'", "") not in self.words.negations:
            return False
        near = [token.word for token in self.tokens[max(0, number - 2) : number + 3]]
        return not any(_has_run(near, phrase) for phrase in self.words.not_negations)

    def _find_negated(self) -> Mapping[str, int]:
        """The negated stems, each with the number of the token that negates it.

        A negation reaches the content words after it in its clause, a word such as false those before it.
        """
        negated: dict[str, int] = {}
        for number in range(len(self.tokens)):
            if self._is_negation(number):
                reached = self._reach(self.tokens[number + 1 :], self.words.clause_ends)
            elif self._is_falsehood(number):
                before = self.tokens[:number][::-1]
                reached = self._reach(before, self.words.clause_ends | self.words.speech)
            else:
                continue
            for stem in reached:
                if stem in negated:
                    del negated[stem]  # twice negated
                else:
                    negated[stem] = number
        return negated

    def _is_falsehood(self, number: int) -> bool:
        """Whether a word calls what stands before it false. An adjective before a noun does not."""
        after = self.tokens[number + 1 : number + 2]
        return self.tokens[number].word in self.words.falsehoods and not (after and after[0].stem)

    def _reach(self, tokens: Sequence[Token], ends: frozenset[str]) -> list[str]:
        """The stems of the next content words of a clause, which these words end."""
        stems: list[str] = []
        for token in tokens:
            if token.word in _CLAUSE_SIGNS or token.word in ends or len(stems) == REACH:
                break
            if token.stem:
                stems.append(token.stem)
        return stems

    @cached_property
    def heads(self) -> frozenset[str]:
        """The negated stems that come first after their negations, and those that are called false."""
        names = {token.stem for token in self.tokens[1:] if token.is_capital}
        first: dict[int, str] = {}
        heads: set[str] = set()
        for stem, number in self.negated.items():
            if stem in names or stem.isdigit():
                continue
            if self._is_falsehood(number):
                heads.add(stem)
            else:
                first.setdefault(number, stem)
        return frozenset(heads) | frozenset(first.values())

    def find_opposites(self) -> Mapping[int, Mapping[int, int]]:
        """The first token of each member of a group of opposites, by group and member."""
        opposites: dict[int, dict[int, int]] = {}
        for number, token in enumerate(self.tokens):
            for group, member in self.words.exclusive.get(token.word, ()):
                opposites.setdefault(group, {}).setdefault(member, number)
        return opposites

    def _find_dates(self) -> Iterator[_Date]:
        months, tokens = self.words.months, self.tokens
        used: set[int] = set()
        for number, token in enumerate(tokens):
            if token.word in months and token.is_capital and number not in used:
                month, start, end, day, year = months[token.word], token.start, token.end, None, None
                if number and (value := _read_day(tokens[number - 1].word)):
                    day, start = value, tokens[number - 1].start
                    used.add(number - 1)
                after = number + 1
                if day is None and after < len(tokens) and (value := _read_day(tokens[after].word)):
                    day, end = value, tokens[after].end
                    used.add(after)
                    after += 1
                while after < len(tokens) and tokens[after].word in (",", "of"):
                    after += 1
                if after < len(tokens) and (value := _read_year(tokens[after].word)):
                    year, end = value, tokens[after].end
                    used.add(after)
                if day or year or token.word != "may":
                    used.add(number)
                    yield _Date(number, start, end, year, month, day)
        for number, token in enumerate(tokens):
            if number not in used and (value := _read_year(token.word)):
                used.add(number)
                yield _Date(number, token.start, token.end, value, None, None)
        self._in_dates = used

    def _find_numbers(self) -> Iterator[_Number]:
        words, tokens, number = self.words, self.tokens, 0
        while number < len(tokens):
            token = tokens[number]
            match = _NUMBER.fullmatch(token.word)
            if number in self._in_dates or not (match or token.word in words.numbers):
                number += 1
                continue
            first, end = number, token.end
            unit = match.group(1) if match else ""
            value = float(match.group(2).replace(",", "")) if match else words.numbers[token.word]
            number += 1
            while number < len(tokens) and tokens[number].word in words.scales:
                value, end = value * words.scales[tokens[number].word], tokens[number].end
                number += 1
            units = frozenset((unit,)) if unit else frozenset[str]()
            if number < len(tokens) and not unit:
                units, end = self._read_units(number, end)
            near = {other.word for other in tokens[max(0, first - 3) : first]}
            yield _Number(first, token.start, end, value, units, bool(near & words.bounds))

    def _read_units(self, number: int, end: int) -> tuple[frozenset[str], int]:
        """What the number before a token counts, and where it ends: a unit, or the next two content words."""
        stems: list[str] = []
        for token in self.tokens[number : number + 3]:
            unit = "%" if token.word == "%" else self.words.units.get(token.word)
            if unit and not stems:
                return frozenset((unit,)), token.end
            is_name = token.is_capital and self.words is not NO_WORDS
            if token.word in _CLAUSE_SIGNS or is_name:
                break
            if token.stem:
                stems.append(token.stem)
        return frozenset(stems[:2]), end

    def _find_names(self) -> Iterator[_Name]:
        tokens, number = self.tokens, 1
        while number < len(tokens):
            if not (tokens[number].is_capital and tokens[number].stem) or number in self._in_dates:
                number += 1
                continue
            first = number
            while number < len(tokens) and tokens[number].is_capital and tokens[number].stem:
                number += 1
            before = first - 1
            relation = tokens[before].word if tokens[before].word in self.words.relations else ""
            verb = before - 1 if relation else before
            stems = frozenset(token.stem for token in tokens[first:number])
            is_word = verb == 0 or (verb > 0 and not tokens[verb].is_capital)
            word = tokens[verb].stem if is_word else ""
            yield _Name(tokens[first].start, tokens[number - 1].end, stems, word, relation)


def _has_run(words: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(tuple(words[at : at + size]) == tuple(phrase) for at in range(len(words) - size + 1))


def _read_day(word: str) -> int | None:
    digits = re.fullmatch(r"(\d{1,2})(?:st|[nr]d|th)?", word)
    return int(digits.group(1)) if digits and 1 <= int(digits.group(1)) <= 31 else None


def _read_year(word: str) -> int | None:
    return int(word) if re.fullmatch(r"(?:1[5-9]|20)\d\d", word) else None


@lru_cache(512)
def read_statement(text: str, language: str | None = None) -> Statement:
    """A text, read for the rules."""
    return Statement(text, language)


def find_contrasts(claim: Statement, sentence: Statement) -> list[Contrast]:
    """What a sentence says otherwise than a claim, in the order of the sentence."""
    contrasts = [
        *_compare_negations(claim, sentence),
        *_compare_opposites(claim, sentence),
        *_compare_numbers(claim, sentence),
        *_compare_dates(claim, sentence),
        *_compare_names(claim, sentence),
    ]
    return sorted(contrasts, key=lambda contrast: (contrast.start, contrast.end, contrast.rule))


def _contrast(rule: Rule, sentence: Statement, start: int, end: int, claimed: str) -> Contrast:
    return Contrast(rule, start, end, sentence.text[start:end], claimed)


def _compare_negations(claim: Statement, sentence: Statement) -> Iterator[Contrast]:
    """What one of them negates and the other does not."""
    if claim.negated.keys() & sentence.negated.keys():
        return
    for token in sentence.tokens:
        if token.stem in sentence.heads and token.stem in claim.stems:
            negation = sentence.tokens[sentence.negated[token.stem]]
            if _is_prevented(negation, claim):
                continue
            start, end = min(negation.start, token.start), max(negation.end, token.end)
            yield _contrast(_name_rule(sentence, negation), sentence, start, end, token.word)
            return
    affirmed = _find_affirmed(claim, sentence)
    if affirmed:
        negation, token = claim.tokens[claim.negated[affirmed.stem]], _find(claim, affirmed.stem)
        if _is_prevented(negation, sentence):
            return
        claimed = claim.text[min(negation.start, token.start) : max(negation.end, token.end)]
        yield _contrast(_name_rule(claim, negation), sentence, affirmed.start, affirmed.end, claimed)


def _is_prevented(negation: Token, other: Statement) -> bool:
    """Whether a negation such as "prevented" agrees with the other text, as with that of a ban."""
    preventions = other.words.preventions
    return negation.word in preventions and any(token.word in preventions for token in other.tokens)


def _name_rule(statement: Statement, negation: Token) -> Rule:
    words = statement.words
    return "denial" if negation.word in words.denials | words.falsehoods else "negation"


def _find_affirmed(claim: Statement, sentence: Statement) -> Token | None:
    """What the claim negates: the first word, or where the sentence negates nothing, another but a name."""
    affirmed = [token for token in sentence.tokens if token.stem in claim.heads]
    if not affirmed and claim.heads and not sentence.negated:
        words = {token.stem for token in claim.tokens if token.stem in claim.negated and not token.is_capital}
        affirmed = [token for token in sentence.tokens if token.stem in words]
    return affirmed[0] if affirmed else None


def _find(statement: Statement, stem: str) -> Token:
    """The token of a negated stem."""
    number = statement.negated[stem]
    after = (token for token in statement.tokens[number:] if token.stem == stem)
    before = (token for token in statement.tokens[:number] if token.stem == stem)
    return next(after, None) or next(before)


def _compare_opposites(claim: Statement, sentence: Statement) -> Iterator[Contrast]:
    mine, other = claim.find_opposites(), sentence.find_opposites()
    for group in mine.keys() & other.keys():
        if len(mine[group]) > 1 or len(other[group]) > 1 or mine[group].keys() == other[group].keys():
            continue
        (claim_place,), (sentence_place,) = mine[group].values(), other[group].values()
        claimed, stated = claim.tokens[claim_place], sentence.tokens[sentence_place]
        is_opposite = (claimed.stem in claim.negated) == (stated.stem in sentence.negated)
        if is_opposite and claim.beside(claim_place) & sentence.beside(sentence_place):
            yield _contrast("opposite", sentence, stated.start, stated.end, claimed.word)


def _compare_numbers(claim: Statement, sentence: Statement) -> Iterator[Contrast]:
    others = [number for number in sentence.numbers if not _has_number(claim, number)]
    for mine in claim.numbers:
        if _has_number(sentence, mine):
            continue
        for other in others:
            if mine.units & other.units and not _is_near(mine, other):
                yield _contrast("number", sentence, other.start, other.end, claim.text[mine.start : mine.end])
                break


def _has_number(sentence: Statement, mine: _Number) -> bool:
    """Whether a sentence has the number, and not only for another unit beside other numbers for its unit."""
    same = [other for other in sentence.numbers if _is_same(mine.value, other.value)]
    if any(not (mine.units and other.units) or mine.units & other.units for other in same):
        return True
    return bool(same) and not any(mine.units & other.units for other in sentence.numbers)


def _is_near(number: _Number, other: _Number) -> bool:
    """Whether two numbers may be the same, where one is a bound or rounded, such as "at least 100"."""
    least, most = sorted((number.value, other.value))
    return (number.is_bound or other.is_bound) and most < _ROUNDED * least


def _is_same(value: float, other: float) -> bool:
    return abs(value - other) <= _TOLERANCE * max(abs(value), abs(other))


def _compare_dates(claim: Statement, sentence: Statement) -> Iterator[Contrast]:
    others = [date for date in sentence.dates if not any(_agree(mine, date) for mine in claim.dates)]
    for mine in claim.dates:
        if any(_agree(mine, other) for other in sentence.dates):
            continue
        for other in others:
            if _differ(mine, other) and claim.beside(mine.at) & sentence.beside(other.at):
                yield _contrast("date", sentence, other.start, other.end, claim.text[mine.start : mine.end])
                break


def _parts(date: _Date) -> Sequence[int | None]:
    return date.year, date.month, date.day


def _agree(date: _Date, other: _Date) -> bool:
    """Whether two dates have a part in common and differ in none."""
    pairs = [
        (a, b) for a, b in zip(_parts(date), _parts(other), strict=True) if a is not None and b is not None
    ]
    return bool(pairs) and all(a == b for a, b in pairs)


def _differ(date: _Date, other: _Date) -> bool:
    return any(
        a != b for a, b in zip(_parts(date), _parts(other), strict=True) if a is not None and b is not None
    )


def _compare_names(claim: Statement, sentence: Statement) -> Iterator[Contrast]:
    for mine in claim.names:
        if not (mine.relation and mine.before) or mine.words & sentence.stems:
            continue
        for other in sentence.names:
            is_same_place = (mine.before, mine.relation) == (other.before, other.relation)
            if is_same_place and not other.words & claim.stems:
                yield _contrast("name", sentence, other.start, other.end, claim.text[mine.start : mine.end])
                break


def says_all(claim: Statement, sentence: Statement) -> bool:
    """Whether a sentence has the numbers of a claim, no other dates, and negates what the claim negates."""
    if claim.heads and not claim.heads & sentence.negated.keys():
        return False
    if any(sentence.dates and all(_differ(mine, other) for other in sentence.dates) for mine in claim.dates):
        return False
    return all(_has_number(sentence, mine) for mine in claim.numbers)


def find_differences(claim: Statement, sentence: Statement) -> list[DifferingPart]:
    """The numbers, dates and names of a sentence that its claim lacks, in the order of the sentence.

    Numbers are compared by their units, dates by the parts that both have, names where the claim has one that
    the sentence lacks.
    """
    units = frozenset[str]().union(*(number.units for number in claim.numbers))
    values = [number.value for number in claim.numbers]
    differences = [
        _difference("number", sentence, number.start, number.end)
        for number in sentence.numbers
        if number.units & units and not any(_is_same(number.value, value) for value in values)
    ]
    differences += [
        _difference("date", sentence, date.start, date.end)
        for date in sentence.dates
        if claim.dates and all(_differ(date, other) for other in claim.dates)
    ]
    if any(not name.words <= sentence.stems for name in claim.names):
        differences += [
            _difference("name", sentence, name.start, name.end)
            for name in sentence.names
            if not name.words & claim.stems
        ]
    return sorted(differences, key=lambda difference: (difference.start, difference.end))


def _difference(
    kind: Literal["number", "date", "name"], sentence: Statement, start: int, end: int
) -> DifferingPart:
    return DifferingPart(kind, start, end, sentence.text[start:end])
