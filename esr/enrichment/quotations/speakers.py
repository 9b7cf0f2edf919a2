"""Finds speakers next to verbs of speech, by the words of a language.

In languages without a table of words, quotations are found by marks and length, without speakers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from esr.enrichment.quotations.named_offices import NamedOffices
from esr.enrichment.quotations.noun_phrases import (
    BREAKS,
    LONGEST_ABBREVIATION,
    MAX_NOUN,
    MAX_WORDS,
    Phrase,
    is_full_name,
    pronoun,
)
from esr.enrichment.quotations.word_lists import POSSESSIVE, Word, bare, read_lists, read_words

_MAX_BETWEEN = 6
"""Maximum words between a verb and a person after it, where nouns are bare."""
_MAX_BEFORE_VERB = 7
"""Maximum words of a speaker before a verb that mostly is before it."""
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*$")


class Grammar(NamedOffices):
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
            return pronoun(words[-1])
        if antecedent := self._antecedent(words):
            return self._cut(left, antecedent)
        segments: list[list[Word]] = [[]]
        for word in words:
            if word.text in BREAKS:
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
                phrase = phrase if is_full_name(segment[:2]) else self._name_at_end(segment)
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
        breaks = [n for n, word in enumerate(words) if word.text in BREAKS or word.bare in self.openers]
        noun = words[breaks[-1] + 1 if breaks else 0 :]
        is_verb = any(self.cue.search(word.text) for word in noun)
        if is_verb or not 0 < len(noun) <= _MAX_BEFORE_VERB or not self.has_name(noun):
            return None
        return None if self._is_preposition(noun[0]) else self._cut(left, noun)

    def is_joined(self, left: str) -> bool:
        """Whether a word that is joined to a verb ends the text before it: "و" (قال)."""
        return self._elided.search(left) is not None

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
                    return pronoun(word)
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
            if len(words) > MAX_WORDS:
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

    def _person_after(self, right: str) -> list[Word]:
        """The person behind the words that a preposition begins: (mówi) "na koniec poseł Jan Lis"."""
        words: list[Word] = []
        for n, word in enumerate(read_words(right)):
            if word.text in BREAKS or word.text == "." or (words and word.bare in self.no_beginning):
                break
            if words or (n < _MAX_BETWEEN and word.text[0].islower() and self._is_person(word)):
                words.append(word)
        return words or self._name_after(right)

    def _name_after(self, right: str) -> list[Word]:
        """The full name behind words that are no subject: (powiedział) "w swoim artykule Jan Lis"."""
        name = list(self._name_after_office(read_words(right)))
        is_oblique = any(word.bare.endswith(self.oblique) for word in name[:1]) or all(
            word.bare.endswith(self.genitives) and not word.bare.endswith(self.feminines) for word in name
        )
        is_oblique = is_oblique or any(word.bare.endswith(self.adjectival) for word in name[-1:])
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
                return pronoun(words[0])
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
            words = words[:MAX_NOUN]
        return self._cut(text, words) if 0 < len(words) <= MAX_NOUN else None

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
        is_possessed = len(word.bare) > LONGEST_ABBREVIATION and word.bare.endswith(self.possessed)
        return is_possessed and word.bare not in self.persons


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
