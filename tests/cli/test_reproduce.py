"""`esr reproduce novelty`, whole, on a made-up miniature, compared with `esr run`; and `esr capacity`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import ir_measures
import pytest
from click.testing import CliRunner
from scipy.stats import ttest_rel

from esr.cli.main import main
from esr.lab.reproduce.protocol import EVALUATED
from esr.lab.reproduce.raw_files import NAMES, YEARS
from esr.lab.reproduce.systems import SYSTEMS
from tests.cli.conftest import Esr
from tests.lab.reproduce import miniature
from tests.lab.reproduce.conftest import GRID
from tests.support.runs import only_long

FEW = [
    text
    for name, values in GRID.items()
    for text in ("--grid", f"{name}={','.join(str(value) for value in values)}")
]


def esr(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def novelty(data, *arguments, code=0):
    return esr("reproduce", "novelty", "--data", data, "--depth", 20, *FEW, *arguments, code=code)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of the whole command, run once."""
    folder = tmp_path_factory.mktemp("complete")
    miniature.write(folder / "data")
    files = ("-o", folder / "out.md", "-o", folder / "out.json")
    novelty(folder / "data", "--work", folder / "work", *files)
    return folder


@pytest.fixture(scope="module")
def results(done):
    return json.loads((done / "out.json").read_text("utf-8"))


def table(results, train, test):
    (part,) = [t for t in results["tables"] if (t["train"], t["test"]) == (train, test)]
    return {row["name"]: row for row in part["systems"]}


@pytest.mark.slow
def test_each_year_is_trained_on_and_tested_on_the_others(results):
    assert [(t["train"], t["test"]) for t in results["tables"]] == [
        (train, test) for train in YEARS for test in YEARS if train != test
    ]
    for t in results["tables"]:
        names = [n for n, s in SYSTEMS.items() if {t["train"], t["test"]} <= set(s.years)]
        assert [row["name"] for row in t["systems"]] == names


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tfisf", "bm25", "2si document", "3mm surrounding + p(d|s)", "idfdoc", "dir + length"]
)
def test_figures_are_those_of_esr_run_and_ir_measures(done, results, name, tmp_path):
    topics, _, qrels = (next((done / "data").rglob(file)) for file in NAMES["2003"])
    for file in sorted((done / "work/2003/documents").glob("N*")):  # N1 and N2 share a document
        lines = file.read_text("utf-8").splitlines(keepends=True)
        remaining = [line for line in lines if file.name != "N2.docs_text" or "20030101.00" not in line]
        (tmp_path / file.name).write_text("".join(remaining))
    files = sorted(tmp_path.glob("N*"))
    esr("load", *files, "--index", tmp_path / "index", "--format", "trec", "--analyzer", "english")
    (tmp_path / "ranking.json").write_text(json.dumps(results["training"]["2002"][name]["ranking"]))
    options = ("--ranking", tmp_path / "ranking.json", "--restrict", "topics", "-k", 20)
    esr("run", topics, "--index", tmp_path / "index", *options, "-o", tmp_path / "a.run")
    judged = [ir_measures.Qrel(*line.split(), 1) for line in qrels.read_text().splitlines()]
    row = table(results, "2002", "2003")[name]
    for measure, value in row["measures"].items():
        parsed_measure = ir_measures.parse_measure(measure)
        run = ir_measures.read_trec_run(str(tmp_path / "a.run"))
        assert value == pytest.approx(
            ir_measures.calc_aggregate([parsed_measure], judged, run)[parsed_measure], abs=1e-12
        )
    assert list(row["measures"]) == list(EVALUATED)


@pytest.mark.slow
def test_marks_are_those_of_a_paired_two_sided_t_test(done, results):
    rows = table(results, "2002", "2004")
    ours, theirs = (rows[name]["topics"]["AP"] for name in ("2s document", "dir"))
    p = ttest_rel([ours[topic] for topic in ours], [theirs[topic] for topic in ours]).pvalue
    assert rows["2s document"]["against_dir"]["AP"]["t_test"] == pytest.approx(p)
    page = (done / "out.md").read_text("utf-8").partition("## Trained on 2002, tested on 2004")[2]
    for name, row in rows.items():
        (line,) = [
            line for line in page.partition("## ")[0].splitlines() if f"| {name} |" in line.replace("\\", "")
        ]
        cells = line.replace("\\", "").split(" | ")
        for cell, measure in (
            zip(cells[1:4], ("P@10", "AP", "RPrec"), strict=True) if "|s" not in name else ()
        ):
            assert cell.startswith(f"{row['measures'][measure]:.4f}")
            for sign, other in (("*", "tfisf"), ("†", "dir")):
                value = row[f"against_{other}"][measure]["t_test"]
                assert cell.count(sign) == (value < 0.05) + (value < 0.01)


@pytest.mark.slow
def test_the_page_shows_the_parameters_and_the_papers_figures(done, results):
    page = (done / "out.md").read_text("utf-8")
    assert "`--ranked matching`; open" in page and "`--statistics year`; open" in page
    assert "the papers', except mu 10.0, 100.0;" in page
    for target in results["targets"]:
        assert f"| {target['id']} | {target['kind']} |" in page and f"**{target['mark']}**" in page
    assert len(results["targets"]) == 94 and not any(
        t["mark"] == "cannot be checked" for t in results["targets"]
    )
    assert "| relevant in 2003, % (micro or macro) | 39.07 ± 0.50 | 55" in page


@pytest.mark.slow
def test_the_same_command_writes_the_same_and_reuses_earlier_work(done, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in (done / "work").rglob("*") if path.is_file()}
    files = ("-o", tmp_path / "out.md", "-o", tmp_path / "out.json")
    novelty(done / "data", "--work", done / "work", *files)
    for name in ("out.md", "out.json"):
        assert (tmp_path / name).read_bytes() == (done / name).read_bytes()
    assert before == {path: path.stat().st_mtime_ns for path in (done / "work").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_stopped_call_goes_on_with_the_results_that_it_kept(done, tmp_path):
    work = shutil.copytree(done / "work", tmp_path / "work")
    full = {year: (work / year / "results.jsonl").read_bytes() for year in ("2003", "2004")}
    for year, lines in full.items():  # killed while it wrote
        (work / year / "results.jsonl").write_bytes(lines[: len(lines) // 2])
    novelty(done / "data", "--work", work, "-o", tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == (done / "out.json").read_bytes()
    for year, lines in full.items():
        resumed = (work / year / "results.jsonl").read_bytes()
        assert resumed.startswith(lines[: len(lines) // 2])
        assert set(resumed.splitlines()) >= set(lines.splitlines())


@pytest.mark.slow
def test_results_of_another_protocol_are_not_used(done, tmp_path):
    output = ("--train", "2003", "-o", tmp_path / "out.json")
    novelty(done / "data", "--work", done / "work", "--ranked", "all", *output)
    other = json.loads((tmp_path / "out.json").read_text("utf-8"))
    (before,) = (
        t
        for t in json.loads((done / "out.json").read_text("utf-8"))["tables"]
        if (t["train"], t["test"]) == ("2003", "2004")
    )
    after = next(t for t in other["tables"] if t["test"] == "2004")
    assert before["systems"] != after["systems"]


@pytest.mark.slow
def test_each_step_is_a_line_where_there_is_no_terminal(done, tmp_path):
    lines = novelty(done / "data", "--work", done / "work", "-o", tmp_path / "out.json").stderr.splitlines()
    assert all(re.match(r" *\d+:\d\d  \S", line) for line in lines)
    steps = [line.partition("  ")[2].strip() for line in (line.lstrip() for line in lines)]
    assert {"reading 2002", "indexing 2003", "2003: 2si document", "2002 on 2004: bm25"} <= set(steps)


@only_long
@pytest.mark.endurance
def test_options_of_the_protocol_change_the_figures(done, results, tmp_path):
    def other(*arguments):
        output = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        novelty(done / "data", "--work", done / "work", "--train", "2002", *arguments, "-o", output)
        read = json.loads(output.read_text("utf-8"))
        assert {t["train"] for t in read["tables"]} == {"2002"}
        return table(read, "2002", "2003")

    assert other() == other("--ranked", "matching") == table(results, "2002", "2003")
    matching, context, all_ = (
        other("--ranked", ranked, "--depth", 1000) for ranked in ("matching", "context", "all")
    )
    importance = "2s document + p(d|s)"
    figures = [
        {name: run[name]["topics"] for name in ("tfisf", importance)} for run in (matching, context, all_)
    ]
    assert figures[1]["tfisf"] == figures[0]["tfisf"] != figures[2]["tfisf"]
    assert figures[1][importance] == figures[2][importance] != figures[0][importance]
    by_topic = other("--statistics", "topic", "--depth", 1000)
    assert by_topic["2si document"]["topics"] != matching["2si document"]["topics"]


@pytest.mark.slow
def test_the_page_has_the_curves_the_recall_and_the_readings_of_the_collection(done, results):
    page = (done / "out.md").read_text("utf-8")
    assert list(results["pooled"]) == ["topic", "pooled", "aquaint"]
    for curve in results["curves"]:
        (table,) = page.split(f"\n## Curves of {curve['feature']} over {curve['base']}, {curve['year']}\n")[
            1:
        ]
        row = f"| {curve['values'][0]:g} | {curve['everywhere'][0]:.4f} | {curve['relevant'][0]:.4f} |"
        assert table.splitlines()[3].startswith(row)
    assert page.count("Precision at points of recall:") == 2
    assert "in all of AQUAINT" in page


@pytest.mark.slow
def test_texts_for_the_papers_tools_are_written(done, tmp_path):
    told = esr(
        "reproduce", "texts", "--data", done / "data", "--work", done / "work", "-o", tmp_path / "texts"
    )
    assert told.stdout.splitlines()[1] == "wrote 24 texts of 2003"
    text = (tmp_path / "texts/2003/XIE20030101.0000").read_text("utf-8")
    assert len(text.splitlines()) == miniature.SENTENCES
    again = esr("reproduce", "texts", "--data", done / "data", "-o", tmp_path / "texts", code=2)
    assert again.stderr == f"Error: {tmp_path / 'texts'} exists: name a new folder\n"


@pytest.mark.slow
def test_missing_years_are_left_out_and_reported(tmp_path):
    miniature.write(tmp_path / "data", ("2003", "2004"))
    done = novelty(tmp_path / "data")
    assert "- left out, because the folder has no file of it: 2002" in done.stdout
    assert "has no file of it: 2002" in done.stderr
    assert "## Trained on 2003, tested on 2004" in done.stdout
    assert "| **cannot be checked** |" in done.stdout
    message = novelty(tmp_path / "data", "--train", "2002", code=2).stderr
    assert message.startswith("Error: cannot train on 2002")


@pytest.mark.slow
def test_unknown_judged_sentences_are_counted_and_listed(tmp_path):
    miniature.write(tmp_path, ("2003", "2004"))
    with next(tmp_path.rglob("04.qrels.relevant")).open("a") as qrels:
        qrels.writelines(f"N51 NOWHERE:{n}\n" for n in range(7))
    message = "- 2004: 7 relevant sentences that the archive lacks: NOWHERE:0, NOWHERE:1, NOWHERE:2"
    assert message in novelty(tmp_path, "--train", "2003").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 1, "the files of 2003 are incomplete: add qrels.relevant.03.txt (judgements)"),
        (("-o", "out.txt"), 2, "-o needs a file name that ends in .md or .json, not out.txt"),
        (("--grid", "muh=1"), 2, "unknown parameter to tune 'muh': did you mean 'mu'?"),
    ],
)
def test_a_wrong_call_is_one_line(tmp_path, arguments, code, message):
    miniature.write(tmp_path, ("2003",))
    next(tmp_path.rglob("qrels.relevant.03.txt")).unlink()
    done = novelty(tmp_path, *arguments, code=code)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_an_archive_with_paths_outside_its_folder_is_rejected(tmp_path):
    miniature.write(tmp_path / "data", ("2002",), add={"../../../escaped": b"bad"})
    done = novelty(tmp_path / "data", "--work", tmp_path / "work", code=1)
    assert "rejected: '../../../escaped' is a path outside of the folder" in done.stderr
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.slow
def test_the_docs_say_that_the_data_is_not_included():
    page = Path(__file__, "../../../docs/reproduce.md").resolve().read_text("utf-8")
    assert "made-up miniature" in page
    assert all(name in page for names in NAMES.values() for name in names)


def test_a_plan_names_what_both_engines_need(esr: Esr) -> None:
    result = esr("capacity", "--sentences", "1e8", "--queries-per-second", "50")
    assert result.exit_code == 0
    folder, elasticsearch = result.stdout.strip().split("\n\n")
    assert folder.startswith("folder\n")
    assert "ESR_WORKERS=" in folder
    assert "shards" in elasticsearch
    assert "~" in folder


def test_a_plan_for_programs_has_numbers(esr: Esr) -> None:
    engines = json.loads(esr("capacity", "--sentences", "2000000", "--json").stdout)
    assert [engine["engine"] for engine in engines] == ["folder", "Elasticsearch"]
    disk = next(need for need in engines[0]["needs"] if need["name"] == "disk")
    assert disk["unit"] == "B"
    assert disk["is_measured"] is True


def test_a_plan_needs_a_number_of_sentences(esr: Esr) -> None:
    result = esr("capacity", "--sentences", "many")
    assert result.exit_code == 2
    assert "'many' is not a valid float range" in result.stderr
