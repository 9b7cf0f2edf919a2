"""The analyzers, read from the definitions that Elasticsearch gets.

The files of `index_templates/analyzers/` are the only definitions. This package interprets the parts of
them that esr uses: character filters, a tokenizer and a chain of token filters. Tests send text in many
scripts through both interpreters and find no difference.

Turns text into terms, the same in Python and in Elasticsearch.

The definitions of the analyzers: the files of `index_templates/analyzers/`.

A file describes one analyzer: what it does, the languages that it is made for, its version, which an index
records, and its parts as index settings have them. `shared.json` has the parts that several use.

Which analyzer fits a collection: that of the language of its documents.

What the terms of a collection say about its analyzer: sentences without terms, terms without worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from esr import resources
from esr.errors import unknown
from esr.text.token_filters import WordFilter, build_token_filters
from esr.text.tokenizer import (
    CapitalWords,
    JoinedWords,
    PatternSplitter,
    Splitter,
    StandardSplitter,
    WordPatternSplitter,
)

FOLDER = "analyzers"
SHARED = "shared"
WORDS_ANALYZER = "words"
"""The analyzer of words as they are written, which every index has beside its own, from a component."""
DEFAULT_ANALYZER = "english-stem"
MULTILINGUAL_ANALYZER = "multilingual"
_PARTS = ("char_filter", "tokenizer", "filter")


class Definition(Struct, frozen=True):
    """One analyzer. `languages` are codes of ISO 639-1; `example` is a text that shows what it does."""

    name: str
    description: str
    languages: Sequence[str]
    version: int
    example: str
    settings: Mapping[str, Mapping[str, Any]]
    """What it needs in `index.analysis` of an index: its parts by kind and name, and the analyzer itself."""

    def chain(self, kind: str) -> list[Mapping[str, Any]]:
        """The settings of its parts of a kind, char_filter or filter, in order."""
        return [self._part(kind, name) for name in self._analyzer.get(kind, ())]

    @property
    def tokenizer(self) -> Mapping[str, Any]:
        return self._part("tokenizer", self._analyzer["tokenizer"])

    @property
    def _analyzer(self) -> Mapping[str, Any]:
        analyzer: Mapping[str, Any] = self.settings["analyzer"][self.name]
        return analyzer

    def _part(self, kind: str, name: str) -> Mapping[str, Any]:
        """A part of the file, or one that Elasticsearch knows by its type alone."""
        part: Mapping[str, Any] = self.settings[kind].get(name, {"type": name})
        return part


@cache
def all_definitions() -> Mapping[str, Definition]:
    """All definitions by name: first those of the default language and of no language, then by name."""
    first = (DEFAULT_ANALYZER, "english", "plain", MULTILINGUAL_ANALYZER)
    return {
        name: _read(name)
        for name in sorted(
            _names(), key=lambda name: (first.index(name) if name in first else len(first), name)
        )
    }


@cache
def _names() -> frozenset[str]:
    return frozenset(resources.list_names(FOLDER, ".json")) - {SHARED}


def get_definition(name: str) -> Definition:
    """The definition of that name. Raises UsageError with the nearest name."""
    if name == WORDS_ANALYZER:
        return _words()
    if name not in _names():
        raise unknown("analyzer", name, all_definitions())
    return _read(name)


def analyzer_for_language(code: str) -> Definition:
    """The definition made for a language; `multilingual` where there is none."""
    made = (definition for definition in all_definitions().values() if code in definition.languages)
    return next(made, all_definitions()[MULTILINGUAL_ANALYZER])


@cache
def _words() -> Definition:
    component = resources.load_json("components/esr-words.json")
    description = component["_meta"]["description"]
    return Definition(
        WORDS_ANALYZER,
        description,
        (),
        1,
        "“White House”, l’été",
        component["template"]["settings"]["analysis"],
    )


@cache
def _read(name: str) -> Definition:
    shared = resources.load_json(f"{FOLDER}/{SHARED}.json")
    data = resources.load_json(f"{FOLDER}/{name}.json")
    analyzer = data["analyzer"]
    settings: dict[str, dict[str, Any]] = {kind: {} for kind in _PARTS}
    for kind in _PARTS:
        used = analyzer.get(kind, ())
        for part in [used] if isinstance(used, str) else used:
            of_file = data.get(kind, {}).get(part) or shared[kind].get(part)
            if of_file is not None:
                settings[kind][part] = of_file
    settings["analyzer"] = {name: {"type": "custom", **analyzer}}
    return Definition(
        name, data["description"], tuple(data["languages"]), data["version"], data["example"], settings
    )


Terms = list[str]
_MAX_CACHED_WORDS = 500_000
_SPLITTING = ("cjk_bigram", "pattern_capture")
"""Filters that make several words of one, or one of two. They come first."""


class TermToken(NamedTuple):
    """A term, and where the word that it is made of stands in the text."""

    start: int
    end: int
    term: str


class Analyzer:
    """Turns text into terms. Get one by `get`; threads may share it."""

    def __init__(self, definition: Definition) -> None:
        self.name = definition.name
        self.version = definition.version
        chain = definition.chain("filter")
        of_words = [settings for settings in chain if settings["type"] not in _SPLITTING]
        assert chain[len(chain) - len(of_words) :] == of_words, "words are split before they are changed"
        splitting = chain[: len(chain) - len(of_words)]
        capitals = None
        if of_words[0]["type"] == "pattern_replace":
            capitals, of_words = CapitalWords(of_words[0]), of_words[1:]
        self.keeps_capitals = capitals is not None
        """Whether stop words in capitals, such as WHO, have terms."""
        assert of_words[0] == {"type": "lowercase"}, "`join` puts words in lower case"
        self._splitter = _build_splitter(definition, splitting, capitals)
        self._terms = _TermCache(build_token_filters(of_words), capitals)

    def terms(self, text: str) -> Terms:
        """The terms of a text, in order, with repetitions."""
        return [term for term in map(self._terms.__getitem__, self._splitter.words(text)) if term]

    def tokens(self, text: str) -> Iterator[TermToken]:
        """The terms of a text with their places, in order. Bigrams overlap."""
        for start, end, word in self._splitter.located_words(text):
            if term := self._terms[word]:
                yield TermToken(start, end, term)

    def join(self, texts: Sequence[str]) -> JoinedWords:
        """The words of all texts, the input of `term`."""
        return self._splitter.join(texts)

    def term(self, word: str) -> str:
        """The term of one of the words of a text; empty where it has none, such as a stop word."""
        return self._terms[word]


@cache
def get_analyzer(name: str) -> Analyzer:
    """The analyzer of that name. Raises UsageError with the nearest name."""
    return Analyzer(get_definition(name))


def _build_splitter(
    definition: Definition, chain: Sequence[Mapping[str, Any]], capitals: CapitalWords | None
) -> Splitter:
    """The splitter of a tokenizer and of the filters that split. Raises ValueError for what it cannot
    interpret."""
    match definition.tokenizer["type"]:
        case "simple_pattern_split":
            return PatternSplitter(definition.tokenizer["pattern"])
        case "simple_pattern":
            return WordPatternSplitter(definition.tokenizer["pattern"], definition.chain("char_filter"))
        case "standard":
            by_type = {settings["type"]: settings for settings in chain}
            (capture,) = by_type.get("pattern_capture", {}).get("patterns", [None])
            return StandardSplitter(
                definition.chain("char_filter"), "cjk_bigram" in by_type, capture, capitals
            )
        case unsupported:
            raise ValueError(f"the tokenizer {unsupported!r} is not supported")


class _TermCache(dict[str, str]):
    """Terms by word: news repeats its words."""

    def __init__(self, filters: list[WordFilter], capitals: CapitalWords | None) -> None:
        super().__init__()
        self._filters = filters
        self._capitals = capitals

    def __missing__(self, word: str) -> str:
        if len(self) > _MAX_CACHED_WORDS:
            self.clear()
        term = word if self._capitals is None else self._capitals.mark(word)
        for word_filter in self._filters:
            term = term and word_filter(term)
        self[word] = term
        return term


ONE_LANGUAGE = 0.9
"""The share of documents in one language from which its analyzer is chosen."""
_MAX_TOLD = 3


class Choice(NamedTuple):
    """An analyzer and why it was chosen."""

    analyzer: str
    reason: str


def choose_analyzer(languages: Iterable[str | None]) -> Choice:
    """The analyzer for documents in these languages, given as codes; None where a language is not known."""
    counts = Counter(map(primary_language, languages))
    unknown = counts.pop("", 0)
    known = counts.total()
    if not known:
        return Choice(DEFAULT_ANALYZER, f"no language of the first {unknown:,} documents is known")
    code, count = counts.most_common(1)[0]
    if count >= ONE_LANGUAGE * known:
        definition = analyzer_for_language(code)
        return Choice(definition.name, f"{count:,} of the first {known + unknown:,} documents are in {code}")
    parts = (f"{code} {count:,}" for code, count in counts.most_common(_MAX_TOLD))
    more = ", …" if len(counts) > _MAX_TOLD else ""
    return Choice(
        MULTILINGUAL_ANALYZER,
        f"the first {known + unknown:,} documents are in several languages: {', '.join(parts)}{more}",
    )


def primary_language(language: str | None) -> str:
    """The language of a tag such as en-GB, in lower case; empty if unknown."""
    return (language or "").strip().lower().replace("_", "-").split("-", 1)[0]


def find_misfits(languages: Mapping[str, int], definition: Definition) -> Mapping[str, int]:
    """The languages that an analyzer is not made for, with their numbers of documents.

    An analyzer of no language, as `plain` and `multilingual`, is made for all.
    """
    if not definition.languages:
        return {}
    return {code: n for code, n in languages.items() if code and code not in definition.languages}


LONG_SENTENCE = 100
"""A sentence with more terms was probably not split."""
FREQUENT_SHARE = 1 / 3
"""A term in a greater share of all sentences costs time and ranks nothing: it could be a stop word."""
MAX_FREQUENT = 10


class TermSurvey(Struct, frozen=True):
    """Counts of sentences: all, those without a term, those with more than LONG_SENTENCE, and the most
    frequent of the terms that stand in more than FREQUENT_SHARE of them."""

    sentences: int
    without_terms: int
    long: int
    frequent_terms: Sequence[str]

    def notes(self) -> list[str]:
        """What is worth a line in a report."""
        notes = []
        if self.without_terms:
            notes.append(f"{self.without_terms:,} sentences have no term: no search finds them")
        if self.long:
            notes.append(
                f"{self.long:,} sentences have more than {LONG_SENTENCE} terms: were they split as their "
                "language needs? See docs/loading.md"
            )
        if self.frequent_terms:
            notes.append(
                f"terms in more than a third of all sentences: {', '.join(self.frequent_terms)}: "
                "does the analyzer fit the language? See esr analyzers"
            )
        return notes


class TermCounter:
    """Counts the terms of sentences one after the other, for collections that no index has."""

    def __init__(self) -> None:
        self._sentences = self._without_terms = self._long = 0
        self._frequency: Counter[str] = Counter()

    def add(self, terms: Sequence[str]) -> None:
        """Count a sentence."""
        self._sentences += 1
        self._without_terms += not terms
        self._long += len(terms) > LONG_SENTENCE
        self._frequency.update(set(terms))

    def survey(self) -> TermSurvey:
        frequent = most_frequent(self._frequency.items(), self._sentences)
        return TermSurvey(self._sentences, self._without_terms, self._long, frequent)


def most_frequent(frequencies: Iterable[tuple[str, int]], sentences: int) -> list[str]:
    """The terms in more than FREQUENT_SHARE of the sentences, most frequent first, at most MAX_FREQUENT."""
    frequent = [(term, count) for term, count in frequencies if count > FREQUENT_SHARE * sentences]
    return [term for term, _ in sorted(frequent, key=lambda each: (-each[1], each[0]))[:MAX_FREQUENT]]
