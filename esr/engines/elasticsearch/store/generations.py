"""The generations behind an alias: a load heads each, whose indices it is made of, and perhaps of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.store import meta, owner
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.generations import (
    BROKEN,
    KEPT,
    LOADING,
    SERVING,
    Generation,
    find_rollback_target,
    select_deletable,
)
from esr.errors import EsrError, IndexMissing


class ElasticsearchGenerations:
    """What stands behind an alias and beside it."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        try:
            self._cluster.check_version()
            meta.behind(self._cluster)
            if not meta.every(self._cluster):
                raise IndexMissing(f"there is no index at {self._cluster.where}: make one with esr load")
        except BaseException:
            self._cluster.close()
            raise

    def close(self) -> None:
        self._cluster.close()

    def all(self) -> list[Generation]:
        found = states(self._cluster)
        with self._cluster.errors():
            answer = self._cluster.client.indices.stats(
                index=[f"{self._cluster.alias}-*{kind}" for kind in (meta.SENTENCES, meta.DOCUMENTS)],
                metric=["store", "docs"],
            )
        known = {name: each["primaries"] for name, each in answer["indices"].items()}

        def total(indices: Iterable[str], kind: str, figure: str) -> int:
            return sum(known[name][kind][figure] for name in indices if name in known)

        generations = [
            Generation(
                load.generation,
                state,
                total(_documents(load.members), "docs", "count"),
                total(load.members, "docs", "count"),
                total((*load.members, *_documents(load.members)), "store", "size_in_bytes"),
                _machine(load.owner) if state == LOADING and owner.is_elsewhere(load.owner) else "",
            )
            for load, state in found
        ]
        return sorted(generations, key=lambda each: each.name, reverse=True)

    def rollback(self, to: str | None = None) -> Generation:
        chosen = find_rollback_target(self.all(), to, self._cluster.where)
        (load,) = (load for load, _ in states(self._cluster) if load.generation == chosen.name)
        serve(self._cluster, load)
        return chosen

    def delete(self, names: Sequence[str]) -> None:
        doomed = {each.name for each in select_deletable(self.all(), names, self._cluster.where)}
        drop(self._cluster, [load for load, _ in states(self._cluster) if load.generation in doomed])

    def delete_all(self) -> None:
        remove(self._cluster, [load.index for load in meta.every(self._cluster)])


def serve(cluster: Cluster, load: Load, instead_of: Iterable[str] | None = None) -> None:
    """Let the aliases lead to the generation that a load heads, and to nothing else, in one step.

    Raises EsrError where they lead to other indices of sentences than `instead_of`, if that is given.
    """
    before = meta.behind(cluster)
    if instead_of is not None and {old.index for old in before} != set(instead_of):
        raise EsrError(f"{cluster.where} leads to other indices than before")
    for old in before:
        if not old.complete and old.index not in load.members:
            meta.write(cluster, replace(old, complete=True))  # it was served: its load was cut off after that
    stay = {old.index for old in before} & set(load.members)
    actions: list[dict[str, Any]] = []
    for verb, indices in (
        ("remove", [old.index for old in before if old.index not in stay]),
        ("add", [index for index in load.members if index not in stay]),
    ):
        for index in indices:
            # If another moved the alias since it was looked up, nothing is done.
            sure = {"must_exist": True} if verb == "remove" else {}
            documents = meta.documents_index(index)
            actions.append({verb: {"index": index, "alias": cluster.alias, **sure}})
            actions.append({verb: {"index": documents, "alias": cluster.documents_alias, **sure}})
    try:
        with cluster.errors():
            cluster.client.indices.update_aliases(actions=actions)
    except EsrError:
        # Sent again since an answer was lost, it finds nothing to remove: it was done.
        if {now.index for now in meta.behind(cluster)} != set(load.members):
            raise


def pruned(cluster: Cluster, keep: int, before: Load | None, served: Load) -> list[str]:
    """Keep so many generations that are not served, the newest. Returns what to say of the one before.

    The switch to `served` is over: what cannot be removed is said, and no error. A node that hung may not
    know of the switch, and call what is served now kept.
    """
    kept = [load for load, state in states(cluster) if state == KEPT and load.index not in served.members]
    kept.sort(key=lambda load: load.generation, reverse=True)
    notes = []
    if before is not None and before.index in {load.index for load in kept[:keep]}:
        notes.append(f"generation {before.generation} is kept: esr rollback goes back to it")
    try:
        drop(cluster, kept[keep:])
    except EsrError as error:
        notes.append(f"what is older could not be removed, see esr indices: {error}")
    return notes


def drop(cluster: Cluster, doomed: Sequence[Load]) -> None:
    """Remove generations. Indices that other generations are made of stay."""
    indices = {load.index for load in doomed}
    stay = {name for load, _ in states(cluster) if load.index not in indices for name in load.members}
    stay |= {load.index for load in meta.behind(cluster)}
    for load in doomed:
        if load.index in stay:
            meta.write(cluster, replace(load, heads=False))
    gone = {name for load in doomed for name in (*load.members, load.index)} - stay
    remove(cluster, sorted(gone))


def remove(cluster: Cluster, indices: Sequence[str]) -> None:
    """Remove indices of sentences and those of documents beside them."""
    with cluster.errors():
        for index in indices:
            names = [index, meta.documents_index(index)]
            cluster.client.indices.delete(index=names, ignore_unavailable=True)


def states(cluster: Cluster) -> list[tuple[Load, str]]:
    """The loads that head a generation, oldest first, and the state of each."""
    loads = meta.every(cluster)
    served = {load.index for load in meta.behind(cluster)}
    serving = [load for load in loads if set(load.members) == served]
    # After aliases were moved by hand, the newest that is behind them stands for all.
    heads = serving or [load for load in loads if load.index in served]
    found = []
    for load in loads:
        if load in heads[-1:]:
            found.append((load, SERVING))
        elif load.heads and load.complete:
            found.append((load, KEPT))
        elif not load.complete and load.index not in served:
            found.append((load, BROKEN if owner.is_dead(load.owner) else LOADING))
    return found


def _machine(owner: str) -> str:
    return owner.rsplit(":", 2)[0]


def _documents(indices: Iterable[str]) -> list[str]:
    return [meta.documents_index(index) for index in indices]
