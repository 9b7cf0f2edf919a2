"""Features on the command line: set, tuned, trained, saved, explained, reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from esr.cli.main import main
from esr.lab import learners
from tests.cli.conftest import Esr
from tests.cli.test_evaluate import parsed
from tests.lab.conftest import (
    NOVELTY,
    index_path,  # noqa: F401
)
from tests.ranking.test_reranker import WORDS, documents
from tests.support import worked_examples as worked
from tests.support.elasticsearch import load
from tests.support.runs import need


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
    assert "2 topics have no relevant sentence (left out)" in result.stderr
    assert json.loads(best.read_text())["depth"] == 100
    text = page.read_text()
    assert "What is lost without" in text and "Differences from first stage" in text
    assert esr("search", "word1 word2", "--index", folder / "index", "--ranking", best).exit_code == 0


@pytest.mark.slow
def test_signals_are_written_learned_from_elsewhere_and_read_back(
    esr: Esr, folder: Path, tmp_path: Path
) -> None:
    """The order is that of LightGBM's own predictions, and an explanation adds up to it."""
    lightgbm = need("lightgbm")
    train, model, ranking = (tmp_path / name for name in ("train.txt", "model.json", "ranking.json"))
    files = folder / "topics.tsv", folder / "qrels.txt", "--index", folder / "index"
    few = ("--signals", "dir", "--signals", "term dependence", "--depth", 40)
    for form, output in (("svmlight", train), ("letor", tmp_path / "letor.txt")):
        told = esr("signals", *files, *few, "--format", form, "-o", output)
        assert told.stdout.startswith("wrote ") and told.stdout.endswith(f" with 4 signals to {output}\n")
    letor = (tmp_path / "letor.txt").read_text().splitlines()
    settings = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    booster = lightgbm.train(settings, lightgbm.Dataset(str(train)), 5)
    model.write_text(json.dumps(booster.dump_model()))
    description = f"{train}.signals.json"
    told = esr("import-model", model, "--signals", description, "-o", ranking)
    assert told.stdout == f"wrote a ranking with 5 trees to {ranking}\n"
    first = [line for line in letor if line.split()[1] == "qid:1"]
    table = np.array(
        [[float(v.split(":")[1]) for v in line.partition(" #")[0].split()[2:]] for line in first]
    )
    predicted = dict(zip((line.split()[-1] for line in first), booster.predict(table).tolist(), strict=True))
    query = first[0].split()[-2].replace("-", " ")
    hits = json.loads(
        esr("search", query, "--index", folder / "index", "--ranking", ranking, "-k", 5, "--json").stdout
    )["hits"]
    expected = [predicted[hit["sentence_id"]] for hit in hits]
    assert [hit["score"] for hit in hits] == pytest.approx(expected, abs=1e-9)
    assert hits[0]["score"] == pytest.approx(max(predicted.values()))
    explained = esr(
        "explain", query, hits[0]["sentence_id"], "--index", folder / "index", "--ranking", ranking, "--json"
    )
    assert json.loads(explained.stdout)["score"] == pytest.approx(hits[0]["score"])
    again = tmp_path / "on-top.json"
    esr("import-model", model, "--signals", description, "--with-first-stage", "-o", again)
    assert "alone" not in json.loads(again.read_text())["trees"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "letor"), "esr signals --format needs TOPICS, QRELS, --index and -o"),
        (("topics.tsv",), "add --format to write signals to a file: letor or svmlight"),
        (("-o", "train.txt"), "add --format to write signals to a file: letor or svmlight"),
    ],
)
def test_signals_for_a_file_need_all_of_its_options(
    esr_error: Esr, arguments: tuple[str, ...], message: str
) -> None:
    assert message in str(esr_error("signals", *arguments))


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


DOCUMENTS = """\
<s docid="XIE20010101.0001" num="1"> The dockers of the harbour began a strike.</s>
<s docid="XIE20010101.0001" num="2"> The weather was mild.</s>
<s docid="NYT20010102.0002" num="1"> Ships left the harbour empty.</s>
<s docid="NYT20010102.0002" num="2"> A strike of teachers began elsewhere.</s>
<s docid="XIE20010104.0004" num="1"> Many call the toll on the bridge unfair.</s>
<s docid="XIE20010104.0004" num="2"> The bridge is old.</s>
"""
QRELS = "N1 XIE20010101.0001:1\nN1 NYT20010102.0002:1\nN2 XIE20010104.0004:1\n"


@pytest.fixture
def report_folder(tmp_path, monkeypatch):
    """Topics, judgements, an index and two runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.sgml").write_text(NOVELTY)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "docs.sgml").write_text(DOCUMENTS)
    esr("load", "docs.sgml", "--index", "index")
    for model in ("2si", "tfisf"):
        esr("run", "topics.sgml", "--index", "index", "--model", model, "--tag", model, "-o", f"{model}.run")
    return tmp_path


def esr(*arguments, code=0):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result


@pytest.mark.slow
def test_a_report_of_one_run_has_measures_curves_and_the_analysis_of_formulas(report_folder):
    assert "wrote report.html" in esr("report", "qrels", "2si.run", "-o", "report.html").output
    text = Path("report.html").read_text("utf-8")
    assert "Precision and recall" in text
    assert "What an unseen query term weighs" in text
    assert "Sensitivity" not in text
    assert "Length of the top" not in text
    assert not [*Path().glob("report.html.*")]


@pytest.mark.slow
def test_every_option_adds_to_the_page_and_the_folder(report_folder):
    command = (
        "report",
        "qrels",
        "2si.run",
        "--baseline",
        "tfisf.run",
        "--by",
        "topics.sgml",
        "-m",
        "AP P@10",
    )
    command += ("--index", "index", "--topics", "topics.sgml", "--model", "2si", "--context", "both")
    esr(*command, "--pictures", "pictures/of-it", "--title", "Strikes", "-o", "report.html")
    text = Path("report.html").read_text("utf-8")
    for part in (
        "<title>Strikes",
        "Differences from tfisf",
        "opinion topics",
        "AP of every topic",
        "Length of",
    ):
        assert part in text
    assert "Sensitivity of 2si, context both" in text
    names = ["gains", "lengths", "precision-recall", "sensitivity", "unseen-terms"]
    files = sorted(path.name for path in Path("pictures/of-it").iterdir())
    assert files == [f"{name}.{form}" for name in names for form in ("png", "svg")]
    esr(*command, "-o", "again.html", "--title", "Strikes")
    assert Path("again.html").read_bytes() == Path("report.html").read_bytes()


@pytest.mark.slow
def test_gains_are_in_ap_or_else_the_first_measure(report_folder):
    command = ("report", "qrels", "2si.run", "--baseline", "tfisf.run", "-o", "-")
    assert "AP of every topic against tfisf" in esr(*command).stdout
    assert "RR of every topic against tfisf" in esr(*command, "-m", "RR P@10").stdout


@pytest.mark.slow
def test_the_page_can_be_printed(report_folder):
    assert esr("report", "qrels", "2si.run", "-o", "-").stdout.startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_topics_missing_in_runs_are_reported_and_shown(report_folder):
    lines = [line for line in Path("2si.run").read_text().splitlines() if not line.startswith("N2")]
    Path("part.run").write_text("\n".join(lines) + "\nX9 Q0 s 1 1.0 2si\n")
    result = esr("report", "qrels", "part.run", "-o", "report.html")
    for note in (
        "2si lacks 1 of 2 judged topics (score 0): N2",
        "2si answers 1 topic without judgements (ignored): X9",
    ):
        assert note in result.stderr
        assert note in Path("report.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, message",
    [
        (("-m", "APP"), "did you mean 'AP'?"),
        (("-m", ""), "no measure given"),
        (("--topics", "topics.sgml"), "--topics needs --index"),
        (("--model", "jm"), "give --index and --topics too"),
        (("--index", "index", "--topics", "topics.sgml", "--model", "tfisf"), "no parameter to vary"),
        (("--index", "nowhere"), "nowhere"),
        (("--baseline", "none.run"), "none.run: cannot be read"),
        (("--by", "qrels"), "qrels:1"),
        (("--pictures", "2si.run/x"), "cannot write"),
        (("--title", "x", "-o", "none/report.html"), "cannot write none/report.html"),
    ],
)
def test_bad_input_is_one_line(report_folder, arguments, message):
    result = CliRunner().invoke(main, ["report", "qrels", "2si.run", "-o", "report.html", *arguments])
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Error: " in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("report.html").exists()


@pytest.mark.slow
def test_malformed_lines_are_reported_with_file_and_number(report_folder):
    Path("bad.run").write_text("N1 Q0 s 1 high tag\n")
    assert "bad.run:1" in esr("report", "qrels", "bad.run", "-o", "report.html", code=1).stderr
