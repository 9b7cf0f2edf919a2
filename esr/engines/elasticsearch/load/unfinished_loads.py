"""Loads that are not finished: their indices are created, found again to be resumed, and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from elasticsearch import BadRequestError

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.shard_allocation import DiskFull, wait_for_primaries
from esr.engines.elasticsearch.store import meta, templates
from esr.engines.elasticsearch.store.generations import delete_indices, load_states
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.generations import BROKEN
from esr.engines.index import Description
from esr.engines.options import LoadOptions

_OPEN_SECONDS = 30.0
"""How long the shards of a new index are waited for."""


class LoadTarget(NamedTuple):
    """What a load is to make. Only a load with the same target can be resumed.

    `manifest` identifies the documents; `lifts` describes their lifts, if they are to have some.
    """

    description: Description
    manifest: Mapping[str, Any]
    lifts: Mapping[str, Any]

    def new_load(self, index: str, owner: str, members: tuple[str, ...], heartbeat: float = 0.0) -> Load:
        return Load(
            index,
            self.description,
            is_complete=False,
            owner=owner,
            members=members,
            manifest=self.manifest,
            lifts=self.lifts,
            heartbeat=heartbeat,
        )

    def is_of(self, load: Load) -> bool:
        return (load.description, load.manifest, load.lifts) == self


def create_indices(cluster: Cluster, load: Load, options: LoadOptions, existing: str | None = None) -> None:
    """Create both indices of a load, except one that exists. One that is rejected leaves none.

    Raises DiskFull if no disk has room for them.
    """
    body = templates.index_body(load.description, options.shards or 1, options.replicas, load.as_meta())
    with cluster.translate_errors():
        for index in (load.index, load.documents_index):
            if index == existing:
                continue
            try:
                _create_index(cluster, index, body)
            except BadRequestError:
                if existing is None and index != load.index:
                    delete_indices(cluster, [load.index])
                raise
    try:
        for index in (load.index, load.documents_index):
            wait_for_primaries(
                cluster, index, _OPEN_SECONDS
            )  # later, writing takes longer or says what is wrong
    except DiskFull:
        delete_indices(cluster, [load.index])
        raise


def _create_index(cluster: Cluster, index: str, body: Mapping[str, Any]) -> None:
    indices = cluster.client.indices
    try:
        indices.create(index=index, wait_for_active_shards=0, **body)
    except BadRequestError:
        # A request whose answer was lost is sent again: then the index exists already.
        if not indices.exists(index=index):
            raise
        mapping = indices.get_mapping(index=index)[index]["mappings"]
        if mapping.get("_meta") != body["mappings"]["_meta"]:
            raise


def has_both_indices(cluster: Cluster, load: Load) -> bool:
    """Whether both indices of a load exist: a loader can be killed before it creates the second."""
    with cluster.translate_errors():
        return bool(cluster.client.indices.exists(index=load.documents_index))


def find_unfinished_loads(cluster: Cluster, target: LoadTarget) -> list[Load]:
    """The loads of this target that are not finished, newest first."""
    served = {load.index for load in meta.aliased_loads(cluster)}
    return [
        load
        for load in reversed(meta.all_loads(cluster))
        if target.is_of(load) and not load.is_complete and load.index not in served
    ]


def delete_broken_loads(cluster: Cluster, keep: Load | None = None) -> None:
    """Delete what loaders left when they were killed before the switch, except `keep`."""
    for load, state in load_states(cluster):
        if state == BROKEN and not load.is_complete and (keep is None or load.index != keep.index):
            delete_indices(cluster, [load.index])
