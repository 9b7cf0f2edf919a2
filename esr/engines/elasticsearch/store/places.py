"""Documents by their place in the collection. Removed ones leave gaps in `order`, places have none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from esr.batches import batched
from esr.documents import Document
from esr.engines.elasticsearch.cluster.asking import pages, search
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store.stored import document_of

_PAGE = 500
_BATCH = 1000
_BUCKETS = 5000
_KEEP_ALIVE = "10m"


def documents(cluster: Cluster) -> Iterator[Document]:
    """All documents in order, of one moment, whatever is switched to or deleted meanwhile."""
    with cluster.errors():
        moment = cluster.client.open_point_in_time(index=cluster.documents_alias, keep_alive=_KEEP_ALIVE)
    pit = {"id": moment["id"], "keep_alive": _KEEP_ALIVE}
    body: dict[str, Any] = {"sort": [{"order": "asc"}], "source": {"excludes": ["context"]}}
    try:
        for answer in pages(cluster, _PAGE, pit=pit, **body):
            pit["id"] = answer["pit_id"]
            yield from (document_of(hit["_source"]) for hit in answer["hits"]["hits"])
    finally:
        with cluster.errors():
            cluster.client.close_point_in_time(id=pit["id"])


def documents_at(cluster: Cluster, places: Sequence[int]) -> list[Document]:
    """Documents by their place in the collection, from 0, in this order."""
    ordinals = _orders(cluster, places)
    found: dict[int, Document] = {}
    for some in batched(ordinals, _BATCH):
        answer = search(
            cluster,
            index=cluster.documents_alias,
            query={"terms": {"order": some}},
            size=len(some),
            source={"excludes": ["context"]},
        )
        found |= {hit["_source"]["order"]: document_of(hit["_source"]) for hit in answer["hits"]["hits"]}
    return [found[order] for order in ordinals]


def _orders(cluster: Cluster, places: Sequence[int]) -> list[int]:
    """The `order` of the documents at these places. Where nothing was removed, it is the place itself."""
    alias = cluster.documents_alias
    last = {"last": {"max": {"field": "order"}}}
    answer = search(cluster, index=alias, size=0, track_total_hits=True, aggs=last)
    size = int(answer["aggregations"]["last"]["value"] or 0) + 1
    if answer["hits"]["total"]["value"] == size:
        return list(places)
    interval = -(-size // _BUCKETS)
    histogram = {"histogram": {"field": "order", "interval": interval, "min_doc_count": 1}}
    answer = search(cluster, index=alias, size=0, aggs={"runs": histogram})
    buckets = answer["aggregations"]["runs"]["buckets"]
    ends = np.cumsum([bucket["doc_count"] for bucket in buckets])
    wanted: dict[int, set[int]] = defaultdict(set)
    for place in places:
        wanted[int(np.searchsorted(ends, place, "right"))].add(place)
    ordinals: dict[int, int] = {}
    for number, mine in wanted.items():
        bucket = buckets[number]
        before = int(ends[number]) - bucket["doc_count"]
        inside = {"range": {"order": {"gte": bucket["key"], "lt": bucket["key"] + interval}}}
        for place, order in enumerate(_run(cluster, inside), before):
            if place in mine:
                ordinals[place] = order
    return [ordinals[place] for place in places]


def _run(cluster: Cluster, query: dict[str, Any]) -> Iterator[int]:
    """The `order` of all documents that a query finds, ascending."""
    body: dict[str, Any] = {"query": query, "sort": [{"order": "asc"}], "source": False}
    for answer in pages(cluster, _BATCH, index=cluster.documents_alias, **body):
        yield from (hit["sort"][0] for hit in answer["hits"]["hits"])
