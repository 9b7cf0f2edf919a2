"""Collocations: the words that occur near a word or phrase more often than their frequency explains.

Measures compare the frequencies of words in two parts of a text. The words counted are called units: either
terms of the index's analyzer, so that the forms of a word count together, or forms as they are written. Words
in which no term begins are stop words, and left out by default. The units near the node are compared with
those of the whole collection, whose counts the index has, or with those near the node in other sentences.

Sources of the measures: Church & Hanks (1990) for MI, Church et al. (1991) for t, Rychlý (2008) for logDice;
Dunning (1993) for the log-likelihood, the significance of a difference; Hardie (2014) for the log ratio and
Gabrielatos & Marchi (2012) for %DIFF, its size. The contingency table is that of surface co-occurrence in
Evert (2008), "Corpora and collocations". docs/formulas.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from esr.corpus.choices import COLLOCATIONS, MEASURES, MIN_COUNT, WINDOW
from esr.corpus.concordance import MAX_SENTENCES, split_node
from esr.corpus.lexicon import Node, UnitCounts, get_lexicon
from esr.plugin.provisional import (
    AllOf,
    Condition,
    Filters,
    Not,
    ParsedQuery,
    Ranking,
    Searcher,
    Table,
    Texts,
    WordCounts,
    check_sentences,
    flatten_row,
    to_columns,
)
from esr.plugin.provisional import EngineIndex as Index

Array = npt.NDArray[np.float64]


def log_likelihood(near: Array, row: Array | float, column: Array, size: Array | float) -> Array:
    """G² of n contingency tables of shape (2, 2), from a cell, the sums of its row and column, and the total.

    The result, of shape (n,), is negative if the cell is below its expectation. 10.83 has a p-value of .001.
    """
    observed = np.stack(np.broadcast_arrays(near, row - near, column - near, size - row - column + near))
    expected = np.stack(
        np.broadcast_arrays(
            row * column / size,
            row * (size - column) / size,
            (size - row) * column / size,
            (size - row) * (size - column) / size,
        )
    )
    logs = np.log(np.maximum(observed, 1e-300) / np.maximum(expected, 1e-300))
    parts = np.where(observed > 0, observed * logs, 0.0)
    return np.asarray(2 * parts.sum(axis=0) * np.where(near < expected[0], -1.0, 1.0))


def log_dice(together: Array | float, first: Array | float, second: Array | float) -> Array:
    """logDice (Rychlý 2008), at most 14, from the joint occurrences and those of each unit."""
    return np.asarray(14 + np.log2(2 * together / (first + second)))


class Contrast(NamedTuple):
    """Frequencies of n words in a part and in the other, each of shape (n,), and the parts' sizes."""

    part: Array
    part_size: float
    other: Array
    other_size: float

    @property
    def log_likelihood(self) -> Array:
        """G², negative for words that are rarer in the part."""
        return log_likelihood(
            self.part, self.part_size, self.part + self.other, self.part_size + self.other_size
        )

    @property
    def log_ratio(self) -> Array:
        """The binary logarithm of the ratio of relative frequencies: 1 is twice as frequent.

        A frequency of 0 counts as .5.
        """
        part = np.maximum(self.part, 0.5) / max(self.part_size, 1)
        return np.asarray(np.log2(part / (np.maximum(self.other, 0.5) / max(self.other_size, 1))))

    @property
    def percent_difference(self) -> Array:
        """%DIFF: the difference of relative frequencies in percent of the other; NaN if the other is 0."""
        other = np.where(self.other > 0, self.other, np.nan) / max(self.other_size, 1)
        return np.asarray(100 * (self.part / max(self.part_size, 1) - other) / other)


def per_million(count: float, size: float) -> float:
    """The rate of `count` per million of `size`, to three digits."""
    return round(1e6 * float(count) / max(size, 1), 3)


By = Literal["stems", "forms"]


class Counts(NamedTuple):
    """The counts that measures compare, of shape (units,), except `node`.

    `near`: occurrences of each unit near the node; `frequency`: its occurrences in the collection; `node`:
    occurrences of the node; `window`: all occurrences near the node; `size`: all in the collection.
    """

    near: Array
    frequency: Array
    node: int
    window: Array
    size: Array

    @property
    def expected(self) -> Array:
        """The occurrences near the node if it had no effect."""
        return self.frequency * self.window / self.size


_COMPUTE: Mapping[str, Callable[[Counts], Array]] = {
    "logdice": lambda counts: log_dice(counts.near, counts.frequency, counts.node),
    "log-likelihood": lambda c: log_likelihood(c.near, c.window, c.frequency, c.size),
    "mi": lambda counts: np.asarray(np.log2(counts.near / counts.expected)),
    "t": lambda counts: np.asarray((counts.near - counts.expected) / np.sqrt(counts.near)),
}
"""How MEASURES are computed, by name."""


class Collocation(Struct, frozen=True):
    """A term near the node, its most frequent form there, its counts and its measures."""

    word: str
    term: str
    near: int
    frequency: int
    measures: Mapping[str, float]


class Collocations(Table, Struct, frozen=True):
    """Collocations, best first. `node` counts the occurrences of the node in `sentences` sentences."""

    collocations: Sequence[Collocation]
    node: int
    sentences: int

    def as_dict(self) -> dict[str, Any]:
        """`{"node", "sentences", "collocations": [{"word", "term", "near", "frequency", "measures"}]}`"""
        collocations = [structs.asdict(collocation) for collocation in self.collocations]
        return {"node": self.node, "sentences": self.sentences, "collocations": collocations}

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each word and a column for each measure."""
        names = ("word", "term", "near", "frequency", *MEASURES)
        return to_columns(
            names, [flatten_row(structs.asdict(collocation)) for collocation in self.collocations]
        )


class Contrasted(Struct, frozen=True):
    """A unit that is `near` times near the node in a part, and `other` times in the other part.

    `per_million` has both rates per million words near the node; `log_ratio` is the binary logarithm of their
    ratio.
    """

    word: str
    term: str
    near: int
    other: int
    per_million: tuple[float, float]
    log_likelihood: float
    log_ratio: float


class ContrastedCollocations(Table, Struct, frozen=True):
    """The units that are more frequent near the node in one part of its sentences, most significant first.

    `node` and `sentences` are pairs: the occurrences of the node and the sentences with it, in both parts.
    """

    collocations: Sequence[Contrasted]
    node: tuple[int, int]
    sentences: tuple[int, int]

    def as_dict(self) -> dict[str, Any]:
        """`{"node", "sentences", "collocations": [{"word", "term", "near", "other", "log_ratio", ...}]}`"""
        return structs.asdict(self) | {
            "collocations": [structs.asdict(collocation) for collocation in self.collocations]
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each word."""
        names = ("word", "term", "near", "other", "per_million", "per_million_other")
        rows = [flatten_row(structs.asdict(collocation)) for collocation in self.collocations]
        return to_columns((*names, "log_likelihood", "log_ratio"), rows)


class Reach(Struct, frozen=True):
    """What counts as near: `window` words on each side, including stop words, or for None the whole sentence.

    `by`: the kind of units counted; `stop_words`: whether stop words are units; `most`: the maximum number of
    sentences to read.
    """

    window: int | None = WINDOW
    by: By = "stems"
    stop_words: bool = False
    most: int = MAX_SENTENCES


def find_collocations(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    *,
    reach: Reach = Reach(),  # noqa: B008 # frozen
    measure: str = "logdice",
    min_count: int = MIN_COUNT,
    k: int = COLLOCATIONS,
) -> Collocations:
    """The best k collocations of a query's node (`esr.corpus.concordance`) by a measure of MEASURES.

    Raises UsageError if more than `reach.most` sentences match.
    """
    node, required = split_node(query)
    prepared = searcher.prepare(required, Ranking())
    index = prepared.index  # a snapshot
    near = _count_near(index, node, prepared.all_words, filters, reach)
    rows = np.flatnonzero(near.counts >= min_count)
    if not len(rows):
        return Collocations([], near.node, near.sentences)
    near = near.take(rows)
    counts = _compare(index, near)
    values = {name: compute(counts).tolist() for name, compute in _COMPUTE.items()}
    order = sorted(range(len(rows)), key=lambda n: (-values[measure][n], near.names[n], near.is_form[n]))
    best = [
        Collocation(
            near.written[n],
            near.names[n],
            int(counts.near[n]),
            int(counts.frequency[n]),
            {name: round(of_measure[n], 4) for name, of_measure in values.items()},
        )
        for n in order[:k]
    ]
    return Collocations(best, near.node, near.sentences)


def contrast_collocations(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    part: ParsedQuery,
    against: ParsedQuery | None = None,
    *,
    reach: Reach = Reach(),  # noqa: B008 # frozen
    min_count: int = MIN_COUNT,
    k: int = COLLOCATIONS,
) -> ContrastedCollocations:
    """The units more frequent near the node in sentences that match `part` than in those matching `against`.

    Without `against`, the part is compared with all other sentences. `min_count` is a minimum in the part.
    Raises UsageError if more than `reach.most` sentences of a part match.
    """
    target, reference = _count_parts(searcher, query, filters, part, against, reach)
    return _contrast(target, reference, min_count, k)


def contrast_both_ways(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    part: ParsedQuery,
    against: ParsedQuery | None = None,
    *,
    reach: Reach = Reach(),  # noqa: B008 # frozen
    min_count: int = MIN_COUNT,
    k: int = COLLOCATIONS,
) -> list[ContrastedCollocations]:
    """The answers of `contrast_collocations` for `part` and, if given, for `against`, of one count."""
    target, reference = _count_parts(searcher, query, filters, part, against, reach)
    pairs = [(target, reference)] if against is None else [(target, reference), (reference, target)]
    return [_contrast(*pair, min_count, k) for pair in pairs]


def _count_parts(
    searcher: Searcher,
    query: ParsedQuery,
    filters: Filters,
    part: ParsedQuery,
    against: ParsedQuery | None,
    reach: Reach,
) -> tuple[_Near, _Near]:
    """The units near the node in both parts of its sentences."""
    node, required = split_node(query)
    prepared = searcher.prepare(required, Ranking())
    index = prepared.index
    target, reference = (
        _count_near(index, node, AllOf((prepared.all_words, condition)), filters, reach)
        for condition in split_parts(Searcher(index, owns_index=False), part, against)
    )
    return target, reference


def _contrast(target: _Near, reference: _Near, min_count: int, k: int) -> ContrastedCollocations:
    near = target.take(np.flatnonzero(target.counts >= min_count))
    units = zip(reference.names, reference.is_form.tolist(), strict=True)
    reference_counts = dict(zip(units, reference.counts.tolist(), strict=True))
    others = [reference_counts.get(unit, 0) for unit in zip(near.names, near.is_form.tolist(), strict=True)]
    sizes = [part.window + part.stop_words for part in (target, reference)]
    compared = Contrast(near.counts.astype(float), sizes[0], np.array(others, float), sizes[1])
    likelihood, ratio = compared.log_likelihood, compared.log_ratio
    order = sorted(np.flatnonzero(likelihood > 0).tolist(), key=lambda n: (-likelihood[n], near.names[n]))
    best = [
        Contrasted(
            near.written[n],
            near.names[n],
            int(near.counts[n]),
            others[n],
            (per_million(near.counts[n], sizes[0]), per_million(others[n], sizes[1])),
            round(float(likelihood[n]), 4),
            round(float(ratio[n]), 4),
        )
        for n in order[:k]
    ]
    return ContrastedCollocations(best, (near.node, reference.node), (near.sentences, reference.sentences))


def split_parts(
    searcher: Searcher, part: ParsedQuery, against: ParsedQuery | None
) -> tuple[Condition, Condition]:
    """The conditions of the sentences that match `part`, and of those that match `against`.

    Without `against`, the latter is the negation of the former. Raises UsageError for an empty query.
    """
    part_words = searcher.prepare(part, Ranking()).all_words
    return part_words, Not(part_words) if against is None else searcher.prepare(against, Ranking()).all_words


class _Near(NamedTuple):
    """The units near the node: names, counts, written forms, whether each is a form, each of shape (units,).

    `node`: occurrences of the node. `window`: number of terms near it; `stop_words`: number of words near it
    without a term, if these are counted. `plain` is the part of `counts` with a term: 0 for stop words.
    """

    names: list[str]
    counts: npt.NDArray[np.int64]
    written: list[str]
    is_form: npt.NDArray[np.bool_]
    plain: npt.NDArray[np.int64]
    node: int
    window: int
    stop_words: int
    sentences: int

    def take(self, rows: npt.NDArray[np.intp]) -> _Near:
        """The units of these rows."""
        names, written = ([column[row] for row in rows.tolist()] for column in (self.names, self.written))
        return self._replace(
            names=names,
            written=written,
            **{name: getattr(self, name)[rows] for name in ("counts", "is_form", "plain")},
        )


def _count_near(index: Index, node: Node, condition: Condition, filters: Filters, reach: Reach) -> _Near:
    """Count the units near the occurrences of the node. A word near two of them counts once."""
    (total,) = index.count([condition], filters)
    check_sentences(total, reach.most)
    lexicon = get_lexicon(index.analyzer)
    words = lexicon.read(index.select(condition, max(total, 1), filters, Texts()).texts)
    occurrences = words.find(node)
    slots = words.near(occurrences, reach.window)
    has_term = lexicon.has_term(slots)
    terms, stop_words = slots[has_term], slots[~has_term]
    if not reach.stop_words:
        stop_words = stop_words[:0]
    if reach.by == "stems":
        plain, other = lexicon.count_terms(terms), lexicon.count_forms(stop_words)
        counts = UnitCounts(
            plain.names + other.names,
            np.concatenate([plain.counts, other.counts]),
            plain.written + other.written,
        )
        with_term = np.concatenate([plain.counts, np.zeros_like(other.counts)])
        is_form = np.arange(len(counts.names)) >= len(plain.names)
        window = int(plain.counts.sum())
    else:
        counts = lexicon.count_forms(np.concatenate([terms, stop_words]))
        of_terms = lexicon.count_forms(terms)
        known = dict(zip(of_terms.names, of_terms.counts.tolist(), strict=True))
        with_term = np.array([known.get(name, 0) for name in counts.names], np.int64)
        is_form = np.ones(len(counts.names), bool)
        window = len(terms)
    return _Near(*counts, is_form, with_term, len(occurrences.first), window, len(stop_words), total)


def _compare(index: Index, near: _Near) -> Counts:
    """The counts that measures compare with the whole collection.

    Servers do not count stop words. A stop word is therefore compared with all terms, as if it were the only
    stop word counted.
    """
    forms = [name for name, is_form in zip(near.names, near.is_form, strict=True) if is_form]
    terms = [name for name, is_form in zip(near.names, near.is_form, strict=True) if not is_form]
    statistics, of_forms = index.statistics(terms), index.vocabulary(WordCounts(forms)) if forms else {}
    frequency = np.array(
        [
            of_forms[name] if is_form else statistics.terms[name].cf
            for name, is_form in zip(near.names, near.is_form, strict=True)
        ],
        float,
    )
    size = statistics.collection.occurrences + np.where(near.plain > 0, 0.0, frequency)
    window = near.window + (near.counts - near.plain)
    return Counts(near.counts.astype(float), frequency, near.node, window.astype(float), size)
