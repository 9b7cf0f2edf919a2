"""The importance priors of an index folder, which are computed from p(t|C) when a commit is first used."""

from __future__ import annotations

from pathlib import Path

from esr.engines.priors import Drift, OnProgress, RefreshReport
from esr.engines.segments.store import manifest


class EmbeddedPriors:
    """Priors that are always exact: there is nothing to measure or to refresh."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing or IndexUnusable."""
        manifest.read(Path(where))

    def drift(self) -> list[Drift]:
        return []

    def refresh(self, on_progress: OnProgress) -> RefreshReport:
        return RefreshReport(
            notes=["an index folder always computes its priors exactly: there is nothing to do"]
        )

    def close(self) -> None:
        """There is nothing to release."""
