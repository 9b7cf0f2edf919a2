"""Collocations: the words that stand near a word or phrase more often than their frequency explains.

Counted are terms of the index's analyzer, so that forms of a word count together and stop words are left out.
The terms near the node are compared with those of the whole collection, whose counts the index has.

Sources of the measures: Church & Hanks (1990) for MI, Church et al. (1991) for t, Dunning (1993) for the
log-likelihood, Rychlý (2008) for logDice; the table of counts is that of surface co-occurrence in Evert
(2008), "Corpora and collocations". docs/formulas.md has the formulas.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from esr.corpus.concordance import (
    MAX_SENTENCES,
    Node,
    Occurrence,
    find_occurrences,
    split_node,
)
from esr.errors import UsageError
from esr.index.filters import Filters
from esr.index.hits import SentenceRecord
from esr.query import ParsedQuery
from esr.ranking.answers import require_record
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.text.analyzer import WORDS_ANALYZER, Analyzer, get_analyzer
from esr.text.spans import ChunkCache, word_span

WINDOW, COLLOCATIONS, MIN_COUNT = 5, 50, 5
"""Words on each side, collocations that are shown, and times that a term must stand near the node."""

Array = npt.NDArray[np.float64]


class Counts(NamedTuple):
    """The counts that measures compare. `near` and `frequency` are of shape (terms,).

    `near`: occurrences of each term near the node; `frequency`: its occurrences in the collection; `node`:
    occurrences of the node; `window`: all terms near the node; `size`: all terms of the collection.
    """

    near: Array
    frequency: Array
    node: int
    window: int
    size: int

    @property
    def expected(self) -> Array:
        """The occurrences near the node if it had no effect."""
        return self.frequency * self.window / self.size


def log_dice(counts: Counts) -> Array:
    """At most 14. Independent of the size of the collection."""
    return np.asarray(14 + np.log2(2 * counts.near / (counts.frequency + counts.node)))


def log_likelihood(counts: Counts) -> Array:
    """G². Negative for a term that is rarer near the node than elsewhere. 10.83 has a p-value of .001."""
    near, column = counts.near, counts.frequency
    row, size = float(counts.window), float(counts.size)
    observed = np.stack([near, row - near, column - near, size - row - column + near])
    expected = np.stack([row * column, row * (size - column), (size - row) * column])
    expected = np.vstack([expected, (size - row) * (size - column)]) / size
    parts = np.where(observed > 0, observed * np.log(np.maximum(observed, 1e-300) / expected), 0.0)
    return np.asarray(2 * parts.sum(axis=0) * np.where(near < counts.expected, -1.0, 1.0))


def mutual_information(counts: Counts) -> Array:
    """The binary logarithm of how much more frequent the term is near the node. Favours rare terms."""
    return np.asarray(np.log2(counts.near / counts.expected))


def t_score(counts: Counts) -> Array:
    """Favours frequent terms."""
    return np.asarray((counts.near - counts.expected) / np.sqrt(counts.near))


MEASURES = {
    "logdice": log_dice,
    "log-likelihood": log_likelihood,
    "mi": mutual_information,
    "t": t_score,
}


class Collocation(Struct, frozen=True):
    """A term near the node, the form in which it is most frequent there, and its counts and measures."""

    word: str
    term: str
    near: int
    frequency: int
    measures: Mapping[str, float]


class Collocations(Struct, frozen=True):
    """The best collocations first. `node`: occurrences of the node in `sentences` sentences."""

    collocations: Sequence[Collocation]
    node: int
    sentences: int

    def as_dict(self) -> dict[str, Any]:
        """`{"node", "sentences", "collocations": [{"word", "term", "near", "frequency", "measures"}]}`"""
        collocations = [structs.asdict(each) for each in self.collocations]
        return {"node": self.node, "sentences": self.sentences, "collocations": collocations}


def find_collocations(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    *,
    window: int | None = WINDOW,
    measure: str = "logdice",
    min_count: int = MIN_COUNT,
    k: int = COLLOCATIONS,
    most: int = MAX_SENTENCES,
) -> Collocations:
    """The k best collocations of the node of a query (`esr.corpus.concordance`) by a measure of MEASURES.

    `window` is the number of words on each side, stop words counted; None takes the whole sentence. Raises
    UsageError if more than `most` sentences match.
    """
    node, required = split_node(query)
    prepared = searcher.prepare(required, Ranking())
    index, condition = prepared.index, prepared.all_words  # a snapshot
    (total,) = index.count([condition], filters)
    if total > most:
        raise UsageError(
            f"{total:,} sentences match, at most {most:,} are counted: limit the dates or sources"
        )
    matching = index.by_date(condition, max(total, 1), filters)
    near = _count_near(node, map(require_record, matching.hits), index.analyzer, window)
    terms = [term for term, count in near.of_terms.items() if count >= min_count]
    if not terms:
        return Collocations([], near.node, total)
    statistics = index.statistics(terms)
    counts = Counts(
        np.array([near.of_terms[term] for term in terms], float),
        np.array([statistics.terms[term].cf for term in terms], float),
        near.node,
        near.of_terms.total(),
        statistics.collection.occurrences,
    )
    values = {name: compute(counts).tolist() for name, compute in MEASURES.items()}
    order = sorted(range(len(terms)), key=lambda n: (-values[measure][n], terms[n]))
    best = [
        Collocation(
            near.forms[terms[n]].most_common(1)[0][0],
            terms[n],
            int(counts.near[n]),
            int(counts.frequency[n]),
            {name: round(of_measure[n], 4) for name, of_measure in values.items()},
        )
        for n in order[:k]
    ]
    return Collocations(best, near.node, total)


_Terms = Sequence[tuple[str, str]]
"""Terms, each with its written form."""


class _Near(NamedTuple):
    """What stands near the node: terms and their written forms, counted, and occurrences of the node."""

    of_terms: Counter[str]
    forms: Mapping[str, Counter[str]]
    node: int


def _count_near(
    node: Node, records: Iterable[SentenceRecord], analyzer: Analyzer, window: int | None
) -> _Near:
    """Count what is near any occurrence in each sentence; what is near two of them counts once."""
    pairs: Counter[tuple[str, str]] = Counter()
    number = 0
    terms_of_words = _term_cache(analyzer)
    for record in records:
        occurrences = list(find_occurrences(node, record))
        number += len(occurrences)
        if occurrences:
            pairs.update(_terms_near(record.text, occurrences, terms_of_words, window))
    of_terms: Counter[str] = Counter()
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (term, form), count in pairs.items():
        of_terms[term] += count
        forms[term][form] = count
    return _Near(of_terms, forms, number)


def _terms_near(
    text: str, occurrences: Sequence[Occurrence], terms_of_words: ChunkCache[_Terms], window: int | None
) -> Iterator[tuple[str, str]]:
    """The terms near the occurrences in a sentence, each with its written form."""
    of_words = list(chain.from_iterable(map(terms_of_words.__getitem__, text.split(" "))))
    near = bytearray(len(of_words)) if window is not None else bytearray(b"\1" * len(of_words))
    if window is not None:
        for each in occurrences:
            start, end = max(each.first - window, 0), min(each.last + window, len(near))
            near[start:end] = b"\1" * (end - start)
    for each in occurrences:
        near[each.first : each.last] = bytes(each.last - each.first)
    return chain.from_iterable(compress(of_words, near))


@cache
def _term_cache(analyzer: Analyzer) -> ChunkCache[_Terms]:
    return ChunkCache(partial(_split_terms, analyzer))


def _split_terms(analyzer: Analyzer, chunk: str) -> Sequence[_Terms]:
    """For each word of a chunk, the terms that begin in it, each with its written form."""
    starts = [word.start for word in get_analyzer(WORDS_ANALYZER).tokens(chunk)]
    terms: list[list[tuple[str, str]]] = [[] for _ in starts]
    for token in analyzer.tokens(chunk):
        start, end = word_span(chunk, token)
        terms[bisect_right(starts, token.start) - 1].append((token.term, chunk[start:end]))
    return terms
