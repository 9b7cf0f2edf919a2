"""How long loading and opening take, and how large indexes are."""

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

import esr
from benchmarks.speed import peers, queries
from benchmarks.speed.figures import ROOT
from benchmarks.speed.opened import AFTER
from benchmarks.speed.prepared import bytes_of, collection, index, load
from benchmarks.speed.setup import Setup


def loading(setup: Setup) -> Iterator[dict[str, Any]]:
    """`esr load` into a folder beside tantivy, in turns: seconds, those of processors, and bytes."""
    source = collection(setup, 1)
    found: dict[str, list[dict[str, float]]] = {"esr": [], "tantivy": [], "tantivy, one thread": []}
    sentences = 0
    for _ in range(setup.loads):
        with tempfile.TemporaryDirectory(dir=setup.work) as folder:
            before, place = _children(), Path(folder) / "esr"
            report = load(source, place)
            found["esr"].append(
                {"seconds": report["seconds"], "processor": _children() - before, "bytes": bytes_of(place)}
            )
            sentences = report["sentences"]
            for name, threads in (("tantivy", 0), ("tantivy, one thread", 1)):
                before, place = time.process_time(), Path(folder) / name
                seconds = peers.tantivy_load(source, place, threads=threads)
                processor = time.process_time() - before
                found[name].append({"seconds": seconds, "processor": processor, "bytes": bytes_of(place)})
    yield {
        "sentences": sentences,
        "source bytes": source.stat().st_size,
        "loads": {name: [_rounded(each) for each in loads] for name, loads in found.items()},
        "peak MB": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
    }


def opening(setup: Setup) -> Iterator[dict[str, Any]]:
    """`esr.open` and the first searches in new processes; the files were read before."""
    asked = "\n".join((queries.every(setup) * AFTER[-1])[: AFTER[-1]])
    for size in setup.sizes:
        place = index(setup, size)
        _read(place)
        command = [sys.executable, "-m", "benchmarks.speed.opened", str(place)]
        runs = [
            json.loads(
                subprocess.run(
                    command, input=asked, text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True
                ).stdout
            )
            for _ in range(setup.runs)
        ]
        with esr.open(str(place)) as searcher:
            sentences = searcher.index.statistics([]).collection.sentences
        yield {"key": size, "sentences": sentences, "runs": runs, "bytes": bytes_of(place)}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _rounded(found: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in found.items()}


def _read(folder: Path) -> None:
    """Bring the files into the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                shutil.copyfileobj(file, _Nowhere(), 2**20)


class _Nowhere:
    def write(self, data: bytes) -> int:
        return len(data)
