"""Parts of a page that several sections share: tables, and the lines above and below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.speed.figures import Figure
from benchmarks.speed.timing import p50, p95

Rows = Sequence[Sequence[str]]


def table(heads: Sequence[str], rows: Rows) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * (len(heads) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def comparison(
    times: Mapping[str, Sequence[float]], bases: Sequence[str] = ("bm25s", "tantivy")
) -> Iterator[str]:
    """Percentiles, and medians relative to those of the bases."""
    rows = [
        (
            name,
            f"{p50(of_peer):.3g}",
            f"{p95(of_peer):.3g}",
            *(f"{p50(of_peer) / p50(times[base]):.2f}" for base in bases),
        )
        for name, of_peer in times.items()
    ]
    yield from table(("", "p50 ms", "p95 ms", *(f"p50 over {base}" for base in bases)), rows)


def environment(figure: Figure) -> Iterator[str]:
    yield (
        f"Commit {figure['commit']}, {figure['at']}, {figure['cores']} × {figure['processor']}, "
        f"load {figure['load']} before.\n"
    )


def pruning(answers: Mapping[str, Any]) -> Iterator[str]:
    """How many sentences were pruned, and whether the answers are still exact."""
    yield (
        f"A median of {np.median(answers['matches']):,.0f} sentences match and "
        f"{np.median(answers['scored']):,.0f} are scored. In {answers['differ']} of "
        f"{len(answers['matches'])} queries the pruned answer differs from that of scoring everything; "
        f"{answers['exhaustive']} could not be pruned.\n"
    )
