"""Load, size, memory and searches of a folder at several sizes, each in a separate process.

    python -m benchmarks.scale documents.jsonl.gz queries.tsv.gz --work FOLDER --times 1 4 20

A collection of N times the documents (`benchmarks.speed.corpus`) is piped into `esr load -`, so that only the
index takes disk space. Figures are appended to docs/capacity.jsonl, with commit, machine and load. An
existing index is searched without being loaded again; `--remove` deletes each index after its measurement.

`--archive` loads a growing archive in periods of a month (`corpus.archive_lines`), and then also measures
searches with filters, an append of 1,000 documents to the last month, one removal from the first, and `esr
verify`. While it loads, `FOLDER/archive-Nx.timeline.jsonl` gets a sample of memory and disk every 30
seconds.

    python -m tests.support.node --heap 4g --port 9200
    python -m benchmarks.scale documents.jsonl.gz queries.tsv.gz --work FOLDER --times 20 --archive \\
        --elasticsearch http://localhost:9200 --data NODE

does the same on a node, whose files are below the folder NODE, with an archive of twelve months. Without
`--archive`, it loads the collections of the first command there, each into one shard.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.memory import PeakUsage
from benchmarks.speed import corpus, figures
from benchmarks.speed.figures import ROOT
from benchmarks.speed.workspace import ANALYZER, ESR, count_bytes
from benchmarks.timeline import Timeline, read_timeline
from esr.elastic.cluster import Cluster
from esr.index.factory import is_elasticsearch
from esr.topics.topic_files import read_topics

PART, SERVER = "scale", "scale, on a server"
ARCHIVE, SERVER_ARCHIVE = "scale, archive", "scale, archive on a server"
DELIVERED = 1000
"""Documents of a delivery."""
TIMELINE = ".timeline.jsonl"
SEARCHES = 150
EVERY = 30
"""The step between headlines that are queries, unchanged."""


@dataclass(frozen=True)
class Place:
    """An index to measure: its location, the folder with its files, and the beginning of files about it."""

    where: str
    folder: Path
    files: Path

    def count_bytes(self) -> int:
        """The bytes of the index, on a server of all indices of its periods."""
        if not is_elasticsearch(self.where):
            return count_bytes(self.folder)
        cluster = Cluster(self.where)
        cluster.client.indices.flush(index=f"{cluster.alias}-*")
        stats = cluster.client.indices.stats(index=f"{cluster.alias}-*", metric="store")
        cluster.close()
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])


def load(lines: Iterable[str], place: Place, *options: str, seconds: float = float("inf")) -> dict[str, Any]:
    """Load documents, those of the first `seconds`. Measures wall-clock and processor time of the loader.

    A timeline of memory and disk is written beside the files of the place.
    """
    command = [*ESR, "load", "-", "--format", "jsonl", "--index", place.where, "--if-exists", "replace"]
    started, sent = time.perf_counter(), 0
    with subprocess.Popen(
        [*command, "--analyzer", ANALYZER, "--no-meaning", "--json", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as loader:
        assert loader.stdin is not None and loader.stdout is not None
        peak = PeakUsage(loader.pid)
        timeline = Timeline(loader.pid, place.folder, place.files.with_suffix(TIMELINE), lambda: sent)
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


def search(where: str, queries: Path, *options: str) -> dict[str, Any]:
    """The output of `benchmarks.scale_search` in a new process."""
    command = [sys.executable, "-m", "benchmarks.scale_search", where, *options]
    lines = "\n".join(headlines(queries))
    process = subprocess.run(command, input=lines, text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True)
    result: dict[str, Any] = json.loads(process.stdout)
    return result | {"load": round(os.getloadavg()[0], 1)}


def change(source: Path, place: Place) -> dict[str, Any]:
    """Append 1,000 documents to the last month, remove a document of the first one, and verify all files.

    Later measurements take other documents.
    """
    delivery, seed = place.files.with_suffix(".delivery.jsonl"), int(time.time())
    lines = corpus.delivery_lines(source, DELIVERED, seed)
    delivery.write_text("".join(lines), "utf-8")
    index = ["--index", place.where]
    return {
        "append": _run("append", str(delivery), *index),
        "remove": _run("remove", f"part0-{seed % DELIVERED}", *index),
        "verify": _run("verify", *index),
    }


def _run(*arguments: str) -> dict[str, float]:
    """Seconds and memory in MB of a command of esr, with the start of its process."""
    started = time.perf_counter()
    with subprocess.Popen([*ESR, *arguments], stdout=subprocess.DEVNULL) as process:
        peak = PeakUsage(process.pid)
        process.wait()
    seconds = round(time.perf_counter() - started, 2)
    peak.stop()
    if process.returncode:
        raise SystemExit(f"esr {arguments[0]} failed")
    spent = {"processor_seconds": round(peak.processor_seconds, 1), "load": round(os.getloadavg()[0], 1)}
    return {"seconds": seconds, "memory": round(peak.own / 1e6), **spent}


def headlines(path: Path) -> list[str]:
    """Unchanged headlines, shuffled by a seed."""
    queries = [topic.query() for topic in read_topics(path)][::EVERY]
    random.Random(1).shuffle(queries)
    return queries[:SEARCHES]


def find_place(options: argparse.Namespace, times: int) -> Place:
    """The place of the index of this size."""
    name = f"archive-{times}x" if options.archive else f"{times}x"
    if options.elasticsearch:
        return Place(f"{options.elasticsearch}/{name}", options.data, options.work / f"server-{name}")
    folder = options.work / name
    return Place(str(folder), folder, folder)


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    if not options.archive:
        read_lines = corpus.lines
    elif options.elasticsearch:
        read_lines = partial(corpus.archive_lines, first_day=corpus.LAST_YEAR)
    else:
        read_lines = corpus.archive_lines
    by, flags = (["--by", "month"], ["--archive"]) if options.archive else ([], [])
    for times in options.times:
        place = find_place(options, times)
        loaded = place.files.with_suffix(".json")
        if not loaded.exists():
            loaded.parent.mkdir(parents=True, exist_ok=True)
            if not options.elasticsearch:
                shutil.rmtree(place.folder, ignore_errors=True)
            report = load(read_lines(options.documents, times), place, *by, seconds=options.minutes * 60)
            loaded.write_text(json.dumps(report), "utf-8")
        figure = {"key": times, "load": json.loads(loaded.read_text("utf-8")), "bytes": place.count_bytes()}
        if not options.elasticsearch:
            figure["text_bytes"] = sum(path.stat().st_size for path in place.folder.rglob("texts.bytes"))
        figure["timeline"] = read_timeline(place.files.with_suffix(TIMELINE))
        print(json.dumps(figure), flush=True)
        figure |= {"search": search(place.where, options.queries, *flags)}
        yield figure | ({"changes": change(options.documents, place)} if options.archive else {})
        if options.remove:
            subprocess.run([*ESR, "delete", "--index", place.where, "--yes"], check=True)
            loaded.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 20])
    parser.add_argument("--archive", action="store_true", help="a growing archive, in periods of a month")
    parser.add_argument("--elasticsearch", help="the URL of a node")
    parser.add_argument("--data", type=Path, help="the folder with the node's files, for --elasticsearch")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="to send documents at most")
    parser.add_argument("--raw", type=Path, default=ROOT / "docs" / "capacity.jsonl")
    parser.add_argument("--remove", action="store_true")
    options = parser.parse_args()
    if options.elasticsearch and not options.data:
        parser.error("--elasticsearch needs --data")
    parts = (SERVER, SERVER_ARCHIVE) if options.elasticsearch else (PART, ARCHIVE)
    part = parts[options.archive]
    environment = figures.describe_environment()
    for figure in measure(options):
        figures.append(options.raw, part, figure, environment)


if __name__ == "__main__":
    main()
