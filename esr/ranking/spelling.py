"""Corrections ("did you mean"): words of the collection for words of a query that hardly any sentence has.

As in a noisy channel (Kernighan, Church & Gale 1990), a candidate's score is the logarithm of its number
of sentences minus a cost for each edit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from msgspec import Struct

from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.questions import SimilarWords, TermHolders, WrittenForms
from esr.plans.plan import HasWords
from esr.query.interpretation import terms_of_word
from esr.query.query import TEXT
from esr.ranking.prepared_query import PreparedQuery
from esr.stdlib import import_lazily
from esr.text.analyzer import Analyzer, TermToken, get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER

if TYPE_CHECKING:
    from rapidfuzz.distance import OSA
else:
    OSA = import_lazily("rapidfuzz.distance.OSA")


RARE = 3
"""Maximum number of sentences of a word that is likely a slip, in the query or in the collection."""
MUCH_RARER = 300
"""The ratio of sentences that an alternative needs to a word of the query that is not rare."""
MAX_SUGGESTED, MAX_LISTED = 3, 4
"""Maximum number of alternatives of a word, and of words in a query that get alternatives."""
_RARER = 10
"""The minimum ratio of sentences that an alternative needs to a rare word."""
_CHANCE = 35.0
"""Divided by a word's length, the logarithm of the ratio of sentences that an alternative needs.

Short words resemble others by chance: with 5 letters the ratio is 1,100, with 9 letters 50.
"""
_MORE_OFTEN = 3
"""The ratio of occurrences that a word needs to one that stands less often beside the same word."""
_MOST = 100
"""Number of sentences above which a word gets no suggestions."""
_SHORTEST = 3
"""Minimum number of letters of a word that gets suggestions."""
SHORT_WORD = 4
"""Words of up to this many letters are corrected by one edit, since two could turn them into any word."""
_LONG = 7
"""Minimum number of letters of the longer of two words that are two edits apart."""
_EDIT_COST, _FIRST_LETTER_COST = 5.0, 1.5
"""Cost of an edit, and additional cost for the first letter, which is seldom wrong."""
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 14, 40
"""Size of the cache of clauses' words, and the maximum length of its clauses: queries repeat words."""
_COUNTED = 12
"""Maximum number of alternatives whose exact number of sentences is counted."""


class WordCount(NamedTuple):
    """A word in its usual spelling, and its number of sentences."""

    text: str
    sentences: int


class Suggestion(Struct, frozen=True):
    """Words that may be meant by a word of a query, best first.

    The word is at `start` to `end` of the query; `queries` has the query with each of the alternatives.
    """

    word: str
    start: int
    end: int
    alternatives: tuple[WordCount, ...]
    queries: tuple[str, ...]

    def as_dict(self) -> Mapping[str, Any]:
        """The suggestion as JSON."""
        alternatives = [
            {**alternative._asdict(), "query": query}
            for alternative, query in zip(self.alternatives, self.queries, strict=True)
        ]
        return {"word": self.word, "start": self.start, "end": self.end, "alternatives": alternatives}


def suggest(prepared: PreparedQuery) -> tuple[Suggestion, ...]:
    """Suggest corrections for the words of a query that hardly any sentence has."""
    text = prepared.interpretation.parsed.text
    suggestions = []
    for token, sentences in _rare_words(prepared):
        similar = find_alternatives(prepared, token.term, sentences)
        if alternatives := similar or find_usual_neighbours(prepared, token, sentences):
            queries = tuple(text[: token.start] + word.text + text[token.end :] for word in alternatives)
            word = text[token.start : token.end]
            suggestions.append(Suggestion(word, token.start, token.end, alternatives, queries))
        if len(suggestions) == MAX_LISTED:
            break
    return tuple(suggestions)


def correct(text: str, suggestions: Sequence[Suggestion]) -> str | None:
    """The query with the best alternative of each suggestion, or None without suggestions."""
    if not suggestions:
        return None
    for suggestion in sorted(suggestions, key=lambda suggestion: suggestion.start, reverse=True):
        text = text[: suggestion.start] + suggestion.alternatives[0].text + text[suggestion.end :]
    return text


def find_alternatives(prepared: PreparedQuery, word: str, sentences: int) -> tuple[WordCount, ...]:
    """Find words that may be meant by `word`, which occurs in this number of sentences.

    Both are words as the analyzer `words` returns them.
    """
    index = prepared.index
    least = _least_sentences(word, sentences)
    # A word has at least as many occurrences as sentences.
    similar = index.vocabulary(
        SimilarWords(word, 2 if not sentences and len(word) > SHORT_WORD else 1, least)
    )
    own_terms = terms_of_word(word, index.analyzer)
    similar = {o: n for o, n in similar.items() if _may_be_meant(word, o, own_terms, index.analyzer)}
    if not similar:
        return ()
    likeliest = sorted(similar, key=lambda other: (-score_alternative(word, other, similar[other]), other))[
        :_COUNTED
    ]
    counts = index.count([HasWords((other,)) for other in likeliest], NO_FILTERS)
    exact = {other: count for other, count in zip(likeliest, counts, strict=True) if count >= least}
    best = sorted(exact, key=lambda other: (-score_alternative(word, other, exact[other]), other))[
        :MAX_SUGGESTED
    ]
    return _write_searchable(index, [WordCount(other, exact[other]) for other in best])


def find_usual_neighbours(prepared: PreparedQuery, token: TermToken, sentences: int) -> tuple[WordCount, ...]:
    """Find words one edit away that stand beside the same word far more often: Theresa, for Teresa May.

    So a misspelling is found that a few documents share, and that is too frequent for a slip by itself.
    """
    words = list(_locate_words(prepared.interpretation.parsed.text))
    place = next((n for n, word in enumerate(words) if word.start == token.start), None)
    if place is None:
        return ()
    text, index = prepared.interpretation.parsed.text, prepared.index
    after, before = words[place + 1 : place + 2], words[place - 1 : place]
    beside = [
        (*(word.term for word in before_it), None, *(word.term for word in after_it))
        for before_it, after_it in ((before, ()), ((), after))
        if (before_it and not text[before_it[0].end : token.start].strip(" "))
        or (after_it and not text[token.end : after_it[0].start].strip(" "))
    ]
    similar = index.vocabulary(SimilarWords(token.term, 1, _MORE_OFTEN * max(1, sentences))) if beside else {}
    own_terms = terms_of_word(token.term, index.analyzer)
    others = [other for other in similar if _may_be_meant(token.term, other, own_terms, index.analyzer)]
    candidates = sorted(others, key=lambda other: (-similar[other], other))[:_COUNTED]
    pairs = [
        tuple(neighbour or word for neighbour in pair)
        for pair in beside
        for word in (token.term, *candidates)
    ]
    if not candidates:
        return ()
    counts = iter(index.count([HasWords(pair) for pair in pairs], NO_FILTERS))
    best: dict[str, int] = {}
    for _ in beside:
        term_count = next(counts)
        for word in candidates:
            if (count := next(counts)) >= _RARER * max(1, term_count):
                best[word] = max(best.get(word, 0), count)
    chosen = sorted(best, key=lambda word: (-best[word], word))[:MAX_SUGGESTED]
    if not chosen:
        return ()
    numbers = index.count([HasWords((word,)) for word in chosen], NO_FILTERS)
    return _write_searchable(index, list(map(WordCount, chosen, numbers)))[:1]


def _write_searchable(index: Index, words: Sequence[WordCount]) -> tuple[WordCount, ...]:
    """The words whose terms sentences have, in their usual spelling.

    An analyzer may remove or join what the analyzer `words` takes for a word, such as the end of *Ankara'nın*
    in Turkish.
    """
    if not words:
        return ()
    forms = index.vocabulary(WrittenForms([word.text for word in words]))
    return tuple(
        WordCount(form, word.sentences)
        for form, word, holders in zip(forms, words, count_holders(index, forms), strict=True)
        if holders is not None and _RARER * holders >= word.sentences
    )


def count_holders(index: Index, words: Sequence[str]) -> list[int | None]:
    """The number of sentences with the rarest term of each word; None for a word without terms."""
    terms = [terms_of_word(word, index.analyzer) for word in words]
    holders = index.vocabulary(TermHolders(sorted({term for of_word in terms for term in of_word})))
    return [min((holders[term] for term in of_word), default=None) for of_word in terms]


def _rare_words(prepared: PreparedQuery) -> Iterator[tuple[TermToken, int]]:
    """Yield the words of a query that may be slips, and their numbers of sentences."""
    parsed, analyzer = prepared.interpretation.parsed, prepared.index.analyzer
    statistics = prepared.statistics.terms
    for group in parsed.groups:
        for clause in group.alternatives:
            if group.role == "excluded" or clause.field != TEXT or clause.form == "prefix":
                continue
            typed = parsed.text[clause.start : clause.end]
            for start, end, word in _locate_words(typed):
                as_typed = terms_of_word(normalize("NFC", typed[start:end]), analyzer)
                terms = next(
                    (t for t in (as_typed, terms_of_word(word, analyzer)) if {*t} & {*statistics}), ()
                )
                sentences = statistics[terms[0]].sf if len(terms) == 1 else None
                if len(word) >= _SHORTEST and sentences is not None and sentences <= _MOST:
                    yield TermToken(start + clause.start, end + clause.start, word), sentences


def _locate_words(text: str) -> Sequence[TermToken]:
    """The words of a clause, with positions in the clause."""
    return (
        _recall_words(text)
        if len(text) <= _LONGEST_REMEMBERED
        else list(get_analyzer(WORDS_ANALYZER).tokens(text))
    )


@lru_cache(_REMEMBERED)
def _recall_words(text: str) -> Sequence[TermToken]:
    return tuple(get_analyzer(WORDS_ANALYZER).tokens(text))


def _least_sentences(word: str, sentences: int) -> int:
    """The minimum number of sentences of an alternative to a word with this number of sentences."""
    if not sentences:
        return RARE
    times = max(_RARER if sentences <= RARE else MUCH_RARER, math.exp(_CHANCE / len(word)))
    return math.ceil(times * sentences)


def _may_be_meant(word: str, other: str, own_terms: Sequence[str], analyzer: Analyzer) -> bool:
    """Whether another word may be meant: not a stop word, not a form of the same word, not too different."""
    terms = terms_of_word(other, analyzer)
    return bool(terms) and terms != own_terms and is_near(word, other)


def is_near(word: str, other: str) -> bool:
    return max(len(word), len(other)) >= _LONG or _count_edits(word, other) < 2


def score_alternative(word: str, other: str, count: int) -> float:
    cost = _EDIT_COST * _count_edits(word, other) + _FIRST_LETTER_COST * (word[0] != other[0])
    return math.log(max(count, 1)) - cost


def _count_edits(word: str, other: str) -> int:
    return OSA.distance(word, other)
