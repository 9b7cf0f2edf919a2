"""Finds the name of a person whose office is named: "le maire de la ville, Luc Bay"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from esr.enrichment.quotations.noun_phrases import (
    BREAKS,
    MAX_NOUN,
    MAX_OFFICE,
    NounPhrases,
    Phrase,
    is_full_name,
)
from esr.enrichment.quotations.word_lists import CAPITAL, Word, either, read_words

_SHORTEST_NAME = 3
"""Minimum letters of a name that is no abbreviation of a party."""
_SECOND_OFFICE = re.compile(
    rf"(?:(?:\s+[\w’'-]+){{0,8}}?,)\s+(?P<office>(?:[^\W\dA-ZÀ-Ý]\w*\s+){{0,3}})(?P<name>{CAPITAL}[\w.’'-]+"
    rf"(?:\s+(?:(?:d[aeio]s?|del|della|e|van|von|ben|el|al|la|le)\s+)?{CAPITAL}(?:[\w’'-]+|\.(?=\s))){{1,4}})"
    r"(?=\s*(?:[,.;:)(»“”\"–—-]|$))"
)
"""A name after a comma, possibly behind the rest of an office and another one: "da Câmara, padre Bo Lee,"."""
_NAME_AT_END = re.compile(
    rf"(?:\s+[^\W\dA-ZÀ-Ý][\w’'-]*){{1,6}}\s+(?P<name>{CAPITAL}[\w’'-]+(?:\s+{CAPITAL}[\w’'-]+){{0,3}})"
    r"(?=\s*(?:[,.;:)(»“”\"–—-]|$)|\s+[a-zß-ÿ])"
)
"""A name behind the rest of an office, which ends with a noun: "dei popolari Lee,"."""


class NamedOffices(NounPhrases):
    """The rules that find the name of who has an office, behind it or after a comma."""

    @cached_property
    def _apposition(self) -> re.Pattern[str]:
        """A name after a comma, possibly behind the rest of an office: "de la ville, Luc Bay,"."""
        first = rf"(?!(?:{either(self._lists.not_in_office)})\b)"
        return re.compile(
            rf"(?:\s+{first}[\w’'-]*[^\W\dA-ZÀ-ÝЀ-Я][\w’'-]*){{0,7}},\s+"
            r"(?P<name>(?:(?:[A-ZЀ-Я]\.-?)+|[^\W\d_a-zà-ÿа-џ][\w’'-]+)"
            r"(?:\s+(?:(?:de|du|von|van|le|la|ben|el|al)\s+)?(?:[A-ZЀ-Я]\.|[^\W\d_a-zà-ÿа-џ][\w’'-]+)){0,3})"
            r"(?=\s*(?:[,.;:)(»“”\"–—-]|$)|\s+[a-zа-џ])"
        )

    def is_office(self, speaker: str) -> bool:
        """Whether a speaker is an office without a name, where nouns are bare: "trener", "mówi poseł"."""
        words = read_words(speaker)
        is_office = self.has_bare_nouns and any(self._is_person(word) for word in words)
        return is_office and not any(word.is_capital and not self._is_person(word) for word in words)

    def name_behind(self, text: str) -> Phrase | None:
        """The full name at the beginning of a text, possibly after a comma."""
        words = read_words(text)
        first = 1 if words and words[0].text == "," else 0
        last = first
        while last < len(words) and words[last].is_capital:
            last += 1
        return self._cut(text, words[first:last]) if last - first > 1 else None

    def _named_apposition(self, text: str, words: Sequence[Word]) -> Phrase | None:
        """The name of a person whose office is in some words of a text: "le maire de la ville, Luc Bay,"."""
        if not self.has_named_appositions or self._is_name_among(words):
            return None
        if self.has_wide_attributions:
            return self._name_after_offices(text, words)
        if not (self._is_article(words[0]) or self._is_person(words[0])):
            return None
        name = self._apposition.match(text, words[-1].end)
        if name is not None and self.has_name(read_words(name["name"])):
            return Phrase(name["name"], name.start("name"))
        if self.has_bare_nouns and (is_full_name(words[-2:]) or len(words) > MAX_NOUN):
            return None
        rest = [word for word in read_words(text) if word.start >= words[-1].end]
        person = self._name_after_office(rest) if rest and rest[0].bare in self.no_beginning else ()
        return self._cut(text, person) if person else None

    def _name_after_office(self, words: Sequence[Word]) -> Sequence[Word]:
        """The full name behind the rest of an office: "de l'Intérieur Luc Bay", but not "de New York"."""
        ends = (n for n, word in enumerate(words) if word.is_capital or word.text in BREAKS)
        last = first = next(ends, len(words))
        while last < len(words) and words[last].is_capital:
            last += 1
        if not 0 < first < len(words) or first > MAX_OFFICE:
            return ()
        before = words[first - 1].bare
        if before in self.no_beginning or before in self.articles:
            first += 1  # "de la République Luc Bay"
        return words[first:last] if last - first > 1 else ()

    def _name_after_offices(self, text: str, words: Sequence[Word]) -> Phrase | None:
        """The name behind one office or two: "o presidente da Câmara, Ann Lee,"."""
        if not (self._is_article(words[0]) or any(self._is_person(word) for word in words)):
            return None
        last = words[-1].end
        name = _SECOND_OFFICE.match(text, last)
        if name and self.has_name(read_words(name["name"])) and self._is_second_office(name["office"]):
            return Phrase(name["name"], name.start("name"))
        name = _NAME_AT_END.match(text, last)
        if name is None or not self.has_name(read_words(name["name"])):
            return None
        between = [word.bare for word in read_words(text[last : name.start("name")])]
        is_noun = between[-1] not in self.prepositions | self.articles | self.fillers | self.openers
        is_end = not text[name.end() :].lstrip()[:1].islower()
        is_person = " " in name["name"] or (between[0] in self.of_many and is_end)
        is_office = self._is_preposition(read_words(text[last:])[0])
        is_office = is_office and not any(self.cue.fullmatch(word) for word in between)
        if not (is_noun and is_person and is_office):
            return None
        return Phrase(name["name"], name.start("name"))

    def _is_second_office(self, text: str) -> bool:
        """Whether a text is empty or an office before a name: "o venezuelano"."""
        words = read_words(text)
        others = self.prepositions | self.openers | self.fillers
        is_other = any(word.bare in others - self.articles or self.cue.fullmatch(word.bare) for word in words)
        return not words or (not is_other and (self._is_article(words[0]) or self._is_person(words[0])))

    def _is_name_among(self, words: Sequence[Word]) -> bool:
        """Whether some of the words may be the name of a person and not of the body that an office is of."""
        named = [word for word in words if self.has_name([word]) and not self._is_person(word)]
        if self.has_wide_attributions:  # not "segretario Ds"
            named = [w for w in named if len(w.bare) >= _SHORTEST_NAME and not w.text.isupper()]
        return bool(named) and not (self.has_bare_nouns and self._is_person(words[0]) and len(words) > 2)

    def _is_named_by(self, apposition: Sequence[Word], office: Sequence[Word]) -> bool:
        """Whether an apposition names who has an office: "Il collega della Camera, il democratico Bo Day"."""
        if not self.has_wide_attributions or len(office) < 2 or not self._is_article(office[0]):
            return False
        names = pairwise(office)
        is_office = not any(first.is_capital and second.is_capital for first, second in names)
        is_office = is_office and not office[1].is_capital
        return is_office and self._is_article(apposition[0]) and len(self._name_at_end(apposition)) > 1
