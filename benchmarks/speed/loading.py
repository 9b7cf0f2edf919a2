"""How long a load takes, and how large the index is."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.speed import peers
from benchmarks.speed.setup import Setup
from benchmarks.speed.workspace import collection_file, count_bytes, load


def loading(setup: Setup) -> Iterator[dict[str, Any]]:
    """`esr load` into a folder beside tantivy, in turns: seconds, processor seconds, and bytes."""
    source = collection_file(setup, 1)
    loads: dict[str, list[dict[str, float]]] = {"esr": [], "tantivy": [], "tantivy, one thread": []}
    sentences = 0
    for _ in range(setup.loads):
        with tempfile.TemporaryDirectory(dir=setup.work) as folder:
            before, path = _children_time(), Path(folder) / "esr"
            report = load(source, path)
            loads["esr"].append(_measurement(report["seconds"], _children_time() - before, path))
            sentences = report["sentences"]
            for name, threads in (("tantivy", 0), ("tantivy, one thread", 1)):
                before, path = time.process_time(), Path(folder) / name
                seconds = peers.load_tantivy(source, path, threads=threads)
                loads[name].append(_measurement(seconds, time.process_time() - before, path))
    yield {
        "sentences": sentences,
        "source bytes": source.stat().st_size,
        "loads": loads,
        "peak MB": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
    }


def _measurement(seconds: float, processor: float, index: Path) -> dict[str, float]:
    values = {"seconds": seconds, "processor": processor, "bytes": count_bytes(index)}
    return {name: round(value, 2) for name, value in values.items()}


def _children_time() -> float:
    """Processor seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
