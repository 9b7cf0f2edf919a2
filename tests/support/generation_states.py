"""The states of the generations at a place."""

from __future__ import annotations

from contextlib import closing

from esr.index.factory import open_generations


def states(where: str) -> list[str]:
    """Newest first."""
    with closing(open_generations(where)) as generations:
        return [generation.state for generation in generations.all()]
