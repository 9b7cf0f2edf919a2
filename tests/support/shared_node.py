"""One node for all the processes of a test run: starting and warming one up takes longer than most tests."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.node import URL_VARIABLE, Cluster

HEAP = "1g"
_PATIENCE = 600.0
"""Seconds for which the process that started the node waits for the others to finish with it."""


@contextmanager
def shared_node(folder: Path | None) -> Iterator[str]:
    """The URL of the node. `folder` is one that the processes share; without it the node is this one's own.

    The first process that needs it starts it, and stops it when the others have finished. Raises NoNode.
    """
    if folder is None or os.environ.get(URL_VARIABLE):
        with Cluster.start(own=False, heap=HEAP) as cluster:
            yield cluster.url
        return
    with _locked(folder) as state:
        cluster = None if state.exists() else Cluster.start(own=False, heap=HEAP)
        if cluster:
            state.write_text(json.dumps({"url": cluster.url, "users": 0}), "utf-8")
        url = _change_users(state, 1)
    try:
        yield url
    finally:
        with _locked(folder) as state:
            _change_users(state, -1)
        if cluster:
            _wait_for_others(folder)
            cluster.stop()


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """The file that tells of the node, while no other process reads or writes it."""
    with (folder / "elasticsearch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "elasticsearch.json"


def _change_users(state: Path, by: int) -> str:
    node = json.loads(state.read_text("utf-8"))
    state.write_text(json.dumps({**node, "users": node["users"] + by}), "utf-8")
    return str(node["url"])


def _wait_for_others(folder: Path) -> None:
    """Whoever comes later starts a node of its own."""
    end = time.monotonic() + _PATIENCE
    while True:
        with _locked(folder) as state:
            if json.loads(state.read_text("utf-8"))["users"] == 0 or time.monotonic() > end:
                state.unlink()
                return
        time.sleep(0.5)
