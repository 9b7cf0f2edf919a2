"""Frequencies: how often words and phrases occur in each period or source, also per million words.

Occurrences are those of a concordance: words as they are written. The base of rates is what the index knows
the length of: its terms, so that stop words are not in the base.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from esr.corpus.concordance import MAX_SENTENCES, split_node
from esr.corpus.lexicon import Node, read_words
from esr.errors import UsageError
from esr.following.timeline import count_periods, name_of, period_of
from esr.index.contract import Index, check_sentences
from esr.index.filters import Filters
from esr.index.language import chosen_language
from esr.query import ParsedQuery
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

Grouping = Literal["month", "source", "year", "week", "day"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
MAX_GROUPS = 5_000
TABLE_COLUMNS = ("query", "group", "count", "words", "per_million")


class Frequency(Struct, frozen=True):
    """The occurrences of one query by group, in all, and in documents without a date or a source.

    `sentences` is the number of sentences with them.
    """

    query: str
    counts: Sequence[int]
    total: int
    ungrouped: int
    sentences: int


class Frequencies(Struct, frozen=True):
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

    In an index by language, the base of rates are the words of the queries' language. Raises UsageError if
    they have several, if more than `most` sentences match one of them, or if there would be too many periods.
    """
    searcher = searcher.snapshot()
    nodes, required = zip(*map(split_node, queries), strict=True)
    prepared = [searcher.prepare(query, Ranking()) for query in required]
    index = _require_one_language([each.index for each in prepared])
    counted = [_count(*each, filters, by, most) for each in zip(nodes, prepared, strict=True)]
    lengths = index.sum_lengths("source" if by == "source" else "day", filters)
    keys: list[Any]
    if by == "source":
        values = index.values("source")
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
    """The occurrences by group, None for none, and the number of sentences."""
    index, condition = prepared.index, prepared.all_words
    (total,) = index.count([condition], filters)
    check_sentences(total, most)
    read = index.texts(condition, max(total, 1), filters)
    found = read_words(index.analyzer, read).find(node)
    given: Sequence[Any] = read.sources if by == "source" else read.days
    occurrences = Counter([given[text] for text in found.texts.tolist()])
    counts: Counter[Any] = Counter()
    for each, count in occurrences.items():
        counts[None if each is None else _group_of(index, by, each)] += count
    return counts, total


def _group_of(index: Index, by: Grouping, given: Any) -> Any:
    """The group of a source or of a day."""
    return index.values("source").form(given) if by == "source" else period_of(given, by)
