"""The full command on a collection of a few hundred sentences, where its figures are meaningless."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.speed import figures, report
from benchmarks.speed.__main__ import PARTS
from tests.support import samples as toy
from tests.support.runs import need, only_long

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("bm25s", "geventhttpclient", "numba", "psutil", "tantivy")
SMALL = (
    "--sizes 1 2 --number 5 --rounds 1 --runs 1 --loads 1 --seconds 0.3 --warm-up 0.3"
    " --clients 3 --enriched 60 --depth 20"
)
WITH_ELASTICSEARCH = ("elasticsearch", "page", "throughput")
WITHOUT_ELASTICSEARCH = tuple(part for part in PARTS if part != "elasticsearch")


def measure(folder: Path, parts: tuple[str, ...], *extra_options: str) -> tuple[list[figures.Figure], str]:
    """The raw figures of these parts, and the page."""
    for peer in PEERS:
        need(peer)
    page, raw = folder / "page.md", folder / "raw.jsonl"
    page.write_text(f"Before.\n\n{report.BEGIN}\nold\n{report.END}\n\nAfter.\n", "utf-8")
    options = ["--work", str(folder / "work"), "--raw", str(raw), "--page", str(page), *SMALL.split()]
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed",
        *map(str, toy.write_toy_collection(folder)),
        *options,
    ]
    process = subprocess.run(
        [*command, "--only", *parts, *extra_options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not process.returncode, process.stderr
    return figures.read(raw), page.read_text("utf-8")


@only_long
@pytest.mark.endurance
def test_one_command_measures_every_part_without_elasticsearch(tmp_path: Path) -> None:
    raw, page = measure(tmp_path, WITHOUT_ELASTICSEARCH)
    assert {figure["part"] for figure in raw} == {*WITHOUT_ELASTICSEARCH}
    assert page.startswith("Before.\n") and page.endswith("After.\n") and "old" not in page
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == [
        "latency-matches.svg",
        "latency-size.svg",
        "peers-dark.svg",
        "peers.svg",
        "recall-time.svg",
    ]
    latency = [figure for figure in raw if figure["part"] == "latency"]
    assert [figure["answers"]["differ"] for figure in latency] == [0, 0]
    assert all(len(times) == 5 for figure in latency for times in figure["times"].values())
    (rerank,) = (figure for figure in raw if figure["part"] == "rerank")
    assert not rerank["parser loaded"]
    assert rerank["signals"]["features"] > 5
    (throughput,) = (figure for figure in raw if figure["part"] == "throughput")
    assert all(run["answered"] and not run["failed"] for runs in throughput["runs"].values() for run in runs)


@pytest.mark.endurance
@pytest.mark.elasticsearch
def test_one_command_measures_elasticsearch(tmp_path: Path, elasticsearch_url: str) -> None:
    raw, page = measure(tmp_path, WITH_ELASTICSEARCH, "--elasticsearch", elasticsearch_url)
    assert {figure["part"] for figure in raw} == {*WITH_ELASTICSEARCH}
    assert "## Elasticsearch" in page
    engine = {figure["key"]: figure for figure in raw if figure["part"] == "elasticsearch"}
    assert [*engine] == ["", "headlines"]
    assert min(engine[""]["bytes"].values()) > 0
    assert [figure["answers"]["differ"] for figure in engine.values()] == [0, 0]
    (throughput,) = (figure for figure in raw if figure["part"] == "throughput")
    assert not sum(run["failed"] for runs in throughput["runs"].values() for run in runs)


def test_missing_sources_are_reported(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="documents, queries or --work missing"):
        from benchmarks.speed.__main__ import main

        main(["--raw", str(tmp_path / "raw.jsonl")])
