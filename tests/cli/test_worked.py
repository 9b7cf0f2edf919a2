"""Every worked score, from `esr load` and `esr run` to the lines of the run."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import Esr
from tests.support import worked_examples as worked

pytestmark = pytest.mark.slow

Run = dict[str, list[tuple[str, int, float, str]]]


def parsed(path: Path) -> Run:
    """(sentence, rank, score, tag) by topic."""
    run_lines: Run = {}
    for line in path.read_text().splitlines():
        topic, q0, sentence, rank, score, tag = line.split(" ")
        assert q0 == "Q0"
        run_lines.setdefault(topic, []).append((sentence, int(rank), float(score), tag))
    return run_lines


@pytest.mark.parametrize("run", [*worked.runs(), *worked.adjusted()], ids=lambda run: run.name)
def test_a_run_has_all_worked_scores_in_descending_order(
    esr: Esr, index: Path, topics: Path, tmp_path: Path, run: worked.Run
) -> None:
    (tmp_path / "ranking.json").write_text(json.dumps(run.ranking))
    options = ["--index", index, "--ranking", tmp_path / "ranking.json", "-o", tmp_path / "out.run"]
    result = esr("run", topics, *options)
    assert result.exit_code == 0, result.output
    run_lines = parsed(tmp_path / "out.run")
    assert list(run_lines) == ["Q1", "Q2"]
    for query_id, lines in run_lines.items():
        scores = {sentence: score for sentence, _, score, _ in lines}
        assert scores == pytest.approx(run.scores[query_id], rel=1e-9, abs=1e-9)
        assert [rank for _, rank, _, _ in lines] == list(range(1, 9))
        falling = [score for _, _, score, _ in lines]
        assert all(first > second for first, second in pairwise(falling))
        assert {tag for *_, tag in lines} == {"esr"}


@pytest.mark.parametrize("run", [*worked.runs()[::7], *worked.adjusted()], ids=lambda run: run.name)
def test_the_same_ranking_by_options_gives_the_same_run(
    esr: Esr, index: Path, topics: Path, tmp_path: Path, run: worked.Run
) -> None:
    ranking = run.ranking
    options = ["--model", ranking["model"], "--candidates", ranking["candidates"]]
    options += [part for name, value in ranking["params"].items() for part in ("--set", f"{name}={value}")]
    priors = ranking.get("priors", {})
    options += [part for name, weight in priors.items() for part in ("--prior", f"{name}:{weight}")]
    features = [f"{f['feature']}:{f['form']}:{f['w']}" for f in ranking.get("features", [])]
    options += [part for text in features for part in ("--feature", text)]
    options += ["--context", ranking["context"]] if "context" in ranking else []
    (tmp_path / "ranking.json").write_text(json.dumps(ranking))
    for name, arguments in (("a", ["--ranking", tmp_path / "ranking.json"]), ("b", options)):
        esr("run", topics, "--index", index, *arguments, "-o", tmp_path / name)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() != ""
