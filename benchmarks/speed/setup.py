"""What is measured with: the sources, the sizes, and where things are kept between runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ANALYZER = "english-stem"
TERMS = range(2, 7)
"""Distinct terms of the queries that are asked."""
BOTH_K = (10, 100)


@dataclass(frozen=True)
class Setup:
    """`number` queries are asked `rounds` times after a round to warm up. `sizes` are times the source."""

    documents: Path
    queries: Path
    work: Path
    elasticsearch: str | None = None
    number: int = 100
    rounds: int = 3
    sizes: tuple[int, ...] = (1, 3)
    enriched: int = 20_000
    """Sentences of the index with parses and features."""
    depth: int = 1000
    """Candidates that are reranked."""
    seconds: float = 8.0
    """How long the clients ask one server."""
    clients: int = 16
    runs: int = 5
    """How often an index is opened."""
    loads: int = 2
    """How often each side loads."""
