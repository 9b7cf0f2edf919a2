from pathlib import Path

import pytest
from click.testing import CliRunner

from esr.cli.main import main
from tests.lab.conftest import NOVELTY

pytestmark = pytest.mark.slow

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
def folder(tmp_path, monkeypatch):
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


def test_a_report_of_one_run_has_measures_curves_and_the_analysis_of_formulas(folder):
    assert "wrote report.html" in esr("report", "qrels", "2si.run", "-o", "report.html").output
    text = Path("report.html").read_text("utf-8")
    assert "Precision and recall" in text
    assert "What an unseen query term weighs" in text
    assert "Sensitivity" not in text
    assert "Length of the top" not in text
    assert not [*Path().glob("report.html.*")]


def test_every_option_adds_to_the_page_and_the_folder(folder):
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


def test_gains_are_in_ap_or_else_the_first_measure(folder):
    command = ("report", "qrels", "2si.run", "--baseline", "tfisf.run", "-o", "-")
    assert "AP of every topic against tfisf" in esr(*command).stdout
    assert "RR of every topic against tfisf" in esr(*command, "-m", "RR P@10").stdout


def test_the_page_can_be_printed(folder):
    assert esr("report", "qrels", "2si.run", "-o", "-").stdout.startswith("<!DOCTYPE html>")


def test_topics_missing_in_runs_are_reported_and_shown(folder):
    lines = [line for line in Path("2si.run").read_text().splitlines() if not line.startswith("N2")]
    Path("part.run").write_text("\n".join(lines) + "\nX9 Q0 s 1 1.0 2si\n")
    result = esr("report", "qrels", "part.run", "-o", "report.html")
    for note in (
        "2si lacks 1 of 2 judged topics, which score 0: N2",
        "2si answers 1 topics without judgements, which are ignored: X9",
    ):
        assert note in result.stderr
        assert note in Path("report.html").read_text("utf-8")


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
def test_bad_input_is_one_line(folder, arguments, message):
    result = CliRunner().invoke(main, ["report", "qrels", "2si.run", "-o", "report.html", *arguments])
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Error: " in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("report.html").exists()


def test_malformed_lines_are_reported_with_file_and_number(folder):
    Path("bad.run").write_text("N1 Q0 s 1 high tag\n")
    assert "bad.run:1" in esr("report", "qrels", "bad.run", "-o", "report.html", code=1).stderr
