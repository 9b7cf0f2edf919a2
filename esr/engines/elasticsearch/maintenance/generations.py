"""The generations of an alias, to be listed, served again and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.cluster.index_names import DOCUMENTS, SENTENCES, documents_index
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.generations import (
    delete_generations,
    delete_indices,
    load_states,
    missing_indices,
    serve,
)
from esr.engines.elasticsearch.store.heartbeat import is_known_alive
from esr.engines.elasticsearch.store.load_owner import LoadOwner
from esr.engines.generations import KEPT, LOADING, SERVING, Generation, find_rollback_target, select_deletable


class ElasticsearchGenerations:
    """All generations of an alias, whether they are served or not."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        with self._cluster.closed_on_error():
            self._cluster.check_version()
            meta.aliased_loads(self._cluster)
            if not meta.all_loads(self._cluster):
                raise self._cluster.index_missing()

    def close(self) -> None:
        self._cluster.close()

    def all(self) -> list[Generation]:
        loads, states = meta.all_loads(self._cluster), load_states(self._cluster)
        stats = self._read_stats()

        def total(indices: Sequence[str], metric: str, figure: str) -> int | None:
            if any(name not in stats for name in indices):
                return None
            return sum(int(stats[name][metric][figure]) for name in indices)

        generations = []
        for load, state in states:
            documents = [documents_index(index) for index in load.members]
            owner = LoadOwner.parse(load.owner)
            generations.append(
                Generation(
                    load.generation,
                    state,
                    total(documents, "docs", "count"),
                    total(load.members, "docs", "count"),
                    total((*load.members, *documents), "store", "size_in_bytes"),
                    owner.host if state == LOADING and not owner.is_near else "",
                    is_rejected=load.is_rejected and state == KEPT,
                    is_known_alive=state == LOADING and is_known_alive(load),
                    missing=missing_indices(load, loads) if load.is_complete else (),
                )
            )
        return sorted(generations, key=lambda generation: generation.name, reverse=True)

    def _read_stats(self) -> dict[str, Any]:
        """Counts and sizes of the indices of which all primary shards are open: after a node's start, some
        are not yet."""
        indices = [f"{self._cluster.alias}-*{kind}" for kind in (SENTENCES, DOCUMENTS)]
        client = self._cluster.client.indices
        with self._cluster.translate_errors():
            settings = client.get_settings(index=indices, name="index.number_of_shards", flat_settings=True)
            answer = client.stats(index=indices, metric=["store", "docs"], level="shards")
        return {
            name: body["primaries"]
            for name, body in answer["indices"].items()
            if sum(map(_is_open_primary, chain(*body["shards"].values())))
            == int(settings[name]["settings"]["index.number_of_shards"])
        }

    def rollback(self, to: str | None = None) -> Generation:
        generation = find_rollback_target(self.all(), to, self._cluster.where)
        heads = [load for load, state in load_states(self._cluster) if state in (KEPT, SERVING)]
        (target,) = (load for load in heads if load.generation == generation.name)
        # Before the switch: should this be killed between the two, nothing that was bad is gone back to.
        for load in heads:
            is_rejected = load is not target and (load.is_rejected or load.generation > target.generation)
            if load.is_rejected != is_rejected:
                meta.write(self._cluster, replace(load, is_rejected=is_rejected))
        serve(self._cluster, replace(target, is_rejected=False))
        return generation

    def delete(self, names: Sequence[str]) -> None:
        doomed = {generation.name for generation in select_deletable(self.all(), names, self._cluster.where)}
        heads = [load for load, _ in load_states(self._cluster) if load.generation in doomed]
        delete_generations(self._cluster, heads)

    def delete_all(self) -> None:
        delete_indices(self._cluster, [load.index for load in meta.all_loads(self._cluster)])


def _is_open_primary(shard: Mapping[str, Any]) -> bool:
    return bool(shard["routing"]["primary"] and shard["routing"]["state"] == "STARTED")
