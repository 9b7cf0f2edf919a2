"""Reads documents in collection order, all of them or by position.

The stored `ordinal` has gaps where documents were removed; positions have none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from esr.batches import batched
from esr.documents import Document
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search, search_pages
from esr.engines.elasticsearch.store.source_decoder import WITHOUT_CONTEXT, decode_document

_PAGE = 500
_BATCH = 1000
_BUCKETS = 5000
_KEEP_ALIVE = "10m"


def read_documents(cluster: Cluster, ordinal: str = "ordinal") -> Iterator[Document]:
    """All documents in order, as of one moment, whatever is switched to or deleted meanwhile.

    `ordinal` is the field with their ordinals, which had another name before format 3.
    """
    with cluster.translate_errors():
        answer = cluster.client.open_point_in_time(index=cluster.documents_alias, keep_alive=_KEEP_ALIVE)
    point_in_time = {"id": answer["id"], "keep_alive": _KEEP_ALIVE}
    body: dict[str, Any] = {"sort": [{ordinal: "asc"}], "source": WITHOUT_CONTEXT}
    try:
        for page in search_pages(cluster, _PAGE, pit=point_in_time, **body):
            point_in_time["id"] = page["pit_id"]
            yield from (decode_document(hit["_source"]) for hit in page["hits"]["hits"])
    finally:
        with cluster.translate_errors():  # one that has expired is closed
            cluster.client.options(ignore_status=404).close_point_in_time(id=point_in_time["id"])


def read_documents_at(cluster: Cluster, positions: Sequence[int]) -> list[Document]:
    """The documents at these positions in the collection, counted from 0, in the order given."""
    ordinals = _ordinals(cluster, positions)
    documents: dict[int, Document] = {}
    for batch in batched(ordinals, _BATCH):
        answer = search(
            cluster,
            index=cluster.documents_alias,
            query={"terms": {"ordinal": batch}},
            size=len(batch),
            source=WITHOUT_CONTEXT,
        )
        sources = [hit["_source"] for hit in answer["hits"]["hits"]]
        documents |= {source["ordinal"]: decode_document(source) for source in sources}
    return [documents[ordinal] for ordinal in ordinals]


def _ordinals(cluster: Cluster, positions: Sequence[int]) -> list[int]:
    """The `ordinal` of the documents at these positions: the same number, unless documents were removed."""
    alias = cluster.documents_alias
    greatest = {"last": {"max": {"field": "ordinal"}}}
    answer = search(cluster, index=alias, size=0, track_total_hits=True, aggs=greatest)
    size = int(answer["aggregations"]["last"]["value"] or 0) + 1
    if answer["hits"]["total"]["value"] == size:
        return list(positions)
    # Count documents by ranges of `ordinal`, then read only the ranges in which positions lie.
    interval = -(-size // _BUCKETS)
    histogram = {"histogram": {"field": "ordinal", "interval": interval, "min_doc_count": 1}}
    answer = search(cluster, index=alias, size=0, aggs={"runs": histogram})
    buckets = answer["aggregations"]["runs"]["buckets"]
    ends = np.cumsum([bucket["doc_count"] for bucket in buckets])
    by_bucket: dict[int, set[int]] = defaultdict(set)
    for position in positions:
        by_bucket[int(np.searchsorted(ends, position, "right"))].add(position)
    ordinals: dict[int, int] = {}
    for number, in_bucket in by_bucket.items():
        bucket = buckets[number]
        first = int(ends[number]) - bucket["doc_count"]
        in_range = {"range": {"ordinal": {"gte": bucket["key"], "lt": bucket["key"] + interval}}}
        for position, ordinal in enumerate(_matching_ordinals(cluster, in_range), first):
            if position in in_bucket:
                ordinals[position] = ordinal
    return [ordinals[position] for position in positions]


def _matching_ordinals(cluster: Cluster, query: dict[str, Any]) -> Iterator[int]:
    """The `ordinal` of all documents that match a query, ascending."""
    body: dict[str, Any] = {"query": query, "sort": [{"ordinal": "asc"}], "source": False}
    for page in search_pages(cluster, _BATCH, index=cluster.documents_alias, **body):
        yield from (hit["sort"][0] for hit in page["hits"]["hits"])
