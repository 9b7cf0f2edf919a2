"""Names, sources and attributes behind an alias, as `Vocabulary` lists them, and the fields that store them.

A sentence stores the keys of its names by type (`names.person`), those of all types (`names.all`), and its
written forms, each after its key (`names.form`). Readers cache what they read for some seconds.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from esr.batches import batched
from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import SEPARATOR, VALUES_FIELD, Dialect
from esr.elastic.requests import search
from esr.elastic.statistics import MAX_AGE
from esr.index.filters import ValueTable, attribute_names
from esr.index.names import (
    ENTITY_TYPES,
    KEY_VERSION,
    NO_ALIASES,
    Aliases,
    EntitiesByType,
    Name,
    keys_by_type,
    majority_form,
    majority_type,
    name_key,
    other_types,
)
from esr.text.document import ATTRIBUTES, META, META_PREFIX, METADATA

KEYS_FIELD = "metadata_keys"
"""The field of a document with the keys of its metadata."""
_PAGE = 10_000


def attribute_field(name: str) -> str:
    """The field with the written values of `source` or of an attribute; for META, with its keys."""
    if name == META:
        return KEYS_FIELD
    if name.startswith(META_PREFIX):
        return f"{METADATA}.{name.removeprefix(META_PREFIX)}"
    return ATTRIBUTES.get(name, name)


def attribute_terms(name: str, dialect: Dialect) -> dict[str, Any]:
    """What a `terms` aggregation counts to count the written values of `source` or of an attribute.

    Where metadata cannot be counted by field, its keys are pairs, which end in the values behind SEPARATOR.
    """
    if dialect.counts_metadata or not name.startswith(META_PREFIX):
        return {"field": attribute_field(name)}
    return {"field": VALUES_FIELD, "include": f"{_escape(name.removeprefix(META_PREFIX))}{SEPARATOR}.*"}


class ValueReader:
    """Reads values from Elasticsearch, and caches them."""

    def __init__(self, cluster: Cluster, is_pinned: bool) -> None:
        """`is_pinned`: the documents behind the cluster's names never change, so the cache stays valid."""
        self._cluster = cluster
        self._is_pinned = is_pinned
        self._cached_since = 0.0
        self._tables: dict[tuple[str, ...], ValueTable] = {}

    def values(self, field: str) -> ValueTable:
        if not self._is_pinned and time.monotonic() - self._cached_since > MAX_AGE:
            self._tables = {}  # another thread may use the old ones
            self._cached_since = time.monotonic()
        # Not cached by field: users may type any number of keys that no document has.
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
    """The written values of `source` or of an attribute, and the number of documents with each."""
    if not name.startswith(META_PREFIX):
        yield from _read_values(cluster, attribute_field(name), "")
        return
    start = name.removeprefix(META_PREFIX) + SEPARATOR
    for pair, count in _read_values(cluster, VALUES_FIELD, start):
        if not pair.startswith(start):
            return
        yield pair.removeprefix(start), count


def _read_values(cluster: Cluster, field: str, start: str) -> Iterator[tuple[str, int]]:
    """The written values of a field from `start` on, in order, and the number of documents with each.

    With a start, only documents with a value of this prefix count.
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


FIELD = "names"
"""The field of a sentence with the keys of its names."""
ALL_KEYS = f"{FIELD}.all"
FINGERPRINT = f"{FIELD}:{KEY_VERSION}"
"""The entry in `enriched` of sentences whose name keys this version of esr computed."""
SHARD_SIZE = 20_000
"""Values that each shard counts. Counts are exact unless a shard has more."""
_FORMS = f"{FIELD}.form"
_MAX_PATTERN = 1000  # characters, the default of Elasticsearch
_MAX_FORMS = 10_000
_KEYS_PER_REQUEST = 5_000


def encode_names(entities: EntitiesByType) -> dict[str, list[str]]:
    """The field `names` of a sentence with these entities."""
    forms = dict.fromkeys(form for names in entities.values() for form in names)
    return {**keys_by_type(entities), "form": [f"{name_key(form)}{SEPARATOR}{form}" for form in forms]}


class _NameCount(NamedTuple):
    """The types of a name, as in `Name`, and the number of sentences with it."""

    type: str
    other_types: tuple[str, ...]
    sentences: int


class NameReader:
    """Reads names from Elasticsearch, and caches them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._cached_since = 0.0
        self._clear()

    def _clear(self) -> None:
        self._aliases: Aliases | None = None
        self._counts: dict[str, _NameCount | None] = {}
        """By group key; None for a name that no sentence has."""
        self._forms: dict[str, str] = {}

    @property
    def aliases(self) -> Aliases:
        """The aliases that the loads store."""
        self._expire()
        aliases = self._aliases  # another thread may clear it
        if aliases is None:
            stored = meta.aliases_of(meta.aliased_loads(self._cluster))
            aliases = self._aliases = Aliases(stored) if stored else NO_ALIASES
        return aliases

    def find(self, keys: Iterable[str]) -> dict[str, Name]:
        """The names with these keys, by key."""
        aliases = self.aliases
        groups = {key: aliases.group_key(key) for key in keys}
        counts = self._count(groups.values())
        found = [group for group in dict.fromkeys(groups.values()) if counts[group]]
        forms = self._find_forms(found)
        names: dict[str, Name] = {}
        for key, group in groups.items():
            if (count := counts[group]) is not None:
                names[key] = Name(
                    group,
                    forms[group],
                    count.type,
                    count.sentences,
                    aliases.members(group),
                    count.other_types,
                )
        return names

    def types(self, keys: Iterable[str]) -> dict[str, str]:
        """The type of each name with one of these group keys, without names that no sentence has."""
        return {key: count.type for key, count in self._count(keys).items() if count is not None}

    def forms(self, keys: Iterable[str]) -> dict[str, str]:
        """The form under which each name with one of these group keys is shown."""
        return self._find_forms(list(keys))

    def keys(self, prefix: str, limit: int) -> list[str]:
        """The keys of names that have a key or alias with this prefix, most sentences first, ties by key."""
        aliases = self.aliases
        aliased = aliases.keys
        terms: dict[str, Any] = {"field": ALL_KEYS, "size": limit + len(aliased), "shard_size": SHARD_SIZE}
        if prefix:
            terms["include"] = f"{_escape(prefix)}.*"
        query = {"prefix": {ALL_KEYS: prefix}}
        answer = search(
            self._cluster, index=self._cluster.alias, size=0, query=query, aggs={"keys": {"terms": terms}}
        )
        buckets = answer["aggregations"]["keys"]["buckets"]
        counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets if bucket["key"] not in aliased}
        for group, count in self._count(aliases.with_prefix(prefix)).items():
            if count is not None:
                counts[group] = count.sentences
        return sorted(counts, key=lambda key: (-counts[key], key))[:limit]

    def _expire(self) -> None:
        if time.monotonic() - self._cached_since > MAX_AGE:
            self._clear()
            self._cached_since = time.monotonic()

    def _count(self, groups: Iterable[str]) -> Mapping[str, _NameCount | None]:
        groups, aliases = list(dict.fromkeys(groups)), self.aliases
        cache = self._counts  # another thread may replace it
        for batch in batched([group for group in groups if group not in cache], _KEYS_PER_REQUEST):
            cache.update(_count_names(self._cluster, {group: aliases.members(group) for group in batch}))
        return {group: cache[group] for group in groups}

    def _find_forms(self, groups: Sequence[str]) -> dict[str, str]:
        aliases, cache = self.aliases, self._forms
        unread = [group for group in groups if group not in cache]
        cache.update({group: form for group in unread if (form := aliases.form(group)) is not None})
        unread = [group for group in unread if group not in cache]
        if unread:
            cache.update(_read_forms(self._cluster, unread))
        return {group: cache[group] for group in groups}


def _count_names(cluster: Cluster, members: Mapping[str, Sequence[str]]) -> dict[str, _NameCount | None]:
    """The counts of names by group key. `members` are the keys of each."""
    keys = [key for group in members.values() for key in group]
    aggs: dict[str, Any] = {
        field: {"terms": {"field": f"{FIELD}.{field}", "include": keys, "size": len(keys)}}
        for field in (*ENTITY_TYPES, "all")
    }
    with_aliases = [group for group, of_group in members.items() if len(of_group) > 1]
    aggs |= {
        f"alias {n}": {"filter": {"terms": {ALL_KEYS: list(members[group])}}}
        for n, group in enumerate(with_aliases)
    }
    query = {"terms": {ALL_KEYS: keys}}
    answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)["aggregations"]
    counts = {
        field: {bucket["key"]: bucket["doc_count"] for bucket in answer[field]["buckets"]}
        for field in (*ENTITY_TYPES, "all")
    }
    totals = {group: counts["all"].get(group, 0) for group in members}
    totals |= {group: answer[f"alias {n}"]["doc_count"] for n, group in enumerate(with_aliases)}
    names: dict[str, _NameCount | None] = {}
    for group, of_group in members.items():
        of_types = {t: sum(counts[t].get(key, 0) for key in of_group) for t in ENTITY_TYPES}
        total = totals[group]
        names[group] = (
            _NameCount(majority_type(of_types), other_types(of_types, total), total) if total else None
        )
    return names


def _read_forms(cluster: Cluster, keys: Sequence[str]) -> dict[str, str]:
    """The most frequent form of each of these keys."""
    patterns = [f"({pattern}){SEPARATOR}.*" for pattern in _join_patterns(map(_escape, keys))]
    aggs: dict[str, Any] = {
        str(n): {"terms": {"field": _FORMS, "include": pattern, "size": _MAX_FORMS}}
        for n, pattern in enumerate(patterns)
    }
    query = {"terms": {ALL_KEYS: list(keys)}}
    answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)
    counts: dict[str, list[tuple[str, int]]] = {}
    for aggregation in answer["aggregations"].values():
        for bucket in aggregation["buckets"]:
            key, _, form = bucket["key"].partition(SEPARATOR)
            counts.setdefault(key, []).append((form, bucket["doc_count"]))
    return {key: majority_form(counts.get(key, [(key, 0)])) for key in keys}


def _join_patterns(patterns: Iterable[str]) -> Iterator[str]:
    """Alternatives, joined as far as Elasticsearch's limit for the length of a pattern allows."""
    joined = ""
    for pattern in patterns:
        if joined and len(joined) + len(pattern) > _MAX_PATTERN - 10:
            yield joined
            joined = ""
        joined += f"|{pattern}" if joined else pattern
    yield joined


def _escape(text: str) -> str:
    """A Lucene pattern that matches this text alone."""
    return re.sub(r"([^\w\s]|_)", r"\\\1", text)
