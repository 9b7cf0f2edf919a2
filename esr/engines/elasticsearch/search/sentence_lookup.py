"""Looks up sentences and parses by id."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Container, Sequence
from typing import Any

from esr.batches import batched
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search
from esr.engines.elasticsearch.store.cache_age import MAX_AGE
from esr.errors import UsageError

_BATCH = 1000


def look_up_sources(cluster: Cluster, ids: Sequence[str], source: bool | list[str]) -> list[Any]:
    """The `_source` of these sentences, or some fields of it, in this order.

    Raises UsageError for an unknown id.
    """
    sources: dict[str, Any] = {}
    for batch in batched(ids, _BATCH):
        answer = search(
            cluster,
            index=cluster.alias,
            query={"ids": {"values": list(batch)}},
            size=len(batch),
            source=source,
        )
        sources |= {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}
    _check_ids(cluster, ids, sources)
    return [sources[sentence_id] for sentence_id in ids]


class StoredParses:
    """Whether an index has parses, cached for some seconds."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read_at = -MAX_AGE
        self._exist = False

    def exist(self) -> bool:
        now = time.monotonic()
        if now - self._read_at >= MAX_AGE:
            query, index = {"exists": {"field": "parse"}}, self._cluster.alias
            answer = search(
                self._cluster, index=index, query=query, size=0, terminate_after=1, track_total_hits=True
            )
            self._exist, self._read_at = answer["hits"]["total"]["value"] > 0, now
        return self._exist


def look_up_parses(cluster: Cluster, ids: Sequence[str]) -> list[bytes | None]:
    """The stored parses of these sentences, in this order. Raises UsageError for an unknown id.

    They are read from doc values: stored fields, even _id, lie in blocks with the text of whole documents.
    """
    parses: dict[str, bytes | None] = {}
    for batch in batched(ids, _BATCH):
        answer = search(
            cluster,
            index=cluster.alias,
            query={"bool": {"filter": {"terms": {"sentence_id": batch}}}},
            size=len(batch),
            stored_fields="_none_",
            docvalue_fields=[{"field": "sentence_id"}, {"field": "parse"}],
        )
        for fields in (hit["fields"] for hit in answer["hits"]["hits"]):
            parse = fields.get("parse")
            parses[fields["sentence_id"][0]] = b64decode(parse[0]) if parse else None
    _check_ids(cluster, ids, parses)
    return [parses[sentence_id] for sentence_id in ids]


def _check_ids(cluster: Cluster, ids: Sequence[str], known: Container[str]) -> None:
    for sentence_id in ids:
        if sentence_id not in known:
            raise UsageError(f"there is no sentence {sentence_id!r} in {cluster.where}")
