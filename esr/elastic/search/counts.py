"""Unscored searches: counts for conditions, sentences by date, and the written words of an alias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from esr.elastic.cluster import Cluster
from esr.elastic.fields import WORDS_FIELD
from esr.elastic.requests import hits_of, msearch, search, total_of
from esr.elastic.search.filters import Query, condition_query, filter_clauses
from esr.elastic.search.sentence_search import PAGE, decode_hits, hit_fields
from esr.errors import EngineUnreachable, EsrError
from esr.index.contract import LengthGroups
from esr.index.filters import DAY, NO_FILTERS, DayCounts, Filters
from esr.index.hits import Hit, SearchResult, SentenceTexts
from esr.index.names import SAMPLE, choose_written_form
from esr.plans.plan import Condition, HasWords
from esr.text.analyzer import WORDS_ANALYZER, get_analyzer
from esr.text.dates import parse_date_start

_DAYS = {"date_histogram": {"field": "date", "fixed_interval": "1d", "min_doc_count": 1}}
"""By day in UTC, the default time zone."""


def count_sentences(cluster: Cluster, conditions: Sequence[Condition], filters: Filters) -> list[int]:
    """The number of sentences that satisfy each condition and the filters, in one request."""
    answers = _search_each(cluster, conditions, filters, {"track_total_hits": True})
    return [total_of(answer) for answer in answers]


def count_days(cluster: Cluster, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
    """The number of sentences per day that satisfy each condition and the filters; None matches all."""
    answers = _search_each(cluster, conditions, filters, {"track_total_hits": False, "aggs": {"days": _DAYS}})
    return [
        {bucket["key"] // DAY: bucket["doc_count"] for bucket in answer["aggregations"]["days"]["buckets"]}
        for answer in answers
    ]


def match_sentences(condition: Condition | None, filters: Filters) -> Query:
    """A query for the sentences that satisfy the condition and the filters, without scores."""
    own = [] if condition is None else [condition_query(condition)]
    return {"bool": {"filter": [*own, *filter_clauses(filters)]}}


def _search_each(
    cluster: Cluster, conditions: Sequence[Condition | None], filters: Filters, body: dict[str, Any]
) -> list[Any]:
    if not conditions:
        return []
    lines: list[dict[str, Any]] = []
    for condition in conditions:
        query = match_sentences(condition, filters)
        lines += [{"index": cluster.alias}, {"query": query, "size": 0, **body}]
    return msearch(cluster, lines)


def find_by_date(
    cluster: Cluster, condition: Condition, k: int, filters: Filters, oldest_first: bool, records: bool
) -> SearchResult:
    """The first k sentences by date, without scores. Missing dates come last, ties in collection order."""
    hits: list[Hit] = []
    total = 0
    for answer in _pages_by_date(cluster, condition, k, filters, oldest_first, hit_fields(records)):
        total = total if hits else total_of(answer)
        hits += decode_hits(hits_of(answer), records)
    return SearchResult(hits, total)


def read_texts(
    cluster: Cluster, condition: Condition, k: int, filters: Filters, oldest_first: bool
) -> SentenceTexts:
    """The texts of the sentences that `find_by_date` finds, with their ids, days and sources."""
    found = _read_divided(cluster, condition, k, filters, oldest_first) if k > _WORTH_DIVIDING else None
    if found is not None:
        return found
    hits: list[Any] = []
    total = 0
    for answer in _pages_by_date(cluster, condition, k, filters, oldest_first, {"source": _TEXT_FIELDS}):
        total = total if hits else total_of(answer)
        hits += hits_of(answer)
    texts, dates, sources = ([hit["_source"].get(name) for hit in hits] for name in _TEXT_FIELDS)
    day_of = {date: None if date is None else parse_date_start(date) // DAY for date in set(dates)}
    return SentenceTexts(
        lambda places: [hits[n]["_id"] for n in places.tolist()],
        lambda: texts,
        [day_of[date] for date in dates],
        sources,
        total,
    )


_TEXT_FIELDS = ["text", "date", "source"]
_WORTH_DIVIDING, _PERCENTS = 2_000, [12.5 * part for part in range(1, 8)]
"""From how many sentences on a server reads them in parts side by side, and where it divides them."""
_NO_ORDINAL = 2**63 - 1
_READER = {
    "scripted_metric": {
        "init_script": "state.rows = []",
        "map_script": """
List rows = state.rows;
rows.add(doc['ordinal'].value);
rows.add(doc['sentence_id'].value);
rows.add(doc['date'].size() == 0 ? null : doc['date'].value.toInstant().toEpochMilli());
rows.add(doc['source'].size() == 0 ? null : doc['source'].value);
rows.add(params._source.text);
""",
        "combine_script": "return state.rows",
        "reduce_script": "List rows = []; for (shard in states) { rows.addAll(shard) } return rows",
    }
}
"""Lists `_COLUMNS` numbers and strings for each sentence, one after another."""
_COLUMNS = 5


def _read_divided(
    cluster: Cluster, condition: Condition, k: int, filters: Filters, oldest_first: bool
) -> SentenceTexts | None:
    """The texts of all sentences that match, by date. None if these are few or over k, or scripts forbidden.

    A server stores sentences in compressed blocks. It unpacks a block for each hit that it returns, but only
    once if an aggregation reads the block. One search reads in a single thread.
    """
    query = match_sentences(condition, filters)
    ends = {"percentiles": {"field": "ordinal", "percents": _PERCENTS, "keyed": False}}
    answer = search(
        cluster, index=cluster.alias, size=0, track_total_hits=True, query=query, aggs={"ends": ends}
    )
    if not _WORTH_DIVIDING < total_of(answer) <= k:
        return None
    ordinals = [int(each["value"]) for each in answer["aggregations"]["ends"]["values"]]
    lines: list[dict[str, Any]] = []
    for first, end in pairwise([0, *ordinals, _NO_ORDINAL]):
        within = {"range": {"ordinal": {"gte": first, "lt": end}}}
        body = {"query": {"bool": {"filter": [query, within]}}, "size": 0, "aggs": {"read": _READER}}
        lines += [{"index": cluster.alias}, body]
    try:
        answers = msearch(cluster, lines)
    except EngineUnreachable:
        raise
    except EsrError:
        return None
    rows = list(chain.from_iterable(each["aggregations"]["read"]["value"] for each in answers))
    numbers, ids, dates, sources, texts = (rows[n::_COLUMNS] for n in range(_COLUMNS))
    undated = np.array([date is None for date in dates], bool)
    moments = np.array([date or 0 for date in dates], np.int64)
    order = np.lexsort((np.array(numbers), moments if oldest_first else -moments, undated)).tolist()
    return SentenceTexts(
        lambda places: [ids[order[n]] for n in places.tolist()],
        lambda: [texts[n] for n in order],
        [None if (date := dates[n]) is None else date // DAY for n in order],
        [sources[n] for n in order],
        len(order),
    )


def _by_date(oldest_first: bool) -> list[Any]:
    """Undated last, ties in collection order."""
    order = "asc" if oldest_first else "desc"
    return [{"date": {"order": order, "missing": "_last"}}, {"ordinal": "asc"}]


def _pages_by_date(
    cluster: Cluster,
    condition: Condition,
    k: int,
    filters: Filters,
    oldest_first: bool,
    fields: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield the answers with the first k sentences by date. The first of them has the total."""
    body: dict[str, Any] = {
        "query": match_sentences(condition, filters),
        "sort": _by_date(oldest_first),
        **fields,
    }
    read = 0
    while True:
        size = min(PAGE, k - read)
        answer = search(cluster, index=cluster.alias, size=size, track_total_hits=not read, **body)
        yield answer
        page = hits_of(answer)
        read += len(page)
        if len(page) < PAGE or read >= k:
            return
        body["search_after"] = page[-1]["sort"]


def sum_lengths(
    cluster: Cluster, by: LengthGroups, filters: Filters, condition: Condition | None
) -> dict[Any, int]:
    """The number of terms in the sentences that satisfy a condition and the filters, by day or by source."""
    query, length = match_sentences(condition, filters), {"length": {"sum": {"field": "length"}}}
    if by == "day":
        aggs: dict[str, Any] = {"days": {**_DAYS, "aggs": length}}
        answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)
        buckets = answer["aggregations"]["days"]["buckets"] if "aggregations" in answer else []
        return {bucket["key"] // DAY: int(bucket["length"]["value"]) for bucket in buckets}
    composite: dict[str, Any] = {"size": PAGE, "sources": [{"source": {"terms": {"field": "source"}}}]}
    sums: dict[Any, int] = {}
    while True:
        aggs = {"sources": {"composite": composite, "aggs": length}}
        answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)
        page = answer["aggregations"]["sources"] if "aggregations" in answer else {"buckets": []}
        sums |= {b["key"]["source"]: int(b["length"]["value"]) for b in page["buckets"]}
        if len(page["buckets"]) < PAGE:
            return {source: terms for source, terms in sums.items() if terms}
        composite["after"] = page["after_key"]


_SAMPLE = 200
"""Sentences sampled for frequent words with a prefix: no request lists the terms of a text field."""
_FIELD = WORDS_FIELD["sentence"]
_SUGGESTER: dict[str, Any] = {
    "field": _FIELD,
    "analyzer": "whitespace",
    "suggest_mode": "always",
    "prefix_length": 0,
    "min_word_length": 1,
    "size": 1000,
    "shard_size": 1000,
    "max_inspections": 10,
    "sort": "frequency",
}
"""Lists all similar words, as far as possible. The caller ranks them."""


def words_with_prefix(cluster: Cluster, prefix: str, limit: int) -> list[tuple[str, int]]:
    """Frequent words with this prefix, each with its number of sentences in a sample."""
    answer = search(
        cluster, index=cluster.alias, query={"prefix": {_FIELD: prefix}}, size=_SAMPLE, source=["text"]
    )
    split = get_analyzer(WORDS_ANALYZER).terms
    totals: Counter[str] = Counter()
    for hit in hits_of(answer):
        totals.update({word for word in split(hit["_source"]["text"]) if word.startswith(prefix)})
    return sorted(totals.items(), key=lambda word: (-word[1], word[0]))[:limit]


def similar_words(cluster: Cluster, word: str, max_edits: int, least: int) -> dict[str, int]:
    """The words within `max_edits` edits of a word, each with its number of sentences.

    A transposition is one edit. Only words in at least `least` sentences are returned.
    """
    suggester = {"text": word, "term": {**_SUGGESTER, "max_edits": max_edits}}
    answer = search(cluster, index=cluster.alias, size=0, suggest={"words": suggester})
    options = (option for entry in answer["suggest"]["words"] for option in entry["options"])
    return {option["text"]: option["freq"] for option in options if option["freq"] >= least}


def find_written_forms(cluster: Cluster, words: Sequence[str]) -> list[str]:
    """The usual spelling of each word in the first sentences that contain it, all in one request."""
    lines: list[dict[str, Any]] = []
    for word in words:
        query = match_sentences(HasWords((word,)), NO_FILTERS)
        body = {"query": query, "size": SAMPLE, "sort": {"ordinal": "asc"}, "_source": ["text"]}
        lines += [{"index": cluster.alias}, {**body, "track_total_hits": False}]
    texts = ([hit["_source"]["text"] for hit in hits_of(answer)] for answer in msearch(cluster, lines))
    return [choose_written_form(word, of_word) for word, of_word in zip(words, texts, strict=True)]
