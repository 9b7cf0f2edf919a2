"""The shards of indices: waits until new ones are allocated, says why one is not, and reads their number."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from elasticsearch import ApiError

from esr.elastic.cluster import Cluster
from esr.elastic.meta import Load, name_in_request
from esr.errors import EsrError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class DiskFull(EsrError):
    """No node has room for a new index."""


def wait_for_primaries(cluster: Cluster, index: str, seconds: float) -> bool:
    """Whether all primary shards of an index become writable within this time.

    Raises DiskFull as soon as Elasticsearch reports that no disk has room for one of them.
    """
    end, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while True:
        with cluster.translate_errors():
            health = cluster.client.cluster.health(index=index, level="shards")
            # The status is not enough: a new index is yellow before its shards are open.
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
    """Raise DiskFull if no node takes a primary shard because disks are full."""
    try:
        answer = cluster.client.cluster.allocation_explain(index=index, shard=shard, primary=True)
    except ApiError:  # the shard has been allocated meanwhile
        return
    reason = _disk_reason(answer)
    if answer.get("can_allocate") == "no" and reason:
        raise DiskFull(
            f"no disk of {cluster.dialect.name} at {cluster.url} has room for a new index: "
            f"free space or add a node, then try again; {cluster.where} is unchanged ({reason})"
        )


def _disk_reason(answer: Any) -> str:
    """The reason why a node rejects a shard, if it is the disk; otherwise ""."""
    for node in answer.get("node_allocation_decisions", ()):
        for decision in node.get("deciders", ()):
            if decision["decider"] == "disk_threshold" and decision["decision"] == "NO":
                return str(decision["explanation"])
    return ""


def read_settings(cluster: Cluster, loads: Sequence[Load]) -> list[Mapping[str, Any]]:
    """The settings of the indices of sentences of a generation's loads, in the same order."""
    named = name_in_request(cluster, (load.index for load in loads))
    with cluster.translate_errors():
        answer = cluster.client.indices.get_settings(index=named)
    return [answer[load.index]["settings"]["index"] for load in loads]


def read_shape(settings: Sequence[Mapping[str, Any]]) -> tuple[int, int | None]:
    """The greatest number of shards of the loads, and the number of replicas of the newest.

    Replicas are None if Elasticsearch chooses them by the number of nodes.
    """
    newest = settings[-1]
    is_chosen = newest.get("auto_expand_replicas", "false") != "false"
    shards = max(int(of_index["number_of_shards"]) for of_index in settings)
    return shards, None if is_chosen else int(newest["number_of_replicas"])
