"""The command line within the tests' process, and an index of the worked examples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from esr.cli import main
from tests.support import worked_examples as worked

Esr = Callable[..., Result]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests, and no waiting for the disk."""
    monkeypatch.delenv("ESR_INDEX", raising=False)
    monkeypatch.setattr("os.fsync", lambda number: None)


def call(*args: object, input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], input=input, catch_exceptions=False)


@pytest.fixture
def esr() -> Esr:
    """Runs a command; an exception that no command has handled fails the test."""
    return call


@pytest.fixture
def esr_error() -> Esr:
    """Runs a command that must fail with one line. Gives that line without its "Error: "."""

    def run(*args: object, input: str | bytes | None = None) -> Result:
        result = call(*args, input=input)
        assert result.exit_code in (1, 2), result.output
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("Error: ")
        return line.removeprefix("Error: ")  # type: ignore[return-value]

    return run


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The worked examples, loaded by `esr load`. Not to be changed."""
    folder = tmp_path_factory.mktemp("worked")
    (folder / "worked.jsonl").write_text(worked.json_lines())
    result = call("load", folder / "worked.jsonl", "--index", folder / "index", "--analyzer", "plain")
    assert result.exit_code == 0, result.output
    return folder / "index"


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.tsv"
    path.write_text("".join(f"{query_id}\t{query}\n" for query_id, query in worked.queries().items()))
    return path
