"""The time of opening an index, and its memory afterwards."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.speed import peers, queries
from benchmarks.speed.cold_start import MEMORY_SAMPLES
from benchmarks.speed.figures import ROOT
from benchmarks.speed.timing import Search, time_interleaved
from benchmarks.speed.workspace import Setup, collection_file, count_bytes, esr_index, load, run_esr
from esr.ranking.searcher import open_searcher


def opening(setup: Setup) -> Iterator[dict[str, Any]]:
    """`open_searcher` and the first searches in new processes, with the files in the page cache."""
    number = MEMORY_SAMPLES[-1]
    lines = "\n".join((queries.all_queries(setup) * number)[:number])
    for size in setup.sizes:
        index = esr_index(setup, size)
        _read_files(index)
        command = [sys.executable, "-m", "benchmarks.speed.cold_start", str(index)]
        runs = [
            json.loads(
                subprocess.run(
                    command, input=lines, text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True
                ).stdout
            )
            for _ in range(setup.runs)
        ]
        with open_searcher(str(index)) as searcher:
            sentences = searcher.index.statistics([]).collection.sentences
        yield {"key": size, "sentences": sentences, "runs": runs, "bytes": count_bytes(index)}


def _read_files(folder: Path) -> None:
    """Bring the files into the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                shutil.copyfileobj(file, _NullWriter(), 2**20)


class _NullWriter:
    def write(self, data: bytes) -> int:
        return len(data)


# The time of a load, and the size of the index.


def loading(setup: Setup) -> Iterator[dict[str, Any]]:
    """`esr load` into a folder and tantivy, in turns: seconds, processor seconds, and bytes."""
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


# `esr search` as a process, compared with a Python that only imports numpy.


NUMBER = 10
"""Number of queries. Each starts two processes in every round."""


def command(setup: Setup) -> Iterator[dict[str, Any]]:
    """Wall-clock times of the processes, in turns."""
    where = str(esr_index(setup, 1))
    searches: dict[str, Search] = {
        "esr search": lambda query: run_esr("search", query, "--index", where),
        "import numpy": lambda _: subprocess.run([sys.executable, "-c", "import numpy"], check=True),
    }
    yield {"times": time_interleaved(searches, queries.sample(setup)[:NUMBER], setup.rounds)}
