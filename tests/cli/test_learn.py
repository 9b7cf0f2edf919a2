from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from esr.learning import lambdamart
from tests.cli.conftest import Esr
from tests.engines.elasticsearch.support import load
from tests.ranking.test_rerank import WORDS, documents


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


def test_a_learned_ranking_is_written_and_searched_with(
    esr: Esr, folder: Path, call: tuple[object, ...], tmp_path: Path
) -> None:
    best, page = tmp_path / "best.json", tmp_path / "page.html"
    told = esr(*call, "-o", best, "--report", page, "--group", folder / "topics.tsv")
    assert told.exit_code == 0, told.output
    assert "on topics left out of learning, 2 folds of" in told.stdout
    assert "by the first stage: difference" in told.stdout
    assert "without term dependence: AP" in told.stdout
    assert "have no relevant sentence and are left out" in told.stderr
    assert json.loads(best.read_text())["depth"] == 100
    text = page.read_text()
    assert "What is lost without" in text and "Differences from first stage" in text
    assert esr("search", "word1 word2", "--index", folder / "index", "--ranking", best).exit_code == 0


def test_trees_are_written_searched_with_and_explained(
    esr: Esr, folder: Path, call: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(lambdamart, "ROUNDS", 5)
    monkeypatch.setattr(lambdamart, "SETTINGS", {**lambdamart.SETTINGS, "min_data_in_leaf": 5})
    best, report = tmp_path / "best.json", tmp_path / "report.json"
    told = esr(*call, "--learner", "lambdamart", "--ablate", "no", "-o", best, "--report", report, "--json")
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert found["ranking"] == json.loads(best.read_text())
    assert {k: v for k, v in found.items() if k != "ranking"} == json.loads(report.read_text())
    assert found["ablation"] == [] and found["comparison"]["topics"] == found["topics"]
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


def test_the_same_call_learns_the_same(esr: Esr, call: tuple[object, ...]) -> None:
    first, again = (esr(*call, "--ablate", "no", "--json").stdout for _ in range(2))
    assert first == again
    assert json.loads(first)["seed"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--measure", "RR"), "cannot learn for 'RR': choose AP, nDCG or nDCG@k"),
        (("--signals", "dirr"), "unknown signal of the index 'dirr': did you mean 'dir'"),
        (("--folds", 4000), "4000 folds need at least 2 and at most"),
        (("--report", "page.txt"), "the file name must end in .html or .json"),
        (("--rerank", "tdsr"), "learning makes the second stage"),
        (("--model", "tdsr"), "learning makes the second stage"),
        (("--group", "no-such-file"), "no-such-file"),
    ],
)
def test_what_cannot_be_learned_is_said(
    esr_error: Esr, call: tuple[object, ...], arguments: tuple[object, ...], said: str
) -> None:
    assert said in str(esr_error(*call, *arguments))


def test_what_is_read_is_not_written_over(esr_error: Esr, folder: Path, call: tuple[object, ...]) -> None:
    assert "is an input of this command" in str(esr_error(*call, "-o", folder / "topics.tsv"))
