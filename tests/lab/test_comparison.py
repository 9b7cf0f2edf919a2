from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from esr.errors import EsrError, InputError
from esr.lab.commands.evaluate import compare
from esr.lab.comparison import (
    SOURCES,
    ComparisonPlan,
    build_cells,
    build_default_rankings,
    compute_cell,
    compute_cells,
    read_results,
)
from esr.lab.grid import cross_validate
from esr.lab.tuner import Task, Tuner
from esr.models.likelihood import MU_GRID
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from tests.lab.tuning.conftest import index_path, tasks  # noqa: F401  a fixture


@pytest.fixture
def plan(index_path: Path, tmp_path: Path) -> Path:  # noqa: F811
    topics = "".join(f"{task.topic}\t{task.query}\n" for task in tasks())
    qrels = "".join(f"{t.topic} 0 {sentence} 1\n" for t in tasks() for sentence in t.relevant)
    (tmp_path / "topics.tsv").write_text(topics + "stop\t...\n", "utf-8")
    (tmp_path / "qrels.txt").write_text(qrels + "stop 0 d0.s0 1\n", "utf-8")
    data = {
        "collections": {
            "sample": {
                "index": str(index_path),
                "topics": str(tmp_path / "topics.tsv"),
                "qrels": str(tmp_path / "qrels.txt"),
            }
        },
        "rankings": {"tfisf": {"model": "tfisf"}, "long": {"model": "dir", "priors": {"length": 1}}},
        "measures": ["AP", "P@10"],
        "baseline": "tfisf",
    }
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_a_cell_has_a_figure_for_every_topic_and_their_mean(plan: Path) -> None:
    cell = compute_cell(build_cells(ComparisonPlan.from_file(plan))[0], "its key")
    assert cell["topics"] == len(cell["values"]["AP"]) == len(tasks()) + 1
    assert cell["values"]["AP"]["stop"] == 0.0
    assert cell["measures"]["AP"] == pytest.approx(sum(cell["values"]["AP"].values()) / cell["topics"])


def test_by_default_every_model_is_compared_in_every_context() -> None:
    assert {"2si both", "2si document", "bm25", "tfmix surrounding"} <= set(build_default_rankings())


def cell_of(plan: Path, parameters: str, model: str = "dir") -> dict[str, Any]:
    data = json.loads(plan.read_text("utf-8"))
    rankings = {"it": {"model": model}}
    plan.write_text(
        json.dumps(data | {"rankings": rankings, "baseline": "it", "parameters": [parameters]}), "utf-8"
    )
    (cell,) = build_cells(ComparisonPlan.from_file(plan))
    return compute_cell(cell, cell.key())


def test_a_tuned_cell_tests_each_topic_with_the_parameters_of_the_other_folds(plan: Path) -> None:
    cell = cell_of(plan, "tuned")
    assert len(cell["settings"]) == 5
    with open_searcher(build_cells(ComparisonPlan.from_file(plan))[0].inputs.index) as searcher:
        ready = [*tasks(), Task("stop", "...", ("d0.s0",))]
        validation = cross_validate(Tuner(searcher, ready), Ranking("dir"), {"mu": MU_GRID}, "grid", 5, {})
    figures_of = {task.topic: figure for task, figure in zip(ready, validation.figures, strict=True)}
    assert cell["values"]["AP"] == figures_of


@pytest.mark.slow
def test_an_estimated_cell_does_not_depend_on_the_judgements(plan: Path) -> None:
    first = cell_of(plan, "estimated")
    qrels = Path(json.loads(plan.read_text("utf-8"))["collections"]["sample"]["qrels"])
    qrels.write_text("t0 0 d3.s0 1\nt1 0 d4.s0 1\n", "utf-8")
    second = cell_of(plan, "estimated")
    assert first["settings"] == second["settings"]
    assert len(first["settings"]) == 1
    assert first["measures"] != second["measures"]


def test_a_model_without_parameters_is_the_same_from_every_source(plan: Path) -> None:
    values = [cell_of(plan, source, "tfisf")["values"] for source in SOURCES]
    assert values[0] == values[1] == values[2]


def test_an_unknown_source_of_parameters_is_rejected(plan: Path) -> None:
    with pytest.raises(InputError, match="unknown source of parameters 'tuned '"):
        cell_of(plan, "tuned ")


@pytest.mark.slow
def test_an_interrupted_comparison_resumes(plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures.jsonl"
    first = CliRunner().invoke(compare, [str(plan), "-o", str(out), "--workers", "1"])
    assert first.exit_code == 0, first.output
    lines = out.read_text("utf-8").splitlines()
    out.write_text(lines[0] + "\n" + lines[1][:40], "utf-8")
    assert len(read_results(out)) == 1
    again = CliRunner().invoke(compare, [str(plan), "-o", str(out), "--workers", "1"])
    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert len(read_results(out)) == 2


class Deadly:
    """A cell that ends the worker which computes it."""

    @property
    def inputs(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_the_death_of_a_worker_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EsrError, match=r"a worker process died.*fewer workers"):
        list(compute_cells({"its key": Deadly()}, tmp_path / "figures", 1))  # type: ignore[dict-item]


PROGRAM = """
import signal
from pathlib import Path
from esr.lab.comparison import Cell, Collection, compute_cells
from esr.ranking.ranking import Ranking

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts it in the background ignores it
    inputs = Collection("index", "topics", "qrels")
    cells = {str(n): Cell("c", "r", "default", inputs, Ranking(), ("AP",), 10) for n in range(9)}
    try:
        list(compute_cells(cells, Path("figures"), 1))
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.fixture
def comparison(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program with a worker that has begun a cell, in a group of processes of its own."""
    (tmp_path / "program.py").write_text(PROGRAM)
    os.mkfifo(tmp_path / "qrels")  # a cell waits for what is never written into it
    program = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        writing_end = open_when_read(tmp_path / "qrels")
        yield program
        os.close(writing_end)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()


@pytest.mark.slow
def test_an_interrupt_ends_the_workers_amid_their_cells_without_a_trace(
    comparison: subprocess.Popen[str],
) -> None:
    os.killpg(comparison.pid, signal.SIGINT)
    assert (*comparison.communicate(timeout=20), comparison.returncode) == ("stopped\n", "", 0)


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(comparison: subprocess.Popen[str]) -> None:
    comparison.kill()
    comparison.communicate(timeout=20)  # until the last process has closed the pipes


def open_when_read(pipe: Path) -> int:
    """The pipe, once a process reads it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            time.sleep(0.05)
    raise AssertionError("no worker began a cell")


@pytest.mark.parametrize("content", ['{"id": "a", "text": "x"}\n', "q 0 s 1\n", "[]"])
def test_a_file_with_other_content_is_never_appended_to(plan: Path, tmp_path: Path, content: str) -> None:
    foreign_file = tmp_path / "other"
    foreign_file.write_text(content, "utf-8")
    result = CliRunner().invoke(compare, [str(plan), "-o", str(foreign_file)])
    assert isinstance(result.exception, InputError)
    assert foreign_file.read_text("utf-8") == content


def test_changed_judgements_change_the_key_of_a_cell(plan: Path) -> None:
    before = build_cells(ComparisonPlan.from_file(plan))[0]
    key = before.key()
    qrels = Path(before.inputs.qrels)
    qrels.write_text("t0 0 d0.s0 1\n", "utf-8")
    assert before.key() != key


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("[]", "must be an object"),
        ('{"collections": {"a": {"index": "x"}}}', "needs the key 'topics'"),
        ('{"collections": {}, "colour": 1}', "unknown key"),
        ('{"collections": {}, "rankings": {"a": {"model": "bm52"}}}', "did you mean 'bm25'"),
        ('{"collections": {}, "measures": ["APP"]}', "unknown measure"),
        ('{"collections": {}, "baseline": "x"}', "unknown baseline"),
        ('{"collections": {"a": 5}}', "collection 'a' must be an object, not 5"),
        ('{"collections": {"a": {"index": 5}}}', "'index' of collection 'a' must be a string, not 5"),
        ('{"collections": {}, "rankings": ["2si"]}', "'rankings' must be an object"),
        ('{"collections": {}, "measures": "AP"}', "'measures' must be a list of strings, not 'AP'"),
        ('{"collections": {}, "measures": [10]}', "'measures' must be a list of strings, not [10]"),
        ('{"collections": {}, "parameters": 1}', "'parameters' must be a list of strings"),
        ('{"collections": {}, "depth": "1000"}', "'depth' must be a whole number from 1 on, not '1000'"),
        ('{"collections": {}, "depth": 0}', "'depth' must be a whole number from 1 on, not 0"),
        ('{"collections": {}, "baseline": ["a"]}', "'baseline' must be the name of a ranking"),
        ('{"collections":\n{', "bad.json:2: not JSON"),
        ("[" * 100_000, "not JSON: nested too deeply"),
    ],
)
def test_an_error_in_a_comparison_names_its_file(tmp_path: Path, data: str, expected: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(data, "utf-8")
    with pytest.raises(InputError, match=r"bad\.json") as error:
        ComparisonPlan.from_file(path)
    assert expected in str(error.value)
