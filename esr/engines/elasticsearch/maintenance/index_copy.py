"""Copies of indices on the same nodes. They link files, which never change, so a copy takes seconds.

A delivery changes a copy: searches see all of it at once, when the alias moves, and nothing before.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from elasticsearch import BadRequestError

from esr import resources
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store import load_owner, meta
from esr.engines.elasticsearch.store.meta import Load
from esr.errors import EsrError

_TIMEOUT = "120s"


def copy_load(
    cluster: Cluster,
    load: Load,
    index: str,
    members: tuple[str, ...],
    *,
    is_head: bool,
    lifts: Mapping[str, Any],
) -> Load:
    """A copy of a load, not complete yet, with this index of sentences and this description of lifts.

    The original cannot be enriched while it is being copied.
    """
    copy = replace(
        load,
        index=index,
        is_complete=False,
        owner=load_owner.this_process(),
        heartbeat=time.time(),
        members=members,
        is_head=is_head,
        is_rejected=False,
        lifts=lifts,
    )
    for source, target in ((load.index, copy.index), (load.documents_index, copy.documents_index)):
        _clone(cluster, source, target)
    meta.write(cluster, copy)
    properties = resources.load_json("components/esr-documents.json")["template"]["mappings"]["properties"]
    added = {name: properties[name] for name in ("checksum", "given_date")}  # older indices lack them
    with cluster.translate_errors():
        cluster.client.indices.put_mapping(index=copy.documents_index, properties=added)
    return copy


def _clone(cluster: Cluster, source: str, target: str) -> None:
    indices = cluster.client.indices
    with cluster.translate_errors():
        indices.add_block(index=source, block="write")
    try:
        with cluster.translate_errors():
            try:
                indices.clone(
                    index=source,
                    target=target,
                    settings={"index.blocks.write": None, "index.refresh_interval": "-1"},
                    wait_for_active_shards=1,
                    timeout=_TIMEOUT,
                )
            except BadRequestError:
                # A request whose answer was lost is sent again: then the target exists already.
                if not indices.exists(index=target):
                    raise
            health = cluster.client.cluster.health(index=target, wait_for_status="yellow", timeout=_TIMEOUT)
    finally:
        with cluster.translate_errors():
            indices.put_settings(index=source, settings={"index.blocks.write": None})
    if health["timed_out"]:
        raise EsrError(
            f"the copy {target} was not ready after {_TIMEOUT}: check that the nodes have free disk space"
        )
