"""Names by capital letters and lists, in languages for which spaCy has no model.

`name_lists/<code>.toml` has the words of a language, and `any.toml` given names of all. Names of countries
and large cities are those of CLDR. In Arabic and Hindi, which have no capital letters, only these are found.

`first_words` begin the names of persons. `people`, `places` and `bodies` (organizations) are words before a
name of that type, `place_heads` and `body_heads` its last words, `place_suffixes` what follows the apostrophe
of a place. `known` are places that CLDR does not name. `others` have capitals and are no names.
An underscore joins words. `syllables` is not empty if words are divided into their syllables.

A name of which nothing tells the type is left out, so precision comes before recall.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from esr.stdlib import import_lazily
from esr.text.document import Document
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON, Entity

if TYPE_CHECKING:
    import babel
    import babel.core
else:
    babel = import_lazily("babel")

VERSION = 1
"""Increase when the names of a document change."""
_TABLES = {path.stem: path for path in (Path(__file__).parent / "name_lists").glob("*.toml")}
LISTED_ONLY = ("ar", "hi")
"""Languages without capital letters, in which only names of places are found."""
LANGUAGES = tuple(sorted(code for code in _TABLES if code != "any"))
"""The languages in which names are found, if no model of spaCy is installed for them."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ACRONYM = re.compile(r"(?![IVXLCDM]+$)[A-ZÇĞİÖŞÜĐ]{3,6}")
_SUFFIX = re.compile(r"['’]([^\W\d_]{1,6})\b")
_MOST_WORDS, _BEFORE = 6, 3
_WORLD, _UNIONS = "001", ("EU", "EZ", "UN")
"""Codes of CLDR that are no places."""
_SHORTEST_CITY = 4
"""Minimum length of the names of cities where no capitals tell names from words."""
_SHORTEST_FOREIGN = 5
"""Minimum length of a word of one name where words are syllables: a shorter one may be half of a word."""
_ARABIC_PREFIXES = ("", "و", "ب", "ل", "ف", "وب", "ول")


class _Words(NamedTuple):
    """The lists of a language, in lower case."""

    first_words: frozenset[str]
    people: frozenset[str]
    places: frozenset[str]
    bodies: frozenset[str]
    place_heads: frozenset[str]
    body_heads: frozenset[str]
    place_suffixes: frozenset[str]
    others: frozenset[str]
    syllables: frozenset[str]


class _Run(NamedTuple):
    """Capitalized words one after another, with places in the text, and the words directly before them."""

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    before: tuple[str, ...]
    suffix: str
    """What follows an apostrophe after the last word."""
    begins: bool
    """Whether it begins the sentence."""

    def without(self, count: int) -> _Run:
        """The run without its first words, which come before the others then."""
        before = (*self.before, *map(_fold, self.words[:count]))
        return self._replace(
            words=self.words[count:], places=self.places[count:], before=before, begins=False
        )


def describe_method(language: str) -> str:
    """How names are found in one of LANGUAGES."""
    return "places by lists" if language in LISTED_ONLY else "names by capital letters and lists"


def find_names(document: Document, language: str) -> list[tuple[Entity, ...]]:
    """The names of each sentence of a document in one of LANGUAGES."""
    texts = [sentence.text for sentence in document.sentences]
    if language in LISTED_ONLY:
        return [tuple(_find_listed(text, language)) for text in texts]
    finder = _NameFinder(texts, language)
    return [tuple(finder.find(number)) for number in range(len(texts))]


class _NameFinder:
    """Finds the names of a document, sentence by sentence."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._texts = texts
        self._lists = _read_lists(language)
        self._known = list_known(language)
        self._runs = [list(_find_runs(text)) for text in texts]
        self._inside = {word for runs in self._runs for run in runs for word in run.words[run.begins :]}
        self._people: set[str] = set()

    def find(self, number: int) -> Iterator[Entity]:
        text = self._texts[number]
        for whole in self._runs[number]:
            run = self._without_beginning(whole)
            while run.words and (count := self._count_place(run)):
                yield self._known_name(text[run.places[0][0] : run.places[count - 1][1]])
                run = run.without(count)
            last = run.without(len(run.words) - 1) if len(run.words) > 1 else None
            if last and self._count_place(last):
                run = run._replace(words=run.words[:-1], places=run.places[:-1], suffix="")
            else:
                last = None
            if run.words and (type := self._type_of(run)):
                if type == PERSON and len(run.words) > 1:
                    self._people.add(run.words[-1])
                yield Entity(text[self._start_of(run, type, text) : run.places[-1][1]], type)
            if last:
                yield self._known_name(text[slice(*last.places[0])])

    def _known_name(self, form: str) -> Entity:
        return Entity(form, self._known.get(_fold(form), LOCATION))

    def _start_of(self, run: _Run, type: str, text: str) -> int:
        """Where a name begins: at the words before an organization, if they have a capital."""
        start = run.places[0][0]
        if type == ORGANIZATION:
            cues = _endings_of(run.before) & self._lists.bodies
            first = start - max((len(cue) + 1 for cue in cues), default=0)
            return first if text[first].isupper() else start
        return start

    def _without_beginning(self, run: _Run) -> _Run:
        """The run without a first word that has its capital from the sentence, and without titles."""
        lists, first = self._lists, _fold(run.words[0])
        has_head = len(run.words) > 1 and _fold(run.words[-1]) in lists.body_heads | lists.place_heads
        may_be_none = run.begins and run.words[0] not in self._inside and first not in lists.first_words
        if may_be_none and not (has_head or self._count_place(run) or _ACRONYM.fullmatch(run.words[0])):
            run = run.without(1)
        while run.words and (_fold(run.words[0]) in lists.people or _fold(run.words[0]) in lists.others):
            run = run.without(1)
        return run

    def _count_place(self, run: _Run) -> int:
        """The number of first words of a run that are a place of the lists, and not part of a name."""
        folded = [_fold(word) for word in run.words]
        if folded[-1] in self._lists.body_heads or folded[-1] in self._lists.place_heads:
            return 0
        if not _endings_of(run.before).isdisjoint(self._lists.bodies):
            return 0
        for count in range(len(folded), 0, -1):
            if " ".join(folded[:count]) in self._known:
                return count
        return 0

    def _type_of(self, run: _Run) -> str | None:
        lists, folded = self._lists, [_fold(word) for word in run.words]
        if len(folded) > 1 and (folded[-1] in lists.body_heads or folded[-1] in lists.place_heads):
            return ORGANIZATION if folded[-1] in lists.body_heads else LOCATION
        if len(folded) == 1 and folded[0] in lists.others:
            return None
        if len(folded) == 1 and run.words[0] in self._people:
            return PERSON
        is_syllable = lists.syllables and (len(folded[0]) < _SHORTEST_FOREIGN or not folded[0].isascii())
        before = _endings_of(run.before) if len(folded) > 1 or not is_syllable else set()
        for type, cues in ((PERSON, lists.people), (ORGANIZATION, lists.bodies), (LOCATION, lists.places)):
            if not before.isdisjoint(cues):
                return type
        if len(folded) > 1 and folded[0] in lists.first_words:
            return PERSON
        if len(folded) == 1 and _ACRONYM.fullmatch(run.words[0]):
            return ORGANIZATION
        return LOCATION if len(folded) == 1 and run.suffix in lists.place_suffixes else None


def _find_runs(text: str) -> Iterator[_Run]:
    """Yield the runs of a text. A suffix after an apostrophe, and a gap other than a blank, end a run."""
    words: list[re.Match[str]] = []
    before: list[str] = []
    is_first, begins, end = True, True, 0
    for match in _WORD.finditer(text):
        gap, suffix = text[end : match.start()], _SUFFIX.match(text, end)
        is_close = gap == " " or (gap == ". " and bool(words) and len(words[-1][0]) < 3)
        if words and not (is_close and match[0][0].isupper() and len(words) < _MOST_WORDS):
            yield _make_run(words, before, suffix, begins)
            before, words, begins = [_fold(word[0]) for word in words], [], False
        end = match.end()
        if suffix and match.start() == suffix.start(1):
            before = []
        elif match[0][0].isupper():
            if not words:
                before, begins = before if is_close else [], is_first
            words.append(match)
        else:
            before = [*(before if is_close else []), _fold(match[0])][-_BEFORE:]
        is_first = False
    if words:
        yield _make_run(words, before, _SUFFIX.match(text, end), begins)


def _make_run(
    words: Sequence[re.Match[str]], before: Sequence[str], suffix: re.Match[str] | None, begins: bool
) -> _Run:
    texts, places = tuple(word[0] for word in words), tuple(word.span() for word in words)
    return _Run(texts, places, tuple(before), suffix[1] if suffix else "", begins)


def _endings_of(before: Sequence[str]) -> set[str]:
    """The last word before a name, and the last two and three joined by underscores."""
    return {"_".join(before[-length:]) for length in range(1, _BEFORE + 1) if len(before) >= length}


def _fold(word: str) -> str:
    return word.replace("İ", "i").lower()


@cache
def _read_lists(language: str) -> _Words:
    of_any, of_language = (tomllib.loads(_TABLES[code].read_text("utf-8")) for code in ("any", language))
    lists = {name: frozenset(of_language.get(name, "").split()) for name in _Words._fields}
    lists["others"] |= frozenset(of_any["others"].split())
    lists["first_words"] |= frozenset(of_any["first_words"].split()) - lists["others"]
    return _Words(**lists)


@cache
def list_known(language: str) -> Mapping[str, str]:
    """The types of what CLDR names in a language and in English, by the form in lower case."""
    of_language, english = babel.Locale.parse(language), babel.Locale.parse("en")
    shortest = _SHORTEST_CITY if language in LISTED_ONLY else 0
    cities = [str(zone["city"]) for zone in of_language.time_zones.values() if "city" in zone]
    known = {_fold(city): LOCATION for city in (*cities, *_zone_cities()) if len(city) >= shortest}
    for code, name in (*of_language.territories.items(), *english.territories.items()):
        if code != _WORLD and "(" not in name:
            known[_fold(name)] = ORGANIZATION if code in _UNIONS else LOCATION
    words = tomllib.loads(_TABLES[language].read_text("utf-8"))["known"].split()
    return {**known, **{word.replace("_", " "): LOCATION for word in words}}


def _zone_cities() -> Iterator[str]:
    """The cities after which time zones are named, in Latin letters."""
    for zone in babel.core.get_global("zone_territories"):
        if "/" in zone and not zone.startswith("Etc/"):
            yield zone.rpartition("/")[2].replace("_", " ")


def _find_listed(text: str, language: str) -> Iterator[Entity]:
    """Yield what CLDR names in a text, the longest first where they overlap."""
    for match in _listed(language).finditer(text):
        yield Entity(match[1], list_known(language)[match[1].lower()])


@cache
def _listed(language: str) -> re.Pattern[str]:
    known = sorted(list_known(language), key=lambda form: (-len(form), form))
    prefix = f"(?:{'|'.join(_ARABIC_PREFIXES)})" if language == "ar" else ""
    # Vowel signs are no letters for `re`.
    letter = r"[\w\u064b-\u0652\u0900-\u097f]"
    return re.compile(rf"(?<!{letter}){prefix}({'|'.join(map(re.escape, known))})(?!{letter})")
