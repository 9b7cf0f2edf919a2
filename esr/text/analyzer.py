"""Analyzers: text to terms, the same in Python and in Elasticsearch.

This module interprets the subset of analyzer definitions that esr uses: character filters, a tokenizer and a
chain of token filters. Tests compare both interpreters on text in many scripts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from esr.errors import UsageError
from esr.text.analysis.token_filters import WordFilter, build_token_filters
from esr.text.analysis.word_splitters import (
    CapitalWords,
    JoinedWords,
    PatternSplitter,
    Splitter,
    StandardSplitter,
    WordPatternSplitter,
)
from esr.text.analyzer_definitions import (
    BY_LANGUAGE,
    LANGUAGE_MARK,
    LANGUAGE_SEPARATOR,
    Definition,
    get_definition,
    language_group,
)

Terms = list[str]
_MAX_CACHED_WORDS = 500_000
_MAX_CACHED_CHUNKS, _LONGEST_CACHED_CHUNK = 100_000, 40
_LONGEST_MARKED = {"type": "length", "min": 1, "max": 255}
"""Limits the length of marked terms, since Elasticsearch would split longer ones."""
_SPLITTING = ("cjk_bigram", "pattern_capture")
"""Filters that split a word or join two words. They come first in the chain."""


class TermToken(NamedTuple):
    """A term, with the position of its word in the text."""

    start: int
    end: int
    term: str


class Analyzer:
    """Turns text into terms. Get one from `get_analyzer`; threads may share it."""

    def __init__(self, definition: Definition, language: str = "") -> None:
        """`language` marks all terms, unless empty."""
        self.name: str = f"{BY_LANGUAGE}{LANGUAGE_SEPARATOR}{language}" if language else definition.name
        self.version: int = definition.version
        self.mark: str = language and language + LANGUAGE_MARK
        """The prefix of all terms."""
        self.accents: str = definition.accents
        """The letters that people type without their accents, and that may make a difference to terms."""
        chain = definition.chain("filter")
        of_words = [settings for settings in chain if settings["type"] not in _SPLITTING]
        assert chain[len(chain) - len(of_words) :] == of_words, "words are split before they are changed"
        splitting = chain[: len(chain) - len(of_words)]
        capitals = None
        if of_words[0]["type"] == "pattern_replace":
            capitals, of_words = CapitalWords(of_words[0]), of_words[1:]
        self.keeps_capitals: bool = capitals is not None
        """Whether stop words in capitals, such as WHO, keep their terms."""
        assert of_words[0] == {"type": "lowercase"}, "`join` puts words in lower case"
        self._splitter = _build_splitter(definition, splitting, capitals)
        filters = build_token_filters(of_words)
        if language:
            filters += [self.mark.__add__, *build_token_filters([_LONGEST_MARKED])]
        self._terms = _TermCache(filters, capitals)
        self._chunks = _ChunkCache(self._find_terms)

    def for_language(self, language: str | None) -> Analyzer:
        """The analyzer of documents in this language: this one, unless it is `by-language`."""
        return self

    def terms(self, text: str) -> Terms:
        """The terms of a text, in order, with repetitions."""
        return list(itertools.chain.from_iterable(self.terms_of_chunks(text.split(" "))))

    def terms_of_chunks(self, chunks: Iterable[str]) -> Iterator[Sequence[str]]:
        """Yield the terms of each chunk of a text. Chunks are separated by blanks."""
        return map(self._chunks.__getitem__, chunks)

    def _find_terms(self, chunk: str) -> Sequence[str]:
        return tuple(term for term in map(self._terms.__getitem__, self._splitter.words(chunk)) if term)

    def tokens(self, text: str) -> Iterator[TermToken]:
        """Yield the terms of a text in order, with positions. Bigrams overlap."""
        for start, end, word in self._splitter.located_words(text):
            if term := self._terms[word]:
                yield TermToken(start, end, term)

    def join(self, texts: Sequence[str]) -> JoinedWords:
        """Join the words of all texts, as input of `term`."""
        return self._splitter.join(texts)

    def term(self, word: str) -> str:
        """The term of a word of a text; empty if it has none, such as a stop word."""
        return self._terms[word]


class AnalyzerByLanguage(Analyzer):
    """Represents the analyzers of all languages. Raises UsageError for terms without a language."""

    def __init__(self, definition: Definition) -> None:
        self.name: str = definition.name
        self.version: int = definition.version
        self.mark: str = ""
        self.accents: str = ""

    def for_language(self, language: str | None) -> Analyzer:
        return get_analyzer(f"{BY_LANGUAGE}{LANGUAGE_SEPARATOR}{language_group(language)}")

    def __getattr__(self, name: str) -> Any:
        if name in ("_splitter", "_terms", "_chunks", "keeps_capitals"):
            raise UsageError(
                "this index has an analyzer for each language, so this needs a language: name one with "
                "--query-language, such as --query-language de"
            )
        raise AttributeError(name)


@cache
def get_analyzer(name: str) -> Analyzer:
    """Return the analyzer of that name. Raises UsageError with the nearest name."""
    definition, language = get_definition(name), name.partition(LANGUAGE_SEPARATOR)[2]
    if name == BY_LANGUAGE:
        return AnalyzerByLanguage(definition)
    return Analyzer(definition, language and language_group(language))


def _build_splitter(
    definition: Definition, chain: Sequence[Mapping[str, Any]], capitals: CapitalWords | None
) -> Splitter:
    """Build the splitter of a tokenizer and its splitting filters. Raises ValueError for unsupported ones."""
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


class _ChunkCache(dict[str, Sequence[str]]):
    """The terms of chunks of text, which are separated by blanks.

    No word contains a blank, so chunks can be analysed one by one, and news repeats them. Long chunks are not
    cached: they are clauses in a script without blanks.
    """

    def __init__(self, find_terms: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._find_terms = find_terms

    def __missing__(self, chunk: str) -> Sequence[str]:
        terms = self._find_terms(chunk)
        if len(chunk) <= _LONGEST_CACHED_CHUNK:
            if len(self) >= _MAX_CACHED_CHUNKS:
                self.clear()
            self[chunk] = terms
        return terms


class _TermCache(dict[str, str]):
    """Terms by word, cached because news repeats words."""

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
