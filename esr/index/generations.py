"""Generations: the complete collections stored at one location, one of which is serving.

Stored priors: values of sentences that depend on p(t|C), and so on documents added or removed later.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from msgspec import Struct, field

from esr.errors import UsageError

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
"""How many generations a load keeps beside its own by default."""
_NAME_FORMAT = "%Y%m%dt%H%M%S%f"


class Generation(Struct, frozen=True):
    """One generation. Its name is the time its load started, or the next one: names sort by age.

    Generations may share files: what two share counts towards the size of both. Counts are None where they
    are not known, for example while the load is running, or a node has not opened it yet.
    """

    name: str
    state: str
    documents: int | None
    sentences: int | None
    size_bytes: int | None
    host: str = ""
    """The machine that is writing it, if another."""
    is_rejected: bool = False
    """Whether a rollback went back past it: only `--to` leads to it, and it is the first to be deleted."""
    is_known_alive: bool = False
    """Whether it is being written by a load that is alive; False where nobody can tell."""
    missing: tuple[str, ...] = ()
    """What was deleted of it by hand: it can neither be searched completely nor be served again."""

    @property
    def started_at(self) -> str:
        """When its load started, in ISO 8601; "" for a generation from before generations had names."""
        try:
            return datetime.strptime(self.name, _NAME_FORMAT).strftime("%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            return ""

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
        """All generations, the newest first. Empty if the index holds nothing."""

    def rollback(self, to: str | None = None) -> Generation:
        """Switch to a kept generation in one step: the one named `to`, or the one before the serving one.

        All newer generations are rejected: no later rollback leads to them unless it names one, and they are
        the first to be deleted.
        Raises UsageError if there is none.
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
    """The name of a generation whose load starts now: the time, or a later one than `newest`.

    `newest` is the greatest name at the location. If the clock went back since, names go on from there, so
    that they remain in the order of their loads. They do so by random steps of up to a second: two loaders
    that start at once do not choose the same name.
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
    kept = [generation for generation in generations if generation.state == KEPT]
    older = [g for g in kept if (serving is None or g.name < serving.name) and not g.is_rejected]
    if not older:
        hint = f"; to serve a newer one, use --to {kept[0].name}" if kept else ""
        if serving is not None and serving.missing:
            hint += f"; of the serving one, {describe_missing(serving.missing)}: {LOAD_OVER}"
        raise UsageError(f"{where} keeps no generation before the serving one{hint}")
    return older[0]


def describe_missing(names: Sequence[str]) -> str:
    """That these parts of a generation are missing."""
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
    raise UsageError(f"there is no generation {name!r} at {where}: available are {available}")


OnProgress = Callable[[int, int], None]
"""Called with how many more sentences have been examined, and the number of all."""


class Drift(Struct, frozen=True):
    """How far the stored importance priors of one load are from those that the present p(t|C) gives.

    `sampled` of its `sentences` were examined. All values are natural logarithms: `occurrence` is the mean
    absolute change of log p(t|C) over the occurrences of terms (changes within one sentence may cancel
    out), `mean` and `largest` are the mean and the largest error of a sentence's prior, `spread` is the
    standard deviation of the priors themselves, to compare `mean` with.
    """

    load: str
    sentences: int
    sampled: int
    occurrence: float
    mean: float
    largest: float
    spread: float


class RefreshReport(Struct):
    """What a refresh of the priors did: the sentences of the index, and those whose prior changed."""

    sentences: int = 0
    changed: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class StoredPriors(Protocol):
    """The stored importance priors of an index. Methods raise EsrError only."""

    def drift(self) -> list[Drift]:
        """The drift of each load, the oldest first. Empty for an engine whose priors cannot drift."""

    def refresh(self, on_progress: OnProgress) -> RefreshReport:
        """Recompute all priors from the present p(t|C). Searches continue. Can be stopped and repeated."""

    def close(self) -> None: ...
