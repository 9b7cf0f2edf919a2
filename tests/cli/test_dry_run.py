from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Esr
from tests.support.samples import FOLDER, sample


def test_it_shows_the_first_documents_and_counts_and_writes_nothing(esr: Esr, tmp_path: Path) -> None:
    result = esr("load", FOLDER / "news.jsonl", FOLDER / "trec.sgml", "--dry-run", "--index", tmp_path / "i")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        f"{FOLDER}/news.jsonl:1",
        "  j1: Ferry back in service",
        "  2024-01-15 · 2 sentences",
    ]
    assert "6 documents with 10 sentences" in lines
    assert "2 have a title, 4 a date, 0 a source, 1 a language" in lines
    assert "  AP-1: Ferry back in service" not in lines  # three are shown
    assert lines[-1] == "nothing was written"
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_needs_no_index_but_a_load_does(esr: Esr, esr_error: Esr) -> None:
    assert esr("load", FOLDER / "news.jsonl", "--dry-run").exit_code == 0
    assert "no index given: use --index or ESR_INDEX" in str(esr_error("load", FOLDER / "news.jsonl"))


def test_all_problems_are_reported_and_the_exit_status_is_1(esr: Esr, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a"}\n{\n{"id": "b", "text": 1}\n{"id": "a", "text": "x"}\n')
    result = esr("load", path, tmp_path / "x.jsonl", "--dry-run")
    assert result.exit_code == 1
    assert f"{path}:2: broken JSON" in result.stdout
    assert f"{path}:3: text must be a string" in result.stdout
    assert f"{path}:4: document id 'a' is duplicated: first used at {path}:1 with other" in result.stdout
    assert "Error: 6 documents cannot be loaded; nothing was written" in result.stderr


def test_the_file_of_bad_documents_stays_as_it_was(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{\n")
    (tmp_path / "bad").write_text("of the last load")
    result = esr("load", tmp_path / "x.jsonl", "--bad-documents", tmp_path / "bad", "--dry-run")
    assert "Error: 1 documents cannot be loaded; nothing was written" in result.stderr
    assert (tmp_path / "bad").read_text() == "of the last load"


def test_an_unreadable_source_is_a_problem_too(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.odd").write_bytes(b"\x00\x01")
    result = esr("load", tmp_path / "x.odd", "--dry-run")
    assert result.exit_code == 1
    assert "x.odd: unknown format" in result.stdout
    assert "Error: 1 documents cannot be loaded" in result.stderr


def test_json_has_complete_documents(esr: Esr) -> None:
    data = json.loads(
        esr("load", "-", "--format", "warc", "--dry-run", "--json", input=sample("warc")).stdout
    )
    assert (data["documents"], data["problem_count"], data["problems"]) == (2, 0, [])
    assert data["first"][0]["where"] == "standard input:record 2"
    assert data["first"][0]["title"] == "Ferry back in service"


def test_documents_are_shown_after_mapping_and_deduplication(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("n,body\n1,Some text.\n2,Some text.\n")
    options = ["--mapping", "id=n", "--mapping", "text=body", "--duplicates", "drop"]
    result = esr("load", tmp_path / "x.csv", *options, "--dry-run")
    assert "1 documents with 1 sentences" in result.stdout
    assert "1 documents repeat an earlier one word for word" in result.stdout
