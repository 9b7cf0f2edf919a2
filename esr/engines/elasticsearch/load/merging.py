"""Merges the segments of a load, since a search visits each segment of a shard on its own.

Elasticsearch divides the search of a large shard among threads, but never a segment. So a large shard keeps a
segment for each processor.
"""

from __future__ import annotations

import math
import time

from elastic_transport import ConnectionTimeout

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.index_names import documents_index
from esr.errors import EsrError

LARGEST_SEGMENT = 5 * 2**30
"""Bytes. Elasticsearch itself merges no further, as it drops deleted entries of larger segments late."""
SMALLEST_PART = 200_000
"""Entries. A thread of its own searches so many in a shorter time than a further segment costs."""
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
        segments = _segments_per_shard(cluster, index)
        try:
            cluster.client.indices.forcemerge(index=index, max_num_segments=segments)
        except ConnectionTimeout:  # a large merge takes longer than a request, and goes on
            while _is_merging(cluster, index):
                time.sleep(_POLL_SECONDS)


def _segments_per_shard(cluster: Cluster, index: str) -> int:
    indices = cluster.client.indices
    stats = indices.stats(index=index, metric=["store", "docs"])
    copies, primaries = max(int(stats["_shards"]["successful"]), 1), stats["_all"]["primaries"]
    settings = indices.get_settings(index=index, name="index.number_of_shards")[index]
    shards = int(settings["settings"]["index"]["number_of_shards"])
    processors = _data_processors(cluster)
    shards_of_node = math.ceil(copies / len(processors))
    entries, size = int(primaries["docs"]["count"]), int(primaries["store"]["size_in_bytes"])
    parts = min(min(processors) // shards_of_node, entries // shards // SMALLEST_PART)
    return max(1, parts, math.ceil(size / shards / LARGEST_SEGMENT))


def _data_processors(cluster: Cluster) -> list[int]:
    """The processors that each node with data may use."""
    nodes = cluster.client.nodes.info(metric="os")["nodes"].values()
    return [
        node["os"]["allocated_processors"]
        for node in nodes
        if any(role.startswith("data") for role in node["roles"])
    ]


def _is_merging(cluster: Cluster, index: str) -> bool:
    stats = cluster.client.indices.stats(index=index, metric=["merge"])
    return bool(stats["_all"]["total"]["merges"]["current"])
