"""Did you mean: words of the collection in place of those that hardly any sentence has.

Of the words within an edit or two, one is the better the more sentences have it and the fewer edits it takes:
the logarithm of the former less a cost for each of the latter, as for a noisy channel (Kernighan, Church &
Gale 1990).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

from esr import analysis
from esr.analysis import Analyzer
from esr.analysis.analyzer import TermToken
from esr.analysis.definitions import WORDS
from esr.engines.index import NO_FILTERS
from esr.plans.condition import HasWords
from esr.queries.fields import TEXT
from esr.queries.interpretation import terms_of_word
from esr.ranking.prepared_query import PreparedQuery

RARE = 3
"""Sentences up to which a word may be a slip, in the query or in the collection."""
MUCH_RARER = 300
"""A word that so many times more sentences have is suggested for others too, if it is one edit away."""
MAX_SUGGESTED, MAX_LISTED = 3, 4
"""Alternatives of a word, and words of a query that get some."""
_RARER = 10
"""How many times more sentences an alternative has at least to a word of few sentences."""
_CHANCE = 35.0
"""Divided by the letters of a word, the logarithm of how many times more sentences an alternative to it has.

Short words are like others by chance: with 5 letters it must have 1,100 times as many, with 9 letters 50.
"""
_MOST = 100
"""Sentences up to which a word is looked at."""
_SHORTEST = 3
"""Letters of the shortest word that is looked at."""
_SHORT = 4
"""Letters up to which a word has one edit: with two, it might be any other."""
_LONG = 7
"""Letters that one of two words needs where two edits lie between them."""
_EDIT_COST, _FIRST_LETTER_COST = 5.0, 1.5
"""Slips are seldom in the first letter."""
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 14, 40
"""Clauses whose words are not looked for again, and their characters: queries repeat words."""
_COUNTED = 12
"""Alternatives whose sentences are counted."""


class WordCount(NamedTuple):
    """A word as people write it, and how many sentences have it."""

    text: str
    sentences: int


class Suggestion(Struct, frozen=True):
    """Words that may have been meant by one of a query, the best first.

    The word stands from `start` to `end` in the query; `queries` are the query with each of the alternatives.
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
    """Suggestions for the words of a query that no sentence has, or hardly any."""
    text = prepared.interpretation.parsed.text
    suggestions = []
    for token, sentences in _rare_words(prepared):
        alternatives = find_alternatives(prepared, token.term, sentences)
        if alternatives:
            queries = tuple(text[: token.start] + word.text + text[token.end :] for word in alternatives)
            word = text[token.start : token.end]
            suggestions.append(Suggestion(word, token.start, token.end, alternatives, queries))
        if len(suggestions) == MAX_LISTED:
            break
    return tuple(suggestions)


def correct(text: str, suggestions: Sequence[Suggestion]) -> str | None:
    """The query with the best alternative of each misspelt word; None if all are spelt right."""
    if not suggestions:
        return None
    for suggestion in sorted(suggestions, key=lambda suggestion: suggestion.start, reverse=True):
        text = text[: suggestion.start] + suggestion.alternatives[0].text + text[suggestion.end :]
    return text


def find_alternatives(prepared: PreparedQuery, word: str, sentences: int) -> tuple[WordCount, ...]:
    """The words that may be meant by one that so many sentences have, given as the analyzer `words` does."""
    index = prepared.index
    least = _least_sentences(word, sentences)
    # A word occurs at least as often as there are sentences that have it.
    similar = index.similar_words(word, _most_edits(word, sentences), least)
    own_terms = terms_of_word(word, index.analyzer)
    similar = {o: n for o, n in similar.items() if _may_be_meant(word, o, own_terms, index.analyzer)}
    if not similar:
        return ()
    likeliest = sorted(similar, key=lambda other: (-_score(word, other, similar[other]), other))[:_COUNTED]
    counts = index.count([HasWords((other,)) for other in likeliest], NO_FILTERS)
    exact = {other: count for other, count in zip(likeliest, counts, strict=True) if count >= least}
    best = sorted(exact, key=lambda other: (-_score(word, other, exact[other]), other))[:MAX_SUGGESTED]
    if not best:
        return ()
    forms = index.written_forms(best)
    return tuple(WordCount(form, exact[other]) for form, other in zip(forms, best, strict=True))


def _rare_words(prepared: PreparedQuery) -> Iterator[tuple[TermToken, int]]:
    """The words of a query that may be slips, and how many sentences have each."""
    parsed, analyzer = prepared.interpretation.parsed, prepared.index.analyzer
    statistics = prepared.statistics.terms
    for group in parsed.groups:
        for clause in group.alternatives:
            if group.role == "excluded" or clause.field != TEXT or clause.form == "prefix":
                continue
            for start, end, word in _locate_words(parsed.text[clause.start : clause.end]):
                terms = terms_of_word(word, analyzer)
                sentences = statistics[terms[0]].sf if len(terms) == 1 and terms[0] in statistics else None
                if len(word) >= _SHORTEST and sentences is not None and sentences <= _MOST:
                    yield TermToken(start + clause.start, end + clause.start, word), sentences


def _locate_words(text: str) -> Sequence[TermToken]:
    """The words of a clause with their places in it."""
    return _recall_words(text) if len(text) <= _LONGEST_REMEMBERED else list(analysis.get(WORDS).tokens(text))


@lru_cache(_REMEMBERED)
def _recall_words(text: str) -> Sequence[TermToken]:
    return tuple(analysis.get(WORDS).tokens(text))


def _most_edits(word: str, sentences: int) -> int:
    """How many edits there may be from a word that so many sentences have to what was meant."""
    return 2 if not sentences and len(word) > _SHORT else 1


def _least_sentences(word: str, sentences: int) -> int:
    """How many sentences must have an alternative to a word that so many have."""
    if not sentences:
        return RARE
    times = max(_RARER if sentences <= RARE else MUCH_RARER, math.exp(_CHANCE / len(word)))
    return math.ceil(times * sentences)


def _may_be_meant(word: str, other: str, own_terms: Sequence[str], analyzer: Analyzer) -> bool:
    """Whether another word may be meant: no stop word, no form of the same word, and not too different."""
    terms = terms_of_word(other, analyzer)
    is_near = max(len(word), len(other)) >= _LONG or _count_edits(word, other) < 2
    return bool(terms) and terms != own_terms and is_near


def _score(word: str, other: str, count: int) -> float:
    cost = _EDIT_COST * _count_edits(word, other) + _FIRST_LETTER_COST * (word[0] != other[0])
    return math.log(max(count, 1)) - cost


def _count_edits(word: str, other: str) -> int:
    from rapidfuzz.distance import OSA  # which only queries with a rare word need

    return OSA.distance(word, other)
