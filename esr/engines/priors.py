"""Stored priors: numbers of sentences that depend on p(t|C), and so on what comes and goes after them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

Step = Callable[[int, int], None]
"""Is told how many sentences more have been looked at, of how many."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the stored importance priors of one load are from those that p(t|C) gives now.

    Of its `sentences`, `sampled` were looked at. All numbers are natural logarithms: `occurrence` is the mean
    absolute change of log p(t|C) over the occurrences of terms (changes within one sentence may cancel),
    `mean` and `largest` are by how much a sentence's prior is off, `spread` is the standard deviation of the
    priors themselves: what `mean` is to be compared with.
    """

    load: str
    sentences: int
    sampled: int
    occurrence: float
    mean: float
    largest: float
    spread: float


@dataclass(slots=True)
class Refreshed:
    """What making priors anew did: sentences there are, and those whose prior was another."""

    sentences: int = 0
    changed: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class StoredPriors(Protocol):
    """The stored importance priors of an index. Methods raise EsrError only."""

    def drift(self) -> list[Drift]:
        """By load, the oldest first. Empty for an engine that stores no prior that could drift."""

    def refresh(self, step: Step) -> Refreshed:
        """Make all of them what p(t|C) gives now. Searches go on; it can be stopped and called again."""

    def close(self) -> None: ...
