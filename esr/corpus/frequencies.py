"""Frequencies of words: by period or source, and in one part of the collection compared with another.

The occurrences of words and phrases by period or source are those of a concordance: words as written. Rates
are per number of terms, which the index stores, so stop words are not in the base. Key words are terms that
are more frequent in one part of the collection than in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from esr.corpus.choices import KEY_WORDS, MIN_COUNT, Grouping
from esr.corpus.collocations import Contrast, per_million, split_parts
from esr.corpus.concordance import MAX_SENTENCES, split_node
from esr.corpus.lexicon import Node, get_lexicon, read_words
from esr.plugin import UsageError
from esr.plugin.provisional import (
    NO_FILTERS,
    AllOf,
    ByTerm,
    Condition,
    Filters,
    HasTerm,
    ParsedQuery,
    PreparedQuery,
    Ranking,
    Searcher,
    StoredValues,
    Table,
    TermsBy,
    Texts,
    batched,
    check_sentences,
    chosen_language,
    count_periods,
    flatten_row,
    name_of,
    period_of,
    to_columns,
)
from esr.plugin.provisional import EngineIndex as Index

MAX_GROUPS = 5_000
TABLE_COLUMNS = ("query", "group", "count", "words", "per_million")


class Frequency(Struct, frozen=True):
    """The occurrences of one query: by group, in total, and in documents without a date or a source.

    `sentences` is the number of sentences that contain them.
    """

    query: str
    counts: Sequence[int]
    total: int
    ungrouped: int
    sentences: int


class Frequencies(Table, Struct, frozen=True):
    """One or several queries over the same groups: periods in order and without gaps, or sources by name.

    `words` counts the terms of each group that pass the filters, the base of rates; `all_words` counts all.
    """

    by: Grouping
    groups: Sequence[str]
    words: Sequence[int]
    all_words: int
    series: Sequence[Frequency]

    def rates(self, series: Frequency) -> list[float]:
        """Return occurrences per million words of each group; 0 for an empty group."""
        pairs = zip(series.counts, self.words, strict=True)
        return [round(1e6 * count / of, 3) if of else 0.0 for count, of in pairs]

    def rate(self, series: Frequency) -> float:
        """Return occurrences per million words of all groups together."""
        return round(1e6 * sum(series.counts) / self.all_words, 3) if self.all_words else 0.0

    def as_dict(self) -> dict[str, Any]:
        """`{"by", "groups", "words", "all_words", "series": [{"query", "counts", "rates", "total", ...}]}`.

        A series also has `"rate"`, `"ungrouped"` and `"sentences"`. Lists have one value for each group.
        """
        return {
            "by": self.by,
            "groups": list(self.groups),
            "words": list(self.words),
            "all_words": self.all_words,
            "series": [
                {
                    "query": series.query,
                    "counts": list(series.counts),
                    "rates": self.rates(series),
                    "total": series.total,
                    "rate": self.rate(series),
                    "ungrouped": series.ungrouped,
                    "sentences": series.sentences,
                }
                for series in self.series
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with the columns TABLE_COLUMNS and a row for each group of each query."""
        return to_columns(TABLE_COLUMNS, self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return a table with the columns TABLE_COLUMNS and a row for each group of each query."""
        return [
            dict(zip(TABLE_COLUMNS, (series.query, *row), strict=True))
            for series in self.series
            for row in zip(self.groups, series.counts, self.words, self.rates(series), strict=True)
        ]


def count_frequencies(
    searcher: Searcher,
    queries: Sequence[ParsedQuery],
    filters: Filters,
    by: Grouping = "month",
    most: int = MAX_SENTENCES,
) -> Frequencies:
    """Count the occurrences of the node of each query (`esr.corpus.concordance`).

    In an index by language, rates are per words of the queries' language. Raises UsageError if the queries
    have several languages, if more than `most` sentences match one of them, or for too many periods.
    """
    searcher = searcher.snapshot()
    nodes, required = zip(*map(split_node, queries), strict=True)
    prepared = [searcher.prepare(query, Ranking()) for query in required]
    index = _require_one_language([query.index for query in prepared])
    counted = [_count(*pair, filters, by, most) for pair in zip(nodes, prepared, strict=True)]
    lengths = index.count([None], filters, TermsBy("source" if by == "source" else "day"))[0]
    keys: list[Any]
    if by == "source":
        values = index.vocabulary(StoredValues("source"))
        words: Counter[Any] = Counter()
        for source, length in lengths.items():
            words[values.form(source)] += length
        keys = sorted({key for counts, _ in counted for key in counts if key is not None})
        groups = keys
    else:
        words = Counter(count_periods(lengths, by))
        known = [key for counts, _ in counted for key in counts if key is not None]
        keys = list(range(min(known), max(known) + 1)) if known else []
        if len(keys) > MAX_GROUPS:
            raise UsageError(
                f"there would be {len(keys):,} {by}s, at most {MAX_GROUPS:,} are allowed: take longer "
                "periods, or limit the dates"
            )
        groups = [name_of(key, by) for key in keys]
    series = [
        Frequency(query.text, [counts[key] for key in keys], counts.total(), counts[None], sentences)
        for query, (counts, sentences) in zip(queries, counted, strict=True)
    ]
    return Frequencies(by, groups, [words[key] for key in keys], words.total(), series)


def _require_one_language(indexes: Sequence[Index]) -> Index:
    """The index in the language of all queries, given the index of each. Raises UsageError for several."""
    languages = dict.fromkeys(str(chosen_language(index)[0]) for index in indexes)
    if len(languages) > 1:
        raise UsageError(
            f"the queries are in several languages, {', '.join(languages)}, each with words of its own to be "
            "counted per million: count them one by one, or name a language in each, as in language:de"
        )
    return indexes[0]


def _count(
    node: Node, prepared: PreparedQuery, filters: Filters, by: Grouping, most: int
) -> tuple[Counter[Any], int]:
    """The occurrences by group, under None those without a group, and the number of sentences."""
    index, condition = prepared.index, prepared.all_words
    (total,) = index.count([condition], filters)
    check_sentences(total, most)
    read = index.select(condition, max(total, 1), filters, Texts())
    matches = read_words(index.analyzer, read).find(node)
    labels: Sequence[Any] = read.sources if by == "source" else read.days
    occurrences = Counter([labels[text] for text in matches.texts.tolist()])
    counts: Counter[Any] = Counter()
    for value, count in occurrences.items():
        counts[None if value is None else _find_group(index, by, value)] += count
    return counts, total


def _find_group(index: Index, by: Grouping, label: Any) -> Any:
    """The group of a source or of a day."""
    return index.vocabulary(StoredValues("source")).form(label) if by == "source" else period_of(label, by)


# Key words

_NEWEST, _SAMPLE = 500, 10
"""Newest sentences in which written forms of all terms are looked up, and sentences for each other term."""


class KeyWord(Struct, frozen=True):
    """A term, its most frequent form in some sentences, and its occurrences in both parts.

    `per_million` has the rates per million terms of each part. `percent_difference` is None for a term that
    is only in the first part.
    """

    word: str
    term: str
    own: int
    other: int
    per_million: tuple[float, float]
    log_likelihood: float
    log_ratio: float
    percent_difference: float | None


class KeyWords(Table, Struct, frozen=True):
    """Key words of a part of the collection. `sizes` are the numbers of terms of both parts."""

    words: Sequence[KeyWord]
    sizes: tuple[int, int]

    def as_dict(self) -> dict[str, Any]:
        """`{"sizes", "words": [{"word", "term", "own", "other", "log_likelihood", "log_ratio", ...}]}`"""
        return {"sizes": list(self.sizes), "words": [structs.asdict(word) for word in self.words]}

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each word."""
        return to_columns(_WORD_COLUMNS, [flatten_row(structs.asdict(word)) for word in self.words])


_WORD_COLUMNS = (
    *("word", "term", "own", "other", "per_million", "per_million_other"),
    *("log_likelihood", "log_ratio", "percent_difference"),
)


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

    Without `against`, the part is compared with the rest of the collection. `min_count` is the minimum of a
    word's occurrences in the part. In the order by log ratio, words with a log-likelihood below SURE are left
    out. Raises UsageError if the engine would have to read more than `most` sentences of a part.
    """
    return _rank_words(_count_parts(searcher.snapshot(), part, against, most), order, min_count, k)


def find_key_words_both_ways(
    searcher: Searcher,
    part: ParsedQuery,
    against: ParsedQuery | None = None,
    *,
    order: str = "log-likelihood",
    min_count: int = MIN_COUNT,
    k: int = KEY_WORDS,
    most: int = MAX_SENTENCES,
) -> list[KeyWords]:
    """The answers of `find_key_words` for `part` and, if given, for `against`, of one count.

    In an index by language, parts in different languages are counted in each of them.
    """
    searcher = searcher.snapshot()
    counted = [_count_parts(searcher, part, against, most)]
    index, target, reference = structs.astuple(counted[0])
    if against is not None and reference is not None:
        language = chosen_language(searcher.for_query(against).index)[0]
        is_same = language == chosen_language(index)[0]
        back = (
            _CountedParts(index, reference, target)
            if is_same
            else _count_parts(searcher, against, part, most)
        )
        counted.append(back)
    return [_rank_words(parts, order, min_count, k) for parts in counted]


class _CountedPart(Struct, frozen=True):
    """The sentences of a part, and the occurrences of each term in them."""

    condition: Condition
    terms: Mapping[str, int]


class _CountedParts(Struct, frozen=True):
    """Two parts of an index. `other` is None for the rest, whose terms are not counted."""

    index: Index
    target: _CountedPart
    other: _CountedPart | None = None


def _count_parts(
    searcher: Searcher, part: ParsedQuery, against: ParsedQuery | None, most: int
) -> _CountedParts:
    searcher = searcher.for_query(part, needs_terms=True)
    index = searcher.index
    if index.description.is_by_language and chosen_language(index)[0] is None:
        raise UsageError("key words are those of one language here: name it with --query-language")
    conditions = split_parts(searcher, part, against)
    counted = [
        _CountedPart(condition, index.count([condition], NO_FILTERS, ByTerm(most))[0])
        for condition in conditions[: 1 if against is None else 2]
    ]
    return _CountedParts(index, *counted)


def _rank_words(parts: _CountedParts, order: str, min_count: int, k: int) -> KeyWords:
    index, target = parts.index, parts.target.terms
    reference = None if parts.other is None else parts.other.terms
    rest = index.statistics(()).collection.occurrences - sum(target.values())
    sizes = sum(target.values()), rest if reference is None else sum(reference.values())
    terms = sorted((t for t in target if target[t] >= min_count), key=lambda term: (-target[term], term))
    best: list[tuple[float, str, KeyWord]] = []
    for batch in batched(terms, BATCH_SIZE):
        counts = np.array([target[term] for term in batch], float)
        greatest = _values(Contrast(counts[:1], sizes[0], np.zeros(1), sizes[1]), order)[0]
        if len(best) == k and greatest < -best[-1][0]:
            break  # rarer words have a lower value even without occurrences in the other part
        if reference is None:
            statistics = index.statistics(batch).terms
            others = np.array([statistics[term].cf for term in batch], float) - counts
        else:
            others = np.array([reference.get(term, 0) for term in batch], float)
        best = sorted([*best, *_rank(batch, Contrast(counts, sizes[0], others, sizes[1]), order)])[:k]
    forms = _find_forms(index, [word.term for _, _, word in best], parts.target.condition)
    words = [structs.replace(word, word=form) for (_, _, word), form in zip(best, forms, strict=True)]
    return KeyWords(words, sizes)


SURE = 10.83
"""The log-likelihood with a p-value of .001."""
BATCH_SIZE = 500
"""Number of words looked up in the rest of the collection at once."""


def _values(contrast: Contrast, order: str) -> list[float]:
    values: list[float] = (contrast.log_ratio if order == "log-ratio" else contrast.log_likelihood).tolist()
    return values


def _rank(terms: Sequence[str], contrast: Contrast, order: str) -> Iterator[tuple[float, str, KeyWord]]:
    """Yield the words that are more frequent in the part, each with its sort key."""
    columns = (contrast.part, contrast.other, contrast.log_likelihood, contrast.log_ratio)
    rows = zip(terms, _values(contrast, order), *columns, contrast.percent_difference, strict=True)
    for term, value, target, reference, likelihood, ratio, percent in rows:
        if likelihood > (SURE if order == "log-ratio" else 0.0):
            rates = per_million(target, contrast.part_size), per_million(reference, contrast.other_size)
            difference = None if np.isnan(percent) else round(float(percent), 2)
            effect = round(float(likelihood), 4), round(float(ratio), 4), difference
            yield -value, term, KeyWord(term, term, int(target), int(reference), rates, *effect)


def _find_forms(index: Index, terms: Sequence[str], within: Condition) -> list[str]:
    """The most frequent written form of each term in the newest sentences, or else in sentences with it.

    A sign that is no word, such as an emoji, is its own form.
    """
    known = _read_forms(index, within, _NEWEST)
    for term in terms:
        if term not in known:
            forms = _read_forms(index, AllOf((within, HasTerm(term))), _SAMPLE)
            known[term] = forms.get(term, term)
    return [known[term] for term in terms]


def _read_forms(index: Index, condition: Condition, number: int) -> dict[str, str]:
    """The most frequent written form of each term in the newest sentences that satisfy a condition."""
    lexicon = get_lexicon(index.analyzer)
    words = lexicon.read(index.select(condition, number, NO_FILTERS, Texts()).texts)
    counted = lexicon.count_terms(words.slots)
    return dict(zip(counted.names, counted.written, strict=True))
