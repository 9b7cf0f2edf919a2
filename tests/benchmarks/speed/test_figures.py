from __future__ import annotations

from pathlib import Path

from benchmarks.speed import figures
from benchmarks.speed.figures import Figures

ENVIRONMENT = {"commit": "c1"}


def test_the_last_measurement_of_a_part_and_key_counts(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    for key, value in ((10, 1), (100, 2), (10, 3)):
        figures.append(raw, "latency", {"key": key, "value": value}, ENVIRONMENT)
    latest = Figures(figures.read(raw))
    assert [figure["value"] for figure in latest.all_of("latency")] == [3, 2]
    assert latest.get("latency", 10) == {"part": "latency", "commit": "c1", "key": 10, "value": 3}
    assert latest.get("latency", 5) is latest.get("growth") is None


def test_measurements_are_appended_to_the_file(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    for value in range(3):
        figures.append(raw, "cold", {"value": value}, ENVIRONMENT)
    assert [line["value"] for line in figures.read(raw)] == [0, 1, 2]


def test_a_missing_file_has_no_figures(tmp_path: Path) -> None:
    assert figures.read(tmp_path / "none.jsonl") == []


def test_the_environment_has_commit_time_and_machine() -> None:
    environment = figures.describe_environment()
    assert {"commit", "at", "cores", "processor", "python", "load"} == set(environment)
    assert environment["processor"]
