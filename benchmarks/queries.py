"""The queries that benchmarks of searches share, and the format of their times."""

from __future__ import annotations

import gzip
import random
import re
import statistics
from collections.abc import Sequence
from pathlib import Path

WARM_UP = 30
"""Number of additional queries, which are searched first and not timed."""


def read_queries(path: Path, count: int) -> list[list[str]]:
    """Queries of 2 to 6 words, as lists of words."""
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as file
    ):
        queries = [re.findall(r"\w+", line.split("\t")[1]) for line in file]
    fitting = [words for words in queries if 2 <= len(words) <= 6]
    return random.Random(1).sample(fitting, min(count + WARM_UP, len(fitting)))


def describe_times(times: Sequence[float]) -> str:
    """The median and the 95th percentile of milliseconds, and their number, as text."""
    median, tail = statistics.median(times), sorted(times)[int(0.95 * len(times))]
    return f"p50 {median:7.2f} ms   p95 {tail:7.2f} ms   n {len(times)}"
