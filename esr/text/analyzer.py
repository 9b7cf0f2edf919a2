"""Analyzers: text to terms, the same in Python and in Elasticsearch.

The files of `index_templates/analyzers/` are the only definitions; `shared.json` has common parts. This
module interprets the subset that esr uses: character filters, a tokenizer and a chain of token filters. Tests
compare both interpreters on text in many scripts. The module also detects the language of a text, chooses the
analyzer for the language of a collection, checks the choice by a survey of the terms, and finds the words of
a text that have given terms.

An index by language analyses each document by its language. Its terms begin with a mark, as in `de|regier`,
so that terms of two languages are never equal.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import category

from msgspec import Struct

from esr import resources
from esr.errors import UsageError, unknown
from esr.text.token_filters import WordFilter, build_token_filters
from esr.text.tokenizer import (
    CapitalWords,
    JoinedWords,
    PatternSplitter,
    Splitter,
    StandardSplitter,
    WordPatternSplitter,
)
from esr.wording import count, list_examples

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Definitions

FOLDER = "analyzers"
SHARED = "shared"
WORDS_ANALYZER = "words"
"""The analyzer of written words. Every index has it in addition to its own, by a component template."""
DEFAULT_ANALYZER = "english-stem"
MULTILINGUAL_ANALYZER = "multilingual"
BY_LANGUAGE = "by-language"
"""The name for the analyzers of each document's language: `by-language:de` for German."""
UNKNOWN_LANGUAGE = "und"
"""The code of documents whose language is not known."""
_MARK = "|"
"""Separates the code of a language from a term. No term contains it, since it separates words."""
_NAMED = ":"
"""Separates the name of the analyzers by language from the code of a language."""
_PARTS = ("char_filter", "tokenizer", "filter")


class Definition(Struct, frozen=True):
    """An analyzer as data. `languages` are ISO 639-1 codes; `example` is a text that shows what it does."""

    name: str
    description: str
    languages: Sequence[str]
    version: int
    example: str
    settings: Mapping[str, Mapping[str, Any]]
    """Its part of the settings `index.analysis`: components by kind and name, and the analyzer itself."""

    def chain(self, kind: str) -> list[Mapping[str, Any]]:
        """The settings of its components of one kind, char_filter or filter, in order."""
        return [self._part(kind, name) for name in self._analyzer.get(kind, ())]

    @property
    def tokenizer(self) -> Mapping[str, Any]:
        return self._part("tokenizer", self._analyzer["tokenizer"])

    @property
    def _analyzer(self) -> Mapping[str, Any]:
        analyzer: Mapping[str, Any] = self.settings["analyzer"][self.name]
        return analyzer

    def _part(self, kind: str, name: str) -> Mapping[str, Any]:
        """A component from the file, or one built into Elasticsearch."""
        part: Mapping[str, Any] = self.settings[kind].get(name, {"type": name})
        return part


@cache
def all_definitions() -> Mapping[str, Definition]:
    """All definitions by name. Those for the default language and for all languages come first."""
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
    """Return the definition of that name. Raises UsageError with the nearest name."""
    if name == WORDS_ANALYZER:
        return _words()
    if name == BY_LANGUAGE:
        return _by_language()
    if name.startswith(BY_LANGUAGE + _NAMED):
        return analyzer_for_language(language_group(name.partition(_NAMED)[2]))
    if name not in _names():
        raise unknown("analyzer", name, [*all_definitions(), BY_LANGUAGE])
    return _read(name)


def analyzer_for_language(code: str) -> Definition:
    """The definition for a language, or else `multilingual`."""
    made = (definition for definition in all_definitions().values() if code in definition.languages)
    return next(made, all_definitions()[MULTILINGUAL_ANALYZER])


@lru_cache(1024)
def language_group(language: str | None) -> str:
    """The code of the language whose terms a document in this language has in an index by language.

    Languages that share an analyzer, such as nb and nn, have the same terms.
    """
    code = primary_language(language)
    if not (code.isascii() and code.isalpha()):
        return UNKNOWN_LANGUAGE
    return next(iter(analyzer_for_language(code).languages), code)


def is_marked(term: str) -> bool:
    """Whether a term is of an index by language."""
    return _MARK in term


def language_of_term(term: str) -> str:
    """The language that marks a term of an index by language."""
    return term.partition(_MARK)[0]


@cache
def _by_language() -> Definition:
    """The definition for all languages. Its settings are for fields whose terms esr does not count."""
    multilingual = all_definitions()[MULTILINGUAL_ANALYZER]
    analyzers = {BY_LANGUAGE: multilingual.settings["analyzer"][MULTILINGUAL_ANALYZER]}
    return Definition(
        BY_LANGUAGE,
        "the analyzer of each document's language, with terms separated by language",
        (),
        sum(definition.version for definition in all_definitions().values()),
        multilingual.example,
        {**multilingual.settings, "analyzer": analyzers},
    )


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


# Analyzers

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
        self.name = f"{BY_LANGUAGE}{_NAMED}{language}" if language else definition.name
        self.version = definition.version
        self.mark = language and language + _MARK
        """The prefix of all terms."""
        chain = definition.chain("filter")
        of_words = [settings for settings in chain if settings["type"] not in _SPLITTING]
        assert chain[len(chain) - len(of_words) :] == of_words, "words are split before they are changed"
        splitting = chain[: len(chain) - len(of_words)]
        capitals = None
        if of_words[0]["type"] == "pattern_replace":
            capitals, of_words = CapitalWords(of_words[0]), of_words[1:]
        self.keeps_capitals = capitals is not None
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
        self.name, self.version, self.mark = definition.name, definition.version, ""

    def for_language(self, language: str | None) -> Analyzer:
        return get_analyzer(f"{BY_LANGUAGE}{_NAMED}{language_group(language)}")

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
    definition, language = get_definition(name), name.partition(_NAMED)[2]
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


# The language of a text, by py3langid (4 MB, 0.1 ms a text)

# Below these, a detected language is not reliable enough to be used.
MIN_LETTERS = 40
_MIN_PROBABILITY = 0.9
MAX_CHARACTERS = 5_000


def detect_language(texts: Iterable[str]) -> str | None:
    """The language of texts as an ISO 639-1 code; None for too few letters or an uncertain language."""
    text = abridge(texts)
    if sum(map(str.isalpha, text)) < MIN_LETTERS:
        return None
    language, probability = _read_model().classify(text.encode(errors="ignore").decode())
    return str(language) if probability >= _MIN_PROBABILITY else None


def abridge(texts: Iterable[str]) -> str:
    """The part of the texts that detection uses, as one line."""
    return " ".join(" ".join(_take_enough(texts)).split())[:MAX_CHARACTERS]


@cache
def _read_model() -> LanguageIdentifier:
    """The model. Reading it takes half a second, so it is not read for documents with languages."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _take_enough(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts, as many as detection uses."""
    length = 0
    for text in texts:
        yield text
        length += len(text)
        if length > MAX_CHARACTERS:
            return


# The choice of an analyzer

ONE_LANGUAGE = 0.9
"""If a greater share of documents is in one language, the analyzer of that language is chosen."""
_MAX_TOLD = 3


class Choice(NamedTuple):
    """An analyzer, and why it was chosen."""

    analyzer: str
    reason: str


def choose_analyzer(languages: Iterable[str | None], sample: str = "first") -> Choice:
    """Choose an analyzer for documents in these languages: codes, or None if unknown.

    `sample` describes in the reason which documents these are.
    """
    counts = Counter(map(primary_language, languages))
    unknown = counts.pop("", 0)
    known = counts.total()
    total = known + unknown
    if not known:
        what = (
            f"no language of the {sample} {total:,} documents"
            if total != 1
            else "no language of the document"
        )
        return Choice(DEFAULT_ANALYZER, f"{what} is known")
    code, most = counts.most_common(1)[0]
    if most >= ONE_LANGUAGE * known:
        what = f"{most:,} of the {sample} {total:,} documents are" if total != 1 else "the document is"
        return Choice(analyzer_for_language(code).name, f"{what} in {code:.60}")
    parts = list_examples([f"{code:.60} {n:,}" for code, n in counts.most_common()], _MAX_TOLD)
    return Choice(
        MULTILINGUAL_ANALYZER,
        f"the {sample} {total:,} documents are in several languages: {parts}",
    )


def primary_language(language: str | None) -> str:
    """The language of a tag such as en-GB, in lower case; empty if unknown."""
    return (language or "").strip().lower().replace("_", "-").split("-", 1)[0]


def find_misfits(languages: Mapping[str, int], definition: Definition) -> Mapping[str, int]:
    """The languages that an analyzer does not fit, with their numbers of documents.

    An analyzer without languages, such as `plain` and `multilingual`, fits all.
    """
    if not definition.languages:
        return {}
    return {code: n for code, n in languages.items() if code and code not in definition.languages}


# Surveys of terms

LONG_SENTENCE = 100
"""A sentence with more terms was probably split wrongly."""
FREQUENT_SHARE = 1 / 3
"""A term in a greater share of sentences costs time and hardly affects ranking: it may be a stop word."""
MAX_FREQUENT = 10
_FEW_SENTENCES = 5
"""Minimum number of sentences for frequent terms: in fewer, most terms are in a third of the sentences."""


class TermSurvey(Struct, frozen=True):
    """Numbers of all sentences, of those without a term, and of those longer than LONG_SENTENCE.

    `frequent_terms` are the most frequent terms in more than FREQUENT_SHARE of the sentences.
    """

    sentences: int
    without_terms: int
    long: int
    frequent_terms: Sequence[str]

    def notes(self) -> list[str]:
        """Remarks for a report."""
        notes = []
        if self.without_terms:
            notes.append(f"{count(self.without_terms, 'sentence', 'have')} no term: no search finds them")
        if self.long:
            notes.append(
                f"{count(self.long, 'sentence', 'have')} more than {LONG_SENTENCE} terms: were they split as "
                "their language needs? See docs/sentences.md"
            )
        if self.frequent_terms and self.sentences >= _FEW_SENTENCES:
            notes.append(
                f"terms in more than a third of all sentences: {', '.join(self.frequent_terms)}: "
                "does the analyzer fit the language? See esr analyzers"
            )
        return notes


class TermCounter:
    """Counts the terms of sentences, one at a time, for collections that are not indexed."""

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
    frequent = [(term, n) for term, n in frequencies if n > FREQUENT_SHARE * sentences]
    return [term for term, _ in sorted(frequent, key=lambda each: (-each[1], each[0]))[:MAX_FREQUENT]]


# The words of a text that have given terms: their spans, and their spelling


_STACKING = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d\u1039\u17d2\u1a60"
"""Signs that join the adjacent consonants, in Indic scripts, Burmese, Khmer and Tai Tham."""


class Span(NamedTuple):
    """A piece of a text."""

    start: int
    end: int


def word_span(text: str, token: TermToken) -> Span:
    """The span of a token's word as a reader sees it.

    It includes the last period of a dotted acronym, which no term has, and the whole of a letter that an
    analyzer splits, such as its accents or a stack of consonants.
    """
    start, end, _ = token
    if not text.isascii():
        while start > 0 and text[start - 1] in _STACKING:
            start -= 2
        while end < len(text) and (text[end - 1] in _STACKING or category(text[end])[0] == "M"):
            end += 1
    is_acronym = end - start > 2 and text[end - 2] == "." and text[end - 1].isalpha()
    return Span(max(start, 0), end + 1 if is_acronym and text.startswith(".", end) else end)


def find_spans(text: str, tokens: Iterable[TermToken], terms: Container[str]) -> list[Span]:
    """The spans of words with one of these terms, in order. Consecutive bigrams share one span."""
    spans: list[Span] = []
    for token in tokens:
        if token.term not in terms:
            continue
        span = word_span(text, token)
        if spans and span.start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(span.end, spans[-1].end))
        else:
            spans.append(span)
    return spans


def words_by_term(analyzer: Analyzer, text: str) -> Mapping[str, str]:
    """The first word, as written, of each term of a text."""
    words: dict[str, str] = {}
    for token in analyzer.tokens(text):
        start, end = word_span(text, token)
        words.setdefault(token.term, text[start:end])
    return words


def words_of_terms(analyzer: Analyzer, text: str, terms: Container[str]) -> tuple[str, ...]:
    """The distinct words of a text with one of these terms, as written.

    Of overlapping bigrams, only the characters in no other term are returned, and only if they form a bigram:
    a bigram across two words is not a word.
    """
    tokens = list(analyzer.tokens(text))
    matching = [token for token in tokens if token.term in terms]
    covered = find_spans(text, tokens, {token.term for token in tokens if token.term not in terms})
    pieces = [
        Span(start, end)
        for span in find_spans(text, tokens, terms)
        for start, end in _subtract(span, covered)
        if any(start <= token.start and token.end <= end for token in matching)
    ]
    return tuple(dict.fromkeys(text[start:end] for start, end in pieces))


def _subtract(span: Span, covered: Iterable[Span]) -> Iterable[Span]:
    """The parts of a span that no other span covers."""
    start = span.start
    for other in covered:
        if start < other.start < span.end:
            yield Span(start, other.start)
        if other.start < span.end:
            start = max(start, other.end)
    if start < span.end:
        yield Span(start, span.end)
