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

# Proper nouns, pronouns, modals and prepositions have no class: "like" as a preposition is no clue, nor is
# the Bush or the May of a name.
_CLASS_OF_TAG: dict[str, WordClass] = {
    **dict.fromkeys(("JJ", "JJR", "JJS"), "adjective"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "adverb"),
    **dict.fromkeys(("NN", "NNS"), "noun"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "verb"),
}

_MIN_VALENCE = 1.5  # VADER's, of -4 to 4
_MIN_SUBJECTIVITY = 0.5  # TextBlob's, of 0 to 1
_MIN_POLARITY = 0.5  # TextBlob's, of -1 to 1
_TEXTBLOB_CLASSES: dict[str, WordClass] = {"JJ": "adjective", "RB": "adverb", "NN": "noun", "VB": "verb"}


class Clue(NamedTuple):
    """A lexicon's entry for a word. `polarity` is 1, -1, or 0 where it is unknown or neither."""

    polarity: int
    strong: bool


Entries = dict[tuple[str, WordClass | None], Clue]  # by word in lower case and class, None for any class


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Subjective words. `stems` are Snowball stems of words that count in every inflection."""

    name: str  # with versions or a digest: other contents have another name
    words: Entries
    stems: Mapping[tuple[str, WordClass | None], Clue] = field(default_factory=dict)

    def clue(self, word: str, tag: str) -> Clue | None:
        """The entry for a word, in lower case, with this Penn tag. None: no content word, or no clue."""
        word_class = _CLASS_OF_TAG.get(tag)
        if word_class is None:
            return None
        clue = self.words.get((word, word_class)) or self.words.get((word, None))
        if clue is None and self.stems:
            stem = stem_word(word)
            clue = self.stems.get((stem, word_class)) or self.stems.get((stem, None))
        return clue

    @cached_property
    def has_polarity(self) -> bool:
        """Whether it tells positive from negative words. A plain list of words does not."""
        return any(clue.polarity for entries in (self.words, self.stems) for clue in entries.values())


def stem_word(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def default_lexicon_name() -> str:
    """The default lexicon's name with the versions of its packages. Raises UsageError if one is missing."""
    return " + ".join(f"{name} {_version(name)}" for name in ("vaderSentiment", "textblob"))


@cache
def default_lexicon() -> Lexicon:
    """The words of VADER (Hutto & Gilbert 2014) and of TextBlob (De Smedt & Daelemans 2012).

    Both are read from their packages, without importing them. VADER's sign takes precedence for a word that
    both have.
    """
    entries: Entries = dict(_textblob_entries())
    for word, clue in _vader_entries():
        entries[word, None] = clue
        for word_class in CLASSES:
            if (word, word_class) in entries:
                entries[word, word_class] = clue
    return Lexicon(default_lexicon_name(), entries)


def _vader_entries() -> Iterator[tuple[str, Clue]]:
    for line in _read_package_file("vaderSentiment", "vaderSentiment/vader_lexicon.txt").splitlines():
        word, valence = line.split("\t")[:2]
        if abs(float(valence)) >= _MIN_VALENCE:
            yield word.lower(), Clue(1 if float(valence) > 0 else -1, True)


def _textblob_entries() -> Iterator[tuple[tuple[str, WordClass | None], Clue]]:
    """Averages the senses of a word, as TextBlob does."""
    senses: dict[tuple[str, WordClass], list[tuple[float, float]]] = {}
    xml = _read_package_file("textblob", "textblob/en/en-sentiment.xml")
    for entry in ElementTree.fromstring(xml.encode()):
        word_class = _TEXTBLOB_CLASSES.get(entry.get("pos", ""))
        if word_class is not None:
            values = float(entry.get("polarity", 0)), float(entry.get("subjectivity", 0))
            senses.setdefault((entry.get("form", "").lower(), word_class), []).append(values)
    for key, word_senses in senses.items():
        polarity, subjectivity = (sum(values) / len(word_senses) for values in zip(*word_senses, strict=True))
        if subjectivity >= _MIN_SUBJECTIVITY:
            is_polar = abs(polarity) >= _MIN_POLARITY
            yield key, Clue((1 if polarity > 0 else -1) if is_polar else 0, True)


def _version(package: str) -> str:
    try:
        return distribution(package).version
    except PackageNotFoundError:
        raise missing("the default lexicon", package) from None


def _read_package_file(package: str, path: str) -> str:
    _version(package)
    with open(str(distribution(package).locate_file(path)), encoding="utf-8") as file:
        return file.read()
