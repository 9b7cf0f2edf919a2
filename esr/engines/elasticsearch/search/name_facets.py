"""The most frequent names of several types among the same candidates.

A name has the type that most sentences of the whole collection give it. So the most frequent keys of all
types are counted, and then the types of these are looked up. If there are too few of a type, more keys are
counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.store.names import ALL_KEYS, SHARD_SIZE, NameReader
from esr.engines.index import FacetCounts

_FIRST_KEYS, _KEYS_PER_VALUE, _WIDEN = 200, 10, 10
"""Keys that are counted at first: so many, or so many for each value to show. Then how many times more."""


class NameFacets:
    """Counts the names of `types`, in as many steps as it takes."""

    def __init__(self, types: Sequence[str], names: NameReader, size: int) -> None:
        self._types = types
        self._names = names
        self._size = size
        self._aliases = names.aliases
        self._width = min(max(_FIRST_KEYS, _KEYS_PER_VALUE * size), SHARD_SIZE)
        self.counts: dict[str, FacetCounts] | None = None
        """By type, the names that were counted. None as long as there may be more of them."""

    def aggregations(self) -> dict[str, Any]:
        """What the next step counts, by names of its own."""
        size = self._width
        counted: dict[str, Any] = {
            "keys": {"terms": {"field": ALL_KEYS, "size": size, "shard_size": SHARD_SIZE}}
        }
        if self._aliases:  # a sentence may have several aliases of a name
            members = [{"terms": {ALL_KEYS: list(keys)}} for keys in self._aliases.groups.values()]
            counted["aliases"] = {"filters": {"filters": members}}
        return counted

    def take(self, answers: Mapping[str, Any]) -> None:
        """Take what was counted, and find out whether that is enough."""
        buckets = answers["keys"]["buckets"]
        aliased = self._aliases.keys
        counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets if bucket["key"] not in aliased}
        if self._aliases:
            of_groups = (bucket["doc_count"] for bucket in answers["aliases"]["buckets"])
            counts |= {group: n for group, n in zip(self._aliases.groups, of_groups, strict=True) if n}
        types = self._names.types(counts)
        ranked = sorted(counts, key=lambda key: (-counts[key], key))
        best = {type: [key for key in ranked if types.get(key) == type][: self._size] for type in self._types}
        has_all = len(buckets) < self._width or self._width == SHARD_SIZE
        if not has_all and any(len(keys) < self._size for keys in best.values()):
            self._width = min(self._width * _WIDEN, SHARD_SIZE)
            return
        forms = self._names.forms(key for keys in best.values() for key in keys)
        self.counts = {type: [(forms[key], counts[key]) for key in keys] for type, keys in best.items()}
