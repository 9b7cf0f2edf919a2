"""Statistics of an alias over all its shards and indices: exact, and cached for a while."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace

from esr.batches import batched
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store.cache_age import MAX_AGE
from esr.engines.elasticsearch.store.collection_statistics import read_collection_statistics
from esr.engines.elasticsearch.store.columns import Domain, column_domain, read_features, read_value_ranges
from esr.engines.elasticsearch.store.term_dictionary import read_terms_with_prefix
from esr.engines.elasticsearch.store.term_statistics import TermStatisticsReader
from esr.plans.plan import Static
from esr.plans.statistics import CollectionStatistics, Statistics, TermStatistics

_MAX_TERMS = 200_000
_BATCH = 100


class AliasStatistics:
    """Reads statistics from Elasticsearch, and caches them.

    `is_pinned`: the aliases are names of indices. Then statistics of texts are cached for good, since the
    texts of a generation never change. Columns do change: by enrichment, and when priors are refreshed.
    """

    def __init__(self, cluster: Cluster, is_pinned: bool = False) -> None:
        self._cluster = cluster
        self._term_reader = TermStatisticsReader(cluster)
        self._is_pinned = is_pinned
        self._collection: CollectionStatistics | None = None
        self._terms: dict[str, TermStatistics] = {}
        self._prefixes: dict[tuple[str, int], list[str]] = {}
        self._value_ranges: dict[Domain, tuple[float, float] | None] = {}
        self._features: list[str] | None = None
        self._cached_since = 0.0

    def lookup(self, terms: Sequence[str]) -> Statistics:
        """The statistics of the collection and of these terms."""
        self._expire()
        # Another thread may clear the caches meanwhile: it replaces them, and changes none.
        term_cache, collection = self._terms, self._collection
        if collection is None:
            collection = self._collection = read_collection_statistics(self._cluster)
        for batch in batched([term for term in terms if term not in term_cache], _BATCH):
            term_cache.update(self._term_reader.read(batch))
        return Statistics(collection, {term: term_cache[term] for term in terms})

    def check_engine_counts(self) -> None:
        """Raises UsageError where Elasticsearch's own cf of terms is not exact because of its version."""
        self._term_reader.check_engine_counts()

    def bounded_collection(self, statics: Sequence[Static]) -> CollectionStatistics:
        """The collection's statistics, with the ranges of values in the columns of these statics."""
        collection = self.lookup(()).collection
        cache = self._value_ranges
        domains = {static: column_domain(static) for static in statics}
        unread = {domain for domain in domains.values() if domain not in cache}
        if unread:
            cache.update(read_value_ranges(self._cluster, sorted(unread, key=str)))
        ranges = {static: cache[domain] for static, domain in domains.items()}
        return replace(
            collection, bounds={static: values for static, values in ranges.items() if values is not None}
        )

    def features(self) -> list[str]:
        """The names of the features that an index of the alias has a field for."""
        self._expire()
        features = self._features  # another thread may clear the caches meanwhile
        if features is None:
            features = self._features = read_features(self._cluster)
        return features

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """The first `limit` terms with this prefix, in the order of their characters' codes."""
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
        if len(self._terms) > _MAX_TERMS or (is_old and not self._is_pinned):
            self._terms, self._collection, self._prefixes = {}, None, {}
