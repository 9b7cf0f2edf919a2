"""The answers of an alias to the questions of the contract (`esr/index/questions.py`).

Conditions and filters have been resolved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from elasticsearch import AuthorizationException

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.copies import GROUP_FIELD, count_taken, has_copies, read_groups
from esr.elastic.documents import decode_quotes, decode_sentence, read_checksums, read_sizes
from esr.elastic.location import documents_index
from esr.elastic.requests import MAX_BUCKETS, search
from esr.elastic.search.counts import (
    count_days,
    count_documents,
    count_facets,
    count_sentences,
    find_by_date,
    find_written_forms,
    match_sentences,
    read_texts,
    similar_words,
    sum_lengths,
    words_with_prefix,
)
from esr.elastic.search.evidence import SimilarityReader
from esr.elastic.search.opened_alias import OpenedAlias
from esr.elastic.search.plan_query import RECORD_FIELDS, filter_clauses, names_clause
from esr.elastic.search.sentence_search import (
    look_up_parses,
    look_up_sources,
    look_up_values,
    look_up_windows,
)
from esr.elastic.statistics import read_histogram
from esr.elastic.tables import read_table
from esr.elastic.vectors import SCALE, decode_vector
from esr.index import questions
from esr.index.contract import check_sentences
from esr.index.filters import Filters
from esr.index.hits import Histogram
from esr.index.names import name_key
from esr.index.similarities import Similarities
from esr.plans.plan import Condition
from esr.text.dates import format_moment
from esr.text.sentence_enrichment import QUOTES, VECTORS, QuantizedVector


def read(
    opened: OpenedAlias, ids: Sequence[str], column: questions.Column[Any], ordinals: Sequence[int] | None
) -> Any:
    """The answer of `Index.read`."""
    cluster = opened.cluster
    match column:
        case questions.Records():
            return [decode_sentence(source) for source in look_up_sources(cluster, ids, RECORD_FIELDS)]
        case questions.EvidenceOf(terms, columns):
            return opened.evidence_reader.evidence(terms, look_up_sources(cluster, ids, True), columns)
        case questions.SimilaritiesTo():
            return _read_similarities(opened, ids, column, ordinals)
        case questions.Parses():
            return look_up_parses(cluster, ids)
        case questions.Quotes():
            return list(map(decode_quotes, look_up_sources(cluster, ids, [QUOTES])))
        case questions.Windows(places, around):
            return look_up_windows(cluster, ids, places, around)
        case questions.Copies():
            return read_groups(cluster, ids, look_up_values(cluster, ids, GROUP_FIELD))
        case questions.Vectors(encoder):
            return _read_vectors(opened, ids, encoder)
        case questions.VectorOrigins(encoder):
            return _read_origins(opened, ids, encoder)
    raise TypeError(f"read: {column}")


def _read_similarities(
    opened: OpenedAlias, ids: Sequence[str], column: questions.SimilaritiesTo, ordinals: Sequence[int] | None
) -> Similarities:
    if ordinals is None:
        ordinals = [source["ordinal"] for source in look_up_sources(opened.cluster, ids, ["ordinal"])]
    marks = opened.encoders.fingerprints(column.encoder)
    return SimilarityReader(opened.cluster, marks, column.query).read(ordinals, column.contexts)


def _read_vectors(opened: OpenedAlias, ids: Sequence[str], encoder: str) -> list[QuantizedVector | None]:
    source = opened.encoders.source(["enriched", VECTORS])
    marks = set(opened.encoders.fingerprints(encoder))
    return [
        decode_vector(fields[VECTORS]) if VECTORS in fields and marks & {*fields["enriched"]} else None
        for fields in look_up_sources(opened.cluster, ids, source)
    ]


def _read_origins(opened: OpenedAlias, ids: Sequence[str], encoder: str) -> list[str | None]:
    by_mark = opened.encoders.origins(encoder)
    return [
        next((by_mark[mark] for mark in fields.get("enriched", ()) if mark in by_mark), None)
        if "scale" in fields.get(VECTORS, {})
        else None
        for fields in look_up_sources(opened.cluster, ids, ["enriched", SCALE])
    ]


def look_up(opened: OpenedAlias, lookup: questions.Lookup[Any]) -> Any:
    """The answer of `Index.vocabulary`."""
    match lookup:
        case questions.Values(field):
            return opened.values.values(field)
        case questions.Names(keys):
            return opened.names.find(keys)
        case questions.FullNames(keys):
            return opened.names.full_names(keys)
        case questions.NamesWithPrefix(prefix, limit):
            return opened.names.keys(prefix, limit)
        case questions.NameForms(key):
            return opened.names.count_forms(key)
        case questions.TermsWithPrefix(prefix, limit):
            return opened.statistics.terms_with_prefix(prefix, limit)
        case questions.TermHolders(terms):
            return opened.statistics.count_holders(terms)
        case questions.WordsWithPrefix(prefix, limit):
            return words_with_prefix(opened.cluster, prefix, limit)
        case questions.SimilarWords(word, max_edits, least):
            return opened.remember(similar_words, word, max_edits, least)
        case questions.WrittenForms(words):
            return opened.remember(find_written_forms, tuple(words)) if words else []
        case questions.WordCounts(words):
            return opened.words.count_occurrences(words)
    raise TypeError(f"vocabulary: {lookup}")


def read_fact(opened: OpenedAlias, fact: questions.Fact[Any]) -> Any:
    """The answer of `Index.status`, except for a summary and readiness."""
    match fact:
        case questions.Features():
            return opened.statistics.features()
        case questions.Languages():
            return opened.statistics.languages()
        case questions.HasParses():
            return opened.parses.exist()
        case questions.HasCopies():
            return has_copies(meta.searchable_loads(opened.cluster))
        case questions.MainEncoder():
            return opened.encoders.main_encoder()
        case questions.StoredTable():
            return read_table(opened.cluster)
        case questions.DocumentMarks():
            opened.require()
            return dict(read_checksums(opened.cluster))
        case questions.DocumentsBefore():
            filters = Filters(date_to=fact.moment - 1)
            opened.require(filters)
            query = {"bool": {"filter": filter_clauses(filters, of="documents")}}
            return dict(read_sizes(opened.within(filters), query))
        case questions.NearestIsExact():
            return not opened.encoders.has_graph()
        case questions.ContentMark():
            return opened.cluster.targets.sentences if opened.cluster.targets else ""
    raise TypeError(f"status: {fact}")


def summarize_periods(cluster: Cluster, loads: Sequence[meta.Load]) -> list[dict[str, Any]]:
    """What a divided index has of each period, in order (`esr.index.questions.PeriodContent`)."""
    by_index = {"terms": {"field": "_index", "size": MAX_BUCKETS}}
    days = {"first": {"min": {"field": "date"}}, "last": {"max": {"field": "date"}}}
    buckets: dict[str, Any] = {}
    for alias, aggs in ((cluster.alias, {}), (cluster.documents_alias, {"aggs": days})):
        answer = search(cluster, index=alias, size=0, aggs={"indices": {**by_index, **aggs}})
        buckets |= {bucket["key"]: bucket for bucket in answer["aggregations"]["indices"]["buckets"]}
    sizes = _read_sizes(cluster)
    names: dict[str, list[str]] = {}
    for load in loads:
        names.setdefault(load.period, []).append(load.index)
    return [
        _summarize_period(period, of_period, buckets, sizes) for period, of_period in sorted(names.items())
    ]


def _summarize_period(
    period: str, indices: Sequence[str], buckets: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """`buckets` count the entries of each index, and `sizes` are empty if they are unknown."""
    documents = [buckets[name] for name in map(documents_index, indices) if name in buckets]
    sentences = [buckets[name] for name in indices if name in buckets]
    moments = [
        bucket[extreme]["value"]
        for bucket in documents
        for extreme in ("first", "last")
        if bucket[extreme]["value"] is not None
    ]
    known = [sizes.get(name) for index in indices for name in (index, documents_index(index))]
    return {
        "period": period,
        "documents": sum(bucket["doc_count"] for bucket in documents),
        "sentences": sum(bucket["doc_count"] for bucket in sentences),
        "size_bytes": None if None in known else sum(filter(None, known)),
        "first": format_moment(int(min(moments))) if moments else None,
        "last": format_moment(int(max(moments))) if moments else None,
    }


def _read_sizes(cluster: Cluster) -> dict[str, int]:
    """Bytes on disk of each index, without replicas; empty for a login that may only search."""
    indices = [f"{cluster.aliases.sentences},{cluster.aliases.documents}"]
    with cluster.translate_errors():
        try:
            answer = cluster.client.indices.stats(index=indices, metric="store")
        except AuthorizationException:
            return {}
    return {
        name: int(body["primaries"]["store"]["size_in_bytes"]) for name, body in answer["indices"].items()
    }


def select(
    opened: OpenedAlias,
    condition: Condition,
    k: int,
    filters: Filters,
    selection: questions.Selection[Any],
    oldest_first: bool,
) -> Any:
    """The answer of `Index.select`."""
    match selection:
        case questions.Hits(records, terms):
            beside = partial(opened.statistics.search_beside, terms) if terms else None
            return find_by_date(opened.within(filters), condition, k, filters, oldest_first, records, beside)
        case questions.Texts():
            return read_texts(opened.within(filters), condition, k, filters, oldest_first)
    raise TypeError(f"select: {selection}")


def count_groups(
    opened: OpenedAlias, by: questions.Grouping[Any], conditions: Sequence[Condition | None], filters: Filters
) -> list[Any]:
    """The answers of `Index.count` by groups other than fields."""
    if isinstance(by, questions.ByDay):
        return count_days(opened.within(filters), conditions, filters)
    if isinstance(by, questions.ByDocument):
        return count_documents(opened.cluster, by.ids, conditions, filters)
    return [_count_group(opened, by, condition, filters) for condition in conditions]


def _count_group(
    opened: OpenedAlias, by: questions.Grouping[Any], condition: Condition | None, filters: Filters
) -> Any:
    match by:
        case questions.ByName():
            return _count_names(opened, by, condition, filters)
        case questions.ByTerm():
            return _count_terms(opened, by, condition, filters)
        case questions.ByReuse():
            return count_taken(opened.cluster, match_sentences(condition, filters))
        case questions.TermsBy(group):
            return sum_lengths(opened.cluster, group, filters, condition)
        case questions.ByValue(column):
            counts = read_histogram(opened.cluster, column, match_sentences(condition, filters))
            return Histogram(np.array(list(counts), float), np.array(list(counts.values()), np.int64))
    raise TypeError(f"count: {by}")


def count_fields(
    opened: OpenedAlias,
    conditions: Sequence[Condition | None],
    filters_by_field: Mapping[str, Filters],
    size: int,
) -> list[Any]:
    """The answers of `Index.count` by fields, each under its filters."""
    cluster, names, values = opened.cluster, opened.names, opened.values
    return [
        count_facets(cluster, names, values, condition, filters_by_field, size) for condition in conditions
    ]


def _count_names(
    opened: OpenedAlias, by: questions.ByName, condition: Condition | None, filters: Filters
) -> dict[str, int]:
    cluster, key = opened.cluster, name_key(by.prefix)
    if by.unit == "documents":
        clauses = filter_clauses(filters, "documents")
        clauses += [names_clause(filters.entities)] if filters.entities else []
        query = {"bool": {"filter": clauses}}
        return opened.names.count(cluster.documents_alias, query, by.size, key, by.keys)
    query = match_sentences(condition, filters)
    return opened.names.count(cluster.alias, query, by.size, key, by.keys)


def _count_terms(
    opened: OpenedAlias, by: questions.ByTerm, condition: Condition | None, filters: Filters
) -> Mapping[str, int]:
    check_sentences(count_sentences(opened.cluster, [condition], filters)[0], by.most)
    texts = read_texts(opened.cluster, condition, by.most, filters, oldest_first=False).texts
    counts: Counter[str] = Counter()
    analyze = opened.analyzer.for_language(by.language).terms
    for text in texts:
        counts.update(analyze(text))
    return counts
