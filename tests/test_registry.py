"""Parameters of registered items, and processes: variables, interrupts, scratch folders."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from esr.errors import InputError, UsageError
from esr.processes import defer_interrupt, scratch_folder, set_environment
from esr.registry import Parameter

CLOSED = Parameter("b", "", 0.5)
OPEN = Parameter("lambda", "", 0.5, open_low=True, open_high=True)
ENDLESS = Parameter("mu", "", 30.0, high=float("inf"), open_low=True)
CHOICE = Parameter("form", "", "flat", choices=("flat", "nested"))


@pytest.mark.parametrize(
    ("parameter", "value", "checked"),
    [
        (CLOSED, 0, 0.0),
        (CLOSED, "1", 1.0),
        (CLOSED, "1e-3", 0.001),
        (OPEN, 0.0001, 0.0001),
        (ENDLESS, 1e300, 1e300),
        (CHOICE, "nested", "nested"),
    ],
)
def test_a_value_in_range_is_taken(parameter: Parameter, value: Any, checked: Any) -> None:
    result = parameter.check(value)
    assert result == checked and type(result) is type(checked)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (CLOSED, -1e-9),
        (CLOSED, 1.0000001),
        (OPEN, 0),
        (OPEN, 1),
        (ENDLESS, 0),
        (ENDLESS, float("inf")),
        (ENDLESS, "inf"),
        pytest.param(ENDLESS, 10**400, id="too large for a float"),
        *((CLOSED, bad) for bad in (float("nan"), "nan", "", "half", None, True, [0.5], {}, "0,5")),
        *((CHOICE, bad) for bad in ("Flat", "", None, 1, ["flat"], {})),
    ],
)
def test_a_value_out_of_range_is_refused_with_what_is_allowed(parameter: Parameter, value: Any) -> None:
    with pytest.raises(UsageError) as caught:
        parameter.check(value)
    assert f"parameter {parameter.name!r} must be" in str(caught.value)
    assert parameter.range in str(caught.value)


@pytest.mark.parametrize(
    ("parameter", "written"),
    [(CLOSED, "[0, 1]"), (OPEN, "(0, 1)"), (ENDLESS, "(0, inf)"), (CHOICE, "flat | nested")],
)
def test_a_range_is_written_as_in_mathematics(parameter: Parameter, written: str) -> None:
    assert parameter.range == written
    assert parameter.as_dict()["range"] == written


def test_the_error_of_a_worker_process_arrives_with_its_place() -> None:
    error = pickle.loads(pickle.dumps(InputError("topics.tsv:3", "expected qid<TAB>query")))
    assert (error.where, error.problem) == ("topics.tsv:3", "expected qid<TAB>query")
    assert str(error) == "topics.tsv:3: expected qid<TAB>query"


def test_variables_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESR_TEST_ONE", "old")
    monkeypatch.delenv("ESR_TEST_TWO", raising=False)
    with pytest.raises(ValueError), set_environment({"ESR_TEST_ONE": "new", "ESR_TEST_TWO": "new"}):
        assert (os.environ["ESR_TEST_ONE"], os.environ["ESR_TEST_TWO"]) == ("new", "new")
        raise ValueError
    assert os.environ["ESR_TEST_ONE"] == "old"
    assert "ESR_TEST_TWO" not in os.environ


def test_an_interrupt_waits_for_the_end_of_a_call_of_the_pool() -> None:
    reached = False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    try:
        with pytest.raises(KeyboardInterrupt), defer_interrupt():
            signal.raise_signal(signal.SIGINT)
            reached = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached


def test_a_scratch_folder_is_gone_after_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(InputError), scratch_folder("load") as folder:
        (folder / "spool").mkdir()
        raise InputError("x", "y")
    assert not list(tmp_path.iterdir())


def test_the_next_scratch_folder_replaces_those_that_killed_processes_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = "from esr.processes import *\nwith scratch_folder('load') as a: print(a, flush=True); input()"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdout
        left = Path(process.stdout.readline().strip())
        (left / "spool").write_text("much")
        with scratch_folder("append"):
            assert left.exists(), "its process runs"
        process.kill()
    (tmp_path / "esr-news").mkdir()  # an index of a user
    with scratch_folder("append"):
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["esr-news"]
