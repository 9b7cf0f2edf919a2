"""Key words: terms that are more frequent in one part of the collection than in another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from esr.batches import batched
from esr.corpus.collocations import split_parts
from esr.corpus.concordance import MAX_SENTENCES
from esr.corpus.contrast import Contrast, per_million
from esr.corpus.lexicon import get_lexicon
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.language import chosen_language
from esr.plans.condition import AllOf, Condition, HasTerm
from esr.query import ParsedQuery
from esr.ranking.searcher import Searcher

KEY_WORDS, MIN_COUNT = 50, 5
"""Words that are shown, and times that a word must occur in the part."""
_NEWEST, _SAMPLE = 500, 10
"""Sentences in which the written forms of all terms are looked up, and of one that is not in these."""
ORDERS: Mapping[str, str] = {
    "log-likelihood": "the surest differences first",
    "log-ratio": "the largest differences first",
}


class KeyWord(Struct, frozen=True):
    """A term, the form in which it is most frequent in some sentences, and its occurrences in both parts.

    `per_million` are these per million terms of each part. `percent_difference` is None for a term that only
    the first part has.
    """

    word: str
    term: str
    own: int
    other: int
    per_million: tuple[float, float]
    log_likelihood: float
    log_ratio: float
    percent_difference: float | None


class KeyWords(Struct, frozen=True):
    """Key words of a part of the collection. `sizes` are the numbers of terms of both parts."""

    words: Sequence[KeyWord]
    sizes: tuple[int, int]

    def as_dict(self) -> dict[str, Any]:
        """`{"sizes", "words": [{"word", "term", "own", "other", "log_likelihood", "log_ratio", ...}]}`"""
        return {"sizes": list(self.sizes), "words": [structs.asdict(word) for word in self.words]}


def find_key_words(
    searcher: Searcher,
    part: ParsedQuery,
    against: ParsedQuery | None = None,
    *,
    order: str = "log-likelihood",
    min_count: int = MIN_COUNT,
    k: int = KEY_WORDS,
    most: int = MAX_SENTENCES,
) -> KeyWords:
    """The k words that are more frequent in sentences that match `part` than in those that match `against`.

    Without `against`, the part is compared with the rest of the collection. `min_count` is the number of
    times that a word must occur in the part. Ordered by log ratio, words with a log-likelihood below SURE are
    left out. Raises UsageError if the engine would have to read more than `most` sentences of a part.
    """
    searcher = searcher.snapshot().for_query(part)
    index = searcher.index
    if index.description.is_by_language and chosen_language(index)[0] is None:
        raise UsageError("key words are those of one language here: name it with --query-language")
    condition, other_condition = split_parts(searcher, part, against)
    own = index.count_terms(condition, NO_FILTERS, most)
    other = None if against is None else index.count_terms(other_condition, NO_FILTERS, most)
    rest = index.statistics(()).collection.occurrences - sum(own.values())
    sizes = sum(own.values()), rest if other is None else sum(other.values())
    terms = sorted((t for t in own if own[t] >= min_count), key=lambda term: (-own[term], term))
    best: list[tuple[float, str, KeyWord]] = []
    for batch in batched(terms, _BATCH):
        counts = np.array([own[term] for term in batch], float)
        greatest = _values(Contrast(counts[:1], sizes[0], np.zeros(1), sizes[1]), order)[0]
        if len(best) == k and greatest < -best[-1][0]:
            break  # rarer words have less even if the other part has none of them
        if other is None:
            statistics = index.statistics(batch).terms
            others = np.array([statistics[term].cf for term in batch], float) - counts
        else:
            others = np.array([other.get(term, 0) for term in batch], float)
        best = sorted([*best, *_rank(batch, Contrast(counts, sizes[0], others, sizes[1]), order)])[:k]
    forms = _find_forms(index, [word.term for _, _, word in best], condition)
    words = [structs.replace(word, word=form) for (_, _, word), form in zip(best, forms, strict=True)]
    return KeyWords(words, sizes)


SURE = 10.83
"""A log-likelihood with a p-value of .001."""
_BATCH = 500
"""Words that are looked up in the rest of the collection at once."""


def _values(contrast: Contrast, order: str) -> list[float]:
    values: list[float] = (contrast.log_ratio if order == "log-ratio" else contrast.log_likelihood).tolist()
    return values


def _rank(terms: Sequence[str], contrast: Contrast, order: str) -> Iterator[tuple[float, str, KeyWord]]:
    """Yield the words that are more frequent in the part, each with what it is sorted by."""
    columns = (contrast.own, contrast.other, contrast.log_likelihood, contrast.log_ratio)
    rows = zip(terms, _values(contrast, order), *columns, contrast.percent_difference, strict=True)
    for term, value, own, other, likelihood, ratio, percent in rows:
        if likelihood > (SURE if order == "log-ratio" else 0.0):
            rates = per_million(own, contrast.own_size), per_million(other, contrast.other_size)
            difference = None if np.isnan(percent) else round(float(percent), 2)
            effect = round(float(likelihood), 4), round(float(ratio), 4), difference
            yield -value, term, KeyWord(term, term, int(own), int(other), rates, *effect)


def _find_forms(index: Index, terms: Sequence[str], within: Condition) -> list[str]:
    """The most frequent written form of each term in the newest sentences, or in those that have it."""
    known = _read_forms(index, within, _NEWEST)
    return [
        known[term] if term in known else _read_forms(index, AllOf((within, HasTerm(term))), _SAMPLE)[term]
        for term in terms
    ]


def _read_forms(index: Index, condition: Condition, number: int) -> dict[str, str]:
    """The most frequent written form of each term in the newest sentences that satisfy a condition."""
    lexicon = get_lexicon(index.analyzer)
    words = lexicon.read(index.texts(condition, number, NO_FILTERS).texts)
    counted = lexicon.count_terms(words.slots)
    return dict(zip(counted.names, counted.written, strict=True))
