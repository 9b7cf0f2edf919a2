"""Measures how fast esr is beside its peers, keeps the raw figures, and writes the page that shows them.

    python -m benchmarks.speed documents.jsonl.gz queries.tsv.gz --work FOLDER --elasticsearch http://localhost:9200
    python -m benchmarks.speed … --only growth opening --sizes 1 10
    python -m benchmarks.speed --report

FOLDER keeps collections and indexes: a call that was stopped goes on where it was. Each part appends its raw
figures to a file of JSON Lines, with the commit and the machine; the page is made of the last figures of each
part. Needs `pip install esr[bench,enrich]`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.speed import figures, report
from benchmarks.speed.figures import ROOT
from benchmarks.speed.setup import Setup

PARTS = {
    "loading": "building",
    "latency": "latency",
    "cold": "latency",
    "models": "latency",
    "recall": "latency",
    "growth": "latency",
    "opening": "building",
    "rerank": "reranking",
    "elasticsearch": "cluster",
    "page": "serving",
    "throughput": "serving",
}
"""The parts, in the order in which they are measured, and where they are. They import the peers."""


def main(arguments: list[str] | None = None) -> None:
    given = _options().parse_args(arguments)
    if not given.report:
        if not (given.documents and given.queries and given.work):
            raise SystemExit("give documents, queries and --work, or --report")
        settings = {name: getattr(given, name) for name in Setup.__dataclass_fields__}
        measure(Setup(**{**settings, "sizes": tuple(given.sizes)}), given.only or list(PARTS), given.raw)
    report.write(figures.Figures(figures.read(given.raw)), given.page)


def measure(setup: Setup, parts: list[str], raw: Path) -> None:
    """Measure the parts and append what is found."""
    setup.work.mkdir(parents=True, exist_ok=True)
    for part in (part for part in PARTS if part in parts):
        if part == "elasticsearch" and not setup.elasticsearch:
            print("elasticsearch: left out, as no --elasticsearch says where one is")
            continue
        started, about = time.perf_counter(), figures.circumstances()
        function: Callable[[Setup], Iterator[dict[str, Any]]]
        function = getattr(import_module(f"benchmarks.speed.{PARTS[part]}"), part)
        for figure in function(setup):
            figures.append(raw, part, figure, about)
        print(f"{part}: {time.perf_counter() - started:.0f} s", flush=True)


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    default = {name: field.default for name, field in Setup.__dataclass_fields__.items()}
    options.add_argument("documents", type=_path, nargs="?", help="JSON Lines, a document a line")
    options.add_argument("queries", type=_path, nargs="?", help="lines of id<TAB>query")
    options.add_argument("--work", type=_path, help="a folder for collections and indexes")
    options.add_argument(
        "--elasticsearch", help="URL of a node; its indexes esr-speed and esr-speed-plain are replaced"
    )
    options.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    options.add_argument("--sizes", type=int, nargs="+", default=default["sizes"], help="times the documents")
    options.add_argument("--raw", type=Path, default=ROOT / "docs" / "performance.jsonl", help="raw figures")
    options.add_argument(
        "--page", type=Path, default=ROOT / "docs" / "performance.md", help="rewritten in part"
    )
    options.add_argument("--report", action="store_true", help="measure nothing, make the page again")
    for name in ("number", "rounds", "enriched", "depth", "clients", "runs", "loads"):
        options.add_argument(f"--{name}", type=int, default=default[name])
    options.add_argument("--seconds", type=float, default=default["seconds"])
    return options


def _path(text: str) -> Path:
    return Path(text).resolve()  # processes that are started have other folders


if __name__ == "__main__":
    main()
