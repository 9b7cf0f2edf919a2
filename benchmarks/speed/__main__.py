"""Measure the speed of esr and its peers, store the raw figures, and write the page that shows them.

    python -m benchmarks.speed documents.jsonl.gz queries.tsv.gz --work FOLDER --elasticsearch http://localhost:9200
    python -m benchmarks.speed … --only growth opening --sizes 1 10
    python -m benchmarks.speed --report

FOLDER stores collections and indexes, so that an interrupted call resumes. Each part appends its raw figures
to a file of JSON Lines, with the commit and the machine; the page shows the last figures of each part. Needs
`pip install esr[bench,enrich]`.
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
from benchmarks.speed.workspace import Setup

PARTS = {
    "loading": "opening",
    "latency": "latency",
    "cold": "latency",
    "models": "latency",
    "recall": "latency",
    "growth": "latency",
    "opening": "opening",
    "rerank": "latency",
    "elasticsearch": "cluster",
    "page": "serving",
    "throughput": "serving",
    "command": "opening",
}
"""The parts in the order of measurement, with their modules, which are imported late: they need the peers."""


def main(arguments: list[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    if not options.report:
        if not (options.documents and options.queries and options.work):
            raise SystemExit("documents, queries or --work missing: give all three, or --report")
        settings = {name: getattr(options, name) for name in Setup.__dataclass_fields__}
        measure(
            Setup(**{**settings, "sizes": tuple(options.sizes)}), options.only or list(PARTS), options.raw
        )
    report.write(figures.Figures(figures.read(options.raw) + figures.read(options.scale)), options.page)


def measure(setup: Setup, parts: list[str], raw: Path) -> None:
    """Measure the parts and append their figures."""
    setup.work.mkdir(parents=True, exist_ok=True)
    for part in (part for part in PARTS if part in parts):
        if part == "elasticsearch" and not setup.elasticsearch:
            print("elasticsearch: skipped, because --elasticsearch is not given")
            continue
        started, environment = time.perf_counter(), figures.describe_environment()
        function: Callable[[Setup], Iterator[dict[str, Any]]]
        function = getattr(import_module(f"benchmarks.speed.{PARTS[part]}"), part)
        for figure in function(setup):
            figures.append(raw, part, figure, environment)
        print(f"{part}: {time.perf_counter() - started:.0f} s", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    defaults = {name: field.default for name, field in Setup.__dataclass_fields__.items()}
    parser.add_argument("documents", type=_path, nargs="?", help="JSON Lines, a document a line")
    parser.add_argument("queries", type=_path, nargs="?", help="lines of id<TAB>query")
    parser.add_argument("--work", type=_path, help="a folder for collections and indexes")
    parser.add_argument(
        "--elasticsearch", help="URL of a node; its indexes esr-speed and esr-speed-plain are replaced"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=defaults["sizes"], help="multiples of the documents"
    )
    parser.add_argument("--raw", type=Path, default=ROOT / "docs" / "performance.jsonl", help="raw figures")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "figures.md", help="the page to update")
    parser.add_argument(
        "--scale",
        type=Path,
        default=ROOT / "docs" / "capacity.jsonl",
        help="raw figures of benchmarks.scale_elasticsearch, for the goals at scale",
    )
    parser.add_argument("--report", action="store_true", help="measure nothing, only write the page")
    for name in ("number", "rounds", "enriched", "depth", "clients", "runs", "loads"):
        parser.add_argument(f"--{name}", type=int, default=defaults[name])
    for name in ("seconds", "warm_up"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=defaults[name])
    return parser


def _path(text: str) -> Path:
    return Path(text).resolve()  # started processes have another working folder


if __name__ == "__main__":
    main()
