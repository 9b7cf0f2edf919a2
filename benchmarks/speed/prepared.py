"""What is searched: collections of several sizes and everybody's indexes of them, made once and kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.speed import corpus
from benchmarks.speed.setup import ANALYZER, Setup
from esr.engines.segments.store.manifest import FORMAT

ESR = (sys.executable, "-c", "from esr.cli import main; main()")
"""The command esr, of the code that is being measured."""


def kept(path: Path, make: Callable[[Path], object]) -> Path:
    """What is at the path, made if it is not there. What was cut off while it was made is made again."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".unfinished")
    _remove(fresh)
    make(fresh)
    fresh.rename(path)
    return path


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def collection(setup: Setup, size: int) -> Path:
    return kept(
        setup.work / f"{size}x" / "documents.jsonl", lambda path: corpus.write(setup.documents, path, size)
    )


def index(setup: Setup, size: int) -> Path:
    """An index folder of the collection. One of another format is not taken for it."""
    source = collection(setup, size)
    return kept(setup.work / f"{size}x" / f"esr-{FORMAT}", lambda path: load(source, path))


def load(source: Path, where: Path | str, *more: str) -> dict[str, Any]:
    """`esr load` as a process of its own: its report, and the seconds that it took in all."""
    options = ["--index", str(where), "--if-exists", "replace", "--analyzer", ANALYZER, "--json"]
    report: dict[str, Any] = json.loads(esr("load", str(source), *options, *more))
    return report


def esr(*arguments: str) -> str:
    """What a command of esr prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([*ESR, *arguments], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"esr {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


def enriched(setup: Setup) -> Path:
    """An index of the first documents, up to `enriched` sentences, with features, entities and parses."""

    def make(path: Path) -> None:
        source = path.with_name("enriched.jsonl")
        count = 0
        with source.open("w", encoding="utf-8") as file:
            for document in corpus.read(setup.documents):
                file.write(json.dumps(document, ensure_ascii=False) + "\n")
                count += len(document["sentences"])
                if count >= setup.enriched:
                    break
        load(source, path)
        esr("enrich", "--index", str(path), "--workers", "2")

    return kept(setup.work / f"enriched-{setup.enriched}-{FORMAT}", make)


def bytes_of(path: Path) -> int:
    """The bytes of all files of a folder."""
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
