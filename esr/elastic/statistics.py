"""Statistics of an alias over all its shards and indices: of the collection, of terms, and of stored columns.

They are exact even where Elasticsearch's own statistics are not. `AliasStatistics` caches them for a while.
The module also computes the range of what a static score can add to a score.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from esr.elastic.cluster import Cluster
from esr.elastic.documents import WITHOUT_TERM, WORDS_FIELD, language_query
from esr.elastic.requests import ask, hits_of, msearch_dfs, read_buckets, search, total_of
from esr.errors import EsrError, UsageError
from esr.plans.plan import (
    FEATURE_PREFIX,
    CollectionStatistics,
    Curve,
    StaticScore,
    Statistics,
    TermStatistics,
)
from esr.stdlib import batched

_SENTENCE_SUMS = ("length", "surrounding_length", "document_length")
_DOCUMENT_SUMS = ("length", "terms")


def read_collection_statistics(
    cluster: Cluster, query: Mapping[str, Any] | None = None
) -> CollectionStatistics:
    """The statistics of all documents, or of those that match a query. Their sentences match it too."""
    of_sentences: dict[str, Any] = {name: {"sum": {"field": name}} for name in _SENTENCE_SUMS}
    of_sentences["longest"] = {"max": {"field": "length"}}
    of_sentences["termless"] = {"filter": WITHOUT_TERM}
    of_documents = {name: {"sum": {"field": name}} for name in _DOCUMENT_SUMS}
    totals = {"size": 0, "track_total_hits": True, **({} if query is None else {"query": query})}
    sentences, documents = msearch_dfs(
        cluster,
        [
            (cluster.alias, {**totals, "aggs": of_sentences}),
            (cluster.documents_alias, {**totals, "aggs": of_documents}),
        ],
    )

    def value(answer: Any, name: str) -> int:
        return int(answer["aggregations"][name]["value"] or 0.0)

    return CollectionStatistics(
        sentences=total_of(sentences),
        documents=total_of(documents),
        occurrences=value(sentences, "length"),
        document_length=value(documents, "length"),
        surrounding_length=value(sentences, "surrounding_length"),
        weighted_document_length=value(sentences, "document_length"),
        document_terms=value(documents, "terms"),
        longest_sentence=value(sentences, "longest"),
        termless_sentences=sentences["aggregations"]["termless"]["doc_count"],
    )


_MOST_LANGUAGES = 10_000


def read_languages(cluster: Cluster) -> dict[str | None, int]:
    """The number of documents in each language that they declare; None for none declared."""
    aggs = {
        "declared": {"terms": {"field": "language", "size": _MOST_LANGUAGES}},
        "none": {"missing": {"field": "language"}},
    }
    aggregations = search(cluster, index=cluster.documents_alias, size=0, aggs=aggs)["aggregations"]
    languages: dict[str | None, int] = {
        bucket["key"]: bucket["doc_count"] for bucket in aggregations["declared"]["buckets"]
    }
    without = aggregations["none"]["doc_count"]
    return {**languages, None: without} if without else languages


def read_next_ordinals(cluster: Cluster) -> tuple[int, int]:
    """The first unused `ordinal` of sentences and of documents."""
    body = {"size": 0, "aggs": {"last": {"max": {"field": "ordinal"}}}}
    answers = msearch_dfs(cluster, [(cluster.alias, body), (cluster.documents_alias, body)])
    greatest = [answer["aggregations"]["last"]["value"] for answer in answers]
    sentences, documents = (0 if value is None else int(value) + 1 for value in greatest)
    return sentences, documents


_OCCURRENCES, _HOLDERS = "esr-occurrences-v2", "esr-holders-v2"
"""Scripts whose scores are cf and sf as Elasticsearch counts them, or digits of these."""
_COUNT = "esr-count-v1"
STATISTICS_SCRIPTS = (_OCCURRENCES, _HOLDERS, _COUNT)
FIRST_INEXACT = 1 << 24
"""Numbers below this are exact in 32-bit scores."""


IndexSearch = tuple[str, Mapping[str, Any]]
"""The index of a search, and its body."""


class StatisticsBeside(NamedTuple):
    """The statistics of terms, and the answer to the search beside them, None without one."""

    statistics: dict[str, TermStatistics]
    beside: Any


class TermStatisticsReader:
    """Reads sf and df, which are counts of hits, and cf, the engine's own statistic wherever that is exact.

    Enrichment updates sentences, and Elasticsearch counts the replaced entries too until it merges their
    segments. So it is asked for its own cf and, in the same state of the index, for its own sf. If the low
    digits of this sf differ from the number of hits, occurrences are summed over the hits.

    Some versions return sf in place of cf for a search over several shards. An answer in which both differ
    for any term shows that this is not such a version. So once a term is known to be repeated in a document,
    it is added to every request. Without such evidence, occurrences are also summed over the hits.
    """

    def __init__(self, cluster: Cluster, field: str = "text") -> None:
        """`field` is a field of sentences. Documents are counted unless it is the field of written words."""
        self._cluster = cluster
        self._field = field
        self._counts_documents = field != WORDS_FIELD["sentence"]
        self._repeated: str | None = None

    def read(self, terms: Sequence[str]) -> dict[str, TermStatistics]:
        """The statistics of these terms. Raises the errors of `search`."""
        return self.read_beside(terms, None).statistics

    def read_beside(self, terms: Sequence[str], beside: IndexSearch | None) -> StatisticsBeside:
        """The statistics of these terms, and the answer to a search in the same request, if one is given.

        Raises the errors of `search`.
        """
        field = self._field
        searches = [(self._cluster.alias, _count_each(field, terms))]
        if self._counts_documents:
            searches.append((self._cluster.documents_alias, _count_each("context", terms)))
        pairs = [(field, term) for term in terms] if self._cluster.dialect.counts_occurrences else []
        if pairs:
            pairs += [] if self._repeated is None else [(field, self._repeated)]
            searches.append((self._cluster.alias, _engine_counts(pairs)))
        sentence_counts, *answers = msearch_dfs(
            self._cluster, searches if beside is None else [*searches, beside]
        )
        answer_beside = None if beside is None else answers.pop()
        document_counts = answers.pop(0) if self._counts_documents else sentence_counts
        of_engine = [counts for answer in answers for counts in _decode_engine_counts(answer, len(pairs))]
        is_proven = any(_counts_occurrences(answer, of_engine) for answer in answers)
        statistics = {}
        inexact = []
        for position, term in enumerate(terms):
            sf, df = (
                counts["aggregations"]["terms"]["buckets"][position]["doc_count"]
                for counts in (sentence_counts, document_counts)
            )
            high, low, engine_sf = of_engine[position] if pairs else (0, 0, 0)
            statistics[term] = TermStatistics(sf, df, high * FIRST_INEXACT + low)
            if sf % FIRST_INEXACT != engine_sf or (sf and not is_proven):
                inexact.append(term)
        statistics |= _sum_occurrences(self._cluster, field, {term: statistics[term] for term in inexact})
        if self._repeated is None:
            self._repeated = next((term for term in terms if statistics[term].cf > statistics[term].sf), None)
        return StatisticsBeside(statistics, answer_beside)

    def count_holders(self, terms: Sequence[str]) -> dict[str, int]:
        """The number of sentences with each of these terms."""
        answer = search(self._cluster, index=self._cluster.alias, **_count_each(self._field, terms))
        counts = (bucket["doc_count"] for bucket in answer["aggregations"]["terms"]["buckets"])
        return dict(zip(terms, counts, strict=True))

    def check_engine_counts(self) -> None:
        """Raise UsageError if the engine's own cf is not exact."""
        if not self._cluster.dialect.counts_occurrences:
            if search(self._cluster, index=self._cluster.alias, size=0)["_shards"]["total"] > 1:
                raise UsageError(
                    f"--standalone would not be exact: {self._cluster.where} has several shards, over which "
                    f"{self._cluster.dialect.name} does not count occurrences: load with --shards 1, or "
                    "leave out --standalone"
                )
            return
        repeated = _find_repeated_term(self._cluster)
        if repeated is None:  # then cf equals sf
            return
        pairs = [("context", repeated)]
        (answer,) = msearch_dfs(self._cluster, [(self._cluster.alias, _engine_counts(pairs))])
        if not _counts_occurrences(answer, _decode_engine_counts(answer, len(pairs))):
            raise UsageError(
                f"--standalone would not be exact: {self._cluster.where} has several shards, over which its "
                "version of Elasticsearch counts sentences in place of occurrences. Update Elasticsearch to "
                "8.19.14, 9.2.8, 9.3.3, 9.4 or later, load with --shards 1, or leave out --standalone"
            )


def _count_each(field: str, terms: Sequence[str]) -> dict[str, Any]:
    """A search that counts the entries with each of these terms, in this order."""
    filters = [{"term": {field: term}} for term in terms]
    return {"size": 0, "track_total_hits": False, "aggs": {"terms": {"filters": {"filters": filters}}}}


def _engine_parts() -> dict[str, dict[str, Any]]:
    """Scripts for the high digits of the engine's cf, for its low ones, and for the low ones of its sf."""
    return {
        "high": {"id": _OCCURRENCES, "params": {"unit": FIRST_INEXACT, "base": FIRST_INEXACT}},
        "low": {"id": _OCCURRENCES, "params": {"unit": 1, "base": FIRST_INEXACT}},
        "sf": {"id": _HOLDERS, "params": {"base": FIRST_INEXACT}},
    }


def _engine_counts(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A search for any one sentence, whose scores by named queries are the engine's counts.

    `asked` are pairs of a field and a term.
    """
    scripts = _engine_parts()
    named = [
        {
            "script_score": {
                "query": {"bool": {"must": [{"match_all": {}}], "should": [{"term": {field: term}}]}},
                "script": script,
                "_name": f"{name}{position}",
            }
        }
        for position, (field, term) in enumerate(pairs)
        for name, script in scripts.items()
    ]
    # Not a filter: only scoring clauses have statistics over all shards.
    query = {"bool": {"must": [{"match_all": {}}], "should": named}}
    return {"size": 1, "terminate_after": 1, "track_total_hits": False, "_source": False, "query": query}


def _decode_engine_counts(answer: Any, number: int) -> list[list[int]]:
    """The high and the low digits of cf, and the low ones of sf, for each of `number` terms."""
    hits = hits_of(answer)
    scores = hits[0]["matched_queries"] if hits else {}
    names = tuple(_engine_parts())
    return [[round(scores.get(f"{name}{position}", 0)) for name in names] for position in range(number)]


def _counts_occurrences(answer: Any, of_engine: Sequence[Sequence[int]]) -> bool:
    """Whether an answer shows that the engine's cf counts occurrences, as it always does over one shard."""
    return answer["_shards"]["total"] == 1 or any(low != sf for _, low, sf in of_engine)


def _find_repeated_term(cluster: Cluster) -> str | None:
    """The most frequent term of the longest document, if it occurs there at least twice."""
    answer = search(
        cluster,
        index=cluster.documents_alias,
        size=1,
        sort=[{"length": "desc"}],
        track_total_hits=False,
        source=["context"],
    )
    frequent = [Counter(hit["_source"]["context"].split()).most_common(1) for hit in hits_of(answer)]
    return next((term for counts in frequent for term, count in counts if count > 1), None)


def _sum_occurrences(
    cluster: Cluster, field: str, inexact: Mapping[str, TermStatistics]
) -> dict[str, TermStatistics]:
    """The same statistics, with cf summed over the hits."""
    if not inexact:
        return {}
    searches = []
    for term in inexact:
        counts = {"query": {"term": {field: term}}, "script": {"id": _COUNT}}
        total = {"occurrences": {"sum": {"script": "_score"}}}
        searches.append((cluster.alias, {"size": 0, "aggs": total, "query": {"script_score": counts}}))
    return {
        term: statistics._replace(cf=round(answer["aggregations"]["occurrences"]["value"]))
        for (term, statistics), answer in zip(inexact.items(), msearch_dfs(cluster, searches), strict=True)
    }


_TERM = re.compile(r"\bcontext:([^\s()^]+)")


def read_terms_with_prefix(cluster: Cluster, prefix: str, limit: int) -> list[str]:
    """The first `limit` terms with this prefix, in code point order.

    They are parsed from each shard's rewritten prefix query, which lists the first terms, all with one boost.
    `_terms_enum` does not support text fields.
    """
    rewritten = {"value": prefix, "rewrite": f"top_terms_{limit}"}
    with cluster.translate_errors():
        answer = ask(
            cluster,
            lambda: cluster.client.indices.validate_query(
                index=cluster.documents_alias,
                query={"prefix": {"context": rewritten}},
                rewrite=True,
                all_shards=True,
            ),
        )
    explanations = answer["explanations"]
    if not answer["valid"] or answer["_shards"]["failed"]:
        raise EsrError(f"{cluster.where} cannot list terms with the prefix {prefix!r}: {explanations}")
    terms = {term for shard in explanations for term in _TERM.findall(shard["explanation"])}
    # A shard without such terms does not rewrite the query: the prefix and a star, which no term contains.
    terms.discard(f"{prefix}*")
    return sorted(term for term in terms if term.startswith(prefix))[:limit]


GREATEST_OFFSET = 1e6
"""Offset above which 32-bit scores would be coarser than a twentieth."""
GREATEST_SCORE = 1e38


def static_bounds(static_score: StaticScore, collection: CollectionStatistics) -> tuple[float, float]:
    """The least and the most that the static score adds. A value that may be missing can add 0, too.

    The range of values comes from `collection.bounds`. A static score that is missing there has no values.
    """
    values = collection.bounds.get(static_score)
    if values is None:
        return 0.0, 0.0
    extremes = [
        static_score.weight * value + static_score.constant for value in _form_bounds(static_score, *values)
    ]
    # Only a logarithm's value is enforced if required; a missing feature adds 0.
    if not static_score.required or (
        static_score.column.startswith(FEATURE_PREFIX) and static_score.form != "log"
    ):
        extremes.append(0.0)
    return min(extremes), max(extremes)


def exclusive_minimum(static_score: StaticScore) -> float | None:
    """The number that values must exceed for the static score's form to be defined, or None."""
    return (
        0.0 - static_score.shift if static_score.form == "log" else None
    )  # 0.0, as Elasticsearch ranks 0.0 above -0.0


def _form_bounds(static_score: StaticScore, low: float, high: float) -> tuple[float, ...]:
    """Bounds of the form's values. Every form except the curve rises with the column's value."""
    if static_score.form == "linear":
        return low, high
    if static_score.form == "log":
        return math.log(static_score.shift + low), math.log(static_score.shift + high)
    if static_score.form == "curve":
        assert static_score.curve is not None
        return tuple(_curve_bounds(static_score.curve))
    return 0.0, 1.0  # step, satu, sigm


def _curve_bounds(curve: Curve) -> Iterator[float]:
    """Bounds of a curve's values.

    A cubic stays between its four Bézier ordinates. The inner ordinates of an interval lie between its ends
    if the curve is monotonic, as estimated curves are, and may lie outside for other slopes.
    """
    yield from curve.adds
    if curve.outside is not None:
        yield curve.outside
    points = zip(curve.values, curve.adds, curve.slopes, strict=True)
    for (x0, y0, slope0), (x1, y1, slope1) in pairwise(points):
        third = (x1 - x0) / 3.0
        yield y0 + slope0 * third
        yield y1 - slope1 * third


Domain = tuple[str, float | None]
"""A column, and the number that its values must exceed to count, if there is one."""


def column_domain(static_score: StaticScore) -> Domain:
    """The domain of values that a static score can use."""
    return static_score.column, exclusive_minimum(static_score)


def read_value_ranges(
    cluster: Cluster, domains: Sequence[Domain]
) -> dict[Domain, tuple[float, float] | None]:
    """The least and the greatest value in each domain, None if it has no value."""
    aggs = {}
    for number, (column, minimum) in enumerate(domains):
        in_domain = {"match_all": {}} if minimum is None else {"range": {column: {"gt": minimum}}}
        extremes = {extreme: {extreme: {"field": column}} for extreme in ("min", "max")}
        aggs[str(number)] = {"filter": in_domain, "aggs": extremes}
    (answer,) = msearch_dfs(cluster, [(cluster.alias, {"size": 0, "aggs": aggs})])
    ranges: dict[Domain, tuple[float, float] | None] = {}
    for number, domain in enumerate(domains):
        extremes = answer["aggregations"][str(number)]
        low, high = extremes["min"]["value"], extremes["max"]["value"]
        ranges[domain] = None if low is None else (low, high)
    return ranges


def read_histogram(cluster: Cluster, column: str, query: Mapping[str, Any]) -> dict[float, int]:
    """The number of matching sentences with each value of a column, in ascending order of values."""
    histogram: dict[float, int] = {}
    for bucket in read_buckets(cluster, cluster.alias, column, query=query):
        value = float(bucket["key"]["value"])  # 0.0 and -0.0 are two buckets
        histogram[value] = histogram.get(value, 0) + bucket["doc_count"]
    return histogram


def read_features(cluster: Cluster) -> list[str]:
    """The names of the features that an index of the alias has a field for."""
    with cluster.translate_errors():
        answer = ask(cluster, lambda: cluster.client.indices.get_mapping(index=cluster.alias))
    fields = [body["mappings"]["properties"].get("features", {}) for body in answer.values()]
    return sorted({name for field in fields for name in field.get("properties", {})})


MAX_AGE = 10.0
"""Seconds that readers of an index cache data that enrichment or loads change in place."""


_MAX_TERMS = 200_000
_BATCH = 100


class AliasStatistics:
    """Reads statistics from Elasticsearch, and caches them.

    `is_pinned`: the aliases are names of indices. Then statistics of texts stay cached, since the texts of a
    generation never change. Columns do change: by enrichment, and when priors are refreshed.
    """

    def __init__(self, cluster: Cluster, is_pinned: bool = False, field: str = "text") -> None:
        self._cluster = cluster
        self._term_reader = TermStatisticsReader(cluster, field)
        self._is_pinned = is_pinned
        self._collections: dict[str | None, CollectionStatistics] = {}
        self._languages: Mapping[str | None, int] | None = None
        self._terms: dict[str, TermStatistics] = {}
        self._holders: dict[str, int] = {}
        self._prefixes: dict[tuple[str, int], list[str]] = {}
        self._value_ranges: dict[Domain, tuple[float, float] | None] = {}
        self._features: list[str] | None = None
        self._cached_since = 0.0

    def lookup(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        """The statistics of the collection, or of its documents in a language, and of these terms."""
        self._expire()
        collections = self._collections  # another thread may clear the cache
        if language not in collections:
            query = None
            if language is not None:
                query = language_query(self.languages(), language)
            collections[language] = read_collection_statistics(self._cluster, query)
        return Statistics(collections[language], self._look_up(terms))

    def languages(self) -> Mapping[str | None, int]:
        """The number of documents in each language that they declare; None for none declared."""
        self._expire()
        languages = self._languages
        if languages is None:
            languages = self._languages = read_languages(self._cluster)
        return languages

    def count_holders(self, terms: Sequence[str]) -> dict[str, int]:
        """The number of sentences with each of these terms, in a small part of the time of `lookup`."""
        self._expire()
        known, cache = self._terms, self._holders  # another thread may clear the caches
        for batch in batched([term for term in terms if term not in known and term not in cache], _BATCH):
            cache.update(self._term_reader.count_holders(batch))
        return {term: known[term].sf if term in known else cache[term] for term in terms}

    def count_occurrences(self, terms: Sequence[str]) -> dict[str, int]:
        """The number of occurrences of these terms of the field."""
        self._expire()
        return {term: of_term.cf for term, of_term in self._look_up(terms).items()}

    def _look_up(self, terms: Sequence[str]) -> dict[str, TermStatistics]:
        cache = self._terms  # another thread may clear the caches, which replaces them
        for batch in batched([term for term in terms if term not in cache], _BATCH):
            cache.update(self._term_reader.read(batch))
        return {term: cache[term] for term in terms}

    def search_beside(self, terms: Sequence[str], beside: IndexSearch) -> Any:
        """The answer to a search, in whose request statistics of these terms are read, and cached.

        None, without a request, if all of them are known.
        """
        self._expire()
        cache = self._terms  # another thread may clear the caches, which replaces them
        unknown = [term for term in dict.fromkeys(terms) if term not in cache][:_BATCH]
        if not unknown:
            return None
        answer = self._term_reader.read_beside(unknown, beside)
        cache.update(answer.statistics)
        return answer.beside

    def check_engine_counts(self) -> None:
        """Raise UsageError if Elasticsearch's own cf of terms is not exact because of its version."""
        self._term_reader.check_engine_counts()

    def bounded_collection(self, static_scores: Sequence[StaticScore]) -> CollectionStatistics:
        """The collection's statistics, with the ranges of values in the columns of these static scores."""
        collection = self.lookup(()).collection
        cache = self._value_ranges
        domains = {static_score: column_domain(static_score) for static_score in static_scores}
        unread = {domain for domain in domains.values() if domain not in cache}
        if unread:
            cache.update(read_value_ranges(self._cluster, sorted(unread, key=str)))
        ranges = {static_score: cache[domain] for static_score, domain in domains.items()}
        return replace(
            collection,
            bounds={static_score: values for static_score, values in ranges.items() if values is not None},
        )

    def features(self) -> list[str]:
        """The names of the features that an index of the alias has a field for."""
        self._expire()
        features = self._features  # another thread may clear the caches
        if features is None:
            features = self._features = read_features(self._cluster)
        return features

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` terms with this prefix, in code point order."""
        self._expire()
        cache, key = self._prefixes, (prefix, limit)
        if key not in cache:
            cache[key] = read_terms_with_prefix(self._cluster, prefix, limit)
        return cache[key]

    def _expire(self) -> None:
        is_old = time.monotonic() - self._cached_since > MAX_AGE
        if is_old:
            self._value_ranges, self._features = {}, None
            self._cached_since = time.monotonic()
        is_full = len(self._terms) + len(self._holders) > _MAX_TERMS
        if is_full or (is_old and not self._is_pinned):
            self._terms, self._holders, self._prefixes = {}, {}, {}
            self._collections, self._languages = {}, None
