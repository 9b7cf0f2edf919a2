"""The generations behind an alias, and the processes that write them.

A generation is headed by a load, and consists of its indices and possibly those of other loads. A heartbeat
in the `_meta` of a load's index, which the writer renews, distinguishes a live load from a killed one. On the
writer's machine, its process id does. Process ids are compared only within one process space: containers may
share a host name, and each has a process 1.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from esr.elastic import meta
from esr.elastic.cluster import AliasTargets, Cluster, documents_index, look_up
from esr.elastic.meta import Load
from esr.errors import EsrError
from esr.index.generations import BROKEN, KEPT, LOADING, SERVING

_PROC = Path("/proc")


class LoadOwner(NamedTuple):
    """The process that writes a load. `host` is a name for people.

    `process_space` is the scope in which a process id is unique. `started` distinguishes a process from an
    earlier one with the same id. Without a process id, it is unknown whether the load is alive.
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
        """Whether the process, if alive, is visible from this one."""
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
    """The boot of this machine and the namespace of its process ids, or else the host name."""
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
    """The start time of a process, in ticks since the boot; "" if the system does not tell."""
    try:
        stat = (_PROC / str(process_id) / "stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # the 22nd field; the name before it may contain blanks


INTERVAL = 10.0
"""Seconds between two heartbeats."""
PATIENCE = 120.0
"""Seconds without a heartbeat after which a load counts as killed. Clocks must differ by much less."""
_POLL_SECONDS = 1.0


class Heartbeat:
    """Renews the heartbeats of loads in a background thread while the block runs."""

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
        """Raise EsrError if another process has taken a load over, unless the block failed."""
        self._stopped.set()
        # A renewal in progress must end before the caller's next write. After a failure there is no next
        # write.
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
                except EsrError:  # the load itself will report the error
                    continue

    def _renew(self, load: Load) -> None:
        for stored in meta.read(self._cluster, load.index):  # empty if the index was deleted
            if stored.owner == load.owner:
                meta.write_sentences(self._cluster, replace(stored, heartbeat=time.time()))
            else:
                self._lost = LoadOwner.parse(stored.owner)


def is_killed(load: Load) -> bool:
    """Whether the writer of an incomplete load has ended, as far as can be determined."""
    owner = LoadOwner.parse(load.owner)
    if owner.is_near:
        return not owner.is_running
    return load.heartbeat > 0 and time.time() - load.heartbeat > PATIENCE


def is_known_alive(load: Load) -> bool:
    """Whether the writer is known to be alive. Without process id and heartbeat, it is not."""
    return not is_killed(load) and (LoadOwner.parse(load.owner).is_near or load.heartbeat > 0)


def wait_for_end(cluster: Cluster, load: Load) -> bool:
    """Whether the writer of a load has ended. Waits for its next heartbeat, or until that is long overdue.

    Waiting makes the result independent of other machines' clocks.
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


def serve(cluster: Cluster, load: Load, instead_of: Collection[str] | None = None) -> None:
    """Point the aliases to the generation that a load heads, and to nothing else, in one step.

    Raises EsrError if `instead_of` is given and the aliases point to other indices of sentences.
    """
    before = _read_targets(cluster)
    if instead_of is not None and {*filter(None, before.sentences.split(","))} != {*instead_of}:
        if not instead_of:
            raise EsrError(f"another load has made an index at {cluster.where} meanwhile: it is served")
        raise EsrError(f"{cluster.where} no longer points to the indices to be replaced")
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
            # The request fails as a whole if another process has moved the alias since it was looked up.
            actions.append({"remove": {"index": index, "alias": alias, "must_exist": True}})
        actions += ({"add": {"index": index, "alias": alias}} for index in sorted(new_indices - old_indices))
    try:
        with cluster.translate_errors():
            cluster.client.indices.update_aliases(actions=actions)
    except EsrError:
        # If the answer was lost, the repeated request finds nothing to remove, as the switch is done.
        if {new.index for new in meta.aliased_loads(cluster)} != set(load.members):
            raise


def load_states(cluster: Cluster) -> list[tuple[Load, str]]:
    """The loads that head a generation, oldest first, with the state of each."""
    loads = meta.all_loads(cluster)
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
        elif not load.is_complete and load.index not in served:
            states.append((load, BROKEN if is_killed(load) else LOADING))
    return states


def missing_indices(load: Load, loads: Sequence[Load]) -> tuple[str, ...]:
    """The indices deleted by hand of the generation that a load heads, given all loads."""
    by_index = {each.index: each.missing for each in loads}
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
        meta.write(cluster, before)
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
        if load.index in shared:
            meta.write(cluster, replace(load, is_head=False))


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
