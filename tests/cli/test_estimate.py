from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr
from tests.evaluation.tuning.conftest import place  # noqa: F401  a fixture


def test_estimated_parameters_are_written_as_a_ranking_that_a_search_takes(
    esr: Esr,
    place: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    best = tmp_path / "best.json"
    told = esr("estimate", "--index", place, "--topics", 20, "--grid", "mu=1,100", "-o", best)
    assert told.exit_code == 0, told.output
    assert "best of" in told.stdout and "on 20 pseudo-topics of the collection" in told.stdout
    assert json.loads(best.read_text("utf-8"))["params"]["mu"] in (1, 100)
    assert esr("search", "word1", "--index", place, "--ranking", best).exit_code == 0


def test_an_estimate_is_the_same_again_and_says_how_it_was_made(esr: Esr, place: Path) -> None:  # noqa: F811
    call = ("estimate", "--index", place, "--model", "dir", "--topics", 15, "--json")
    first, again = esr(*call).stdout, esr(*call).stdout
    assert first == again
    assert {"from", "topics", "measure", "figure", "settings", "ranking"} == json.loads(first).keys()


def test_the_textbooks_way_is_there_to_compare_with(esr: Esr, place: Path) -> None:  # noqa: F811
    told = esr("estimate", "--index", place, "--model", "jm", "--topics", 10, "--from", "likelihood")
    assert "best of 9 settings: jm" in told.stdout
    assert "log p(word)" in told.stdout and "sentences of the collection" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "tfisf"), "tfisf has no parameter left to vary: name one, with values, by --grid"),
        (("--model", "bm25", "--from", "likelihood"), "bm25 gives no probabilities"),
        (("--measure", "nDCG@10"), "cannot tune for"),
        (("--grid", "mu"), "--grid wants NAME=VALUE"),
    ],
)
def test_what_cannot_be_estimated_is_said(
    esr_error: Esr,
    place: Path,  # noqa: F811
    arguments: tuple[str, ...],
    said: str,
) -> None:
    assert said in str(esr_error("estimate", "--index", place, "--topics", 10, *arguments))
