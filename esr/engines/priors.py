"""Stored priors: values of sentences that depend on p(t|C), and so on documents added or removed later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

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
