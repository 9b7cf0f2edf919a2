"""The analyzers, read from the definitions that Elasticsearch gets.

The files of `index_templates/analyzers/` are the only definitions. This package interprets the parts of
them that esr uses: character filters, a tokenizer and a chain of token filters. Tests send text in many
scripts through both interpreters and find no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from esr.analysis import definitions
from esr.analysis.definitions import Definition
from esr.analysis.token_filters import WordFilter, build_token_filters
from esr.analysis.word_splitting import (
    CapitalWords,
    JoinedWords,
    PatternSplitter,
    Splitter,
    StandardSplitter,
    WordPatternSplitter,
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
def get(name: str) -> Analyzer:
    """The analyzer of that name. Raises UsageError with the nearest name."""
    return Analyzer(definitions.get(name))


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
