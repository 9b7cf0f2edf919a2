"""Finds speakers next to verbs of speech, by the words of a language.

In languages without a table of words, quotations are found by marks and length, without speakers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from esr.enrichment.quotations.speech_vocabulary import Vocabulary
from esr.enrichment.quotations.word_lists import CAPITAL, POSSESSIVE, Word, bare, read_lists, read_words

_MAX_WORDS = 14
"""Maximum words of a speaker."""
_MAX_BETWEEN = 6
"""Maximum words between a verb and a person after it, where nouns are bare."""
_MAX_OFFICE = 6
"""Maximum words between an office and the name behind it."""
_MAX_BEFORE_VERB = 7
"""Maximum words of a speaker before a verb that mostly is before it."""
_MAX_NOUN = 3
"""Maximum words of a noun without an article."""
_LONGEST_ABBREVIATION = 4
"""Maximum letters of an abbreviated title: Capt., but not president."""
_APPOSITION = re.compile(
    r"(?:\s+(?!et\b|que\b|qui\b|i\b)[\w’'-]*[^\W\dA-ZÀ-ÝЀ-Я][\w’'-]*){0,7},\s+"
    r"(?P<name>(?:(?:[A-ZЀ-Я]\.-?)+|[^\W\d_a-zà-ÿа-џ][\w’'-]+)"
    r"(?:\s+(?:(?:de|du|von|van|le|la|ben|el|al)\s+)?(?:[A-ZЀ-Я]\.|[^\W\d_a-zà-ÿа-џ][\w’'-]+)){0,3})"
    r"(?=\s*(?:[,.;:)(»“”\"–—-]|$)|\s+[a-zа-џ])"
)
"""A name after a comma, possibly behind the rest of an office: "de la ville, Luc Bay,"."""
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*$")
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
_BREAKS = frozenset(',;:()[]—–-“”"‘«»„،؛')


class Phrase(NamedTuple):
    """A speaker as written, with its position in the text."""

    text: str
    start: int


class Grammar(Vocabulary):
    """The rules that find who speaks beside a verb of speech."""

    def before_verb(self, left: str) -> Phrase | None:
        """The speaker at the end of the text before a verb: "Robby Mook, a manager, also" (said)."""
        if self.is_verb_first:
            return self._noun_before(left)
        left = self._elided.sub("", left)
        if self.has_named_appositions:
            left = _PARENTHESIS.sub("", left)
        if self.has_bare_nouns:
            left = self._aside_at_end.sub("", left)
        if self.has_wide_attributions:  # "A ministra Ann Lee (PSD - PA)"
            left = re.sub(r"\([^()]*\)", lambda match: " " * len(match[0]), left)
        words = self._without_adverbs(read_words(left))
        while self.has_wide_attributions and words and words[-1].bare in self.articles:
            words = self._without_adverbs(words[:-1])  # "La compagnia lo" (chiama)
        if not words:
            return None
        if words[-1].bare in self.all_pronouns - self.relatives:
            return _pronoun(words[-1])
        if antecedent := self._antecedent(words):
            return self._cut(left, antecedent)
        segments: list[list[Word]] = [[]]
        for word in words:
            if word.text in _BREAKS:
                segments.append([])
            else:
                segments[-1].append(word)
        if not segments[-1]:  # a comma before the verb closes an apposition
            segments = [segment for segment in segments if segment]
            if (name := self._before_apposition(left, segments)) is not None:
                return name
            if any(segment[0].bare in self.subordinators for segment in segments):
                return self.subject(left)
        last: Sequence[Word] = segments[-1] if segments else ()
        if last and last[0].bare in self.relatives and self.has_bare_nouns and self.has_name(last[1:]):
            last = last[1:]  # "które muzyk Tom Lis" (opisał)
        if last and last[0].bare in self.relatives and len(segments) > 1:
            last = self._after_last_verb(segments[-2])
            if self.has_named_appositions and (noun := self._noun_after_contraction(last)):
                return self._cut(left, noun)
        phrase = self._leave_clause(self._noun_phrase(last))
        if self._may_speak(phrase):
            return self._cut(left, phrase)
        if person := self._last_person(last) or self._bare_noun(last):
            return self._cut(left, person)
        start = last[0].start if last else 0
        subject = self.subject(left[start:])
        return self.subject(left) if subject is None else Phrase(subject.text, subject.start + start)

    def _before_apposition(self, left: str, segments: Sequence[Sequence[Word]]) -> Phrase | None:
        """The speaker before the last of the segments between commas: "Ann Lee, a manager," (said)."""
        for segment, apposition in zip(segments[-2::-1], segments[:0:-1], strict=True):
            if segment[0].bare in self.subordinators:
                continue
            name = self._name_at_end(segment) if apposition[0].bare in self.conjunctions else ()
            if self.has_name(name):
                return self._cut(left, name)
            if self.has_named_appositions and self._is_set_off(segment) and segment is not segments[0]:
                continue
            if segment[0].bare in self.conjunctions:
                continue
            phrase = self._leave_clause(self._noun_phrase(segment))
            if self.has_bare_nouns and apposition[0].bare in self.relatives:
                phrase = phrase if _is_full_name(segment[:2]) else self._name_at_end(segment)
            if self._is_named_by(apposition, phrase):
                phrase = self._name_at_end(apposition)
            is_noun = self.has_bare_nouns and bool(phrase) and self._is_described(phrase[0])
            if (self.has_name(phrase) or is_noun) and not self._is_object(phrase):
                is_name = self._is_office(phrase) or any(w.bare in self.persons for w in segment)
                is_name = is_name and len(apposition) > 1
                is_name = is_name and all(word.is_capital for word in apposition)
                return self._cut(left, apposition if is_name else phrase)
        return None

    def _noun_before(self, left: str) -> Phrase | None:
        """The noun directly before a verb that mostly follows it: "لكن وسائل الإعلام" (أشارت)."""
        words = self._without_adverbs(read_words(self._elided.sub("", left)))
        is_topic = len(words) > 1 and words[0].bare in self.topics
        if not words or (self.is_joined(left) and not is_topic):
            return None
        words = words[1:] if is_topic else words
        breaks = [n for n, word in enumerate(words) if word.text in _BREAKS or word.bare in self.openers]
        noun = words[breaks[-1] + 1 if breaks else 0 :]
        is_verb = any(self.cue.search(word.text) for word in noun)
        if is_verb or not 0 < len(noun) <= _MAX_BEFORE_VERB or not self.has_name(noun):
            return None
        return None if self._is_preposition(noun[0]) else self._cut(left, noun)

    def is_joined(self, left: str) -> bool:
        """Whether a word that is joined to a verb ends the text before it: "و" (قال)."""
        return self._elided.search(left) is not None

    def _is_named_by(self, apposition: Sequence[Word], office: Sequence[Word]) -> bool:
        """Whether an apposition names who has an office: "Il collega della Camera, il democratico Bo Day"."""
        if not self.has_wide_attributions or len(office) < 2 or not self._is_article(office[0]):
            return False
        names = pairwise(office)
        is_office = not any(first.is_capital and second.is_capital for first, second in names)
        is_office = is_office and not office[1].is_capital
        return is_office and self._is_article(apposition[0]) and len(self._name_at_end(apposition)) > 1

    def _antecedent(self, words: Sequence[Word]) -> Sequence[Word]:
        """The person whom a relative clause at the end is about: "con il ministro Bo Lee che" (ha detto)."""
        if len(words) < 2 or words[-1].bare not in self.conjunctions:
            return ()
        first = last = len(words) - 1
        if words[last - 1].text == ",":
            return self._name_at_end(words[: last - 1])
        while first and words[first - 1].text[0].isalnum() and not self._is_preposition(words[first - 1]):
            first -= 1
        if first > 1 and self._is_person(words[first - 2]):
            first -= 2  # "da fonti di maggioranza che"
        phrase = words[first:last]
        is_verb = any(word.text[0].islower() and self.cue.fullmatch(word.text) for word in phrase)
        is_person = self.has_name(phrase) and (self._is_person(phrase[0]) or self._is_article(phrase[0]))
        is_person = is_person or any(self._is_person(word) for word in phrase[:2])
        is_short = 0 < len(phrase) <= _MAX_OFFICE and not is_verb
        return phrase if is_short and (is_person or all(word.is_capital for word in phrase)) else ()

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

    def after_by(self, by: str, right: str) -> Phrase | None:
        """The speaker at the beginning of the text after words of `by`: in any case, but not after a verb."""
        return self.after_verb(right, is_subject=self.cue.fullmatch(by.split()[-1]) is not None)

    def after_verb(self, right: str, is_subject: bool = True) -> Phrase | None:
        """The speaker at the beginning of the text after a verb: (said) "Robby Mook, a manager"."""
        if inverted := self.inverted.match(right):
            return Phrase(inverted[1], inverted.start(1))
        words: list[Word] = []
        aside = self.asides.match(right)
        all_words = read_words(right)
        for n, word in enumerate(all_words):
            if aside and word.start < aside.end():
                continue
            if not words:
                if word.bare in self.all_pronouns:
                    return _pronoun(word)
                is_skipped = self._is_filler(word) or word.bare in self.manners
                is_skipped = is_skipped or (word.text[0].islower() and word.bare.endswith(self.adverbs))
                if is_skipped and word.bare not in self.articles:
                    continue
            if words and word.text in "'’" and word.start == words[-1].end and words[-1].text[-1] == "s":
                continue  # a genitive: "Guterres' spokesman Ann Lee"
            if words and self.is_particle(all_words[n - 1 : n + 2]):
                words.append(word)
                continue
            is_article = word.bare in self.articles and not words
            ends = (word.text[0].islower() or self.is_caseless) and not is_article
            is_other = word.bare in self.prepositions | self.fillers or self._is_preposition(word)
            if self.has_wide_attributions and len(words) == 1 and self._is_article(words[0]):
                is_other = word.bare in self.prepositions  # "o então deputado"
            is_verb = not self._follows_determiner(words) and self.cue.fullmatch(word.text)
            if not word.text[0].isalnum() or (ends and (is_other or is_verb)):
                break
            words.append(word)
            if word.text.endswith(".") and word.bare not in self.titles and len(word.bare.split(".")[-1]) > 2:
                break
            if len(words) > _MAX_WORDS:
                return None
        if words and is_subject and self._is_object(words):
            person = self._person_after(right)
            return (self._named_apposition(right, person) or self._cut(right, person)) if person else None
        is_known = self.has_name(words) or any(
            word.bare in self.titles or self._is_article(word) for word in words
        )
        if not words and self.has_bare_nouns:
            words = self._person_after(right)
            is_known = bool(words)
        if not words or not (is_known or (self.has_bare_nouns and words[0].bare not in self.manners)):
            return None
        return self._named_apposition(right, words) or self._cut(right, words)

    def _named_apposition(self, text: str, words: Sequence[Word]) -> Phrase | None:
        """The name of a person whose office is in some words of a text: "le maire de la ville, Luc Bay,"."""
        if not self.has_named_appositions or self._is_name_among(words):
            return None
        if self.has_wide_attributions:
            return self._name_after_offices(text, words)
        if not (self._is_article(words[0]) or self._is_person(words[0])):
            return None
        name = _APPOSITION.match(text, words[-1].end)
        if name is not None and self.has_name(read_words(name["name"])):
            return Phrase(name["name"], name.start("name"))
        if self.has_bare_nouns and (_is_full_name(words[-2:]) or len(words) > _MAX_NOUN):
            return None
        rest = [word for word in read_words(text) if word.start >= words[-1].end]
        person = self._name_after_office(rest) if rest and rest[0].bare in self.no_beginning else ()
        return self._cut(text, person) if person else None

    def _name_after_office(self, words: Sequence[Word]) -> Sequence[Word]:
        """The full name behind the rest of an office: "de l'Intérieur Luc Bay", but not "de New York"."""
        ends = (n for n, word in enumerate(words) if word.is_capital or word.text in _BREAKS)
        last = first = next(ends, len(words))
        while last < len(words) and words[last].is_capital:
            last += 1
        if not 0 < first < len(words) or first > _MAX_OFFICE:
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

    def _person_after(self, right: str) -> list[Word]:
        """The person behind the words that a preposition begins: (mówi) "na koniec poseł Jan Lis"."""
        words: list[Word] = []
        for n, word in enumerate(read_words(right)):
            if word.text in _BREAKS or word.text == "." or (words and word.bare in self.no_beginning):
                break
            if words or (n < _MAX_BETWEEN and word.text[0].islower() and self._is_person(word)):
                words.append(word)
        return words or self._name_after(right)

    def _name_after(self, right: str) -> list[Word]:
        """The full name behind words that are no subject: (powiedział) "w swoim artykule Jan Lis"."""
        name = list(self._name_after_office(read_words(right)))
        is_oblique = any(word.bare.endswith(self.oblique) for word in name[:1]) or all(
            word.bare.endswith("a") and not word.bare.endswith(("ska", "cka", "dzka")) for word in name
        )
        is_oblique = is_oblique or any(word.bare.endswith("iego") for word in name)
        is_oblique = is_oblique or any(word.bare.endswith("ого") for word in name[-1:])
        return [] if is_oblique or not self.oblique else name

    def subject(self, left: str) -> Phrase | None:
        """The name or pronoun at the beginning of a clause, possibly after "In June 2009,"."""
        if self.is_verb_first:
            return self._behind_verb(left)
        segments = list(re.finditer(r"[^,;:—–]+", left))
        for number, segment in enumerate(segments):
            words = [
                Word(word.text, word.start + segment.start(), word.end + segment.start())
                for word in read_words(segment[0])
            ]
            while words and words[0].bare in self.openers:
                del words[0]
            if not words:
                continue
            if words[0].bare in self.all_pronouns:
                return _pronoun(words[0])
            if self._is_preposition(words[0]):
                if person := self._person_behind(words):
                    return self._cut(left, person)
                continue
            if self.has_named_appositions and self._is_elided_name(words[0]):
                return self._cut(left, words[:1])
            if words[0].bare in self.persons and words[0].text[0].islower():
                return self._cut(left, words[:1])
            phrase: list[Word] = []
            if words[0].bare in self.articles:
                phrase.append(words.pop(0))
                while words and len(phrase) < 4 and self._is_noun(words[0]):
                    phrase.append(words.pop(0))
            while words and words[0].is_capital:
                phrase.append(words.pop(0))
            if phrase and POSSESSIVE.search(phrase[-1].text):
                owner = len(phrase)
                while words and len(phrase) < owner + 3 and (words[0].is_capital or self._is_noun(words[0])):
                    phrase.append(words.pop(0))
                if not any(word.is_capital or word.bare in self.titles for word in phrase[owner:]):
                    continue
            elif phrase and words and words[0].bare in self.agents:  # "Putin spokesman Dmitry Peskov"
                phrase.append(words.pop(0))
                while words and words[0].is_capital:
                    phrase.append(words.pop(0))
            while phrase and self._is_no_name(phrase[0]):
                del phrase[0]
            if len(phrase) == 1 and self.drops_subjects and self.cue.fullmatch(phrase[0].bare):
                continue
            if len(phrase) == 1 and self.has_bare_nouns and words and self._is_person(words[0]):
                phrase.append(words.pop(0))  # "Znany pisarz Jan Lis"
                while words and words[0].is_capital:
                    phrase.append(words.pop(0))
            if self.drops_subjects and not self.has_name(phrase):
                phrase = self._up_to_title(phrase)
            has_title = bool(phrase) and (phrase[-1].bare in self.titles or self._is_noun_of_person(phrase))
            has_title = has_title or (self.has_bare_nouns and bool(phrase) and self._is_person(phrase[-1]))
            if has_title and not self.has_name(phrase) and number + 1 < len(segments):
                name = self._name_in(segments[number + 1])
                return self._cut(left, name or phrase)
            if self.has_name(phrase) or has_title:
                return self._cut(left, phrase)
        return None

    def _behind_verb(self, text: str) -> Phrase | None:
        """The first speaker behind a verb of speech, or else behind another verb."""
        for verb in (*self.cue_before.finditer(text), *self.other_verb.finditer(text)):
            if not self.is_nonfinite(verb[0]) and (name := self.after_verb(text[verb.end() :])):
                return Phrase(name.text, name.start + verb.end())
        return None

    def noun_after(self, text: str) -> Phrase | None:
        """The first noun of a text, with its article and what is directly behind it: "un altro commento"."""
        words: list[Word] = []
        for word in read_words(text):
            is_verb = word.text[0].islower() and self.cue.fullmatch(word.text) is not None
            if not word.text[0].isalnum() or (is_verb and words and not self._follows_determiner(words)):
                break
            if self._is_preposition(word):
                break
            words.append(word)
        if self.has_bare_nouns:
            words = words[:_MAX_NOUN]
        return self._cut(text, words) if 0 < len(words) <= _MAX_NOUN else None

    def _up_to_title(self, words: list[Word]) -> list[Word]:
        """The words up to a title, if there is one: "El decano usó" is "El decano"."""
        titles = [n for n, word in enumerate(words) if word.bare in self.titles]
        return words[: titles[-1] + 1] if titles else words

    def _is_set_off(self, words: Sequence[Word]) -> bool:
        """Whether what commas set off is no subject: "qui habite Ohio", "ancien ministre de la Culture"."""
        first = words[0]
        is_pronoun = first.bare in self.all_pronouns - self.relatives
        is_subject = first.is_capital or self._is_article(first) or is_pronoun or self._is_person(first)
        is_office = first.bare in self.titles and not first.is_capital and not self.has_bare_nouns
        return first.bare in self.relatives or is_office or not (is_subject or first.bare in self.openers)

    def _is_described(self, word: Word) -> bool:
        """Whether a word in a subject is an article or a noun of a person: "jeden (z posłów)"."""
        return word.bare in self.articles or self._is_person(word)

    def _last_person(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words of a clause from its last noun of a person: "po czym pacjent" (powtarza)."""
        first = max((n for n, word in enumerate(words) if word.bare in self.persons), default=len(words))
        return self._leave_clause(self._without_adverbs(words[first:]))

    def _bare_noun(self, words: Sequence[Word]) -> Sequence[Word]:
        """The noun without an article that is the subject of a clause: "po tym, jak krupier" (oznajmił)."""
        if not self.has_bare_nouns:
            return ()
        first = max((n for n, word in enumerate(words) if word.bare in self.openers), default=-1) + 1
        clause = words[first:]
        others = (self.fillers | self.manners | self.common) - self.prepositions
        while clause and (clause[0].bare in others or self._is_adverb(clause[0])):
            clause = clause[1:]
        noun: list[Word] = []
        for word in clause:
            is_other = word.bare in self.prepositions | self.relatives or word.bare in self.manners
            if is_other or self._is_filler(word) or not word.text[0].isalpha():
                break
            noun.append(word)
        is_verb = any(word.text[0].islower() and self.cue.fullmatch(word.text) for word in noun)
        return () if not noun or is_verb or self._is_object(noun) else noun[:_MAX_NOUN]

    def _name_at_end(self, words: Sequence[Word]) -> Sequence[Word]:
        """The name at the end of a clause, which a relative clause is about: "Ann Lee, która" (mówi)."""
        first = len(words)
        while first and words[first - 1].is_capital:
            first -= 1
        return words[first:]

    def _name_in(self, segment: re.Match[str]) -> Sequence[Word]:
        """The words of a segment if they are a name: "the speaker of the party, Ann Lee,"."""
        words = [
            Word(word.text, word.start + segment.start(), word.end + segment.start())
            for word in read_words(segment[0])
        ]
        is_name = len(words) in range(2, 5) and all(word.is_capital for word in words)
        return words if is_name and self.has_name(words) else ()

    def agent(self, subject: str, cue: str, gap: str) -> Phrase | None:
        """The speaker behind the participle of a passive: (è stato) "definito da Ann Lee" (“…”)."""
        by = self.passive_by.match(gap.lstrip())
        if by is None or not self.is_passive(subject, cue):
            return None
        start = len(gap) - len(gap.lstrip()) + by.end()
        name = self.after_verb(gap[start:]) or self.noun_after(gap[start:])
        is_adverb = name is not None and bare(name.text) in self.fillers | self.common
        return Phrase(name.text, start + name.start) if name and not is_adverb else None

    def cleft_speaker(self, subject: str, cue: str) -> Phrase | None:
        """The speaker between a verb and an infinitive: "è stato Ann Lee a" (dire)."""
        cleft = self.cleft.search(subject) if self.is_nonfinite(cue) else None
        name = self.after_verb(cleft["speaker"]) if cleft else None
        return Phrase(name.text, cleft.start("speaker") + name.start) if cleft and name else None

    def before_quotation(self, left: str) -> Phrase | None:
        """The speaker in the text before a quotation that the verb follows: "Ann Lee, dün" (“…” dedi).

        It is the name directly before the quotation, or before a comma, or the first name without a suffix in
        the last clause, or there a noun of a person, or else the first one of the sentence.
        """
        earlier = self.earlier.match(left)
        words = [word for word in read_words(left) if not earlier or word.start >= earlier.end()]
        runs: list[list[Word]] = [[]]
        others: list[list[Word]] = []
        for word in words:
            if word.is_capital and "'" not in word.bare:
                runs[-1].append(word)
            elif runs[-1]:
                if self._is_preposition(word) or self._is_suffixed(word):
                    others.append(runs.pop())
                runs.append([])
        others += [run for run in runs if len(run) == 1 and run[0].bare.endswith(self.oblique)]  # "Bursalı"
        names = [run for run in runs if self.has_name(run) and run not in others]
        persons = [
            [word]
            for word, behind in zip(words, [*words[1:], *words[-1:]], strict=True)
            if word.text[0].islower() and word.bare in self.persons
            if behind is word or behind.bare not in self.persons  # "hükümet sözcüsü"
        ]
        last = words[-2:] if words and words[-1].text == "," else words[-1:]
        beside = [run for run in (*names, *persons) if last and run[-1] == last[0]]
        before_comma = [run for run in (*names, *persons) if left[run[-1].end :].startswith(",")]
        clause = left.rstrip(", ").rfind(",")
        within = [run for run in (*names, *persons) if run[0].start > clause]
        is_first = bool(names) and names[0][0] is words[0]
        is_first = is_first and (len(names[0]) > 1 or not any(run in persons for run in within))
        others = [run for run in others if self.has_name(run)]
        name = next(
            iter((*beside, *before_comma, *names[:is_first], *within, *names, *persons, *others)), None
        )
        return self.subject(left) if name is None else self._cut(left, name)

    def _is_suffixed(self, word: Word) -> bool:
        """Whether the name before a word only belongs to it: "kampanyası", "Forums'ın"."""
        if word.is_capital:
            return "'" in word.bare
        if word.text == "(":
            return True
        is_possessed = len(word.bare) > _LONGEST_ABBREVIATION and word.bare.endswith(("sı", "si", "su", "sü"))
        return is_possessed and word.bare not in self.persons

    def _noun_phrase(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words before the verb of a clause that may be a speaker; empty if there are none."""
        first, last = 0, len(words)
        openers = self.openers
        if self.has_bare_nouns and words and words[-1].is_capital:  # "Ranee v etom godu Ann Lee"
            openers |= self.common - self.articles - self.prepositions
        while first < last and words[first].bare in openers:
            first += 1
        while first < last and self._is_filler(words[last - 1]):
            last -= 1
        while self.has_wide_attributions and first < last - 1 and self._is_time(words[first]):
            first += 1
        words = words[first:last]
        while words and not self._may_begin(words[0]):
            words = words[1:]
        for n in range(len(words) - 2, 0, -1):
            word = words[n]
            if word.text in self.relatives:
                words = words[:n]
                break
            if word.text[0].islower() and word.bare in self.openers - self.prepositions:
                words = words[n + 1 :]
                break
            if word.bare in self.conjunctions and (words[n + 1].is_capital or self._is_article(words[n + 1])):
                words = words[n + 1 :]
                break
        if not words or len(words) > _MAX_WORDS:
            return ()
        if self._is_preposition(words[0]):  # "In a statement Trump": the last capitals
            n = len(words)
            while n and words[n - 1].is_capital:
                n -= 1
            while n < len(words) and words[n].bare in self.common:
                n += 1
            if self.has_bare_nouns and n < len(words):  # "W sobotę prezydent USA": from the office
                return words[next((first for first in range(n) if self._is_person(words[first])), n) :]
            return words[n:]
        return words

    def _is_time(self, word: Word) -> bool:
        """Whether a word may stand before a subject and is no part of it: "Venerdì il ministro"."""
        return word.bare in self.fillers - self.auxiliaries - self.articles

    def _leave_clause(self, words: Sequence[Word]) -> Sequence[Word]:
        """The speaker in the words before a verb, which may be a clause with verbs of its own.

        "Ann Lee said it rains and" (added) is Ann Lee, but Bo Day in "Ann Lee spoke after Bo Day".
        """
        for n, word in enumerate(words[1:], 1):
            if not word.text[0].islower():
                continue
            if word.bare in self.auxiliaries:
                if self.has_named_appositions and (name := self._last_name_in(self._without_adverbs(words))):
                    return name  # "des sommes que Luc Bay avait" (estimé)
                return self._without_adverbs(words[:n]) if self.has_name(words[:n]) else ()
            if self.cue.fullmatch(word.text) and words[n - 1].bare not in self.determiners:
                rest = words[n + 1 :]
                if rest and not self.has_name(words[:n]) and all(other.is_capital for other in rest):
                    return rest  # the end of a heading: "False claims Ann Lee"
                return self._last_name_in(rest) or self._without_adverbs(words[:n])
        return () if words and words[-1].bare in self.unfinished else words

    def _noun_after_contraction(self, words: Sequence[Word]) -> Sequence[Word]:
        """The noun that an article with a preposition is before: "aux auteurs" (, qui ont dit)."""
        is_contraction = len(words) > 1 and words[0].bare in self.no_beginning & self.determiners
        return words[1:] if is_contraction and not self.has_name(words) else ()

    def _after_last_verb(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words after the last verb of speech: "so confirms Mayor Ann Lee" (, who said)."""
        verbs = [
            n for n, word in enumerate(words) if word.text[0].islower() and self.cue.fullmatch(word.text)
        ]
        rest = words[verbs[-1] + 1 :] if verbs else words
        return rest if self.has_name(rest) else words

    def _without_adverbs(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words without fillers at the end."""
        last = len(words)
        while last and (self._is_filler(words[last - 1]) or self._is_adverb(words[last - 1])):
            last -= 1
        return words[:last]

    def _last_name_in(self, words: Sequence[Word]) -> Sequence[Word]:
        """The name after the last conjunction, if the words end with it."""
        first = max((n for n, word in enumerate(words) if word.bare in self.openers), default=-1) + 1
        return words[first:] if first and all(word.is_capital for word in words[first:]) else ()

    def _may_speak(self, words: Sequence[Word]) -> bool:
        if not words:
            return False
        first = words[0]
        if len(words) == 1 and first.bare in self.all_pronouns:
            return True
        if self._is_object(words) or (self.has_wide_attributions and words[-1].bare in self.relatives):
            return False
        is_verb = len(words) > 1 and self.is_nonfinite(words[1].bare)
        if is_verb and first.bare in self.prepositions & self.articles:
            return False  # "a colocar cartazes"
        is_participle = first.text[0].islower() and first.text.endswith("ing")
        if self.has_name(words) and not is_participle:
            return True
        return self._is_article(first) or first.bare in self.titles or words[-1].text.endswith("s")

    def _cut(self, text: str, words: Sequence[Word]) -> Phrase:
        speaker = text[words[0].start : words[-1].end]
        last = words[-1]
        is_acronym = last.text.rstrip(".").isupper()
        is_short = last.bare in self.titles - self.persons and len(last.bare) <= _LONGEST_ABBREVIATION
        is_short = is_short and not is_acronym
        if speaker.endswith(".") and len(last.bare) > 1 and not is_short and "." not in last.bare:
            speaker = speaker[:-1]
        return Phrase(speaker, words[0].start)


def _is_full_name(words: Sequence[Word]) -> bool:
    """Whether words are two with capitals."""
    return len(words) == 2 and all(word.is_capital for word in words)


def _pronoun(word: Word) -> Phrase:
    return Phrase(word.text.rstrip("."), word.start)


@lru_cache
def grammar(language: str) -> Grammar:
    """The grammar of a language, by its code."""
    return Grammar(read_lists(language))


def is_pronoun(speaker: str, language: str | None) -> bool:
    """Whether a speaker as written is only a pronoun of a language, by default of English."""
    return speaker.lower() in grammar(language or "en").all_pronouns


def is_title(word: str, language: str | None) -> bool:
    """Whether a word is a title or an office, such as CEO, in a language, by default English."""
    return word.lower() in grammar(language or "en").titles
