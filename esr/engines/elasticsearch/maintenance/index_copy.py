"""Copies of indices on the same nodes. They link files, which never change, so a copy takes seconds.

A delivery changes a copy: searches see all of it at once, when the alias moves, and nothing before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from elasticsearch import BadRequestError

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.index_names import documents_index
from esr.engines.elasticsearch.cluster.shard_allocation import wait_for_primaries
from esr.engines.elasticsearch.store import load_owner, meta
from esr.engines.elasticsearch.store.heartbeat import Heartbeat
from esr.engines.elasticsearch.store.meta import Load
from esr.errors import EsrError

_SECONDS = 120
"""How long each copy may take to be made and ready."""
ANSWER_SECONDS = _SECONDS + 30
_REPLICATION = ("index.number_of_replicas", "index.auto_expand_replicas")


def copy_load(
    cluster: Cluster,
    load: Load,
    index: str,
    members: tuple[str, ...],
    *,
    is_head: bool,
    lifts: Mapping[str, Any],
    heartbeat: Heartbeat,
) -> Load:
    """A copy of a load, not complete yet, with this index of sentences and this description of lifts.

    `heartbeat` renews its heartbeat from the moment that it can have one, so that nobody takes it for killed.
    The original cannot be enriched while it is being copied. The copy says what the original said then: it
    may have been enriched since `load` was read.
    """
    documents = documents_index(index)
    with _write_blocked(cluster, load.documents_index, load.index):
        _clone(cluster, load.index, index)
        (stored,) = meta.read(cluster, index)
        copy = replace(
            stored,
            is_complete=False,
            owner=load_owner.this_process(),
            heartbeat=time.time(),
            members=members,
            is_head=is_head,
            is_rejected=False,
            lifts=lifts,
        )
        meta.write(cluster, copy)
        heartbeat.add(copy)
        _clone(cluster, load.documents_index, documents)
    copy = replace(copy, heartbeat=time.time())
    meta.write(cluster, copy)
    return copy


@contextmanager
def _write_blocked(cluster: Cluster, *names: str) -> Iterator[None]:
    """Both are copied as they are at one moment: a document is marked as enriched after its sentences."""
    indices = cluster.client.indices
    try:
        with cluster.translate_errors():
            for name in names:
                indices.add_block(index=name, block="write")
        yield
    finally:
        with cluster.translate_errors():
            indices.put_settings(index=list(names), settings={"index.blocks.write": None})


def _clone(cluster: Cluster, source: str, target: str) -> None:
    client = cluster.client.options(request_timeout=ANSWER_SECONDS)
    with cluster.translate_errors():
        stored = client.indices.get_settings(index=source, flat_settings=True)[source]["settings"]
        # A clone has all settings of its source but these.
        replication = {name: stored[name] for name in _REPLICATION if name in stored}
        settings = {**replication, "index.blocks.write": None, "index.refresh_interval": "-1"}
        try:
            client.indices.clone(
                index=source,
                target=target,
                settings=settings,
                wait_for_active_shards=0,
            )
        except BadRequestError:
            # A request whose answer was lost is sent again: then the target exists already.
            if not client.indices.exists(index=target):
                raise
    if not wait_for_primaries(cluster, target, _SECONDS):
        raise EsrError(
            f"the copy {target} was not ready after {_SECONDS} s: check that the nodes have free disk space"
        )
