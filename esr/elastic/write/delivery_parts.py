"""The indices of a delivery's generation: which are shared, copied, made or left out.

An index that a delivery does not change belongs to both generations. In a divided index, a delivery changes
the periods of its documents, and leaves out a period that has lost all of them. Copies link immutable files,
so a copy takes seconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from elasticsearch import ApiError, BadRequestError

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.location import documents_index, index_of_period, new_sentences_index
from esr.elastic.meta import Load
from esr.elastic.requests import count
from esr.elastic.write.load_owner import Heartbeat, this_process
from esr.elastic.write.shards import read_settings, read_shape, wait_for_primaries
from esr.elastic.write.write_blocks import WRITE_BLOCK, block_writes, is_blocked
from esr.elastic.write.writer import create_pair, read_profile
from esr.errors import EsrError
from esr.index.writer import LoadOptions
from esr.text.sentence_enrichment import VECTORS

_SECONDS = 120
"""Seconds within which each copy must be created and ready."""
ANSWER_SECONDS = _SECONDS + 30
REFRESH = "index.refresh_interval"
"""The setting that is off in a copy until the delivery has changed it."""
_REPLICATION = ("index.number_of_replicas", "index.auto_expand_replicas")


def copy_load(
    cluster: Cluster,
    load: Load,
    index: str,
    members: tuple[str, ...],
    *,
    is_head: bool,
    impacts: Mapping[str, Any],
    heartbeat: Heartbeat,
) -> Load:
    """Copy a load to the index of sentences `index`, with this description of impacts.

    The copy is marked incomplete. `heartbeat` renews its heartbeat as early as possible, so that it does not
    count as killed. The original cannot be enriched while it is being copied. The copy gets the original's
    current description, since enrichment may have changed it after `load` was read.
    """
    documents = documents_index(index)
    with block_writes(cluster, load):
        clone_index(cluster, load.index, index)
        (stored,) = meta.read(cluster, index)
        copy = replace(
            stored,
            is_complete=False,
            owner=this_process(),
            heartbeat=time.time(),
            members=members,
            is_head=is_head,
            is_rejected=False,
            impacts=impacts,
        )
        meta.write(cluster, copy)
        heartbeat.add(copy)
        clone_index(cluster, load.documents_index, documents)
    copy = replace(copy, heartbeat=time.time())
    meta.write(cluster, copy)
    return copy


def clone_index(cluster: Cluster, source: str, target: str) -> None:
    """Copy an index whose writes are blocked, by hard links to its files.

    Raises EsrError if another delivery, which blocked them first, has lifted the block.
    """
    client = cluster.client.options(request_timeout=ANSWER_SECONDS)
    with cluster.translate_errors():
        stored = client.indices.get_settings(index=source, flat_settings=True)[source]["settings"]
        # A clone has the settings of its source, except these.
        replication = {name: stored[name] for name in _REPLICATION if name in stored}
        settings = {**replication, WRITE_BLOCK: None, REFRESH: "-1"}
        try:
            client.indices.clone(
                index=source,
                target=target,
                settings=settings,
                wait_for_active_shards=0,
            )
        except ApiError as error:
            # If the answer was lost, the repeated request finds an existing target.
            if isinstance(error, BadRequestError) and client.indices.exists(index=target):
                pass
            elif not is_blocked(cluster, source):
                raise EsrError(
                    f"another delivery to {cluster.where} ran at the same time: nothing was changed, "
                    "run the command again"
                ) from error
            else:
                raise
    if not wait_for_primaries(cluster, target, _SECONDS):
        raise EsrError(
            f"the copy {target} was not ready after {_SECONDS} s: check that the nodes have free disk space"
        )


class Part(NamedTuple):
    """An index of sentences that a delivery makes: a copy of a load, or a new one without a `source`."""

    name: str
    period: str
    source: Load | None


class DeliveryPlan(NamedTuple):
    """The indices that a delivery makes, in this order, and all that its generation has, the head last."""

    parts: Sequence[Part]
    members: tuple[str, ...]

    @property
    def head(self) -> str:
        return self.members[-1]


def plan_delivery(
    cluster: Cluster, loads: Sequence[Load], periods: Sequence[str], removed: Mapping[str, int]
) -> DeliveryPlan:
    """The plan for new documents of these periods, and for this number of removed ones by index of documents.

    `loads` are those behind the alias, `periods` is empty if the index is not divided.
    """
    newest = meta.newest_generation(cluster)
    touched = [load for load in loads if load.documents_index in removed]
    if loads[-1].description.by is None:
        changed = touched if loads[-1] in touched else [*touched, loads[-1]]
        parts = [
            Part(new_sentences_index(cluster.alias, newest, len(changed) - n), "", load)
            for n, load in enumerate(changed, 1)
        ]
        return _plan(loads, changed, parts, parts)
    by_period = {load.period: load for load in loads}  # of several, the newest takes new documents
    extended = [by_period[period] for period in periods if period in by_period]
    emptied = [
        load
        for load in touched
        if load not in extended and removed[load.documents_index] == count(cluster, load.documents_index)
    ]
    changed = [load for load in loads if load in extended or (load in touched and load not in emptied)]
    added = [period for period in periods if period not in by_period]
    if not changed and not added:  # a generation needs a head of its own
        remaining = [load for load in loads if load not in emptied] or emptied[-1:]
        changed = [min(remaining, key=lambda load: count(cluster, load.index))]
        emptied = [load for load in emptied if load not in changed]
    stamp = new_sentences_index(cluster.alias, newest)
    parts = [Part(index_of_period(stamp, period), period, None) for period in added]
    for n, load in enumerate(changed):
        number = 0 if load is by_period[load.period] else n + 1
        parts.append(Part(index_of_period(stamp, load.period, number), load.period, load))
    parts.sort(key=lambda part: part.name)
    # The head is made first: as long as it exists, the others belong to it.
    return _plan(loads, [*changed, *emptied], parts, parts[::-1])


def _plan(
    loads: Sequence[Load], replaced: Sequence[Load], parts: Sequence[Part], order: Sequence[Part]
) -> DeliveryPlan:
    remaining = [load.index for load in loads if load not in replaced]
    return DeliveryPlan(order, (*remaining, *(part.name for part in parts)))


def make_part(
    cluster: Cluster,
    part: Part,
    plan: DeliveryPlan,
    loads: Sequence[Load],
    *,
    impacts: Mapping[str, Any],
    heartbeat: Heartbeat,
) -> Load:
    """Copy or make the index of a part. `impacts` describes those of the generation."""
    is_head = part.name == plan.head
    if part.source is None:
        return _make_index(cluster, part, plan, loads, impacts, heartbeat)
    return copy_load(
        cluster, part.source, part.name, plan.members, is_head=is_head, impacts=impacts, heartbeat=heartbeat
    )


def _make_index(
    cluster: Cluster,
    part: Part,
    plan: DeliveryPlan,
    loads: Sequence[Load],
    impacts: Mapping[str, Any],
    heartbeat: Heartbeat,
) -> Load:
    """Make the index of a new period, in the shape of the newest one."""
    newest = loads[-1]
    shards, replicas = read_shape(read_settings(cluster, loads))
    with cluster.translate_errors():
        profile = read_profile(cluster, newest.index)
    load = replace(
        newest,
        index=part.name,
        period=part.period,
        is_complete=False,
        owner=this_process(),
        heartbeat=time.time(),
        members=plan.members,
        is_head=part.name == plan.head,
        is_rejected=False,
        impacts=impacts,
        manifest={},
    )
    create_pair(cluster, load, LoadOptions(shards=shards, replicas=replicas, profile=profile))
    heartbeat.add(load)
    with cluster.translate_errors():
        indices = cluster.client.indices
        mapped = indices.get_mapping(index=newest.index)[newest.index]["mappings"]["properties"]
        if VECTORS in mapped:
            indices.put_mapping(index=load.index, properties={VECTORS: mapped[VECTORS]})
    return load
