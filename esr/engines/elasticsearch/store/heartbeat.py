"""The heartbeat of a load: a time in the `_meta` of its index, which its writer renews."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from types import TracebackType
from typing import Self

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.load_owner import LoadOwner
from esr.engines.elasticsearch.store.meta import Load
from esr.errors import EsrError

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
