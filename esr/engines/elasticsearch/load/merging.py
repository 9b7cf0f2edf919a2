"""Merges the segments of a load, since a search visits each segment of a shard on its own."""

from __future__ import annotations

import math
import time

from elastic_transport import ConnectionTimeout

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.index_names import documents_index
from esr.errors import EsrError

LARGEST_SEGMENT = 5 * 2**30
"""Bytes. Elasticsearch itself merges no further, as it drops deleted entries of larger segments late."""
_POLL_SECONDS = 2.0


def merge_segments(cluster: Cluster, index: str) -> list[str]:
    """Merge an index of sentences, and the index of documents beside it, to segments of the largest size.

    Returns notes for the user: searches of segments that are not merged are slower, but right.
    """
    try:
        for name in (index, documents_index(index)):
            _merge(cluster, name)
    except EsrError as error:
        return [f"searches may be slower until Elasticsearch has merged the segments: {error}"]
    return []


def _merge(cluster: Cluster, index: str) -> None:
    with cluster.translate_errors():
        stats = cluster.client.indices.stats(index=index, metric=["store"])
        store = stats["_all"]["primaries"]["store"]["size_in_bytes"]
        shard_bytes = store / max(stats["_shards"]["successful"], 1)
        segments = max(1, math.ceil(shard_bytes / LARGEST_SEGMENT))
        try:
            cluster.client.indices.forcemerge(index=index, max_num_segments=segments)
        except ConnectionTimeout:  # a large merge takes longer than a request, and goes on
            while _is_merging(cluster, index):
                time.sleep(_POLL_SECONDS)


def _is_merging(cluster: Cluster, index: str) -> bool:
    stats = cluster.client.indices.stats(index=index, metric=["merge"])
    return bool(stats["_all"]["total"]["merges"]["current"])
