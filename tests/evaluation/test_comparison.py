from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import esr
from esr.cli.compare import compare
from esr.errors import InputError
from esr.evaluation.comparison import (
    ComparisonPlan,
    build_cells,
    build_default_rankings,
    compute_cell,
    read_results,
)
from esr.evaluation.parameter_sources import SOURCES
from esr.evaluation.tuning.training import cross_validate
from esr.evaluation.tuning.tuner import Task, Tuner
from esr.models.likelihood import MU_GRID
from esr.ranking.ranking import Ranking
from tests.evaluation.tuning.conftest import index_path, tasks  # noqa: F401  a fixture


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
    with esr.open(build_cells(ComparisonPlan.from_file(plan))[0].inputs.index) as searcher:
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
        ("{", "not JSON"),
    ],
)
def test_an_error_in_a_comparison_names_its_file(tmp_path: Path, data: str, expected: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(data, "utf-8")
    with pytest.raises(InputError, match=r"bad\.json") as error:
        ComparisonPlan.from_file(path)
    assert expected in str(error.value)
