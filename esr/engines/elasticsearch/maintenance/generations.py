"""The generations of an alias, to be listed, served again and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.cluster.index_names import DOCUMENTS, SENTENCES, documents_index
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.generations import (
    delete_generations,
    delete_indices,
    load_states,
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
        states = load_states(self._cluster)
        with self._cluster.translate_errors():
            answer = self._cluster.client.indices.stats(
                index=[f"{self._cluster.alias}-*{kind}" for kind in (SENTENCES, DOCUMENTS)],
                metric=["store", "docs"],
            )
        stats = {name: body["primaries"] for name, body in answer["indices"].items()}

        def total(indices: Iterable[str], metric: str, figure: str) -> int:
            return sum(stats[name][metric][figure] for name in indices if name in stats)

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
                )
            )
        return sorted(generations, key=lambda generation: generation.name, reverse=True)

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
