from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from esr.lab import learners
from tests.cli.conftest import Esr
from tests.lab.tuning.conftest import index_path  # noqa: F401
from tests.ranking.test_reranker import WORDS, documents
from tests.support.elasticsearch import load
from tests.support.needed import need


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index, and topics of two words; relevant are the sentences with both, side by side."""
    folder = tmp_path_factory.mktemp("learn")
    load(str(folder / "index"), documents(), analyzer="plain")
    topics, qrels = [], []
    for a in WORDS[:6]:
        for b in WORDS:
            relevant = [s.id for d in documents() for s in d.sentences if a != b and f"{a} {b}" in s.text]
            topics += [f"{a}-{b}\t{a} {b}\n"] if a != b else []
            qrels += [f"{a}-{b} 0 {id} 1\n" for id in relevant]
    (folder / "topics.tsv").write_text("".join(topics))
    (folder / "qrels.txt").write_text("".join(qrels))
    return folder


@pytest.fixture
def call(folder: Path) -> tuple[object, ...]:
    files = folder / "topics.tsv", folder / "qrels.txt"
    few = ("--signals", "dir", "--signals", "term dependence", "--folds", 2)
    return ("learn", *files, "--index", folder / "index", *few)


@pytest.mark.slow
def test_a_learned_ranking_is_written_and_can_be_searched_with(
    esr: Esr, folder: Path, call: tuple[object, ...], tmp_path: Path
) -> None:
    best, page = tmp_path / "best.json", tmp_path / "page.html"
    result = esr(*call, "-o", best, "--report", page, "--group", folder / "topics.tsv")
    assert result.exit_code == 0, result.output
    assert "on held-out topics, 2 folds of" in result.stdout
    assert "by the first stage: difference" in result.stdout
    assert "without term dependence: AP" in result.stdout
    assert "have no relevant sentence and are left out" in result.stderr
    assert json.loads(best.read_text())["depth"] == 100
    text = page.read_text()
    assert "What is lost without" in text and "Differences from first stage" in text
    assert esr("search", "word1 word2", "--index", folder / "index", "--ranking", best).exit_code == 0


@pytest.mark.slow
def test_learned_trees_are_written_searched_with_and_explained(
    esr: Esr, folder: Path, call: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("lightgbm")
    monkeypatch.setattr(learners, "ROUNDS", 5)
    monkeypatch.setattr(learners, "SETTINGS", {**learners.SETTINGS, "min_data_in_leaf": 5})
    best, report = tmp_path / "best.json", tmp_path / "report.json"
    result = esr(*call, "--learner", "lambdamart", "--ablate", "no", "-o", best, "--report", report, "--json")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    assert outcome["ranking"] == json.loads(best.read_text())
    assert {k: v for k, v in outcome.items() if k != "ranking"} == json.loads(report.read_text())
    assert outcome["ablation"] == [] and outcome["comparison"]["topics"] == outcome["topics"]
    where = ("--index", folder / "index", "--ranking", best)
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # growing trees needs it, ranking does not
    hits = json.loads(esr("search", "word1 word2", *where, "--json").stdout)["hits"]
    explained = esr("explain", "word1 word2", hits[0]["sentence_id"], *where)
    assert explained.exit_code == 0, explained.output
    assert "\ntrees " in explained.stdout
    assert f"{hits[0]['score']:.4f}" in explained.stdout
    again = esr(*call, "--learner", "lambdamart")
    assert again.exit_code == 2
    assert "pip install 'esr[learn]'" in again.stderr


@pytest.mark.slow
def test_learning_is_reproducible(esr: Esr, call: tuple[object, ...]) -> None:
    first, again = (esr(*call, "--ablate", "no", "--json").stdout for _ in range(2))
    assert first == again
    assert json.loads(first)["seed"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measure", "RR"), "cannot learn for 'RR': choose AP, nDCG or nDCG@k"),
        (("--signals", "dirr"), "unknown signal of the index 'dirr': did you mean 'dir'"),
        (("--folds", 4000), "the number of folds must be from 2 to"),
        (("--report", "page.txt"), "the file name must end in .html or .json"),
        (("--rerank", "tdsr"), "learning creates the second stage"),
        (("--model", "tdsr"), "learning creates the second stage"),
        (("--group", "no-such-file"), "no-such-file"),
    ],
)
def test_impossible_learning_is_one_line(
    esr_error: Esr, call: tuple[object, ...], arguments: tuple[object, ...], message: str
) -> None:
    assert message in str(esr_error(*call, *arguments))


@pytest.mark.slow
def test_an_input_file_is_not_overwritten(esr_error: Esr, folder: Path, call: tuple[object, ...]) -> None:
    assert "is an input of this command" in str(esr_error(*call, "-o", folder / "topics.tsv"))
