"""`esr search` as a process, beside a Python that only imports numpy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.speed import queries
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Search, time_interleaved
from benchmarks.speed.workspace import esr_index, run_esr

NUMBER = 10
"""Queries: each of them starts two processes in every round."""


def command(setup: Setup) -> Iterator[dict[str, Any]]:
    """Wall times of the processes, one after the other."""
    where = str(esr_index(setup, 1))
    searches: dict[str, Search] = {
        "esr search": lambda query: run_esr("search", query, "--index", where),
        "import numpy": lambda _: subprocess.run([sys.executable, "-c", "import numpy"], check=True),
    }
    yield {"times": time_interleaved(searches, queries.sample(setup)[:NUMBER], setup.rounds)}
