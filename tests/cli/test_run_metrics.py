"""Metrics that commands write when they end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from esr.cli.run_metrics import measure_run
from esr.errors import AnotherRun, EsrError
from tests.cli.conftest import Esr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "metrics"
    folder.mkdir()
    monkeypatch.setenv("ESR_METRICS_FOLDER", str(folder))
    return folder


def read(folder: Path) -> dict[tuple[str, ...], float]:
    """The values by command and metric, and what happened to documents."""
    return {
        (sample.labels["command"], sample.name, *filter(None, [sample.labels.get("change")])): sample.value
        for file in folder.glob("*.prom")
        for family in text_string_to_metric_families(file.read_text("utf-8"))
        for sample in family.samples
    }


def test_a_failed_run_keeps_the_time_of_the_last_success(folder: Path) -> None:
    with pytest.raises(EsrError), measure_run("sync", "news"):
        raise EsrError("a source cannot be read")
    assert ("sync", "esr_run_last_success_timestamp_seconds") not in read(folder)
    with measure_run("sync", "news"):
        pass
    before = read(folder)
    assert before["sync", "esr_run_failed"] == 0
    with pytest.raises(EsrError), measure_run("sync", "news"):
        raise EsrError("a source cannot be read")
    after = read(folder)
    assert after["sync", "esr_run_failed"] == 1
    name = ("sync", "esr_run_last_success_timestamp_seconds")
    assert after[name] == before[name] and after["sync", "esr_run_timestamp_seconds"] > before[name]


def test_a_run_that_did_not_begin_writes_nothing(folder: Path) -> None:
    with pytest.raises(AnotherRun), measure_run("sync", "news"):
        raise AnotherRun("another run has not finished yet")
    assert not read(folder)


def test_indices_have_files_of_their_own_without_their_logins(folder: Path) -> None:
    for where in ("http://me:secret@es:9200/news", "http://me:secret@es:9200/old"):
        with measure_run("load", where):
            pass
    texts = [file.read_text("utf-8") for file in folder.iterdir()]
    assert len(texts) == 2 and not any("secret" in text for text in texts)


@pytest.mark.slow
def test_loads_deliveries_syncs_and_backups_write_their_metrics(
    esr: Esr, folder: Path, tmp_path: Path
) -> None:
    index, news = tmp_path / "index", tmp_path / "news"
    news.mkdir()
    (news / "a.jsonl").write_text('{"id": "a", "text": "A storm came."}\n{"id": "b", "text": "It went."}\n')
    config = tmp_path / "news.toml"
    config.write_text(f'state = "{tmp_path}/state"\n[[source]]\npaths = ["{news}"]\n')
    esr("load", news, "--index", index)
    esr("append", news, "--index", index)
    esr("remove", "b", "--index", index)
    esr("sync", config, "--index", index, "--dry-run")
    assert ("sync", "esr_run_failed") not in read(folder)
    (news / "c.jsonl").write_text('{"id": "c", "text": "A flood came."}\n')
    esr("sync", config, "--index", index)
    esr("backup", tmp_path / "backup", "--index", index, "--copy")
    values = read(folder)
    assert {command for command, *_ in values} == {"load", "append", "remove", "sync", "backup"}
    assert all(not value for (_, name, *_), value in values.items() if name == "esr_run_failed")
    assert values["load", "esr_run_documents", "added"] == 2
    assert values["append", "esr_run_documents", "unchanged"] == 2
    assert values["remove", "esr_run_documents", "removed"] == 1
    assert values["sync", "esr_run_documents", "added"] == 1
    assert values["backup", "esr_run_copied_bytes"] > 0


def test_a_slice_of_a_backup_is_no_backup_that_has_succeeded(esr: Esr, folder: Path, tmp_path: Path) -> None:
    news = tmp_path / "news.jsonl"
    news.write_text('{"id": "a", "text": "A storm came."}\n')
    esr("load", news, "--index", tmp_path / "index")
    copied = esr("backup", tmp_path / "backup", "--index", tmp_path / "index", "--slice", "1/1")
    assert "1 of 1 segments and layers" in copied.output
    assert not [name for name in read(folder) if name[0] == "backup"]


@pytest.mark.slow
def test_what_fails_behind_a_load_or_a_backup_of_an_index_is_a_failed_run(
    esr: Esr, esr_error: Esr, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise EsrError("the encoder cannot be read")

    news, index = tmp_path / "news.jsonl", tmp_path / "index"
    news.write_text('{"id": "a", "text": "A storm came."}\n')
    backup = ("backup", tmp_path / "backup", "--index", index)
    esr("load", news, "--index", index)
    esr(*backup)
    before = read(folder)
    assert "there is no desk" in str(esr_error(*backup, "--desk", tmp_path / "desk"))
    monkeypatch.setattr("esr.library.meaning.fit_loaded", fail)
    assert esr("load", news, "--index", index, "--if-exists", "replace").exit_code == 1
    after = read(folder)
    for command in ("load", "backup"):
        assert (before[command, "esr_run_failed"], after[command, "esr_run_failed"]) == (0, 1)
        success = (command, "esr_run_last_success_timestamp_seconds")
        assert before[success] == after[success]


@pytest.mark.slow
def test_a_folder_that_is_missing_is_a_warning_and_stops_no_load(
    esr: Esr, folder: Path, tmp_path: Path
) -> None:
    shutil.rmtree(folder)
    news = tmp_path / "news.jsonl"
    news.write_text('{"id": "a", "text": "A storm came."}\n')
    result = esr("load", news, "--index", tmp_path / "index")
    assert "loaded 1 document" in result.stdout
    assert f"Warning: no metrics are written to {folder}" in result.stderr
