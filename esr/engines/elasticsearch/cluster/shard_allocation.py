"""Waits for the shards of a new index, and says at once if a full disk is why no node takes them."""

from __future__ import annotations

import time
from typing import Any

from elasticsearch import ApiError

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.errors import EsrError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class DiskFull(EsrError):
    """No node has room for a new index."""


def wait_for_primaries(cluster: Cluster, index: str, seconds: float) -> bool:
    """Whether all primary shards of an index can be written to within this time.

    Raises DiskFull as soon as Elasticsearch says that no disk has room for one of them.
    """
    end, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while True:
        with cluster.translate_errors():
            health = cluster.client.cluster.health(index=index, level="shards")
            # The status does not tell: a new index is yellow before its shards are open.
            shards = health["indices"].get(index, {"shards": {}})["shards"]
            closed = {number for number, shard in shards.items() if not shard["primary_active"]}
            if shards and not closed:
                return True
            for number in closed:
                if not shards[number]["initializing_shards"]:
                    _check_disk(cluster, index, int(number))
        if time.monotonic() > end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _check_disk(cluster: Cluster, index: str, shard: int) -> None:
    """Raises DiskFull if no node takes a primary shard since disks are full."""
    try:
        answer = cluster.client.cluster.allocation_explain(index=index, shard=shard, primary=True)
    except ApiError:  # it has been allocated meanwhile
        return
    reason = _disk_reason(answer)
    if answer.get("can_allocate") == "no" and reason:
        raise DiskFull(
            f"no disk of Elasticsearch at {cluster.url} has room for a new index: free space or add a node, "
            f"then try again; {cluster.where} is unchanged ({reason})"
        )


def _disk_reason(answer: Any) -> str:
    """Why a node does not take a shard, if that is for its disk."""
    for node in answer.get("node_allocation_decisions", ()):
        for decision in node.get("deciders", ()):
            if decision["decider"] == "disk_threshold" and decision["decision"] == "NO":
                return str(decision["explanation"])
    return ""
