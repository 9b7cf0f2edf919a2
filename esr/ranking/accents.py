"""Words typed without the accents that sentences write, and the other way round: *sequia* finds *sequía*.

Stemmers cut a word by its accents, so both forms may have different terms. Analyzers name the letters that
people leave the accents of (`accents` in index_templates/analyzers). If another form of a word of the query
has a term that is as frequent, the sentences with the word in any form are counted. If few of them have the
term as typed, those of the other forms are alternatives to it. If no sentence has the word, and the query has
no accents at all, its term becomes the most frequent one of its forms. Sentences are found by the written
words of the index (the analyzer `words`, which ignores accents), so indices need nothing new.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice
from typing import NamedTuple

from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.questions import TermHolders, Texts
from esr.index.view import View
from esr.plans.plan import AllOf, HasTerm, HasWords, Not
from esr.query.interpretation import terms_of_word
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER

_MAX_FORMS = 256
"""Maximum number of forms of a word that are analysed. Those with the fewest accents come first."""
_COVERED, _ACCENTED = 0.5, 0.25
"""If more than this share of the sentences with a word in any form have its term as typed, it stays alone.

The second is for words that are typed with accents, which are seldom wrong.
"""
_DIGRAPHS = {"ä": "ae", "ö": "oe", "ø": "oe", "ü": "ue"}
"""What is typed for letters besides the letter without its accent."""
_READ, _SHARE = 20, 0.2
"""Number of sentences that are read for other forms, and the minimum share of a term in them."""
_LONGEST, _REMEMBERED = 40, 1 << 14
"""Maximum length of a word that is looked up, and the number of words that are remembered."""
_STATES, _SECONDS = 100, 60
"""Number of states of indices whose words are remembered, and for how long."""
_SHORTEST = 3
"""Minimum length of the term of a form that no sentence has."""
_NO_TERM = ""
"""Stands for the term of a stop word."""


class _Word(NamedTuple):
    """A word of a query as typed, its term, and its written words without accents."""

    typed: str
    term: str
    written: tuple[str, ...]


class _Reading(NamedTuple):
    """The terms that a word stands for. `is_guess`: no sentence has the word in any form."""

    terms: tuple[str, ...]
    is_guess: bool = False


_known: dict[Hashable, dict[_Word, _Reading | None]] = {}
"""What words stand for in the state of an index, None for the words that stay as they are."""


def find_readings(index: Index, texts: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The terms that each term of a query stands for, without the terms that stand for themselves alone.

    They are in the order in which they are ranked: the term as typed, if sentences have it, then those of
    other forms, the most frequent first. A term stands for none if the other form is a stop word.
    """
    if not index.analyzer.accents:
        return {}
    words = {word: others for text in texts for word, others in _words(text, index.analyzer)}
    if not words:
        return {}
    if len(_known) > _STATES:
        _known.clear()
    known = _known.setdefault(_state_of(index), {})
    if new := {word: others for word, others in words.items() if word not in known}:
        known.update({**dict.fromkeys(new), **_read_words(index, _select_words(index, new))})
    types_accents = not {*index.analyzer.accents}.isdisjoint("".join(texts).lower())
    readings = ((word, known[word]) for word in words)
    return {
        word.term: read.terms for word, read in readings if read and not (read.is_guess and types_accents)
    }


def _state_of(index: Index) -> Hashable:
    """What stands for the visible part of an index as it is now, for a minute at most."""
    collection = index.statistics(()).collection
    sizes = collection.sentences, collection.documents, collection.occurrences, collection.document_terms
    hidden = index.condition if isinstance(index, View) else None
    return index.where, index.analyzer.name, sizes, hidden, int(time.monotonic() // _SECONDS)


def _read_words(index: Index, words: Mapping[_Word, str]) -> Mapping[_Word, _Reading]:
    """What words stand for, without those that stay as they are. `words` are those of `_select_words`."""
    if not words:
        return {}
    any_form = [HasWords(word.written) for word in words]
    as_typed = [AllOf((form, HasTerm(word.term))) for form, word in zip(any_form, words, strict=True)]
    counts = index.count([*any_form, *as_typed], NO_FILTERS)
    readings = {}
    for word, total, typed in zip(words, counts[: len(words)], counts[len(words) :], strict=True):
        if total and typed <= total * (_ACCENTED if _has_accents(word.typed) else _COVERED):
            read = _find_terms(index, word)
            if read is not None:
                readings[word] = _Reading((word.term, *read) if typed else read)
        elif not total and words[word]:
            readings[word] = _Reading((words[word],), is_guess=True)
    return readings


def _select_words(index: Index, others: Mapping[_Word, Collection[str]]) -> Mapping[_Word, str]:
    """The words for which a term of another form is at least as frequent, or is a stop word.

    `others` has the terms of other forms. The values are the most frequent of these, if no sentence has the
    term as typed, and otherwise empty.
    """
    if not others:
        return {}
    terms = {term for word, of_word in others.items() for term in (word.term, *of_word)}
    holders = {**index.vocabulary(TermHolders(sorted(terms - {_NO_TERM}))), _NO_TERM: 0}
    shortest = len(index.analyzer.mark) + _SHORTEST
    selected = {}
    for word, of_word in others.items():
        holders_of_word, best = holders[word.term], max(of_word, key=lambda term: (holders[term], term))
        if (holders[best] and holders[best] >= holders_of_word) or (
            _NO_TERM in of_word and not holders_of_word
        ):
            selected[word] = (
                best if holders[best] and not holders_of_word and len(best) >= shortest else _NO_TERM
            )
    return selected


def _words(text: str, analyzer: Analyzer) -> Iterator[tuple[_Word, Collection[str]]]:
    """Yield the words of a text that would have other terms in another form, with these terms."""
    for start, end, term in analyzer.tokens(text):
        typed = text[start:end]
        if len(typed) <= _LONGEST and (others := _find_other_terms(typed, term, analyzer)):
            written = terms_of_word(typed, get_analyzer(WORDS_ANALYZER))
            if written:
                yield _Word(typed, term, written), others


@lru_cache(_REMEMBERED)
def _find_other_terms(word: str, term: str, analyzer: Analyzer) -> frozenset[str]:
    """The other terms of the forms of a word with and without accents."""
    forms = islice(_forms(word.lower(), analyzer.accents), _MAX_FORMS)
    return frozenset(other for form in forms for other in analyzer.terms(form) or [_NO_TERM]) - {term}


def _forms(word: str, accents: str) -> Iterator[str]:
    """Yield the forms of a word: without accents, with one, with two and so on."""
    bases = [(letter, base) for letter in accents for base in _fold(letter)]
    for letter, base in bases:
        word = word.replace(letter, base)
    yield word
    bases += [(letter, _DIGRAPHS[letter]) for letter in accents if letter in _DIGRAPHS]
    places = [
        (place, len(base), letter)
        for letter, base in bases
        for place in range(len(word))
        if word.startswith(base, place)
    ]
    for number in range(1, len(places) + 1):
        for chosen in combinations(places, number):
            if len({place for place, _, _ in chosen}) == number:
                form = word
                for place, length, letter in sorted(chosen, reverse=True):
                    form = form[:place] + letter + form[place + length :]
                yield form


def _has_accents(word: str) -> bool:
    return _fold(word) != (word.lower(),)


@lru_cache(_REMEMBERED)
def _fold(text: str) -> tuple[str, ...]:
    return tuple(get_analyzer(WORDS_ANALYZER).terms(text))


def _find_terms(index: Index, word: _Word) -> tuple[str, ...] | None:
    """The terms of the other forms in which sentences have a word; None if no such sentence is found."""
    condition = AllOf((HasWords(word.written), Not(HasTerm(word.term))))
    texts = index.select(condition, _READ, NO_FILTERS, Texts()).texts
    last = word.written[-1]
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        forms = (
            text[start:end].lower()
            for start, end, written in get_analyzer(WORDS_ANALYZER).tokens(text)
            if written == last
        )
        # Each once, in the order of the sentence: equally frequent ones stay in it.
        counts.update(list(dict.fromkeys(tuple(index.analyzer.terms(form)) for form in forms)))
    frequent = [terms for terms, count in counts.most_common() if count >= _SHARE * len(texts)]
    if not frequent:
        return None
    return tuple(dict.fromkeys(term for terms in frequent for term in terms if term != word.term))
