"""The settings of a measurement: the sources, the sizes, and the working folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ANALYZER = "english-stem"
TERM_COUNTS = range(2, 7)
"""Numbers of distinct terms that queries may have."""
RESULT_SIZES = (10, 100)
HEADLINES = "headlines"
"""The key of figures whose queries are headlines as they come, of any length."""


@dataclass(frozen=True)
class Setup:
    """`number` queries run `rounds` times after a warm-up round. `sizes` are multiples of the source."""

    documents: Path
    queries: Path
    work: Path
    elasticsearch: str | None = None
    number: int = 100
    warm_up: float = 60.0
    """Seconds in which a node is asked other queries before its times are taken."""
    rounds: int = 3
    sizes: tuple[int, ...] = (1, 3)
    enriched: int = 20_000
    """Sentences of the enriched index."""
    depth: int = 1000
    """Reranked candidates."""
    seconds: float = 8.0
    """Duration of a throughput run."""
    clients: int = 16
    runs: int = 5
    """Processes that open an index."""
    loads: int = 2
    """Loads by each side."""
