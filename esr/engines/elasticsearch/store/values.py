"""The values of `source` and of attributes behind an alias, and the fields that have them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from esr.documents.attributes import ATTRIBUTES, META, META_PREFIX
from esr.documents.fields import METADATA
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search
from esr.engines.elasticsearch.store.cache_age import MAX_AGE
from esr.engines.resolve import attribute_names
from esr.engines.values import ValueTable

KEYS_FIELD = "metadata_keys"
"""The field of a document that has the keys of its metadata."""
VALUES_FIELD = "metadata_values"
"""The field of a document that has its metadata as keys and values. Composite aggregations count those of a
`flattened` field wrongly where there are several segments."""
SEPARATOR = "\x1f"
"""Stands between a key and a value, or a form. It is blank, so none has it."""
_PAGE = 10_000


def attribute_field(name: str) -> str:
    """The field that has the values of `source` or of an attribute, as written; of META, the keys."""
    if name == META:
        return KEYS_FIELD
    if name.startswith(META_PREFIX):
        return f"{METADATA}.{name.removeprefix(META_PREFIX)}"
    return ATTRIBUTES.get(name, name)


class ValueReader:
    """Reads values from Elasticsearch, and caches them."""

    def __init__(self, cluster: Cluster, is_pinned: bool) -> None:
        """`is_pinned`: the documents behind the cluster's names never change, so that the cache stays."""
        self._cluster = cluster
        self._is_pinned = is_pinned
        self._cached_since = 0.0
        self._tables: dict[tuple[str, ...], ValueTable] = {}

    def values(self, field: str) -> ValueTable:
        if not self._is_pinned and time.monotonic() - self._cached_since > MAX_AGE:
            self._tables = {}  # another thread may use the old ones meanwhile
            self._cached_since = time.monotonic()
        # Not by the field: a key that no document has may be typed in any number of ways.
        names = attribute_names(self, field)
        tables = self._tables
        if names not in tables:
            counts: Counter[str] = Counter()
            for name in names:
                for value, count in _read_values_of(self._cluster, name):
                    counts[value] += count
            tables[names] = ValueTable(counts.items())
        return tables[names]


def _read_values_of(cluster: Cluster, name: str) -> Iterator[tuple[str, int]]:
    """The written values of `source` or of an attribute, and how many documents have each."""
    if not name.startswith(META_PREFIX):
        yield from _read_values(cluster, attribute_field(name), "")
        return
    start = name.removeprefix(META_PREFIX) + SEPARATOR
    for pair, count in _read_values(cluster, VALUES_FIELD, start):
        if not pair.startswith(start):
            return
        yield pair.removeprefix(start), count


def _read_values(cluster: Cluster, field: str, start: str) -> Iterator[tuple[str, int]]:
    """The written values of a field from `start` on, in order, and how many documents have each.

    With a start, only documents with a value that begins so count.
    """
    composite: dict[str, Any] = {"size": _PAGE, "sources": [{"value": {"terms": {"field": field}}}]}
    query: dict[str, Any] = {"match_all": {}}
    if start:
        composite["after"] = {"value": start}
        query = {"prefix": {field: start}}
    while True:
        aggs = {"values": {"composite": composite}}
        answer = search(cluster, index=cluster.documents_alias, size=0, query=query, aggs=aggs)
        page = answer["aggregations"]["values"]
        for bucket in page["buckets"]:
            yield bucket["key"]["value"], bucket["doc_count"]
        if len(page["buckets"]) < _PAGE:
            return
        composite["after"] = page["after_key"]
