from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr
from tests.evaluation.tuning.conftest import index_path  # noqa: F401  a fixture


def test_estimated_parameters_are_written_as_a_ranking_for_searches(
    esr: Esr,
    index_path: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    best = tmp_path / "best.json"
    result = esr("estimate", "--index", index_path, "--topics", 20, "--grid", "mu=1,100", "-o", best)
    assert result.exit_code == 0, result.output
    assert "best of" in result.stdout and "on 20 pseudo-topics of the collection" in result.stdout
    assert json.loads(best.read_text("utf-8"))["params"]["mu"] in (1, 100)
    assert esr("search", "word1", "--index", index_path, "--ranking", best).exit_code == 0


def test_an_estimate_is_reproducible_and_reports_its_method(esr: Esr, index_path: Path) -> None:  # noqa: F811
    call = ("estimate", "--index", index_path, "--model", "dir", "--topics", 15, "--json")
    first, again = esr(*call).stdout, esr(*call).stdout
    assert first == again
    assert {"from", "topics", "measure", "figure", "settings", "ranking"} == json.loads(first).keys()


def test_the_textbooks_method_is_available_for_comparison(esr: Esr, index_path: Path) -> None:  # noqa: F811
    result = esr("estimate", "--index", index_path, "--model", "jm", "--topics", 10, "--from", "likelihood")
    assert "best of 9 settings: jm" in result.stdout
    assert "log p(word)" in result.stdout and "sentences of the collection" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "tfisf"), "tfisf has no parameter left to vary: name one, with values, by --grid"),
        (("--model", "bm25", "--from", "likelihood"), "bm25 has no probabilities"),
        (("--measure", "nDCG@10"), "cannot tune for"),
        (("--grid", "mu"), "--grid needs NAME=VALUE"),
    ],
)
def test_impossible_estimates_are_one_line(
    esr_error: Esr,
    index_path: Path,  # noqa: F811
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert message in str(esr_error("estimate", "--index", index_path, "--topics", 10, *arguments))
