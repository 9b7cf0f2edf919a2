"""Which words of a clause belong together and may be a speaker: a name, an office, a noun of a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from esr.enrichment.quotations.speech_vocabulary import Vocabulary
from esr.enrichment.quotations.word_lists import Word, read_words

MAX_WORDS = 14
"""Maximum words of a speaker."""
MAX_OFFICE = 6
"""Maximum words between an office and the name behind it."""
MAX_NOUN = 3
"""Maximum words of a noun without an article."""
LONGEST_ABBREVIATION = 4
"""Maximum letters of an abbreviated title: Capt., but not president."""
BREAKS: frozenset[str] = frozenset(',;:()[]—–-“”"‘«»„،؛')
"""Marks that end a phrase."""


class Phrase(NamedTuple):
    """A speaker as written, with its position in the text."""

    text: str
    start: int


class NounPhrases(Vocabulary):
    """The rules that find the words of a speaker in a clause."""

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
        if not words or len(words) > MAX_WORDS:
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
        return () if not noun or is_verb or self._is_object(noun) else noun[:MAX_NOUN]

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

    def _up_to_title(self, words: list[Word]) -> list[Word]:
        """The words up to a title, if there is one: "El decano usó" is "El decano"."""
        titles = [n for n, word in enumerate(words) if word.bare in self.titles]
        return words[: titles[-1] + 1] if titles else words

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
        is_short = 0 < len(phrase) <= MAX_OFFICE and not is_verb
        return phrase if is_short and (is_person or all(word.is_capital for word in phrase)) else ()

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

    def _cut(self, text: str, words: Sequence[Word]) -> Phrase:
        speaker = text[words[0].start : words[-1].end]
        last = words[-1]
        is_acronym = last.text.rstrip(".").isupper()
        is_short = last.bare in self.titles - self.persons and len(last.bare) <= LONGEST_ABBREVIATION
        is_short = is_short and not is_acronym
        if speaker.endswith(".") and len(last.bare) > 1 and not is_short and "." not in last.bare:
            speaker = speaker[:-1]
        return Phrase(speaker, words[0].start)


def is_full_name(words: Sequence[Word]) -> bool:
    """Whether words are two with capitals."""
    return len(words) == 2 and all(word.is_capital for word in words)


def pronoun(word: Word) -> Phrase:
    return Phrase(word.text.rstrip("."), word.start)
