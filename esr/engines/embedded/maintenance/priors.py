"""The importance priors of an index folder: made from p(t|C) when a commit is first used, so never old."""

from __future__ import annotations

from pathlib import Path

from esr.engines.priors import Drift, Refreshed, Step
from esr.engines.segments.store import manifest


class EmbeddedPriors:
    """Nothing to measure and nothing to do."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing or IndexUnusable."""
        manifest.read(Path(where))

    def drift(self) -> list[Drift]:
        return []

    def refresh(self, step: Step) -> Refreshed:
        return Refreshed(notes=["an index folder makes its priors itself, exactly: there is nothing to do"])

    def close(self) -> None:
        """Nothing to let go of."""
