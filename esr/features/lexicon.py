"""Lexicons of subjective words: the default lexicon, and those of users.

The best lexicons may not be redistributed, so users can supply the MPQA lexicon, Hu & Liu's lists, plain
words, or words with scores. `read_lexicon` describes the formats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, get_args

from esr.errors import InputError
from esr.extras import missing
from esr.stdlib import cached_property, import_lazily
from esr.text.analysis.snowball import get_stemmer

if TYPE_CHECKING:
    import hashlib
    from importlib import metadata
    from xml.etree import ElementTree
else:
    ElementTree = import_lazily("xml.etree.ElementTree")
    hashlib = import_lazily("hashlib")
    metadata = import_lazily("importlib.metadata")

WordClass = Literal["adjective", "adverb", "noun", "verb"]
CLASSES: tuple[WordClass, ...] = get_args(WordClass)

# Proper nouns, pronouns, modals and prepositions have no class: neither the preposition "like" nor the names
# Bush and May are clues.
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
    """The entry of a lexicon for a word. `polarity` is 1, -1, or 0 if unknown or neither."""

    polarity: int
    strong: bool


Entries = dict[tuple[str, WordClass | None], Clue]  # by word in lower case and class, None for any class


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Subjective words. `stems` are Snowball stems of words that count in every inflection."""

    name: str  # with versions or a digest, so that different contents have different names
    words: Entries
    stems: Mapping[tuple[str, WordClass | None], Clue] = field(default_factory=dict)

    def clue(self, word: str, tag: str) -> Clue | None:
        """The entry for a content word in lower case with this Penn tag, or None."""
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
        """Whether it distinguishes positive from negative words. A plain list of words does not."""
        return any(clue.polarity for entries in (self.words, self.stems) for clue in entries.values())


def stem_word(word: str) -> str:
    return get_stemmer("english")(word)


def default_lexicon_name() -> str:
    """The name of the default lexicon with its packages' versions. Raises UsageError if one is missing."""
    return " + ".join(f"{name} {_version(name)}" for name in ("vaderSentiment", "textblob"))


@cache
def default_lexicon() -> Lexicon:
    """The words of VADER (Hutto & Gilbert 2014) and of TextBlob (De Smedt & Daelemans 2012).

    Both are read from their packages' files, without importing these. For a word in both, VADER's sign takes
    precedence.
    """
    entries: Entries = dict(_textblob_entries())
    for word, clue in read_vader_entries():
        entries[word, None] = clue
        for word_class in CLASSES:
            if (word, word_class) in entries:
                entries[word, word_class] = clue
    return Lexicon(default_lexicon_name(), entries)


def read_vader_entries() -> Iterator[tuple[str, Clue]]:
    """The words of VADER that are not neutral, with their polarity."""
    for line in _read_package_file("vaderSentiment", "vaderSentiment/vader_lexicon.txt").splitlines():
        word, valence = line.split("\t")[:2]
        if abs(float(valence)) >= _MIN_VALENCE:
            yield word.lower(), Clue(1 if float(valence) > 0 else -1, True)


def _textblob_entries() -> Iterator[tuple[tuple[str, WordClass | None], Clue]]:
    """Average the senses of each word, as TextBlob does."""
    senses: dict[tuple[str, WordClass], list[tuple[float, float]]] = {}
    xml = _read_package_file("textblob", "textblob/en/en-sentiment.xml")
    for entry in ElementTree.fromstring(xml.encode()):  # nosec B314  # a file of an installed package
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
        return metadata.distribution(package).version
    except metadata.PackageNotFoundError:
        raise missing("the default lexicon", package) from None


def _read_package_file(package: str, path: str) -> str:
    _version(package)
    with open(str(metadata.distribution(package).locate_file(path)), encoding="utf-8") as file:
        return file.read()


_MPQA_CLASSES: dict[str, WordClass | None] = {
    "adj": "adjective",
    "adverb": "adverb",
    "noun": "noun",
    "verb": "verb",
    "anypos": None,
}
_MPQA_POLARITIES = {"positive": 1, "negative": -1, "neutral": 0, "both": 0, "weakneg": -1, "weakpos": 1}
_MPQA_TYPES = {"strongsubj": True, "weaksubj": False}

T = TypeVar("T")


class Entry(NamedTuple):
    """A line of a lexicon file. `inflected`: it matches every inflection of the word."""

    word: str
    word_class: WordClass | None
    clue: Clue
    inflected: bool


def read_lexicon(paths: Sequence[Path]) -> Lexicon:
    """One lexicon from these files; the last entry of a word is used. Raises InputError with file:line.

    The format of each line is recognised by its contents:

        type=strongsubj len=1 word1=abuse pos1=verb stemmed1=y priorpolarity=negative MPQA (.tff)
        abuse<TAB>-3.2                                                                score, whose sign counts
        abuse                                                                         a word

    Lines that start with ; or # are comments. Words without a score get the polarity that the file's name or
    its first comments state, as in Hu & Liu's positive-words.txt and negative-words.txt, or else none. Every
    word is a strong clue, except MPQA's weaksubj ones.
    """
    words: Entries = {}
    stems: Entries = {}
    for path in paths:
        entries = list(_read_entries(path))
        if not entries:
            raise InputError(str(path), "this lexicon has no words")
        for entry in entries:
            words[entry.word, entry.word_class] = entry.clue
            if entry.inflected:
                stems[stem_word(entry.word), entry.word_class] = entry.clue
    return Lexicon(_contents_name(paths), words, stems)


def _contents_name(paths: Iterable[Path]) -> str:
    """The names of these files and a digest of their contents, in order."""
    contents = hashlib.sha256()
    names = []
    for path in paths:
        data = _read_bytes(path)
        contents.update(len(data).to_bytes(8, "little") + data)
        names.append(path.name)
    return f"{' + '.join(names)} {contents.hexdigest()[:12]}"


def _read_entries(path: Path) -> Iterator[Entry]:
    lines = _read_text(path).splitlines()
    polarity = _file_polarity(path, lines)
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line[0] in ";#":
            continue
        try:
            yield _parse_mpqa_line(line) if line.startswith("type=") else _parse_plain_line(line, polarity)
        except ValueError as error:
            raise InputError(f"{path}:{number}", str(error)) from None


def _file_polarity(path: Path, lines: Sequence[str]) -> int:
    """The polarity stated by the file's name, or else by its first comments; 0 if neither states one."""
    comments = " ".join(line for line in lines[:10] if line.lstrip()[:1] in (";", "#"))
    for text in (path.name.lower(), comments.lower()):
        stated = {word for word in ("positive", "negative") if re.search(rf"(?<![a-z]){word}", text)}
        if len(stated) == 1:
            return 1 if stated == {"positive"} else -1
    return 0


def _parse_plain_line(line: str, polarity: int) -> Entry:
    word, *columns = line.split("\t")
    word = word.strip().lower()
    if not columns:
        if len(word.split()) != 1:
            raise ValueError(f"{line[:60]!r} is neither a word nor word<TAB>score")
        return Entry(word, None, Clue(polarity, True), False)
    try:
        score = float(columns[0])
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score of {word[:40]!r} must be a number, not {columns[0][:40]!r}")
    return Entry(word, None, Clue((score > 0) - (score < 0), True), False)


def _parse_mpqa_line(line: str) -> Entry:
    fields = dict(pair.partition("=")[::2] for pair in line.split())
    strong = _translate(fields, "type", _MPQA_TYPES)
    word_class = _translate(fields, "pos1", _MPQA_CLASSES)
    polarity = _translate(fields, "priorpolarity", _MPQA_POLARITIES)
    if not fields.get("word1"):
        raise ValueError("word1 is missing")
    inflected = fields.get("stemmed1") == "y"
    return Entry(fields["word1"].lower(), word_class, Clue(polarity, strong), inflected)


def _translate(fields: Mapping[str, str], name: str, meanings: Mapping[str, T]) -> T:
    if fields.get(name) not in meanings:
        value = f"not {fields[name]!r}" if name in fields else "and is missing"
        raise ValueError(f"{name} must be one of {', '.join(meanings)}, {value}")
    return meanings[fields[name]]


def _read_text(path: Path) -> str:
    data = _read_bytes(path)
    if b"\0" in data:
        raise InputError(
            str(path), "not a text file: a lexicon has words, word<TAB>score or MPQA's .tff lines"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # Hu & Liu's lists
        return data.decode("latin-1")


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot read this lexicon: {error.strerror}") from None
