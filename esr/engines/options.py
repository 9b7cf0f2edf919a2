"""How to load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from esr.documents import Document
from esr.engines.generations import KEEP
from esr.plans.plan import Mixture

IF_EXISTS = {
    "fail": "stop if there is an index already",
    "replace": "load anew, and let the new load take the place of the old in one step",
    "append": "add to what is there",
}

WORKERS = 2
SetAside = Callable[[Document, str], None]


@dataclass(frozen=True)
class LoadOptions:
    """How to load. `analyzer` and `title` are those of the index where it is appended to.

    `keep` generations that were served before stay. `resume` takes up a load that was cut off, if there is
    one. `slice` is (i, n): send the i-th of n slices of the documents; the one that comes last switches.
    `set_aside` is told of each document that the engine cannot take, and why; without it nothing is loaded
    then. `shards`, `replicas`, `slice`, `workers`, `sent` and `prepared` are for Elasticsearch alone; `sent`
    is told how many documents more have been sent, of how many. Searches by the mixture `prepared` are made
    faster, until something is added.
    """

    if_exists: str = "fail"
    analyzer: str | None = None
    title: bool | None = None
    shards: int | None = None
    keep: int = KEEP
    resume: bool = False
    slice: tuple[int, int] | None = None
    workers: int = WORKERS
    set_aside: SetAside | None = None
    replicas: int | None = None
    sent: Callable[[int, int], None] = lambda documents, of: None
    prepared: Mixture | None = None
