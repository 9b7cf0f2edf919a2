"""Features on the command line: set, tuned, trained, saved, explained, reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr
from tests.cli.test_worked import parsed
from tests.support import worked_examples as worked


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    lines = [f"{q} 0 {s} 1\n" for q, relevant in worked.relevant().items() for s in relevant]
    (tmp_path / "qrels").write_text("".join(lines))
    return tmp_path / "qrels"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    (tmp_path / "first.tsv").write_text(f"Q1\t{worked.queries()['Q1']}\n")
    return tmp_path / "first.tsv"


@pytest.mark.parametrize("run", worked.trained(), ids=lambda run: run.name)
def test_a_trained_and_saved_curve_gives_the_worked_scores(
    esr: Esr, index: Path, topics: Path, first: Path, qrels: Path, tmp_path: Path, run: worked.Trained
) -> None:
    chosen = ["--model", "tfisf", "--candidates", "all", "--set", "idf=sentence"]
    training = ["--train", f"{run.form}:{run.feature}:delta={run.delta}", "-o", tmp_path / "best.json"]
    result = esr("tune", first, qrels, "--index", index, *chosen, *training)
    assert result.exit_code == 0, result.output
    assert f"tfisf idf=sentence {run.form}(pos)" in result.stdout
    assert "FLOE of pos, mean distance from 0:" in result.stdout
    esr("run", topics, "--index", index, "--ranking", tmp_path / "best.json", "-o", tmp_path / "out.run")
    run_scores = parsed(tmp_path / "out.run")
    for query, right in run.scores.items():
        scores = {sentence: score for sentence, _, score, _ in run_scores[query]}
        assert scores == pytest.approx(right, rel=1e-9, abs=1e-9)


def test_weights_are_tuned_and_saved(
    esr: Esr, index: Path, topics: Path, qrels: Path, tmp_path: Path
) -> None:
    options = ["--model", "tfisf", "--set", "idf=sentence", "--feature", "subj:linear"]
    result = esr("tune", topics, qrels, "--index", index, *options, "-o", tmp_path / "best.json", "--json")
    data = json.loads(result.stdout)
    assert [tried["subj.w"] for tried in data["tried"]] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
    (feature,) = json.loads((tmp_path / "best.json").read_text())["features"]
    assert (feature["feature"], feature["form"]) == ("subj", "linear")
    assert feature["w"] in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


def test_an_option_takes_precedence_over_the_same_feature_of_the_file(
    esr: Esr, index: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "ranking.json"
    ranking.write_text(json.dumps({"features": [{"feature": "subj", "form": "linear", "w": 9}]}))
    options = ["--ranking", ranking, "--feature", "subj:linear:0.5", "--feature", "len:log:0.1"]
    explanation = json.loads(esr("explain", "china", "D1.1", "--index", index, *options, "--json").stdout)
    assert [(f["feature"], f["w"]) for f in explanation["features"]] == [("subj", 0.5), ("len", 0.1)]


def test_explain_shows_each_feature(esr: Esr, index: Path) -> None:
    options = ["--feature", "pos:satu:0.5:k=2", "--feature", "len:log:0.1"]
    lines = esr("explain", "relief", "D1.3", "--index", index, *options).stdout.splitlines()
    assert [line.split() for line in lines if line.startswith("feature")] == [
        ["feature", "pos", "satu", "0.5", "k=2", "2", "+0.2500"],
        ["feature", "len", "log", "0.1", "shift=1", "3", "+0.1386"],
    ]


def test_explain_shows_unknown_features(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text(
        '{"id": "a", "sentences": [{"text": "china"}, {"text": "china", "features": {"subj": 1}}]}\n'
    )
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "index")
    result = esr("explain", "china", "a.s0", "--index", tmp_path / "index", "--feature", "subj:linear:2")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("feature")]
    assert "unknown" in line and line.endswith("+0.0000")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--feature", "subj:liner"], "unknown form 'liner': did you mean 'linear'?"),
        (["--feature", "sub:linear"], "did you mean 'subj'?"),
        (["--feature", "subj"], "--feature must be NAME:FORM[:WEIGHT], such as subj:linear:0.5, not 'subj'"),
        (["--feature", "pos:floe"], "train one with esr tune --train floe:pos"),
    ],
)
def test_bad_features_are_one_line(esr_error: Esr, index: Path, options: list[str], message: str) -> None:
    assert message in str(esr_error("search", "china", "--index", index, *options))


def test_bad_training_is_one_line(esr_error: Esr, index: Path, topics: Path, qrels: Path) -> None:
    for text, message in (("flow:pos", "did you mean 'floe'?"), ("floe:poss", "did you mean 'pos'?")):
        options = ["--model", "tfisf", "--train", text]
        assert message in str(esr_error("tune", topics, qrels, "--index", index, *options))


@pytest.mark.slow
def test_the_report_shows_the_curves_of_features(
    esr: Esr, index: Path, topics: Path, qrels: Path, tmp_path: Path
) -> None:
    esr("run", topics, "--index", index, "--model", "tfisf", "-o", tmp_path / "a.run")
    options = ["--index", index, "--topics", topics, "--model", "tfisf", "--feature", "subj:linear:0.5"]
    page = tmp_path / "report.html"
    result = esr("report", qrels, tmp_path / "a.run", *options, "--curves", "pos", "-o", page)
    assert result.exit_code == 0, result.output
    text = page.read_text("utf-8")
    assert 'class="feature-subj"' in text and 'class="feature-pos"' in text
    assert text.count("p(I|T) after</th>") == 1


def test_forms_are_listed_with_their_parameters(esr: Esr) -> None:
    text = esr("forms").stdout
    for part in ("linear\n", "w * I^a", "k=1", "shift=1", "floe\n"):
        assert part in text
    assert {form["name"]: form["trained"] for form in json.loads(esr("forms", "--json").stdout)} == {
        **dict.fromkeys(["linear", "log", "step", "satu", "sigm"], False),
        **dict.fromkeys(["indep", "floe"], True),
    }
