"""The working folder: collections of several sizes and the indexes of them, built once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.speed import corpus
from esr.folder.format.manifest import FORMAT

# The settings of a measurement: the sources, the sizes, and the working folder.


ANALYZER = "english-stem"
TERM_COUNTS = range(2, 7)
"""Numbers of distinct terms that queries may have."""
RESULT_SIZES = (10, 100)
HEADLINES = "headlines"
"""The key of figures whose queries are unchanged headlines of any length."""


@dataclass(frozen=True)
class Setup:
    """`number` queries run `rounds` times after a warm-up round. `sizes` are multiples of the source."""

    documents: Path
    queries: Path
    work: Path
    elasticsearch: str | None = None
    number: int = 100
    warm_up: float = 60.0
    """Seconds of other queries to a node before the timed ones."""
    rounds: int = 3
    sizes: tuple[int, ...] = (1, 3)
    enriched: int = 20_000
    """Sentences of the enriched index."""
    depth: int = 1000
    """Reranked candidates."""
    seconds: float = 8.0
    """Duration of a throughput run."""
    clients: int = 16
    runs: int = 5
    """Processes that open an index."""
    loads: int = 2
    """Loads by each side."""


ESR = (sys.executable, "-c", "from esr.cli import run; run()")
"""The command esr of the measured code."""


def build_once(path: Path, build: Callable[[Path], object]) -> Path:
    """The path, built if it does not exist. An interrupted build starts again."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    _remove(unfinished)
    build(unfinished)
    unfinished.rename(path)
    return path


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def collection_file(setup: Setup, size: int) -> Path:
    return build_once(
        setup.work / f"{size}x" / "documents.jsonl", lambda path: corpus.write(setup.documents, path, size)
    )


def esr_index(setup: Setup, size: int) -> Path:
    """An index folder of the collection, in the current format."""
    source = collection_file(setup, size)
    return build_once(setup.work / f"{size}x" / f"esr-{FORMAT}", lambda path: load(source, path))


def load(source: Path, where: Path | str, *extra_options: str) -> dict[str, Any]:
    """The report of `esr load` in a separate process."""
    options = ["--index", str(where), "--if-exists", "replace", "--analyzer", ANALYZER, "--json"]
    report: dict[str, Any] = json.loads(run_esr("load", str(source), *options, *extra_options))
    return report


def run_esr(*arguments: str) -> str:
    """The output of a command of esr."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    process = subprocess.run([*ESR, *arguments], capture_output=True, text=True, env=environment, check=False)
    if process.returncode:
        raise SystemExit(f"esr {arguments[0]} failed: {process.stderr.strip()}")
    return process.stdout


def enriched_index(setup: Setup) -> Path:
    """An enriched index of the first documents, up to the document that reaches `enriched` sentences."""

    def build(path: Path) -> None:
        source = path.with_name("enriched.jsonl")
        count = 0
        with source.open("w", encoding="utf-8") as file:
            for document in corpus.read(setup.documents):
                file.write(json.dumps(document, ensure_ascii=False) + "\n")
                count += len(document["sentences"])
                if count >= setup.enriched:
                    break
        load(source, path)
        run_esr("enrich", "--index", str(path), "--workers", "2")

    return build_once(setup.work / f"enriched-{setup.enriched}-{FORMAT}", build)


def count_bytes(folder: Path) -> int:
    """The total size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
