"""Load, size, memory and searches of a folder at several sizes, each in a separate process.

    python -m benchmarks.scale documents.jsonl.gz queries.tsv.gz --work FOLDER --times 1 4 20

A collection of N times the documents (`benchmarks.speed.corpus`) is piped into `esr load -`, so that only the
index takes disk space. Figures are appended to docs/capacity.jsonl, with commit, machine and load. An
existing index is searched without being loaded again; `--remove` deletes each index after its measurement.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.memory import PeakUsage
from benchmarks.speed import corpus, figures
from benchmarks.speed.figures import ROOT
from benchmarks.speed.workspace import ANALYZER, ESR, count_bytes
from benchmarks.timeline import Timeline
from esr.topics.topic_files import read_topics

PART = "scale"
SEARCHES = 150
EVERY = 30
"""The step between headlines that are queries, unchanged."""


def load(lines: Iterable[str], where: Path, *options: str, seconds: float = float("inf")) -> dict[str, Any]:
    """Load documents into a folder, those of the first `seconds`. Measures wall-clock and processor time.

    A timeline of memory and disk is written beside the folder.
    """
    command = [*ESR, "load", "-", "--format", "jsonl", "--index", str(where), "--if-exists", "replace"]
    started, sent = time.perf_counter(), 0
    with subprocess.Popen(
        [*command, "--analyzer", ANALYZER, "--json", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as loader:
        assert loader.stdin is not None and loader.stdout is not None
        peak = PeakUsage(loader.pid)
        timeline = Timeline(loader.pid, where, where.with_suffix(".timeline.jsonl"), lambda: sent)
        for line in lines:
            loader.stdin.write(line.encode())
            sent += 1
            if time.perf_counter() - started > seconds:
                break
        loader.stdin.close()
        report = json.loads(loader.stdout.read())
        loader.wait()
    timeline.stop()
    peak.stop()
    return {
        "documents": report["documents"],
        "sentences": report["sentences"],
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(peak.processor_seconds, 1),
        "memory": round(peak.own / 1e6),
    }


def search(where: Path, queries: Path) -> dict[str, Any]:
    """The output of `benchmarks.scale_search` in a new process."""
    command = [sys.executable, "-m", "benchmarks.scale_search", str(where)]
    lines = "\n".join(headlines(queries))
    process = subprocess.run(command, input=lines, text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True)
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def headlines(path: Path) -> list[str]:
    """Unchanged headlines, shuffled by a seed."""
    queries = [topic.query() for topic in read_topics(path)][::EVERY]
    random.Random(1).shuffle(queries)
    return queries[:SEARCHES]


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for times in options.times:
        where = options.work / (f"archive-{times}x" if options.archive else f"{times}x")
        loaded = where.with_suffix(".json")
        if not loaded.exists():
            shutil.rmtree(where, ignore_errors=True)
            loaded.parent.mkdir(parents=True, exist_ok=True)
            lines = corpus.archive_lines if options.archive else corpus.lines
            by = ["--by", "month"] if options.archive else []
            report = load(lines(options.documents, times), where, *by, seconds=options.minutes * 60)
            loaded.write_text(json.dumps(report), "utf-8")
        figure = {"key": times, "load": json.loads(loaded.read_text("utf-8")), "bytes": count_bytes(where)}
        print(json.dumps(figure), flush=True)
        yield figure | {"search": search(where, options.queries)}
        if options.remove:
            shutil.rmtree(where)
            loaded.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 20])
    parser.add_argument("--archive", action="store_true", help="a growing archive, in periods of a month")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="to send documents at most")
    parser.add_argument("--raw", type=Path, default=ROOT / "docs" / "capacity.jsonl")
    parser.add_argument("--remove", action="store_true")
    options = parser.parse_args()
    environment = figures.describe_environment()
    for figure in measure(options):
        figures.append(options.raw, PART, figure, environment)


if __name__ == "__main__":
    main()
