"""`esr append` and `esr remove`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr


@pytest.fixture
def where(esr: Esr, tmp_path: Path) -> Path:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "A storm."}\n{"id": "b", "text": "A flood."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "index")
    return tmp_path / "index"


def ids(esr: Esr, where: Path) -> list[str]:
    return [json.loads(line)["id"] for line in esr("export", where).stdout.splitlines()]


def test_a_delivery_reports_its_counts(esr: Esr, where: Path, tmp_path: Path) -> None:
    monday = tmp_path / "monday.jsonl"
    changed = '{"id": "b", "text": "A flood. It fell."}\n'
    monday.write_text(changed + '{"id": "a", "text": "A storm."}\n{"id": "c", "text": "Hail."}\n')
    first, kept = esr("append", where, monday).stdout.splitlines()
    assert first.startswith(f"{where}: 1 added, 1 changed, 1 unchanged, in ")
    assert "is kept: esr rollback" in kept
    assert ids(esr, where) == ["a", "b", "c"]
    (repeated,) = esr("append", where, monday).stdout.splitlines()
    assert repeated.startswith(f"{where}: 3 unchanged, in ")
    esr("rollback", where)
    assert ids(esr, where) == ["a", "b"]


def test_a_removal_reports_unknown_ids(esr: Esr, where: Path) -> None:
    lines = esr("remove", where, "a", "x", "-", input="b\n y z\n").stdout.splitlines()
    assert lines[0].startswith(f"{where}: 2 removed, in ")
    assert lines[1] == "3 were not in the index: x, y, z"
    assert ids(esr, where) == []


def test_the_report_can_be_json(esr: Esr, where: Path) -> None:
    report = json.loads(esr("remove", where, "a", "--json", "--keep", "0").stdout)
    assert (report["removed"], report["missing"], report["notes"]) == (1, [], [])
    assert len(json.loads(esr("indices", where, "--json").stdout)) == 1


def test_a_bad_delivery_is_one_message(esr_error: Esr, esr: Esr, where: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "new", "text": "One."}\n{"id": true}\n')
    assert "bad.jsonl:2: id must be a string" in str(esr_error("append", where, bad))
    assert "there is no index" in str(esr_error("append", tmp_path / "none", bad))
    assert "there is no index" in str(esr_error("remove", tmp_path / "none", "a"))
    assert ids(esr, where) == ["a", "b"]
