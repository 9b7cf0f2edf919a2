"""Generations, the complete collections at one location, of which one is serving; their safety and priors.

`esr verify` finds damage of generations; `esr backup` and `esr restore` copy them.

Stored priors depend on p(t|C), so they drift when documents are added or removed. `StoredPriors` measures the
drift and recomputes them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from msgspec import Struct, field

from esr.errors import NotFound, UsageError

SERVING = "serving"
KEPT = "kept"
LOADING = "loading"
BROKEN = "broken"
STATES = {
    SERVING: "the one that searches use",
    KEPT: "complete and verified, esr rollback can serve it again",
    LOADING: "being written by a load",
    BROKEN: "its load was interrupted, continue it with esr load --resume or delete it; or a part is missing",
}
LOAD_OVER = "load everything again with esr load --if-exists replace"
DEFAULT_KEEP = 1
"""The number of generations that a load keeps besides its own by default."""
_NAME_FORMAT = "%Y%m%dt%H%M%S%f"
CLOCK_TOLERANCE = timedelta(hours=1)
"""How far the clocks of machines that load into one index may differ."""


class Generation(Struct, frozen=True):
    """One generation. Its name is the start time of its load, or a later time: names sort by age.

    Files shared by two generations count towards the size of both. Counts are None if unknown, for example
    while the load is running, or before a node has opened the generation.
    """

    name: str
    state: str
    documents: int | None
    sentences: int | None
    size_bytes: int | None
    host: str = ""
    """The machine that is writing it, "" if it is this one or none."""
    is_rejected: bool = False
    """Whether a rollback went back from it or past it. Only `--to` returns to it, and it is deleted first."""
    is_known_alive: bool = False
    """Whether a live load is writing it; False if that cannot be determined."""
    missing: tuple[str, ...] = ()
    """Its parts that were deleted by hand. With missing parts, it can be neither fully searched nor
    served."""

    @property
    def started_at(self) -> str:
        """When its load started, in ISO 8601; "" if the name holds no time, or one that lies ahead.

        A clock that was wrong once leaves such a name, and later loads have names that follow it.
        """
        try:
            started = datetime.strptime(self.name, _NAME_FORMAT)
        except ValueError:
            return ""
        if started > datetime.now(UTC).replace(tzinfo=None) + CLOCK_TOLERANCE:
            return ""
        return started.strftime("%Y-%m-%dT%H:%M:%SZ")

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "state": self.state,
            "documents": self.documents,
            "sentences": self.sentences,
            "size_bytes": self.size_bytes,
            "by": self.host,
            "rejected": self.is_rejected,
            "missing": list(self.missing),
            "made": self.started_at,
        }


class Generations(Protocol):
    """The generations at a location. Methods raise EsrError only."""

    def all(self) -> list[Generation]:
        """All generations, newest first. Empty for an empty index."""

    def rollback(self, to: str | None = None) -> Generation:
        """Switch to a kept generation in one step: the one named `to`, or the one before the serving one.

        All newer generations are rejected: later rollbacks skip them unless named, and they are deleted
        first.

        Raises UsageError if there is no such generation.
        """

    def delete(self, names: Sequence[str]) -> None:
        """Delete generations that are not serving. Raises UsageError before anything is deleted."""

    def delete_all(self) -> None:
        """Delete all generations, and the location itself."""

    def close(self) -> None: ...


def generation_name(started: datetime) -> str:
    """The name of a generation whose load started at this time."""
    return started.strftime(_NAME_FORMAT)


def new_generation_name(newest: str) -> str:
    """The name of a generation whose load starts at this moment: the time, or a later one than `newest`.

    `newest` is the greatest name at the location. If the clock was set back, the name follows `newest` by a
    random step of up to a second. So names stay in the order of their loads, and two loaders that start at
    once choose different names.
    """
    name = generation_name(datetime.now(UTC))
    if name > newest:
        return name
    last = datetime.strptime(newest, _NAME_FORMAT)
    return generation_name(last + timedelta(microseconds=random.randint(1, 1_000_000)))


def find_rollback_target(generations: Sequence[Generation], to: str | None, where: str) -> Generation:
    """The generation that a rollback switches to. Raises UsageError if there is none."""
    if to is not None:
        target = _find(generations, to, where)
        if target.state != KEPT:
            reason = f", as {describe_missing(target.missing)}" if target.missing else ""
            raise UsageError(
                f"generation {to} is {target.state}{reason}: only a kept generation can be rolled back to"
            )
        return target
    serving = next((generation for generation in generations if generation.state == SERVING), None)
    earlier = [generation for generation in generations if generation.state == KEPT]
    older = [g for g in earlier if (serving is None or g.name < serving.name) and not g.is_rejected]
    if not older:
        hint = f"; to serve a newer one, use --to {earlier[0].name}" if earlier else ""
        if serving is not None and serving.missing:
            hint += (
                f"; of the serving one, {describe_missing(serving.missing)}: restore a backup, or {LOAD_OVER}"
            )
        is_broken = any(g.state == BROKEN and g.missing for g in generations)
        described = "intact generation" if is_broken else "generation"
        raise UsageError(f"{where} keeps no {described} before the serving one{hint}")
    return older[0]


def describe_missing(names: Sequence[str]) -> str:
    """The clause of a message that says which parts of a generation are missing."""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing"


def select_deletable(generations: Sequence[Generation], names: Sequence[str], where: str) -> list[Generation]:
    """The generations of these names. Raises UsageError if one is serving, being written, or missing."""
    selected = [_find(generations, name, where) for name in dict.fromkeys(names)]
    for generation in selected:
        name = generation.name
        if generation.state == SERVING:
            raise UsageError(
                f"generation {name} is serving: roll back first, or delete the whole index {where}"
            )
        if generation.is_known_alive:
            raise UsageError(
                f"generation {name} is being written by a load: stop the load, or wait for its end"
            )
    return selected


def _find(generations: Sequence[Generation], name: str, where: str) -> Generation:
    for generation in generations:
        if generation.name == name:
            return generation
    available = ", ".join(generation.name for generation in generations) or "none"
    raise NotFound(f"there is no generation {name!r} at {where}: available are {available}")


OnProgress = Callable[[int, int], None]
"""Called with the number of sentences examined since the last call, and the total number."""


class Drift(Struct, frozen=True):
    """The deviation of one load's stored importance priors from those for the current p(t|C).

    `sampled` of its `sentences` were examined. All values are natural logarithms. `occurrence` is the mean
    absolute change of log p(t|C) over the occurrences of terms; changes within a sentence may cancel out.
    `mean` and `largest` are the mean and the largest error of a sentence's prior. `spread` is the standard
    deviation of the priors, for comparison with `mean`.
    """

    load: str
    sentences: int
    sampled: int
    occurrence: float
    mean: float
    largest: float
    spread: float


class RefreshReport(Struct):
    """The outcome of a refresh of the priors: the numbers of all sentences and of changed ones."""

    sentences: int = 0
    changed: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class StoredPriors(Protocol):
    """The stored importance priors of an index. Methods raise EsrError only."""

    def drift(self) -> list[Drift]:
        """The drift of each load, oldest first. Empty for an engine whose priors cannot drift."""

    def refresh(self, on_progress: OnProgress) -> RefreshReport:
        """Recompute all priors from the current p(t|C). Searches continue. Can be stopped and repeated."""

    def close(self) -> None: ...


class Damaged(Struct, frozen=True):
    """A damaged part of an index, and the generations that it belongs to; empty if all need it."""

    path: str
    problem: str
    generations: tuple[str, ...] = ()


class Verification(Struct, frozen=True):
    """The result of a verification.

    `is_fast`: only sizes and times were compared, and small files read. `unknown` are parts without
    checksums, written by older versions. `advice` says what to do. `slice` is I/N if only this slice was
    verified: then `parts` of `all_parts`, the segments and layers of a folder. `unopened`: why files may not
    be opened, which need not be damaged.
    """

    files: int
    size_bytes: int
    is_fast: bool
    damaged: tuple[Damaged, ...] = ()
    unknown: tuple[str, ...] = ()
    advice: str = ""
    seconds: float = 0.0
    slice: str | None = None
    parts: int = 0
    all_parts: int = 0
    unopened: tuple[str, ...] = ()


class CopyReport(Struct, frozen=True):
    """The outcome of a backup or restore: bytes by how they were copied, and what the copy serves.

    `slice` is I/N if only this slice was copied: then `parts` of `all_parts`, the segments and layers. The
    copy is not complete, so it has no counts.
    """

    documents: int | None
    sentences: int | None
    generations: int | None
    copied_bytes: int = 0
    linked_bytes: int = 0
    present_bytes: int = 0
    seconds: float = 0.0
    slice: str | None = None
    parts: int = 0
    all_parts: int = 0


def verify_generations(generations: Sequence[Generation], table: Damaged | None = None) -> Verification:
    """The result for an engine that verifies its own files: missing parts, and shards that are not open.

    `table` is the damaged table of vectors, if it is.
    """
    damaged = [
        Damaged(part, "it is missing", (generation.name,))
        for generation in generations
        for part in generation.missing
    ]
    damaged += [
        Damaged(generation.name, "not all of its shards are open", (generation.name,))
        for generation in generations
        if generation.state in (SERVING, KEPT) and not generation.missing and generation.documents is None
    ]
    size = sum(generation.size_bytes or 0 for generation in generations)
    advice = f"esr indices shows the generations: go back with esr rollback, or {LOAD_OVER}"
    everything = (*damaged, table) if table else tuple(damaged)
    return Verification(0, size, True, everything, advice=advice if damaged else "")
