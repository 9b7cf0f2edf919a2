"""Generations at an alias: switches the one that is served, and deletes old ones.

A generation is headed by a load, and consists of its indices and possibly those of other loads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from esr.elastic.cluster import Cluster, look_up
from esr.elastic.connection import AliasTargets
from esr.elastic.location import documents_index, undivided_index
from esr.elastic.meta import Load, aliased_loads, all_loads, write
from esr.elastic.write.load_owner import is_killed
from esr.errors import EsrError
from esr.index.generations import BROKEN, KEPT, LOADING, SERVING


def serve(cluster: Cluster, load: Load, instead_of: Collection[str] | None = None) -> None:
    """Point the aliases to the generation that a load heads, and to nothing else, in one step.

    Raises EsrError if `instead_of` is given and the aliases point to other indices of sentences.
    """
    before = _read_targets(cluster)
    if instead_of is not None and {*filter(None, before.sentences.split(","))} != {*instead_of}:
        if not instead_of:
            raise EsrError(f"another load has made an index at {cluster.where} meanwhile: it is served")
        raise EsrError(
            f"{cluster.where} no longer points to the indices to be replaced, as another load or delivery "
            "ended first: nothing was changed, run the command again"
        )
    for old in aliased_loads(cluster):
        if not old.is_complete and old.index not in load.parts:
            # It is served, so its load was interrupted after the switch.
            write(cluster, replace(old, is_complete=True))
    actions = _name_generation(load)
    for alias, names, wanted in (
        (cluster.alias, before.sentences, load.members),
        (cluster.documents_alias, before.documents, map(documents_index, load.members)),
    ):
        old_indices, new_indices = {*filter(None, names.split(","))}, {*wanted}
        for index in sorted(old_indices - new_indices):
            # The request fails as a whole if another process has moved the alias since it was looked up.
            actions.append({"remove": {"index": index, "alias": alias, "must_exist": True}})
        actions += ({"add": {"index": index, "alias": alias}} for index in sorted(new_indices - old_indices))
    try:
        with cluster.translate_errors():
            cluster.client.indices.update_aliases(actions=actions)
    except EsrError:
        # If the answer was lost, the repeated request finds nothing to remove, as the switch is done.
        if {new.index for new in aliased_loads(cluster)} != set(load.members):
            raise


def _name_generation(load: Load) -> list[dict[str, Any]]:
    """The actions that give a divided generation aliases of its own: a request cannot name many indices."""
    if not load.period:
        return []
    name = undivided_index(load.index)
    return [
        {"add": {"index": index, "alias": alias}}
        for member in load.members
        for index, alias in ((member, name), (documents_index(member), documents_index(name)))
    ]


def _unname_generation(cluster: Cluster, load: Load) -> None:
    """Remove the aliases of a divided generation from the indices that others share."""
    if load.period:
        name = undivided_index(load.index)
        with cluster.translate_errors():
            client = cluster.client.options(ignore_status=404)
            names = [name, documents_index(name)]
            client.indices.delete_alias(index=f"{cluster.alias}-*", name=names)


def load_states(cluster: Cluster) -> list[tuple[Load, str]]:
    """The loads that head a generation, oldest first, with the state of each.

    An unfinished load of several periods is one generation, that of its head.
    """
    loads = all_loads(cluster)
    begun = {index for load in loads if load.is_head and not load.is_complete for index in load.parts[:-1]}
    served = _read_targets(cluster).loads
    serving = [load for load in loads if set(load.members) == served]
    # If aliases were moved by hand, the newest load behind them represents all loads.
    heads = serving or [load for load in loads if load.index in served]
    states = []
    for load in loads:
        if load in heads[-1:]:
            states.append((load, SERVING))
        elif load.is_head and load.is_complete:
            states.append((load, BROKEN if missing_indices(load, loads) else KEPT))
        elif not load.is_complete and load.index not in served and load.index not in begun:
            states.append((load, BROKEN if is_killed(load) else LOADING))
    return states


def missing_indices(load: Load, loads: Sequence[Load]) -> tuple[str, ...]:
    """The indices deleted by hand of the generation that a load heads, given all loads."""
    by_index = {other.index: other.missing for other in loads}
    return tuple(
        name for index in load.members for name in by_index.get(index, (index, documents_index(index)))
    )


def delete_old_generations(cluster: Cluster, keep: int, before: Load | None, served: Load) -> list[str]:
    """Delete the generations that are not served, except the newest `keep`. Returns notes for the user.

    Rejected generations are deleted before others, and incomplete ones are never kept. The notes are about
    the generation `before` the switch to `served`, and about indices that could not be deleted, which is no
    error after the switch. A node that hung may not have seen the switch yet and report the served generation
    as kept, so its indices are never deleted.
    """
    states = [(load, state) for load, state in load_states(cluster) if load.index != served.index]
    kept_loads = [load for load, state in states if state == KEPT]
    incomplete = [load for load, state in states if state == BROKEN and load.is_complete]
    if before is not None and before.is_rejected:  # a rollback from it was killed before the switch
        before = replace(before, is_rejected=False)
        write(cluster, before)
        kept_loads = [before if load.index == before.index else load for load in kept_loads]
    kept_loads.sort(key=lambda load: load.generation, reverse=True)
    kept_loads.sort(key=lambda load: load.is_rejected)
    notes = []
    if before is not None and before.index in {load.index for load in kept_loads[:keep]}:
        # `before` is newer if the load of `served` began before it and ended after it.
        to = f" --to {before.generation}" if before.generation > served.generation else ""
        notes.append(f"generation {before.generation} is kept: esr rollback{to} goes back to it")
    try:
        delete_generations(cluster, [*kept_loads[keep:], *incomplete], spared=served.members)
    except EsrError as error:
        notes.append(f"older generations could not be deleted, see esr indices: {error}")
    return notes


def delete_generations(cluster: Cluster, heads: Sequence[Load], spared: Sequence[str] = ()) -> None:
    """Delete the generations that these loads head, except `spared` and indices of other generations.

    Indices are deleted before anything is written, since a full disk takes no writes.
    """
    indices = {load.index for load in heads}
    shared = {name for load, _ in load_states(cluster) if load.index not in indices for name in load.members}
    shared |= _read_targets(cluster).loads | {*spared}
    unshared = {name for load in heads for name in (*load.members, load.index)} - shared
    delete_indices(cluster, sorted(unshared))
    for load in heads:
        _unname_generation(cluster, load)
        if load.index in shared:
            write(cluster, replace(load, is_head=False))


def _read_targets(cluster: Cluster) -> AliasTargets:
    """The indices behind the aliases, even if some were deleted by hand."""
    with cluster.translate_errors():
        return look_up(cluster.client, *cluster.aliases)[0]


def delete_indices(cluster: Cluster, indices: Sequence[str]) -> None:
    """Delete indices of sentences, each with its index of documents."""
    with cluster.translate_errors():
        for index in indices:
            names = [index, documents_index(index)]
            cluster.client.indices.delete(index=names, ignore_unavailable=True)
