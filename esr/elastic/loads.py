"""The generations behind an alias. A load heads each: its indices belong to it, and maybe those of others.

The heartbeat of a load: a time in the `_meta` of its index, which its writer renews.

Which process writes a load, so that what a killed loader left can be told from what another one writes.

A process is found again only among the processes that this one sees: containers may share a name, and each
has a process 1. What others write is alive by its heartbeat.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from esr.elastic import meta
from esr.elastic.cluster import AliasTargets, Cluster, look_up
from esr.elastic.location import documents_index
from esr.elastic.meta import Load
from esr.errors import EsrError
from esr.index.generations import BROKEN, KEPT, LOADING, SERVING

_PROC = Path("/proc")


class LoadOwner(NamedTuple):
    """`host` is a name for people. Without a process id, nothing tells whether the load is alive.

    `process_space` is what a process id is unique in. `started` tells a process from an earlier one with its
    id.
    """

    host: str
    process_space: str = ""
    process_id: int = 0
    started: str = ""

    @classmethod
    def parse(cls, text: str) -> LoadOwner:
        host, *rest = text.rsplit(":", 3)
        if len(rest) != 3:
            return cls(host)
        space, process_id, started = rest
        return cls(host, space, int(process_id), started)

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @property
    def is_near(self) -> bool:
        """Whether this process sees it, if it is alive."""
        return self.process_id > 0 and self.process_space == _process_space()

    @property
    def is_running(self) -> bool:
        """Whether the process of a near owner is alive."""
        return _is_alive(self.process_id) and _started(self.process_id) == self.started


def this_process() -> str:
    pid = os.getpid()
    return str(LoadOwner(socket.gethostname(), _process_space(), pid, _started(pid)))


@cache
def _process_space() -> str:
    """The boot of this machine and the namespace of its process ids; its name where there is neither."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{(_PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(process_id: int) -> str:
    """When a process was started, in ticks since the boot; "" where the system does not say."""
    try:
        stat = (_PROC / str(process_id) / "stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # the 22nd field: the name before it may have blanks


INTERVAL = 10.0
"""Seconds between two heartbeats."""
PATIENCE = 120.0
"""Seconds without one after which a load counts as killed. Clocks of loaders must agree much better."""
_POLL_SECONDS = 1.0


class Heartbeat:
    """Renews the heartbeats of loads in a thread of its own, while the block runs."""

    def __init__(self, cluster: Cluster, *loads: Load) -> None:
        self._cluster = cluster
        self._loads = loads
        self._stopped = threading.Event()
        self._lost: LoadOwner | None = None
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def add(self, load: Load) -> None:
        self._loads = (*self._loads, load)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises EsrError if another process has taken a load over, unless the block failed anyway."""
        self._stopped.set()
        # What it is writing must not come after what the caller writes next. Whoever fails writes no more.
        self._thread.join(None if error is None else _POLL_SECONDS)
        if self._lost is not None and error is None:
            raise EsrError(
                f"a process on {self._lost.host} has taken this load over, as it showed no sign of life for "
                f"{PATIENCE:g} s: that one will finish it"
            )

    def _run(self) -> None:
        while not self._stopped.wait(INTERVAL):
            for load in self._loads:
                try:
                    self._renew(load)
                except EsrError:  # the load itself will say what is wrong
                    continue

    def _renew(self, load: Load) -> None:
        for stored in meta.read(self._cluster, load.index):  # none if the index was deleted
            if stored.owner == load.owner:
                meta.write_sentences(self._cluster, replace(stored, heartbeat=time.time()))
            else:
                self._lost = LoadOwner.parse(stored.owner)


def is_killed(load: Load) -> bool:
    """Whether the writer of a load that is not complete has ended, as far as anybody can tell."""
    owner = LoadOwner.parse(load.owner)
    if owner.is_near:
        return not owner.is_running
    return load.heartbeat > 0 and time.time() - load.heartbeat > PATIENCE


def is_known_alive(load: Load) -> bool:
    """Whether the writer is alive, and not merely of a kind that nothing is known of."""
    return not is_killed(load) and (LoadOwner.parse(load.owner).is_near or load.heartbeat > 0)


def wait_for_end(cluster: Cluster, load: Load) -> bool:
    """Whether the writer of a load has ended: waits for its next heartbeat, or until it is due for long.

    So this needs no clocks that agree.
    """
    if LoadOwner.parse(load.owner).is_near or not load.heartbeat:
        return not is_known_alive(load)
    end = time.monotonic() + PATIENCE
    while not is_killed(load):
        if time.monotonic() > end:
            return True
        time.sleep(_POLL_SECONDS)
        stored = meta.read(cluster, load.index)
        if not stored or stored[0].heartbeat != load.heartbeat:
            return False
    return True


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
