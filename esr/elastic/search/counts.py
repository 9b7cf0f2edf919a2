"""Unscored searches: counts of candidates and conditions, sentences by date, and the words of an alias.

Counting the values of several fields takes one search if possible. Names may take several: the type of a name
is that of most sentences of the whole collection, so the most frequent keys of all types are counted first,
and then their types are looked up. If a type has too few names, more keys are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from esr.elastic.cluster import Cluster
from esr.elastic.dialect import SEPARATOR, Dialect
from esr.elastic.documents import WORDS_FIELD
from esr.elastic.requests import hits_of, msearch, read_buckets, search, total_of
from esr.elastic.search.plan_query import Query, condition_query, filter_clauses
from esr.elastic.search.sentence_search import PAGE, decode_hits, hit_fields
from esr.elastic.statistics import IndexSearch
from esr.elastic.vocabulary import (
    ALL_KEYS,
    SHARD_SIZE,
    NameCounts,
    NameReader,
    ValueReader,
    attribute_terms,
    rank,
)
from esr.errors import EngineUnreachable, EsrError
from esr.index.filters import NO_FILTERS, Filters, attribute_names, check_facets
from esr.index.hits import Hit, SearchResult, SentenceTexts
from esr.index.names import ENTITY_TYPES, SAMPLE, choose_written_form
from esr.index.questions import DayCounts, DocumentCounts, FacetCounts, LengthGroups
from esr.index.values import ValueTable
from esr.plans.plan import Condition, HasWords
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.dates import DAY, parse_date_start

_FIRST_KEYS, _KEYS_PER_VALUE, _WIDEN = 200, 10, 10
"""The number of keys counted first, in all or per value to show, and its growth factor per further step."""


class NameFacets:
    """Counts the names of `types`, in as many searches as necessary."""

    def __init__(self, types: Sequence[str], names: NameReader, size: int) -> None:
        self._types = types
        self._names = names
        self._size = size
        self._found = NameCounts(names.aliases)
        self._groups: list[str] = []
        """The names to count exactly in the next step; empty if it counts keys."""
        self._has_all = False
        self._width = min(max(_FIRST_KEYS, _KEYS_PER_VALUE * size), SHARD_SIZE)
        self.counts: dict[str, FacetCounts] | None = None
        """The counted names by type; None while further steps are needed."""

    def aggregations(self) -> dict[str, Any]:
        """The aggregations of the next step, by name."""
        if self._groups:
            return {"groups": self._found.count_groups(self._groups)}
        return {"keys": {"terms": {"field": ALL_KEYS, "size": self._width, "shard_size": SHARD_SIZE}}}

    def take(self, answers: Mapping[str, Any]) -> None:
        """Take the answers of a step, and set `counts` if they suffice."""
        if self._groups:
            of_groups = (bucket["doc_count"] for bucket in answers["groups"]["buckets"])
            self._found.counted |= dict(zip(self._groups, of_groups, strict=True))
        else:
            buckets = answers["keys"]["buckets"]
            self._has_all = len(buckets) < self._width or self._width == SHARD_SIZE
            self._found.take(buckets, 0 if self._has_all else buckets[-1]["doc_count"])
        counts, inexact = self._found.bounds()
        types = self._names.types(counts)
        best = {
            type: rank({key: n for key, n in counts.items() if types.get(key) == type}, self._size)
            for type in self._types
        }
        least = min((counts[keys[-1]] if len(keys) == self._size else 0 for keys in best.values()), default=0)
        if not self._has_all and least < self._found.unseen:
            self._width, self._groups = min(self._width * _WIDEN, SHARD_SIZE), []
            return
        self._groups = [key for keys in best.values() for key in keys if key in inexact]
        if self._groups:
            return
        forms = self._names.forms(key for keys in best.values() for key in keys)
        self.counts = {type: [(forms[key], counts[key]) for key in keys] for type, keys in best.items()}


Aggregations = dict[str, dict[str, Query]]
"""The aggregations of each field, by name."""
_MOST_FORMS = 10_000
"""Number of written forms counted for a field with forms that differ only in case."""
_OF_DOCUMENTS = {
    "month": {
        "date_histogram": {
            "field": "date",
            "calendar_interval": "month",
            "format": "yyyy-MM",
            "min_doc_count": 1,
        }
    },
    "language": {"terms": {"field": "language", "size": SHARD_SIZE, "shard_size": SHARD_SIZE}},
}
"""The aggregations of fields without a table of values."""


def count_facets(
    cluster: Cluster,
    names: NameReader,
    values: ValueReader,
    condition: Condition | None,
    filters_by_field: Mapping[str, Filters],
    size: int,
) -> dict[str, FacetCounts]:
    """The most frequent values of each field under its filters.

    Clauses shared by all fields are part of the query, so that only a field's other clauses are checked for
    each candidate.
    """
    check_facets(filters_by_field)
    clauses = {field: filter_clauses(filters) for field, filters in filters_by_field.items()}
    first = next(iter(clauses.values()), [])
    shared = [clause for clause in first if all(clause in of_field for of_field in clauses.values())]
    query = match_sentences(condition, NO_FILTERS)
    query["bool"]["filter"] += shared
    unshared = {field: [clause for clause in clauses[field] if clause not in shared] for field in clauses}
    entity_fields = [field for field in unshared if field in ENTITY_TYPES]
    facets = {
        types[0]: NameFacets(types, names, size) for types in _group_by_clauses(entity_fields, unshared)
    }
    counted: Aggregations = {
        field: {field: _OF_DOCUMENTS[field]}
        if field in _OF_DOCUMENTS
        else _value_terms(values, field, size, cluster.dialect)
        for field in unshared
        if field not in ENTITY_TYPES
    }
    counts: dict[str, FacetCounts] = {}
    while len(counts) < len(unshared):
        counted |= {field: of.aggregations() for field, of in facets.items() if of.counts is None}
        places = [(field, name) for field, aggregations in counted.items() for name in aggregations]
        # Named by number: Elasticsearch rejects names with brackets, which metadata keys may contain.
        aggs = {
            str(n): _with_filter(counted[field][name], unshared[field])
            for n, (field, name) in enumerate(places)
        }
        # A field without any value in the collection needs no aggregation.
        answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs).get("aggregations", {})
        by_place = {place: _without_filter(answer[str(n)]) for n, place in enumerate(places)}
        for field, aggregations in counted.items():
            answers = {name: by_place[field, name] for name in aggregations}
            if field in facets:
                facets[field].take(answers)
                counts |= facets[field].counts or {}
            else:
                table = None if field in _OF_DOCUMENTS else values.values(field)
                counts[field] = _values(answers.values(), table, size)
        counted = {}
    return {field: counts[field] for field in filters_by_field}


def _group_by_clauses(fields: Sequence[str], clauses: Mapping[str, list[Query]]) -> list[list[str]]:
    """The fields, grouped by equal clauses."""
    groups: list[list[str]] = []
    for field in fields:
        group = next((group for group in groups if clauses[group[0]] == clauses[field]), None)
        if group is None:
            groups.append([field])
        else:
            group.append(field)
    return groups


def _value_terms(values: ValueReader, field: str, size: int, dialect: Dialect) -> dict[str, Query]:
    """The aggregations that count the values of a field.

    If values have several forms, many forms are counted: a value may be among the most frequent although none
    of its forms is.
    """
    table, names = values.values(field), attribute_names(values.values, field)
    width = _MOST_FORMS if table.has_variants or len(names) > 1 else size
    sizes = {"size": width, "shard_size": max(width, SHARD_SIZE)}
    return {name: {"terms": {**attribute_terms(name, dialect), **sizes}} for name in names if len(table)}


def _with_filter(aggregation: Query, clauses: list[Query]) -> Query:
    # A filter that matches everything would be checked for each candidate, which took 1.5 times as long.
    if not clauses:
        return aggregation
    return {"filter": {"bool": {"filter": clauses}}, "aggs": {"values": aggregation}}


def _without_filter(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: Mapping[str, Any] = answer.get("values", answer)
    return inner


def _values(answers: Iterable[Mapping[str, Any]], table: ValueTable | None, size: int) -> FacetCounts:
    """The counts of a table's values, or of months and languages if `table` is None."""
    values: Counter[str] = Counter()
    for bucket in (bucket for answer in answers for bucket in answer["buckets"]):
        if table is None:
            value = bucket.get("key_as_string") or bucket["key"].lower()
        else:
            value = table.form(bucket["key"].rpartition(SEPARATOR)[2])
        values[value] += bucket["doc_count"]
    # Ties of months are in chronological order.
    return sorted(values.items(), key=lambda value: (-value[1], value[0]))[:size]


_DAYS = {"date_histogram": {"field": "date", "fixed_interval": "1d", "min_doc_count": 1}}
"""Groups by day in UTC, the default time zone."""


def count_sentences(cluster: Cluster, conditions: Sequence[Condition | None], filters: Filters) -> list[int]:
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


_MOST_EXACT = 40_000
"""Number of documents up to which Elasticsearch counts them exactly or nearly so: the highest it accepts."""


def count_documents(
    cluster: Cluster, ids: Sequence[str] | None, conditions: Sequence[Condition | None], filters: Filters
) -> list[DocumentCounts]:
    """The number of documents, and of sentences in the documents with these ids, for each condition."""
    field = "document_id"
    if ids is None:
        return [_count_all_documents(cluster, field, match_sentences(c, filters)) for c in conditions]
    aggs: Query = {"all": {"cardinality": {"field": field, "precision_threshold": _MOST_EXACT}}}
    if ids:
        listed = list(ids)
        of_ids = {"terms": {"field": field, "size": len(listed)}}
        aggs["listed"] = {"filter": {"terms": {field: listed}}, "aggs": {"values": of_ids}}
    answers = _search_each(cluster, conditions, filters, {"track_total_hits": False, "aggs": aggs})
    counts = []
    for answer in answers:
        aggregations = answer["aggregations"]
        buckets = aggregations["listed"]["values"]["buckets"] if ids else ()
        sentences = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
        counts.append(DocumentCounts(aggregations["all"]["value"], sentences))
    return counts


def _count_all_documents(cluster: Cluster, field: str, query: Query) -> DocumentCounts:
    buckets = read_buckets(cluster, cluster.alias, field, query=query)
    sentences = {bucket["key"]["value"]: bucket["doc_count"] for bucket in buckets}
    return DocumentCounts(len(sentences), sentences)


def match_sentences(condition: Condition | None, filters: Filters) -> Query:
    """A query for the sentences that satisfy the condition and the filters, without scores."""
    clauses = [] if condition is None else [condition_query(condition)]
    return {"bool": {"filter": [*clauses, *filter_clauses(filters)]}}


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
    cluster: Cluster,
    condition: Condition,
    k: int,
    filters: Filters,
    oldest_first: bool,
    records: bool,
    search_beside: Callable[[IndexSearch], Any] | None = None,
) -> SearchResult:
    """The first k sentences by date, without scores. Missing dates come last, ties in collection order.

    `search_beside` sends a search together with others, or returns None if there are no others.
    """
    if search_beside is not None and k <= PAGE:
        body: dict[str, Any] = {
            "query": match_sentences(condition, filters),
            "sort": _by_date(oldest_first),
            "size": k,
            "track_total_hits": True,
            **hit_fields(records),
        }
        if "source" in body:  # the client's name
            body["_source"] = body.pop("source")
        if (answer := search_beside((cluster.alias, body))) is not None:
            return SearchResult(decode_hits(hits_of(answer), records), total_of(answer))
    hits: list[Hit] = []
    total = 0
    for answer in read_pages_by_date(cluster, condition, k, filters, oldest_first, hit_fields(records)):
        total = total if hits else total_of(answer)
        hits += decode_hits(hits_of(answer), records)
    return SearchResult(hits, total)


def read_texts(
    cluster: Cluster, condition: Condition | None, k: int, filters: Filters, oldest_first: bool
) -> SentenceTexts:
    """The texts of the sentences that `find_by_date` finds, with their ids, days and sources."""
    divided = _read_divided(cluster, condition, k, filters, oldest_first) if k > WORTH_DIVIDING else None
    if divided is not None:
        return divided
    hits: list[Any] = []
    total = 0
    for answer in read_pages_by_date(cluster, condition, k, filters, oldest_first, {"source": _TEXT_FIELDS}):
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
WORTH_DIVIDING, _PERCENTS = 2_000, [12.5 * part for part in range(1, 8)]
"""Number of sentences from which a server reads them in parallel parts, and the parts' percentiles."""
_NO_ORDINAL = 2**63 - 1
READER = {
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
"""An aggregation that lists `_COLUMNS` numbers and strings for each sentence, concatenated."""
_COLUMNS = 5


def _read_divided(
    cluster: Cluster, condition: Condition | None, k: int, filters: Filters, oldest_first: bool
) -> SentenceTexts | None:
    """The texts of all matching sentences, by date. None if few, more than k, or without scripts.

    A server stores sentences in compressed blocks. It unpacks a block for each hit that it returns, but only
    once if an aggregation reads the block. One search reads in a single thread.
    """
    query = match_sentences(condition, filters)
    ends = {"percentiles": {"field": "ordinal", "percents": _PERCENTS, "keyed": False}}
    answer = search(
        cluster, index=cluster.alias, size=0, track_total_hits=True, query=query, aggs={"ends": ends}
    )
    if not WORTH_DIVIDING < total_of(answer) <= k:
        return None
    ordinals = [int(boundary["value"]) for boundary in answer["aggregations"]["ends"]["values"]]
    lines: list[dict[str, Any]] = []
    for first, end in pairwise([0, *ordinals, _NO_ORDINAL]):
        within = {"range": {"ordinal": {"gte": first, "lt": end}}}
        body = {"query": {"bool": {"filter": [query, within]}}, "size": 0, "aggs": {"read": READER}}
        lines += [{"index": cluster.alias}, body]
    try:
        answers = msearch(cluster, lines)
    except EngineUnreachable:
        raise
    except EsrError:
        return None
    rows = list(chain.from_iterable(answer["aggregations"]["read"]["value"] for answer in answers))
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
    """The sort by date: undated entries last, ties in collection order."""
    order = "asc" if oldest_first else "desc"
    return [{"date": {"order": order, "missing": "_last"}}, {"ordinal": "asc"}]


def read_pages_by_date(
    cluster: Cluster,
    condition: Condition | None,
    k: int,
    filters: Filters,
    oldest_first: bool,
    fields: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield the answers with the first k sentences by date. The first answer has the total."""
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
    """The number of terms in the sentences that satisfy a condition and the filters, by day or source."""
    query, length = match_sentences(condition, filters), {"length": {"sum": {"field": "length"}}}
    if by == "day":
        aggs: dict[str, Any] = {"days": {**_DAYS, "aggs": length}}
        answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)
        buckets = answer["aggregations"]["days"]["buckets"] if "aggregations" in answer else []
        return {bucket["key"] // DAY: int(bucket["length"]["value"]) for bucket in buckets}
    buckets = read_buckets(cluster, cluster.alias, "source", query=query, aggs=length)
    sums = {bucket["key"]["value"]: int(bucket["length"]["value"]) for bucket in buckets}
    return {source: terms for source, terms in sums.items() if terms}


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
"""A suggester that lists as many similar words as possible. The caller ranks them."""


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

    A transposition is one edit. Words in fewer than `least` sentences are left out.
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
