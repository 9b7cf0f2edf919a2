"""Names, sources and attributes behind an alias, as `Vocabulary` lists them, and the fields that store them.

A sentence stores the keys of its names by type (`names.person`) and of all types (`names.all`), and the
written forms, each after its key (`names.form`). A document stores the keys of all its sentences, and its
short forms. Readers cache their results for some seconds.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import SEPARATOR, VALUES_FIELD, Dialect
from esr.elastic.requests import read_buckets, search
from esr.elastic.statistics import MAX_AGE
from esr.index.filters import attribute_names
from esr.index.names import (
    ENTITY_TYPES,
    KEY_VERSION,
    NO_ALIASES,
    RESOLUTION_VERSION,
    Aliases,
    EntitiesByType,
    Name,
    Resolved,
    keys_of_forms,
    majority_form,
    majority_type,
    name_key,
    other_types,
    short_key,
)
from esr.index.values import ValueTable
from esr.stdlib import batched
from esr.text.attributes import ATTRIBUTES, META, META_PREFIX
from esr.text.document import METADATA

KEYS_FIELD = "metadata_keys"
"""The field of a document with the keys of its metadata."""


def attribute_field(name: str) -> str:
    """The field with the written values of `source` or of an attribute; for META, with its keys."""
    if name == META:
        return KEYS_FIELD
    if name.startswith(META_PREFIX):
        return f"{METADATA}.{name.removeprefix(META_PREFIX)}"
    return ATTRIBUTES.get(name, name)


def attribute_terms(name: str, dialect: Dialect) -> dict[str, Any]:
    """The `terms` aggregation that counts the written values of `source` or of an attribute.

    Where metadata cannot be counted by field, its keys are pairs, which end in SEPARATOR and the value.
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
        # Not cached by field: users may type any number of nonexistent keys.
        names = attribute_names(self.values, field)
        tables = self._tables
        if names not in tables:
            counts: Counter[str] = Counter()
            for name in names:
                for value, count in read_value_counts(self._cluster, name):
                    counts[value] += count
            tables[names] = ValueTable(counts.items())
        return tables[names]


def read_value_counts(cluster: Cluster, name: str) -> Iterator[tuple[str, int]]:
    """The written values of `source` or of an attribute, and the number of documents with each."""
    if not name.startswith(META_PREFIX):
        yield from count_values(cluster, attribute_field(name))
        return
    start = name.removeprefix(META_PREFIX) + SEPARATOR
    for pair, count in count_values(cluster, VALUES_FIELD, start):
        if not pair.startswith(start):
            return
        yield pair.removeprefix(start), count


def count_values(
    cluster: Cluster, field: str, start: str = "", query: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, int]]:
    """The written values of a field from `start` on, in order, and the number of documents with each.

    Only documents that match `query` count; without it and with a start, those with a value of this prefix.
    """
    if start and query is None:
        query = {"prefix": {field: start}}
    for bucket in read_buckets(cluster, cluster.documents_alias, field, query=query, after=start):
        yield bucket["key"]["value"], bucket["doc_count"]


FIELD = "names"
"""The field of a sentence with the keys of its names."""
ALL_KEYS = f"{FIELD}.all"
SHORT_FORMS = f"{FIELD}.short"
"""The field of a document with its short forms, each with the name it stands for. Both are keys."""
FINGERPRINT = f"{FIELD}:{KEY_VERSION}.{RESOLUTION_VERSION}"
"""The entry in `enriched` of documents and sentences with names resolved by this version of esr."""
SHARD_SIZE = 20_000
"""Number of values that each shard counts. Counts are exact unless a shard has more values."""
_FORMS = f"{FIELD}.form"
_MAX_PATTERN = 1000  # characters, the default of Elasticsearch
_MAX_FORMS = 10_000
_KEYS_PER_REQUEST = 5_000
_FORMS_PER_REQUEST = 200  # each is a clause of a query and a part of a pattern
_MORE_KEYS = 100
"""Number of keys counted beyond those wanted, since several may belong to one name."""


def encode_names(entities: EntitiesByType, resolved: Resolved) -> dict[str, list[str]]:
    """The field `names` of a sentence with these entities. `resolved` is that of its document."""
    keys = _keys_by_type([entities], resolved)
    forms = {f"{key}{SEPARATOR}{form}": None for _, key, form in keys_of_forms(entities, resolved)}
    return {**keys, "form": list(forms)}


def encode_document_names(
    sentences: Iterable[EntitiesByType | None], resolved: Resolved
) -> dict[str, list[str]]:
    """The field `names` of a document, from the entities of its sentences."""
    pairs = ((short_key(name_key(form)), name.key) for form, name in resolved.items())
    short_forms = sorted({f"{short}{SEPARATOR}{full}" for short, full in pairs if short != full})
    keys = _keys_by_type([entities for entities in sentences if entities], resolved)
    return {**keys, **({"short": short_forms} if short_forms else {})}


def _keys_by_type(sentences: Iterable[EntitiesByType], resolved: Resolved) -> dict[str, list[str]]:
    keys: dict[str, dict[str, None]] = {}
    for type, key, _ in (name for entities in sentences for name in keys_of_forms(entities, resolved)):
        keys.setdefault(type, {})[key] = None
    return {type: list(keys[type]) for type in ENTITY_TYPES if type in keys}


class NameCounts:
    """Counts of keys, from which the most frequent names are found.

    A sentence may have several keys of a name, so the sum over its keys is an upper bound of its count. Names
    that may be among the most frequent by this bound are `counted` exactly.
    """

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._counts: Mapping[str, int] = {}
        self._least = 0
        self.counted: dict[str, int] = {}
        """The exact counts of names with several keys."""

    def take(self, buckets: Iterable[Mapping[str, Any]], least: int) -> None:
        """Take the buckets of keys. Keys without one have a count of at most `least`."""
        self._counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
        self._least = least

    def bounds(self) -> tuple[dict[str, int], set[str]]:
        """The bounds of names with a counted key, and the names whose bound is not exact."""
        bounds: dict[str, int] = {}
        inexact: set[str] = set()
        for group in dict.fromkeys(map(self._aliases.group_key, self._counts)):
            if group in self.counted:
                bounds[group] = self.counted[group]
                continue
            members = self._aliases.members(group)
            known = [self._counts[key] for key in members if key in self._counts]
            rest = self._least * (len(members) - len(known))
            bounds[group] = sum(known) + rest
            if rest or len(known) > 1:
                inexact.add(group)
        return {group: count for group, count in bounds.items() if count}, inexact

    @property
    def unseen(self) -> int:
        """The bound of a name without any counted key."""
        return self._least * max(map(len, self._aliases.groups.values()), default=1)

    def count_groups(self, groups: Sequence[str]) -> dict[str, Any]:
        """The aggregation that counts names with several keys, in the order of `groups`."""
        members = [{"terms": {ALL_KEYS: list(self._aliases.members(group))}} for group in groups]
        return {"filters": {"filters": members}}


def rank(counts: Mapping[str, int], size: int) -> list[str]:
    """The `size` names with the greatest counts, ties by key."""
    return sorted(counts, key=lambda key: (-counts[key], key))[:size]


def count_types(cluster: Cluster, keys: Sequence[str]) -> dict[str, dict[str, int]]:
    """By key, the number of documents that have it with each type."""
    counts: dict[str, dict[str, int]] = {}
    for batch in batched(keys, _KEYS_PER_REQUEST):
        aggs = {
            type: {"terms": {"field": f"{FIELD}.{type}", "include": batch, "size": len(batch)}}
            for type in ENTITY_TYPES
        }
        answer = search(cluster, index=cluster.documents_alias, size=0, aggs=aggs)["aggregations"]
        for type in ENTITY_TYPES:
            for bucket in answer[type]["buckets"]:
                counts.setdefault(bucket["key"], {})[type] = bucket["doc_count"]
    return counts


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
        """Counts by group key; None for a name that no sentence has."""
        self._types: dict[str, str | None] = {}
        """The types of names that are not in `_counts`."""
        self._forms: dict[str, str] = {}
        self._full_names: dict[str, list[str]] = {}

    @property
    def aliases(self) -> Aliases:
        """The aliases that the loads store."""
        self._expire()
        aliases = self._aliases  # another thread may clear it
        if aliases is None:
            aliases = self._aliases = meta.aliases_of(meta.aliased_loads(self._cluster)) or NO_ALIASES
        return aliases

    def find(self, keys: Iterable[str]) -> dict[str, Name]:
        """The names with these keys, by key."""
        aliases = self.aliases
        groups = {key: aliases.group_key(key) for key in keys}
        counts = self._count(groups.values())
        counted = [group for group in dict.fromkeys(groups.values()) if counts[group]]
        forms = self._find_forms(counted)
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
                    aliases.ids(group),
                )
        return names

    def types(self, keys: Iterable[str]) -> dict[str, str]:
        """The type of each name with one of these group keys, without names that no sentence has."""
        aliases, counts, types = self.aliases, self._counts, self._types
        keys = list(dict.fromkeys(keys))
        unread = [key for key in keys if key not in counts and key not in types]
        for batch in batched(unread, _KEYS_PER_REQUEST):
            members = {key: aliases.members(key) for key in batch}
            of_keys, _ = _count_keys(self._cluster, members, ENTITY_TYPES, {})
            of_types = _sum_types(of_keys, members, aliases.joined)
            types.update(
                {key: majority_type(of_types[key]) if any(of_types[key].values()) else None for key in batch}
            )
        known = ((key, count.type if (count := counts.get(key)) else types.get(key)) for key in keys)
        return {key: type for key, type in known if type is not None}

    def forms(self, keys: Iterable[str]) -> dict[str, str]:
        """The displayed form of each name with one of these group keys."""
        return self._find_forms(list(keys))

    def count_forms(self, key: str) -> dict[str, int]:
        """The written forms of a name with their numbers of sentences, most first, ties by code points."""
        counts: Counter[str] = Counter()
        for of_key in _count_forms(self._cluster, self.aliases.members(key)).values():
            counts.update(of_key)
        return dict(sorted(counts.items(), key=lambda form: (-form[1], form[0])))

    def full_names(self, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """By short form: the group keys of the other names that it stands for in some documents, sorted."""
        aliases, cache = self.aliases, self._full_names
        for batch in batched([key for key in dict.fromkeys(keys) if key not in cache], _FORMS_PER_REQUEST):
            cache.update(_read_full_names(self._cluster, batch))
        others = {key: {*map(aliases.group_key, cache[key])} - {aliases.group_key(key)} for key in keys}
        return {key: tuple(sorted(of_key)) for key, of_key in others.items() if of_key}

    def keys(self, prefix: str, limit: int) -> list[str]:
        """The keys of names that have a key or alias with this prefix, most sentences first, ties by key."""
        return list(self.count(self._cluster.alias, {"match_all": {}}, limit, prefix))

    def count(
        self,
        index: str,
        query: Mapping[str, Any],
        size: int,
        prefix: str = "",
        keys: Collection[str] | None = None,
    ) -> dict[str, int]:
        """The most frequent names of the entries that match, by key, ties by key.

        Counts only names that have a key or alias with this prefix, or only those with these `keys`.
        """
        counts, width = NameCounts(self.aliases), size + _MORE_KEYS
        restriction: dict[str, Any] = {"include": f"{_escape(prefix)}.*"} if prefix else {}
        groups = self.aliases.with_prefix(prefix) if prefix else []
        if keys is not None:
            groups, restriction = list(dict.fromkeys(map(self.aliases.group_key, keys))), {"include": []}
        # If a name is wanted for one of its keys, its other keys are counted too.
        members = sorted({key for group in groups for key in self.aliases.members(group)})
        mentioning: list[Any] = [{"prefix": {ALL_KEYS: prefix}}] if keys is None else []
        clauses = [query, {"bool": {"should": [*mentioning, {"terms": {ALL_KEYS: members}}]}}]
        while True:
            width = min(width, SHARD_SIZE)
            aggs = {
                "keys": {"terms": {"field": ALL_KEYS, "size": width, "shard_size": SHARD_SIZE, **restriction}}
            }
            if members:
                aggs["members"] = {"terms": {"field": ALL_KEYS, "size": len(members), "include": members}}
            if keys is not None:
                del aggs["keys"]
            answer = _aggregate(self._cluster, index, clauses, aggs) if aggs else {}
            buckets = answer.get("keys", {}).get("buckets", [])
            has_all = len(buckets) < width or width == SHARD_SIZE
            counts.take(
                [*buckets, *answer.get("members", {}).get("buckets", ())],
                0 if has_all else buckets[-1]["doc_count"],
            )
            best = self._rank_groups(counts, index, clauses, size)
            if has_all or (len(best) == size and min(best.values()) >= counts.unseen):
                return best
            width *= 10

    def _rank_groups(
        self, counts: NameCounts, index: str, clauses: Sequence[Any], size: int
    ) -> dict[str, int]:
        """The most frequent names, with exact counts for those with several keys."""
        while True:
            ranked, inexact = counts.bounds()
            best = rank(ranked, size)
            groups = [group for group in best if group in inexact]
            if not groups:
                return {group: ranked[group] for group in best}
            answer = _aggregate(self._cluster, index, clauses, {"groups": counts.count_groups(groups)})
            exact = (bucket["doc_count"] for bucket in answer["groups"]["buckets"])
            counts.counted |= dict(zip(groups, exact, strict=True))

    def _expire(self) -> None:
        if time.monotonic() - self._cached_since > MAX_AGE:
            self._clear()
            self._cached_since = time.monotonic()

    def _count(self, groups: Iterable[str]) -> Mapping[str, _NameCount | None]:
        groups, aliases = list(dict.fromkeys(groups)), self.aliases
        cache = self._counts  # another thread may replace it
        for batch in batched([group for group in groups if group not in cache], _KEYS_PER_REQUEST):
            members = {group: aliases.members(group) for group in batch}
            cache.update(_count_names(self._cluster, members, aliases.joined))
        return {group: cache[group] for group in groups}

    def _find_forms(self, groups: Sequence[str]) -> dict[str, str]:
        aliases, cache = self.aliases, self._forms
        unread = [group for group in groups if group not in cache]
        cache.update({group: form for group in unread if (form := aliases.form(group)) is not None})
        unread = [group for group in unread if group not in cache]
        if unread:
            cache.update(_read_forms(self._cluster, unread))
        return {group: cache[group] for group in groups}


def _aggregate(
    cluster: Cluster, index: str, clauses: Sequence[Any], aggs: Mapping[str, Any]
) -> Mapping[str, Any]:
    query = {"bool": {"filter": list(clauses)}}
    answer: Mapping[str, Any] = search(cluster, index=index, size=0, query=query, aggs=aggs)["aggregations"]
    return answer


_Members = Mapping[str, Sequence[str]]
"""The keys of names by group key."""


def _count_names(
    cluster: Cluster, members: _Members, joined: Collection[str]
) -> dict[str, _NameCount | None]:
    """The counts of names by group key."""
    with_aliases = [group for group, of_group in members.items() if len(of_group) > 1]
    aggs = {
        f"alias {n}": {"filter": {"terms": {ALL_KEYS: list(members[group])}}}
        for n, group in enumerate(with_aliases)
    }
    counts, answer = _count_keys(cluster, members, (*ENTITY_TYPES, "all"), aggs)
    totals = {group: counts["all"].get(group, 0) for group in members}
    totals |= {group: answer[f"alias {n}"]["doc_count"] for n, group in enumerate(with_aliases)}
    names: dict[str, _NameCount | None] = {}
    for group, of_types in _sum_types(counts, members, joined).items():
        total = totals[group]
        names[group] = (
            _NameCount(majority_type(of_types), other_types(of_types, total), total) if total else None
        )
    return names


def _count_keys(
    cluster: Cluster, members: _Members, fields: Sequence[str], aggs: Mapping[str, Any]
) -> tuple[dict[str, dict[str, int]], Mapping[str, Any]]:
    """The number of sentences with each key by field, and the answers of further aggregations."""
    keys = [key for group in members.values() for key in group]
    aggregations = {
        field: {"terms": {"field": f"{FIELD}.{field}", "include": keys, "size": len(keys)}}
        for field in fields
    }
    query = {"terms": {ALL_KEYS: keys}}
    answer = search(cluster, index=cluster.alias, size=0, query=query, aggs={**aggregations, **aggs})[
        "aggregations"
    ]
    counts = {
        field: {bucket["key"]: bucket["doc_count"] for bucket in answer[field]["buckets"]} for field in fields
    }
    return counts, answer


def _sum_types(
    counts: Mapping[str, Mapping[str, int]], members: _Members, joined: Collection[str]
) -> dict[str, dict[str, int]]:
    """The number of sentences by type. Joined short forms do not count, unless a name has no other forms."""
    sums: dict[str, dict[str, int]] = {}
    for group, keys in members.items():
        full = [key for key in keys if key not in joined]
        if not any(key in counts[type] for key in full for type in ENTITY_TYPES):
            full = list(keys)
        sums[group] = {type: sum(counts[type].get(key, 0) for key in full) for type in ENTITY_TYPES}
    return sums


def _read_full_names(cluster: Cluster, keys: Sequence[str]) -> dict[str, list[str]]:
    """By short form: the keys of the names that it stands for in some documents."""
    aggs: dict[str, Any] = {
        str(n): {"terms": {"field": SHORT_FORMS, "size": _MAX_FORMS, "include": pattern}}
        for n, pattern in enumerate(_patterns_of_pairs(keys))
    }
    query = {"bool": {"should": [{"prefix": {SHORT_FORMS: key + SEPARATOR}} for key in keys]}}
    answer = search(cluster, index=cluster.documents_alias, size=0, query=query, aggs=aggs)
    full: dict[str, list[str]] = {key: [] for key in keys}
    for aggregation in answer["aggregations"].values():
        for bucket in aggregation["buckets"]:
            short, _, name = bucket["key"].partition(SEPARATOR)
            full[short].append(name)
    return full


def _read_forms(cluster: Cluster, keys: Sequence[str]) -> dict[str, str]:
    """The displayed form of each of these keys."""
    counts = _count_forms(cluster, keys)
    return {key: majority_form(key, counts.get(key, {key: 0}).items()) for key in keys}


def _count_forms(cluster: Cluster, keys: Sequence[str]) -> dict[str, dict[str, int]]:
    """The forms of each of these keys, with the number of sentences with each."""
    aggs: dict[str, Any] = {
        str(n): {"terms": {"field": _FORMS, "include": pattern, "size": _MAX_FORMS}}
        for n, pattern in enumerate(_patterns_of_pairs(keys))
    }
    query = {"terms": {ALL_KEYS: list(keys)}}
    answer = search(cluster, index=cluster.alias, size=0, query=query, aggs=aggs)
    counts: dict[str, dict[str, int]] = {}
    for aggregation in answer["aggregations"].values():
        for bucket in aggregation["buckets"]:
            key, _, form = bucket["key"].partition(SEPARATOR)
            counts.setdefault(key, {})[form] = bucket["doc_count"]
    return counts


def _patterns_of_pairs(keys: Iterable[str]) -> Iterator[str]:
    """Patterns that match, together, the pairs which begin with one of these keys."""
    return (f"({pattern}){SEPARATOR}.*" for pattern in _join_patterns(map(_escape, keys)))


def _join_patterns(patterns: Iterable[str]) -> Iterator[str]:
    """Join patterns into alternatives of at most the length that Elasticsearch allows."""
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
