"""How long it takes to open an index, and how much memory it then holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.speed import queries
from benchmarks.speed.cold_start import MEMORY_SAMPLES
from benchmarks.speed.figures import ROOT
from benchmarks.speed.setup import Setup
from benchmarks.speed.workspace import count_bytes, esr_index
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
