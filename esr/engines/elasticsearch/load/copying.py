"""Copies of indices on the same nodes: links to files that never change, so that a copy takes seconds.

A delivery changes a copy, so searches see all of it at once, when the alias moves, and nothing before.
"""

from __future__ import annotations

from dataclasses import replace

from elasticsearch import BadRequestError

from esr import resources
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store import meta, owner
from esr.engines.elasticsearch.store.meta import Load
from esr.errors import EsrError

_WAIT = "120s"


def copied(cluster: Cluster, load: Load, name: str, members: tuple[str, ...], *, heads: bool) -> Load:
    """A copy of a load under another name, not complete yet. While it is made the load cannot be enriched."""
    # What is delivered changes p(t|C), and with it impacts.
    copy = replace(
        load, index=name, complete=False, owner=owner.me(), members=members, heads=heads, impacts={}
    )
    for source, target in ((load.index, copy.index), (load.documents_index, copy.documents_index)):
        _clone(cluster, source, target)
    meta.write(cluster, copy)
    properties = resources.load("components/esr-documents.json")["template"]["mappings"]["properties"]
    fresh = {name: properties[name] for name in ("checksum", "given_date")}  # older indices lack them
    with cluster.errors():
        cluster.client.indices.put_mapping(index=copy.documents_index, properties=fresh)
    return copy


def unblock(cluster: Cluster, index: str) -> None:
    """Let an index be written to again."""
    with cluster.errors():
        cluster.client.indices.put_settings(index=index, settings={"index.blocks.write": None})


def _clone(cluster: Cluster, source: str, target: str) -> None:
    indices = cluster.client.indices
    with cluster.errors():
        indices.add_block(index=source, block="write")
    try:
        with cluster.errors():
            try:
                indices.clone(
                    index=source,
                    target=target,
                    settings={"index.blocks.write": None, "index.refresh_interval": "-1"},
                    wait_for_active_shards=1,
                    timeout=_WAIT,
                )
            except BadRequestError:
                # If the answer to a request is lost, it is sent again: then it is there already.
                if not indices.exists(index=target):
                    raise
            health = cluster.client.cluster.health(index=target, wait_for_status="yellow", timeout=_WAIT)
    finally:
        unblock(cluster, source)
    if health["timed_out"]:
        raise EsrError(f"the copy {target} was not ready after {_WAIT}: see that the nodes have room on disk")
