"""The generations behind an alias. A load heads each: its indices belong to it, and maybe those of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from esr.engines.elasticsearch.cluster.alias_targets import AliasTargets, look_up
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.index_names import documents_index
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.heartbeat import is_killed
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.generations import BROKEN, KEPT, LOADING, SERVING
from esr.errors import EsrError


def serve(cluster: Cluster, load: Load, instead_of: Iterable[str] | None = None) -> None:
    """Point the aliases to the generation that a load heads, and to nothing else, in one step.

    Raises EsrError where they lead to indices of sentences other than `instead_of`, if that is given.
    """
    before = _read_targets(cluster)
    if instead_of is not None and {*filter(None, before.sentences.split(","))} != set(instead_of):
        raise EsrError(f"{cluster.where} no longer leads to the indices that were to be replaced")
    for old in meta.aliased_loads(cluster):
        if not old.is_complete and old.index not in load.members:
            # It is served, so its load was interrupted after the switch.
            meta.write(cluster, replace(old, is_complete=True))
    actions: list[dict[str, Any]] = []
    for alias, names, wanted in (
        (cluster.alias, before.sentences, load.members),
        (cluster.documents_alias, before.documents, map(documents_index, load.members)),
    ):
        old_indices, new_indices = {*filter(None, names.split(","))}, {*wanted}
        for index in sorted(old_indices - new_indices):
            # Nothing is done if someone else has moved the alias since it was looked up.
            actions.append({"remove": {"index": index, "alias": alias, "must_exist": True}})
        actions += ({"add": {"index": index, "alias": alias}} for index in sorted(new_indices - old_indices))
    try:
        with cluster.translate_errors():
            cluster.client.indices.update_aliases(actions=actions)
    except EsrError:
        # A request that is sent again, since its answer was lost, finds nothing to remove: it was done.
        if {new.index for new in meta.aliased_loads(cluster)} != set(load.members):
            raise


def load_states(cluster: Cluster) -> list[tuple[Load, str]]:
    """The loads that head a generation, oldest first, with the state of each."""
    loads = meta.all_loads(cluster)
    served = _read_targets(cluster).loads
    serving = [load for load in loads if set(load.members) == served]
    # If aliases were moved by hand, the newest load behind them stands for all of them.
    heads = serving or [load for load in loads if load.index in served]
    states = []
    for load in loads:
        if load in heads[-1:]:
            states.append((load, SERVING))
        elif load.is_head and load.is_complete:
            states.append((load, BROKEN if missing_indices(load, loads) else KEPT))
        elif not load.is_complete and load.index not in served:
            states.append((load, BROKEN if is_killed(load) else LOADING))
    return states


def missing_indices(load: Load, loads: Sequence[Load]) -> tuple[str, ...]:
    """The indices that were deleted by hand of the generation that a load heads, given all loads."""
    by_index = {each.index: each.missing for each in loads}
    return tuple(
        name for index in load.members for name in by_index.get(index, (index, documents_index(index)))
    )


def delete_old_generations(cluster: Cluster, keep: int, before: Load | None, served: Load) -> list[str]:
    """Keep the newest `keep` generations that are not served, rejected ones last, and delete the others.

    One that lacks an index is not kept.
    Returns notes for the user: on the generation `before` the switch to `served`, and on what could not be
    deleted, which is no error once the switch is over. A node that hung may not know of the switch yet, and
    take the served generation for a kept one: no index of it is ever deleted.
    """
    states = [(load, state) for load, state in load_states(cluster) if load.index != served.index]
    kept_loads = [load for load, state in states if state == KEPT]
    incomplete = [load for load, state in states if state == BROKEN and load.is_complete]
    if before is not None and before.is_rejected:  # its rollback was killed before the switch
        before = replace(before, is_rejected=False)
        meta.write(cluster, before)
        kept_loads = [before if load.index == before.index else load for load in kept_loads]
    kept_loads.sort(key=lambda load: load.generation, reverse=True)
    kept_loads.sort(key=lambda load: load.is_rejected)
    notes = []
    if before is not None and before.index in {load.index for load in kept_loads[:keep]}:
        # It is newer if the load that is served now was the first to begin, and the last to end.
        to = f" --to {before.generation}" if before.generation > served.generation else ""
        notes.append(f"generation {before.generation} is kept: esr rollback{to} goes back to it")
    try:
        delete_generations(cluster, [*kept_loads[keep:], *incomplete], spared=served.members)
    except EsrError as error:
        notes.append(f"older generations could not be deleted, see esr indices: {error}")
    return notes


def delete_generations(cluster: Cluster, heads: Sequence[Load], spared: Sequence[str] = ()) -> None:
    """Delete the generations that these loads head. Indices that belong to other generations stay, and those
    that are spared.

    Indices are deleted before anything is written: on a full disk, only that is possible.
    """
    indices = {load.index for load in heads}
    shared = {name for load, _ in load_states(cluster) if load.index not in indices for name in load.members}
    shared |= _read_targets(cluster).loads | {*spared}
    unshared = {name for load in heads for name in (*load.members, load.index)} - shared
    delete_indices(cluster, sorted(unshared))
    for load in heads:
        if load.index in shared:
            meta.write(cluster, replace(load, is_head=False))


def _read_targets(cluster: Cluster) -> AliasTargets:
    """Where the aliases lead, even if indices were deleted by hand."""
    with cluster.translate_errors():
        return look_up(cluster.client, *cluster.aliases)[0]


def delete_indices(cluster: Cluster, indices: Sequence[str]) -> None:
    """Delete indices of sentences and the indices of documents beside them."""
    with cluster.translate_errors():
        for index in indices:
            names = [index, documents_index(index)]
            cluster.client.indices.delete(index=names, ignore_unavailable=True)
