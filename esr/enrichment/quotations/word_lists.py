"""The words of speech of each language: its table `tables/<code>.toml`, and patterns of words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

_TABLES = {path.stem: path for path in (Path(__file__).parent / "tables").glob("*.toml")}
"""The tables by language code."""
VOWEL_SIGNS = "\u064b-\u0652\u0670"
"""The vowel signs of Arabic, which texts may have or not, as characters of a pattern."""
_LETTERS = {"_": r"\s+", "'": "['’]", "أ": "[أا]", "إ": "[إا]"}
"""What letters of the tables stand for in patterns, if not for themselves."""
JOINED = "ـ"
"""The end of words in tables that are joined to the next one: "وفقا_لـ"."""
POSSESSIVE: re.Pattern[str] = re.compile(r"(?:’s|'s|’|')$")
"""The end of a word that somebody owns something by: "Lee's"."""
CAPITAL = r"[^\W\d_a-zß-ÿа-џ]"
"""The pattern of a capital letter."""
_WORD = re.compile(rf"[^\W_](?:[\w’'.&/{VOWEL_SIGNS}-]*[\w{VOWEL_SIGNS}])?\.?|[^\w\s]")
_VOWELS = re.compile(f"[{VOWEL_SIGNS}]+")


class Word(NamedTuple):
    """A word or mark, with its position in the text."""

    text: str
    start: int
    end: int

    @property
    def bare(self) -> str:
        return bare(self.text)

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


def bare(word: str) -> str:
    """A word in lower case, without a period and vowel signs of Arabic, and with straight apostrophes."""
    if not word.isascii():
        word = _VOWELS.sub("", word)
    return word.lower().strip(".").replace("’", "'")


def read_words(text: str) -> list[Word]:
    return [Word(match[0], *match.span()) for match in _WORD.finditer(text)]


class WordLists(Struct, frozen=True):
    """The words of one language: the lists of its table, in lower case.

    cues            verbs of speech in all their forms
    weak_cues       verbs that report only directly next to a quotation
    after_cues      verbs that report only after a quotation
    other_verbs     other verbs, where verbs are first: their subject speaks if a verb of speech has none
    topics          words before a subject that a verb with a joined word follows: "أما" (الوزير فقال)
    by              words before a speaker that need no verb, with _ for a blank: "so Merkel"
    new_cue         a pattern of unlisted verbs directly after a quotation that ends in a comma: group
                    `before` is a speaker before the verb `cue`, or `after` a verb before a speaker
    pronouns        pronouns of one person, which may stand for a name
    other_pronouns  other pronouns that may be a speaker
    relatives       pronouns of relative clauses
    auxiliaries     verbs before a verb of speech
    fillers         other words between a speaker and a verb: adverbs
    asides          phrases between a verb and its speaker: "said in a statement Ann Lee"
    not_by          what makes no speaker after a word of `by`: "según sus siglas"
    openers         words that may precede a speaker at the beginning of a clause
    prepositions    words that end a speaker after the verb, and do not begin one
    articles        words that begin a speaker who is not named
    determiners     articles that are followed by a noun, even if it looks like a verb: "the report"
    unfinished      words with which no speaker ends
    titles          titles that are not part of a name
    agents          those who speak for somebody, whose name is next to the word: "Putin spokesman"
    common          words that are no names, but have a capital at the beginning of a sentence
    doubtful        verbs whose subject may be another than the speaker: "quoted"
    passives        auxiliaries of the passive: "was told"
    never_before    verbs that are never before their speaker, but before others: "told Lee"
    bodies          words for bodies, which are no part of a person's name: "Defence Council Ann Lee";
                    in languages without blanks, ends of names that may be in marks: "委员会"
    inserted        verbs that may stand with their speaker between two commas: ", said Bay,"
    order           "subject-first" if a quotation may be between its speaker and the verb: "dedi";
                    "verb-first" if a speaker is mostly behind the verb, also before the quotation
    letters         "caseless" if names have no capitals; "unspaced" if words have no blanks, either
    works           "yes" if titles of works are in the same marks, also after a comma
    first_words     "names" if the first word of a sentence that no verb shows is mostly a name: "Lee: “…”"
    subjects        "dropped" if a verb without a subject has that of the clause before
    nouns           "bare" if a speaker who is not named has no article: "pisze redakcja"
    persons         nouns of people and bodies in the nominative, where nouns are bare: "posłowie"
    subordinators   conjunctions of clauses whose names do not speak: "when Ann Lee came," (he said)
    manners         words that say how somebody speaks, where nouns are bare
    objects         endings of words that are no subject, where nouns are bare: "sytuację" (ocenił)
    reported        conjunctions that lead from a verb to what is reported: "dijo que" (el plan es “…”)
    set_off         the most words in small letters that marks only set off; more are a quotation
    dashes          "yes" if a verb after a quotation may follow a dash: "„…” – uznali lekarze"
    oblique         endings of names that are no subject, where nouns are bare or the subject is first:
                    "Jana Kowalskiego", "Bursalı"
    genitives       endings that all words of a name have which is no subject: "Jana Lisa"
    feminines       endings of names of women that look alike: "Anna Kowalska"
    adjectival      endings of the last word of such a name: "Jana Kowalskiego"
    possessed       endings of nouns that belong to the name before them: "Lee kampanyası"
    adverbs         endings of adverbs, which may be between a speaker and a verb: "przytomnie"
    first_endings   endings of words that are no name at the beginning of a sentence: "Finalmente"
    nonfinite       endings of verbs that an object follows, but no subject: "para pedir" (un plan)
    appositions     "named" if a name may follow an office, also after a comma: "le maire, Luc Bay"
    not_in_office   words that are not between an office and the name after the comma: "et"
    inverted        pronouns joined to a verb: "il" in "dit-il" and "ajoute-t-il"
    elided          words joined to the beginning of a verb: "m'" (explique), "qu'" (affirme)
    sources         "marked" if names of newspapers are in marks, also as speakers: (pisze) "„Życie”"
    named           words before a name or a title in marks, with * for any ending: "libro", "titul*", "pt:"
    attributions    "wide" if the rules for the lists up to `passive_by` hold, with those for headlines,
                    relative clauses and verbs with auxiliaries between a clause and its quotation
    particles       small words within names: "Ann Gomes da Silva"
    addressed       prepositions before whom a verb tells something: "disse à Reuters Ann Lee"
    media           nouns that may stand between such a preposition and a name: "alla rivista Time"
    manner          prepositions of a manner or place before a name: "dice con un sorriso Ann Lee"
    of_many         "of" before a plural, behind which even a single name is a person: "dos socialistas Lee"
    as_in           conjunctions after which a speaker follows the verb: "come dice Ann Lee"
    by_after        words that need no verb between a quotation and a speaker: "“…”, così Ann Lee."
    speech_nouns    nouns of what somebody says, before "of" and the speaker: "il commento di Ann Lee: “…”"
    of              "of" between such a noun and the speaker, and between the title of a work and its author
    is_that         what leads from such a noun to what is said: "la replica di Ann Lee è che “…”"
    definite        articles before a name that a headline begins with: "Il Cremlino: “…”"
    read            verbs without a subject that say where something stands: "si legge nella nota"
    read_in         prepositions before that place
    person_endings  endings of nouns of persons: "la neuroscienziata: “…”"
    nominal         endings of verbs in what a verb behind reports: "“…” değiştiğini" (söyledi)
    according       words behind a source before a clause: "habere göre," (Ann Lee “…” dedi)
    passive_by      "by" before a speaker, behind a participle: "come riferito da Ann Lee"
    participles     endings of participles, which a passive has: "definito da Ann Lee"
    actives         auxiliaries of the active, behind which no agent is: "ha" (detto da Roma)
    cleft           verbs before a speaker and an infinitive: "è stato Ann Lee" (a dire)
    infinitive      prepositions before that infinitive
    taken_up        words that begin the sentence behind a quotation that they stand for: "Lo" (ha detto)
    before          a pattern that ends at a quotation, with the groups `speaker` and `cue`, for languages
                    without blanks; <<cues>> stands for the words of that list
    after           a pattern that begins after a quotation, likewise
    clause          a pattern that ends at a part of what a verb reports, likewise
    """

    cues: str = ""
    weak_cues: str = ""
    after_cues: str = ""
    other_verbs: str = ""
    topics: str = ""
    by: str = ""
    new_cue: str = "(?!)"
    pronouns: str = ""
    other_pronouns: str = ""
    relatives: str = ""
    auxiliaries: str = ""
    fillers: str = ""
    asides: str = ""
    not_by: str = ""
    openers: str = ""
    prepositions: str = ""
    articles: str = ""
    determiners: str = ""
    unfinished: str = ""
    titles: str = ""
    agents: str = ""
    common: str = ""
    doubtful: str = ""
    passives: str = ""
    never_before: str = ""
    bodies: str = ""
    inserted: str = ""
    order: str = ""
    letters: str = ""
    works: str = ""
    subjects: str = ""
    first_words: str = ""
    nouns: str = ""
    persons: str = ""
    subordinators: str = ""
    manners: str = ""
    objects: str = ""
    reported: str = ""
    set_off: str = ""
    dashes: str = ""
    oblique: str = ""
    genitives: str = ""
    feminines: str = ""
    adjectival: str = ""
    possessed: str = ""
    adverbs: str = ""
    first_endings: str = ""
    nonfinite: str = ""
    appositions: str = ""
    not_in_office: str = ""
    inverted: str = ""
    elided: str = ""
    sources: str = ""
    named: str = ""
    attributions: str = ""
    particles: str = ""
    addressed: str = ""
    media: str = ""
    manner: str = ""
    of_many: str = ""
    as_in: str = ""
    by_after: str = ""
    speech_nouns: str = ""
    of: str = ""
    is_that: str = ""
    definite: str = ""
    read: str = ""
    read_in: str = ""
    person_endings: str = ""
    nominal: str = ""
    according: str = ""
    passive_by: str = ""
    participles: str = ""
    actives: str = ""
    cleft: str = ""
    infinitive: str = ""
    taken_up: str = ""
    before: str = "(?!)"
    after: str = "(?!)"
    clause: str = "(?!)"


def read_lists(language: str) -> WordLists:
    """The words of a language, by its code; empty lists if it has no table."""
    table = _TABLES.get(language)
    return WordLists(**tomllib.loads(table.read_text("utf-8"))) if table else WordLists()


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def phrase_set(phrases: str) -> frozenset[str]:
    """Phrases of a table, where a low line stands for a blank."""
    return frozenset(phrase.replace("_", " ") for phrase in phrases.split())


def either(words: str) -> str:
    ordered = sorted(word_set(words), key=lambda word: (-len(word), word))
    return "|".join(map(_pattern_of, ordered)) or "(?!)"


def _pattern_of(word: str) -> str:
    return "".join(_LETTERS.get(letter, re.escape(letter)) + _vowels_after(letter) for letter in word)


def _letters_of(word: str) -> str:
    """The pattern of a word without vowel signs, whose length is known."""
    return "".join(_LETTERS.get(letter, re.escape(letter)) for letter in word)


def _vowels_after(letter: str) -> str:
    return f"[{VOWEL_SIGNS}]*" if "ء" <= letter <= "ي" and letter != JOINED else ""


def joining(words: str) -> str:
    """A pattern of words that end before a blank or, if the table says so, are joined to the next one."""
    joined = {word for word in words.split() if word.endswith(JOINED)}
    whole = either(" ".join(word_set(words) - joined))
    beginnings = either(" ".join(word.removesuffix(JOINED) for word in joined))
    pattern = rf"(?:{whole})(?![\w{VOWEL_SIGNS}-])"
    return rf"(?:{pattern}|(?:{beginnings})(?=\w))" if joined else pattern


def filled(pattern: str, lists: WordLists) -> re.Pattern[str]:
    """A pattern of a table, with the words of the lists that it names."""
    pattern = re.sub(r"<<(\w+)>>", lambda name: either(getattr(lists, name[1])), pattern)
    return re.compile(pattern, re.VERBOSE)


def verb_pattern(words: str, inverted: str = "", elided: str = "") -> re.Pattern[str]:
    """A verb in lower case, at the beginning also with a capital: "Said Ann Lee".

    `inverted` are the pronouns that may be joined to its end, as in "dit-il", and `elided` the words that may
    be joined to its beginning. Neither belongs to the match.
    """
    verbs = _joined_beginnings(word_set(words)) or "(?!)"
    end = rf"(?![\w{VOWEL_SIGNS}]|-(?!(?:t-)?(?:{either(inverted)})(?![\w-])))"
    return re.compile(rf"{word_start(elided)}(?:{verbs}){end}|^(?i:{verbs}){end}")


def word_start(elided: str) -> str:
    """A pattern of the beginning of a word, also behind an elided one that is joined to it."""
    joined = (rf"(?<=\b{_letters_of(word)})" for word in elided.split())
    return "(?:" + "|".join([rf"(?<![\w’'{VOWEL_SIGNS}-])", *joined]) + ")"


def _joined_beginnings(words: Iterable[str]) -> str:
    """A pattern of words in which equal beginnings are written once, so that a text is read once."""
    rest: dict[str, list[str]] = {}
    for word in sorted(words):
        rest.setdefault(word[:1], []).append(word[1:])
    is_end = rest.pop("", None) is not None
    parts = [_pattern_of(letter) + _joined_beginnings(others) for letter, others in rest.items()]
    if not parts:
        return ""
    return f"(?:{'|'.join(parts)}){'?' if is_end else ''}" if is_end or len(parts) > 1 else parts[0]


def beginning_pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word).replace(r"\*", r"\w*") for word in words.split()) or "(?!)")
