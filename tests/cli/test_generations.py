"""`esr indices`, `esr rollback`, `esr delete`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr, call


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A place that was loaded twice: one document, then two."""
    news = tmp_path / "news.jsonl"
    news.write_text('{"id": "a", "text": "A storm. It passed."}\n')
    assert call("load", news, "--index", tmp_path / "index").exit_code == 0
    news.write_text('{"id": "a", "text": "A storm."}\n{"id": "b", "text": "A flood."}\n')
    replaced = call("load", news, "--index", tmp_path / "index", "--if-exists", "replace")
    assert replaced.exit_code == 0
    return tmp_path / "index"


def listed(where: Path) -> list[dict[str, object]]:
    generations: list[dict[str, object]] = json.loads(call("indices", where, "--json").stdout)
    return generations


def test_indices_are_listed_as_a_table_and_as_json(esr: Esr, twice: Path) -> None:
    newest, oldest = listed(twice)
    assert (newest["state"], newest["documents"], newest["sentences"]) == ("serving", 2, 2)
    assert (oldest["state"], oldest["documents"], oldest["sentences"]) == ("kept", 1, 2)
    head, first, second = esr("indices", twice).stdout.splitlines()
    assert head.split() == ["generation", "state", "documents", "sentences", "size", "made"]
    assert first.split()[:4] == [newest["name"], "serving", "2", "2"]
    assert first.split()[-1] == newest["made"]
    assert second.split()[:4] == [oldest["name"], "kept", "1", "2"]


def test_a_rollback_reports_the_serving_generation(esr: Esr, twice: Path) -> None:
    newest, oldest = listed(twice)
    message = esr("rollback", twice).stdout
    assert message == f"{twice} serves generation {oldest['name']} again: 1 documents with 2 sentences\n"
    assert newest["name"] in esr("rollback", twice, "--to", newest["name"]).stdout
    assert [g["state"] for g in listed(twice)] == ["serving", "kept"]


def test_deleting_asks_first_and_no_cancels_it(esr: Esr, twice: Path) -> None:
    result = esr("delete", twice, input="n\n")
    assert result.exit_code == 1
    assert "and all 2 generations of it?" in result.stderr and "2 documents with 2 sentences" in result.stderr
    assert len(listed(twice)) == 2
    oldest = listed(twice)[1]["name"]
    assert f"deleted {oldest}, of 2 generations" in esr("delete", twice, oldest, input="y\n").stdout
    assert len(listed(twice)) == 1
    assert esr("delete", twice, "--yes").exit_code == 0
    assert not twice.exists()


@pytest.mark.parametrize("command", ["indices", "rollback", "delete"])
def test_a_place_without_an_index_is_reported(esr_error: Esr, tmp_path: Path, command: str) -> None:
    assert "there is no index at" in str(esr_error(command, tmp_path / "none"))
    assert "is neither a folder nor http" in str(esr_error(command, "ftp://host/news"))


def test_a_load_sets_the_number_of_kept_generations(esr: Esr, twice: Path, tmp_path: Path) -> None:
    load = ("load", tmp_path / "news.jsonl", "--index", twice, "--if-exists", "replace")
    assert esr(*load, "--keep", "2").exit_code == 0
    assert len(listed(twice)) == 3
    assert esr(*load, "--keep", "0").exit_code == 0
    assert len(listed(twice)) == 1
