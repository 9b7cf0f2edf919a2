"""What a lexicon of subjective words is, and the default one."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, distribution
from typing import Literal, NamedTuple, get_args

import Stemmer

from esr.extras import missing

WordClass = Literal["adjective", "adverb", "noun", "verb"]
CLASSES: tuple[WordClass, ...] = get_args(WordClass)

# Proper nouns, pronouns, modals, prepositions have no class: "like" as a preposition is no clue, nor is
# the Bush or the May of a name.
_BY_TAG: dict[str, WordClass] = {
    **dict.fromkeys(("JJ", "JJR", "JJS"), "adjective"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "adverb"),
    **dict.fromkeys(("NN", "NNS"), "noun"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "verb"),
}
word_class = _BY_TAG.get  # a Penn tag's class, or None

_LEAST_VALENCE = 1.5  # VADER's, of -4 to 4
_LEAST_SUBJECTIVITY = 0.5  # TextBlob's, of 0 to 1
_LEAST_POLARITY = 0.5  # TextBlob's, of -1 to 1
_TEXTBLOB_CLASSES: dict[str, WordClass] = {"JJ": "adjective", "RB": "adverb", "NN": "noun", "VB": "verb"}


class Clue(NamedTuple):
    """What a lexicon says of a word. `polarity` is 1, -1, or 0 where it is not known or neither."""

    polarity: int
    strong: bool


Entries = dict[tuple[str, WordClass | None], Clue]  # a word in lower case and its class, None for any


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Subjective words. `stems` are Snowball stems of words that count in every inflection."""

    name: str  # with versions or a digest: another name means other contents
    words: Entries
    stems: Mapping[tuple[str, WordClass | None], Clue] = field(default_factory=dict)

    def clue(self, word: str, tag: str) -> Clue | None:
        """What it says of a word, in lower case, with this Penn tag. None: no content word, or no clue."""
        of = word_class(tag)
        if of is None:
            return None
        found = self.words.get((word, of)) or self.words.get((word, None))
        if found is None and self.stems:
            stem = stemmed(word)
            found = self.stems.get((stem, of)) or self.stems.get((stem, None))
        return found

    @cached_property
    def polar(self) -> bool:
        """It tells positive from negative words. A plain list of words does not."""
        return any(clue.polarity for entries in (self.words, self.stems) for clue in entries.values())


def stemmed(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def default_name() -> str:
    """The default lexicon's name with the versions of its packages. Raises UsageError if one is missing."""
    return " + ".join(f"{name} {_version(name)}" for name in ("vaderSentiment", "textblob"))


@cache
def default() -> Lexicon:
    """The words of VADER (Hutto & Gilbert 2014) and of TextBlob (De Smedt & Daelemans 2012).

    Both are read from their packages, without importing them. VADER's sign stands where both have a word.
    """
    entries: Entries = dict(_textblob())
    for word, clue in _vader():
        entries[word, None] = clue
        for of in CLASSES:
            if (word, of) in entries:
                entries[word, of] = clue
    return Lexicon(default_name(), entries)


def _vader() -> Iterator[tuple[str, Clue]]:
    for line in _file("vaderSentiment", "vaderSentiment/vader_lexicon.txt").splitlines():
        word, valence = line.split("\t")[:2]
        if abs(float(valence)) >= _LEAST_VALENCE:
            yield word.lower(), Clue(1 if float(valence) > 0 else -1, True)


def _textblob() -> Iterator[tuple[tuple[str, WordClass | None], Clue]]:
    """A word's senses are averaged, as TextBlob does."""
    senses: dict[tuple[str, WordClass], list[tuple[float, float]]] = {}
    for entry in ElementTree.fromstring(_file("textblob", "textblob/en/en-sentiment.xml").encode()):
        of = _TEXTBLOB_CLASSES.get(entry.get("pos", ""))
        if of is not None:
            values = float(entry.get("polarity", 0)), float(entry.get("subjectivity", 0))
            senses.setdefault((entry.get("form", "").lower(), of), []).append(values)
    for key, values_of in senses.items():
        polarity, subjectivity = (sum(values) / len(values_of) for values in zip(*values_of, strict=True))
        if subjectivity >= _LEAST_SUBJECTIVITY:
            polar = abs(polarity) >= _LEAST_POLARITY
            yield key, Clue((1 if polarity > 0 else -1) if polar else 0, True)


def _version(package: str) -> str:
    try:
        return distribution(package).version
    except PackageNotFoundError:
        raise missing("the default lexicon", package) from None


def _file(package: str, path: str) -> str:
    _version(package)
    with open(str(distribution(package).locate_file(path)), encoding="utf-8") as file:
        return file.read()
