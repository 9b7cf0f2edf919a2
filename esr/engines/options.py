"""The options of a load."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from esr.analysis import DEFAULT
from esr.documents import Document
from esr.engines.generations import DEFAULT_KEEP
from esr.plans.plan import Mixture

IF_EXISTS = {
    "fail": "stop if the index already exists",
    "replace": "load a new generation, then switch to it in one step",
    "append": "add to the existing index",
}

DEFAULT_WORKERS = 2
SetAside = Callable[[Document, str], None]
"""Called with a document that is set aside, and the reason."""


class LoadOptions(Struct, frozen=True):
    """How to load.

    `analyzer` and `title` default to those of the index when appending. Else `choose_analyzer` is asked for
    the analyzer, before the first document is read. `keep` is how many generations that were served before
    are kept. `resume` continues an interrupted load, if there is one. `set_aside` is
    called with each document that the engine cannot take, and the reason; without it, such a document
    stops the load.

    The rest is for Elasticsearch alone. `source_bytes` of JSON Lines and plain text are to come, 0 if that is
    not known: a load that has no room for them does not begin. `slice` (i, n) sends the i-th of n slices of
    the documents; the slice that finishes last switches to the new generation. `on_progress` is called with
    how many more documents have been sent, and the number of all. Searches by `precomputed_mixture` are
    faster. With `merge`, the segments of the new indices are merged before these are served.
    """

    if_exists: str = "fail"
    analyzer: str | None = None
    title: bool | None = None
    shards: int | None = None
    keep: int = DEFAULT_KEEP
    resume: bool = False
    slice: tuple[int, int] | None = None
    workers: int = DEFAULT_WORKERS
    set_aside: SetAside | None = None
    replicas: int | None = None
    on_progress: Callable[[int, int], None] = lambda sent, total: None
    precomputed_mixture: Mixture | None = None
    source_bytes: int = 0
    merge: bool = False
    choose_analyzer: Callable[[], str] = lambda: DEFAULT
