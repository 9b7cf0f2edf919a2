"""`esr migrate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esr.engines.segments.store.manifest import FORMAT
from esr.engines.writer import LoadReport
from tests.cli.conftest import Esr


def test_a_migration_reports_its_counts(esr: Esr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = tmp_path / "index"
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "A storm. It passed."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", where)
    assert esr("migrate", where).stdout == f"the index already has format {FORMAT}: there is nothing to do\n"
    monkeypatch.setattr("esr.engines.segments.store.manifest.FORMAT", FORMAT + 1)
    assert "run esr migrate" in esr("search", "storm", "--index", where).stderr
    message = esr("migrate", where).stdout
    assert message.startswith(f"migrated 1 documents with 2 sentences of {where} in ")
    assert "storm" in esr("search", "storm", "--index", where).stdout
    assert json.loads(esr("migrate", where, "--json").stdout)["documents"] == 0


def test_a_migration_does_not_print_a_password(esr: Esr, monkeypatch: pytest.MonkeyPatch) -> None:
    class Migration:
        def run(self) -> LoadReport:
            return LoadReport(documents=1, sentences=2)

    monkeypatch.setattr("esr.cli.migrate.open_migration", lambda where, options: Migration())
    message = esr("migrate", "http://me:secret@h:9200/news").stdout
    assert message == "migrated 1 documents with 2 sentences of http://…@h:9200/news in 0.0 s\n"


def test_there_is_nothing_to_migrate(esr_error: Esr, tmp_path: Path) -> None:
    assert "there is no index" in str(esr_error("migrate", tmp_path / "none"))
