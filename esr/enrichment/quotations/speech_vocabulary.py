"""The words of a language, and what a word in a text is by them: a title, a preposition, a verb of speech."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from esr.enrichment.quotations.word_lists import (
    CAPITAL,
    VOWEL_SIGNS,
    Word,
    WordLists,
    beginning_pattern,
    either,
    filled,
    joining,
    phrase_set,
    read_words,
    verb_pattern,
    word_set,
    word_start,
)

_MAX_HEAD = 4
"""Maximum words up to the title in an office: "l'ancien directeur", not "une note du directeur"."""
_MAX_BEFORE_CLAUSE = 10
"""Maximum words between a verb and the conjunction of what is reported."""
_END_OF_PREPOSITION = r"(?:(?<=['’])|(?!\w))\s*"


class Vocabulary:
    """The words of one language as sets and patterns, and what a word is by them."""

    def __init__(self, lists: WordLists) -> None:
        self._lists = lists
        no_speaker = rf"(?!\s+(?:{either(lists.not_by)})(?![\w-]))"
        start = word_start(lists.elided if lists.order == "verb-first" else "")
        self.by: re.Pattern[str] = re.compile(rf"{start}{joining(lists.by)}{no_speaker}", re.IGNORECASE)
        self.aside: re.Pattern[str] = re.compile(rf"(?<![\w-])(?:{either(lists.asides)})(?![\w-])")
        self.asides: re.Pattern[str] = _asides(lists)
        self.new_cue: re.Pattern[str] = re.compile(lists.new_cue, re.VERBOSE)
        self.pronouns: frozenset[str] = word_set(lists.pronouns)
        self.other_pronouns: frozenset[str] = word_set(lists.other_pronouns)
        self.all_pronouns: frozenset[str] = self.pronouns | self.other_pronouns
        self.relatives: frozenset[str] = word_set(lists.relatives)
        self.auxiliaries: frozenset[str] = word_set(lists.auxiliaries)
        self.fillers: frozenset[str] = self.auxiliaries | word_set(lists.fillers)
        self.topics: frozenset[str] = word_set(lists.topics)
        self.openers: frozenset[str] = word_set(lists.openers)
        self.prepositions: frozenset[str] = word_set(lists.prepositions)
        self.articles: frozenset[str] = word_set(lists.articles)
        self.determiners: frozenset[str] = word_set(lists.determiners)
        self.unfinished: frozenset[str] = word_set(lists.unfinished)
        self.no_beginning: frozenset[str] = self.prepositions - self.articles
        self.titles: frozenset[str] = word_set(lists.titles)
        self.agents: frozenset[str] = word_set(lists.agents)
        self.common: frozenset[str] = word_set(lists.common)
        self.doubtful: frozenset[str] = word_set(lists.doubtful)
        self.passives: frozenset[str] = word_set(lists.passives)
        self.never_before: frozenset[str] = word_set(lists.never_before)
        self.bodies: frozenset[str] = word_set(lists.bodies)
        self.inserted: frozenset[str] = phrase_set(lists.inserted)
        self.persons: frozenset[str] = word_set(lists.persons)
        self.subordinators: frozenset[str] = word_set(lists.subordinators)
        self.manners: frozenset[str] = word_set(lists.manners)
        self.objects: tuple[str, ...] = tuple(lists.objects.split())
        self.inverted: re.Pattern[str] = re.compile(rf"-(?:t-)?({either(lists.inverted)})(?![\w-])")
        self._elided: re.Pattern[str] = re.compile(rf"(?<![\w’'-])(?:{either(lists.elided)})$")
        self._joined_words: re.Pattern[str] = re.compile(rf"^(?:{either(lists.elided)})(?=\w)")
        self.particles: frozenset[str] = word_set(lists.particles)
        self.of_many: frozenset[str] = word_set(lists.of_many)
        self.as_in: frozenset[str] = word_set(lists.as_in)
        self.participles: tuple[str, ...] = tuple(lists.participles.split())
        self.actives: frozenset[str] = word_set(lists.actives)
        self.read: frozenset[str] = phrase_set(lists.read)
        self.person_endings: tuple[str, ...] = tuple(lists.person_endings.split())
        self.nonfinite: tuple[str, ...] = tuple(lists.nonfinite.split())
        self.named: re.Pattern[str] = beginning_pattern(lists.named)
        self.oblique: tuple[str, ...] = tuple(lists.oblique.split())
        self.genitives: tuple[str, ...] = tuple(lists.genitives.split())
        self.feminines: tuple[str, ...] = tuple(lists.feminines.split())
        self.adjectival: tuple[str, ...] = tuple(lists.adjectival.split())
        self.possessed: tuple[str, ...] = tuple(lists.possessed.split())
        self.nominal: tuple[str, ...] = tuple(lists.nominal.split())
        self.adverbs: tuple[str, ...] = tuple(lists.adverbs.split())
        self.first_endings: tuple[str, ...] = tuple(lists.first_endings.split())
        self.pattern_before: re.Pattern[str] = filled(lists.before, lists)
        self.pattern_after: re.Pattern[str] = filled(lists.after, lists)
        self.pattern_of_clause: re.Pattern[str] = filled(lists.clause, lists)
        self._read_settings(lists)

    def _read_settings(self, lists: WordLists) -> None:
        self.is_subject_first: bool = lists.order == "subject-first"
        self.is_verb_first: bool = lists.order == "verb-first"
        self.is_caseless: bool = lists.letters == "caseless"
        self.has_capitals: bool = not lists.letters
        self.is_unspaced: bool = lists.letters == "unspaced"
        self.has_works_in_marks: bool = lists.works == "yes"
        self.may_begin_with_name: bool = lists.first_words == "names"
        self.drops_subjects: bool = lists.subjects == "dropped"
        self.has_bare_nouns: bool = lists.nouns == "bare"
        self.set_off: int | None = int(lists.set_off) if lists.set_off else None
        self.has_dashes: bool = lists.dashes == "yes"
        self.has_named_appositions: bool = lists.appositions == "named"
        self.has_wide_attributions: bool = lists.attributions == "wide"
        self.has_marked_sources: bool = lists.sources == "marked"

    # These are compiled when they are first used: who asks for a pronoun or a title needs none.

    @cached_property
    def reported(self) -> re.Pattern[str]:
        """What leads from a verb to what it reports: "ontem que"; also a colon."""
        conjunctions = self._lists.reported
        between = r"[\s,،:]+" if self.is_verb_first else r"[\s,]+"
        word = rf"(?:[\w’'{VOWEL_SIGNS}-]+|\w{{1,4}}\.)"
        end = rf"(?:(?<=['’])|(?![\w{VOWEL_SIGNS}-]))"
        return re.compile(
            rf"(?P<subject>(?:{between}{word}){{0,{_MAX_BEFORE_CLAUSE}}}?){between}"
            rf"(?:{either(conjunctions)}){end}" + (r"|\s*:(?=\s)" if conjunctions else "")
        )

    @cached_property
    def _aside_at_end(self) -> re.Pattern[str]:
        """Asides between a speaker and the verb: "premier" w czwartek (powiedział)."""
        return re.compile(rf"(?:\s+(?:{either(self._lists.asides)}))+\s*$")

    @cached_property
    def conjunctions(self) -> frozenset[str]:
        """The conjunctions of what is reported, which also begin relative clauses: "che"."""
        return word_set(self._lists.reported) if self.has_wide_attributions else frozenset()

    @cached_property
    def by_after(self) -> re.Pattern[str]:
        """A word that leads from a quotation to a speaker without a verb: "così"."""
        return re.compile(rf"(?:{either(self._lists.by_after)})(?![\w-])")

    @cached_property
    def credits(self) -> re.Pattern[str]:
        """What leads from the title of a work to its author: ", di" (Ann Lee)."""
        return re.compile(rf"\s*,?\s+(?:{either(self._lists.of)})\s*{CAPITAL}")

    @cached_property
    def speech_noun(self) -> re.Pattern[str]:
        """A noun of what somebody says, up to the speaker: "il commento di" (Ann Lee)."""
        nouns, of = either(self._lists.speech_nouns), either(self._lists.of)
        return re.compile(rf"(?<!\w)(?:{nouns})\s+(?:{of}){_END_OF_PREPOSITION}", re.IGNORECASE)

    @cached_property
    def is_that(self) -> re.Pattern[str]:
        """What leads from a noun and its speaker to what is said: "è che"."""
        return re.compile(rf"(?<!\w)(?:{either(self._lists.is_that)})(?!\w)")

    @cached_property
    def headline(self) -> re.Pattern[str]:
        """A name and a colon at the beginning of a sentence: "Il Cremlino:" (è “…”)."""
        article = rf"(?:{either(self._lists.definite.title())})(?:(?<=['’])|\s+)"
        return re.compile(rf"\s*((?:{article})?(?:{CAPITAL}[\w’'-]*\s+){{0,3}}{CAPITAL}[\w’'-]*):\s")

    @cached_property
    def name_and_colon(self) -> re.Pattern[str]:
        """A name after an office that is no subject, before a colon: "Il commento del leader, Ann Lee:"."""
        particle = rf"(?:{either(self._lists.particles)})\s+"
        return re.compile(rf",\s+((?:{CAPITAL}[\w.’'-]+\s+(?:{particle})?){{1,3}}{CAPITAL}[\w’'-]+)\s*:\s*$")

    @cached_property
    def read_in(self) -> re.Pattern[str]:
        """A preposition before what somebody reads in: "nella" (nota)."""
        return re.compile(_preposition(self._lists.read_in))

    @cached_property
    def earlier(self) -> re.Pattern[str]:
        """What is before the clause of a speaker: other sentences, and a source as in "habere göre,"."""
        return re.compile(rf".*(?:(?<!\w)(?:{either(self._lists.according)}),|\w{{3}}[.!?]\s+(?={CAPITAL}))")

    @cached_property
    def passive_by(self) -> re.Pattern[str]:
        """A preposition before a speaker, behind a participle: "come riferito da" (Ann Lee)."""
        return re.compile(_preposition(self._lists.passive_by))

    @cached_property
    def agent_before_colon(self) -> re.Pattern[str]:
        """An agent before a colon, without a verb of speech: "dedicato a Bo Day da Ann Lee:"."""
        return re.compile(rf"{self.passive_by.pattern}(?P<agent>[^,;:“”«»\"]{{2,60}}):\s*$")

    @cached_property
    def cleft(self) -> re.Pattern[str]:
        """A verb, a speaker and what leads to an infinitive: "è stato Ann Lee a" (dire)."""
        verbs, to = either(self._lists.cleft), either(self._lists.infinitive)
        return re.compile(rf"(?<![\w’'])(?i:{verbs})\s+(?P<speaker>[^,;:]{{2,80}}?)\s+(?:{to})\s*$")

    @cached_property
    def taken_up(self) -> re.Pattern[str]:
        """The beginning of a sentence that takes up what is quoted before it: "Lo" (ha detto Ann Lee)."""
        return re.compile(rf"(?:{either(self._lists.taken_up)})(?!\w)", re.IGNORECASE)

    @cached_property
    def cue(self) -> re.Pattern[str]:
        """The verbs that report before and after a quotation."""
        return self._verbs(self._lists.cues)

    @cached_property
    def cue_after(self) -> re.Pattern[str]:
        """The verbs that report after a quotation."""
        return self._verbs(f"{self._lists.cues} {self._lists.after_cues}")

    @cached_property
    def cue_before(self) -> re.Pattern[str]:
        """The verbs that report before a quotation, also those that do so only directly next to it."""
        return self._verbs(f"{self._lists.cues} {self._lists.weak_cues}")

    @cached_property
    def other_verb(self) -> re.Pattern[str]:
        """The verbs of no speech whose subject may speak: "قام" (الوزير)."""
        return self._verbs(self._lists.other_verbs)

    def _verbs(self, words: str) -> re.Pattern[str]:
        return verb_pattern(words, self._lists.inverted, self._lists.elided)

    def is_addressee(self, name: str) -> bool:
        """Whether a name has an ending that no subject has: "Gazecie Wyborczej"."""
        return bool(self.objects) and name.lower().endswith(self.objects)

    def is_particle(self, words: Sequence[Word]) -> bool:
        """Whether the second of three words is a small word within a name: "Gomes da Silva", not "do PSD"."""
        if len(words) != 3 or words[1].bare not in self.particles or words[0].text.isupper():
            return False
        return words[0].is_capital and words[2].is_capital and not words[2].text.isupper()

    def is_body(self, text: str) -> bool:
        """Whether a text ends like the name of a body, in a language without blanks: "科学基金委员会"."""
        return self.is_unspaced and text.endswith(tuple(self.bodies))

    def begins_apart(self, text: str) -> bool:
        """Whether a text begins with a word that no speaker begins with, in a script without capitals."""
        first = self._joined_words.sub("", text.split(None, 1)[0])
        return self.is_caseless and first in self.no_beginning | self.openers

    def _person_behind(self, words: Sequence[Word]) -> Sequence[Word]:
        """The person behind words that a preposition begins: "Po meczu trener Jan Lis" (wyszedł)."""
        if not self.has_bare_nouns:
            return ()
        first = last = next((n for n, word in enumerate(words) if word.bare in self.persons), len(words))
        last += 1
        while last < len(words) and words[last].is_capital:
            last += 1
        return words[first:last]

    def _is_elided_name(self, word: Word) -> bool:
        """Whether a name follows an elided article: "l'Uruguayen"."""
        noun = word.bare.find("'") + 1
        return word.bare[:noun] in self.articles and word.text[noun : noun + 1].isupper()

    def _is_no_name(self, word: Word) -> bool:
        """Whether the first word of a sentence has an ending that no name has: "Finalmente"."""
        return bool(self.first_endings) and word.bare.endswith(self.first_endings)

    def _is_noun_of_person(self, words: Sequence[Word]) -> bool:
        """Whether words are an article and a noun with an ending of persons: "la neuroscienziata"."""
        is_person = bool(self.person_endings) and words[-1].bare.endswith(self.person_endings)
        return is_person and len(words) == 2 and words[0].bare in self.articles

    def _is_person(self, word: Word) -> bool:
        return word.bare in self.persons or word.bare in self.titles

    def _is_object(self, words: Sequence[Word]) -> bool:
        """Whether the first word has an ending that no subject has: "sytuację w Ohio" (ocenił Ann Lee)."""
        first = words[0]
        if first.is_capital:
            return self._is_no_name(first)
        return bool(self.objects) and first.bare.endswith(self.objects) and first.bare not in self.persons

    def _follows_determiner(self, words: Sequence[Word]) -> bool:
        """Whether the next word is a noun, even if it looks like a verb: "la denuncia"."""
        return bool(words) and words[-1].bare in self.determiners

    def _is_filler(self, word: Word) -> bool:
        return word.bare in self.fillers and not word.is_capital  # May is a name

    def _is_preposition(self, word: Word) -> bool:
        """Whether a word is a preposition or begins with one: "nell'interrogazione"."""
        return word.bare in self.no_beginning or word.bare[: word.bare.find("'") + 1] in self.no_beginning

    def _is_noun(self, word: Word) -> bool:
        """Whether a word may be between an article and a name."""
        is_other = word.bare in self.prepositions or word.bare in self.fillers
        return word.text[0].islower() and not is_other and not self.cue_before.fullmatch(word.text)

    def _is_office(self, words: Sequence[Word]) -> bool:
        """Whether words are an office and no name: "Ohio Governor", "the governor of Ohio"."""
        head = words[:_MAX_HEAD] if self.has_named_appositions else words
        is_described = words[0].bare in self.articles and any(word.bare in self.titles for word in head)
        return is_described or words[-1].bare in self.titles

    def _is_adverb(self, word: Word) -> bool:
        """Whether a word has an ending of adverbs: "przytomnie", and the English one in all languages."""
        is_small = word.text[0].islower()
        return bool(re.fullmatch(r"[a-z]+ly", word.text)) or (is_small and word.bare.endswith(self.adverbs))

    def _may_begin(self, word: Word) -> bool:
        """Whether a word may begin a speaker: a mark may not, nor a verb of speech."""
        return word.text[0].isalnum() and not (word.text[0].islower() and self.cue.fullmatch(word.text))

    def _is_article(self, word: Word) -> bool:
        """Whether a word is an article or begins with an elided one: "l'associazione"."""
        return word.bare in self.articles or word.bare[: word.bare.find("'") + 1] in self.articles

    def has_name(self, words: Iterable[Word]) -> bool:
        """Whether a word has a capital and may be part of a name: "They've" may not."""
        if self.is_caseless:
            others = self.common | self.prepositions | self.fillers
            return any(word.text[0].isalpha() and word.bare not in others for word in words)
        return any(word.is_capital and self._may_be_name(word.bare) for word in words)

    def _may_be_name(self, bare_word: str) -> bool:
        first = bare_word.partition("'")[0]
        return bare_word not in self.common and (first == bare_word or first not in self.all_pronouns)

    def find_cue(self, cue: re.Pattern[str], text: str) -> re.Match[str] | None:
        """The first verb of speech in a text that is no noun, as in "the report" or "the state told"."""
        return next((match for match in cue.finditer(text) if self.is_verb(text, match)), None)

    def is_nonfinite(self, cue: str) -> bool:
        """Whether a verb has no subject after it: an infinitive or a gerund, also one in several words."""
        return bool(self.nonfinite) and cue.lower().partition(" ")[0].endswith(self.nonfinite)

    def is_passive(self, subject: str, cue: str) -> bool:
        """Whether a verb is a participle without an auxiliary of the active: "è stato" (definito)."""
        if not self.participles or not cue.endswith(self.participles):
            return False
        words = read_words(subject)
        while words and self._is_filler(words[-1]):
            if words.pop().bare in self.actives:
                return False
        return True

    def leads_to_name(self, word: str) -> bool:
        """Whether a word, perhaps with a colon, says that a name or a title follows: "el libro «…»"."""
        return self.named.fullmatch(word) is not None

    def is_verb(self, text: str, match: re.Match[str]) -> bool:
        """Whether a cue in a text is a verb: neither a determiner before it nor a verb after it."""
        before, after = text[: match.start()].split(), text[match.end() :].split(None, 1)
        is_noun = bool(before and before[-1].lower() in self.determiners)
        if is_noun and self.is_nonfinite(match[0]) and before[-1].lower() in self.prepositions:
            is_noun = False  # "ao afirmar"
        return not is_noun and not (before and after and self.cue.fullmatch(after[0]))


def _preposition(words: str) -> str:
    """A pattern of prepositions up to the next word, which may follow an apostrophe."""
    return rf"(?<!\w)(?:{either(words)}){_END_OF_PREPOSITION}"


def _asides(lists: WordLists) -> re.Pattern[str]:
    """The pattern of what may be between a verb and its speaker: "disse" (em nota à Reuters) "Ann Lee"."""
    addressed = (
        rf"(?:{either(lists.addressed)})\s+(?:(?:{either(lists.media)})\s+)?"
        rf"(?!(?i:{either(lists.titles)})(?!\w))(?:{CAPITAL}[\w.-]*|\d+)"
        rf"(?=\s+(?:{CAPITAL}|(?:{either(lists.articles)})\s))"
    )
    addressed += (
        rf"|(?:{either(lists.addressed)})\s+(?:{either(lists.media)})"
        rf"(?=\s+(?:{either(lists.articles)})\s[a-zß-ÿ])"
    )
    manner = (
        rf"(?:{either(lists.manner)})(?:\s+(?!(?:{either(lists.prepositions)})(?!\w))[^\W\dA-ZÀ-Ý][\w’']*){{1,3}}"
        rf"(?=\s+{CAPITAL})"
    )
    return re.compile(rf"(?:\s*(?:{either(lists.asides)}|{addressed}|{manner})(?![\w-]),?)*")
