from __future__ import annotations

from pathlib import Path

from benchmarks.speed import figures
from benchmarks.speed.figures import Figures

ABOUT = {"commit": "c1"}


def test_the_last_measurement_of_a_part_and_key_counts(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    for key, value in ((10, 1), (100, 2), (10, 3)):
        figures.append(raw, "latency", {"key": key, "value": value}, ABOUT)
    found = Figures(figures.read(raw))
    assert [figure["value"] for figure in found.every("latency")] == [3, 2]
    assert found.get("latency", 10) == {"part": "latency", "commit": "c1", "key": 10, "value": 3}
    assert found.get("latency", 5) is found.get("growth") is None


def test_nothing_is_lost_from_the_file(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    for value in range(3):
        figures.append(raw, "cold", {"value": value}, ABOUT)
    assert [line["value"] for line in figures.read(raw)] == [0, 1, 2]


def test_a_file_that_is_not_there_has_no_figures(tmp_path: Path) -> None:
    assert figures.read(tmp_path / "none.jsonl") == []


def test_circumstances_name_commit_time_and_machine() -> None:
    found = figures.circumstances()
    assert {"commit", "at", "cores", "processor", "python", "load"} == set(found)
    assert found["processor"]
