import gzip
import json
from pathlib import Path

import ir_measures
import pytest
from click.testing import CliRunner

from esr.cli.main import main
from tests.lab.conftest import NOVELTY

# Made up: sentences as the Novelty track tags them, and the judgements and documents of its topics.
DOCUMENTS = """\
<s docid="XIE20010101.0001" num="1"> The dockers of the harbour began a strike.</s>
<s docid="XIE20010101.0001" num="2"> The weather was mild.</s>
<s docid="NYT20010102.0002" num="1"> Ships left the harbour empty.</s>
<s docid="NYT20010102.0002" num="2"> A strike of teachers began elsewhere.</s>
<s docid="APW20010103.0003" num="1"> The strike in the harbour is over.</s>
<s docid="XIE20010104.0004" num="1"> Many call the toll on the bridge unfair.</s>
<s docid="XIE20010104.0004" num="2"> The bridge is old.</s>
<s docid="XIE20010105.0005" num="1"> Another harbour, another strike, another bridge toll.</s>
"""
QRELS = """\
N1 XIE20010101.0001:1
N1 NYT20010102.0002:1
N1 APW20010103.0003:1
N2 XIE20010104.0004:1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.sgml").write_text(NOVELTY)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "docs.sgml").write_text(DOCUMENTS)
    return tmp_path


def esr(*arguments, code=0, input=None):
    result = CliRunner().invoke(main, list(arguments), input=input)
    assert result.exit_code == code, result.output
    return result


def write(path, **scores):
    """A run: `N1="a:3 b:2"` scores sentence a of topic N1 with 3."""
    lines = [
        f"{topic} Q0 {pair.rpartition(':')[0]} 0 {pair.rpartition(':')[2]} {Path(path).stem}\n"
        for topic, pairs in scores.items()
        for pair in pairs.split()
    ]
    Path(path).write_text("".join(lines))


def test_from_the_files_of_the_novelty_track_to_figures(folder):
    esr("load", "docs.sgml", "--index", "index")
    for model in ("2si", "tfisf"):
        done = esr(
            *("run", "topics.sgml", "--index", "index", "--restrict", "topics", "--model", model),
            *("--tag", model, "-o", f"{model}.run"),
        )
        assert "for 2 topics" in done.output
    assert "XIE20010105.0005" not in Path("2si.run").read_text()
    arguments = ("evaluate", "qrels", "2si.run", "tfisf.run", "--by", "topics.sgml", "--index", "index")
    results = json.loads(esr(*arguments, "--json").stdout)
    assert [entry["run"] for entry in results] == ["2si", "tfisf"]
    assert set(results[0]["types"]) == {"event", "opinion"}
    assert results[0]["measures"]["RR"] == 1.0
    assert esr(*arguments).stderr == ""


def test_another_field_of_the_topics_can_be_searched_for(folder):
    esr("load", "docs.sgml", "--index", "index")
    arguments = ("run", "topics.sgml", "--index", "index", "--model", "tfisf", "-o", "-")

    def search(*more):
        lines = esr(*arguments, *more).stdout.splitlines()
        return {line.split()[2] for line in lines if line.startswith("N2")}

    # Only the title of N2 has the word "bridge"; its description has "people" and "toll".
    assert "XIE20010104.0004:2" in search()
    assert "XIE20010104.0004:2" not in search("--field", "desc")
    assert search("--field", "title+desc") == search() | search("--field", "desc")


def test_topics_without_the_field_are_rejected(folder):
    esr("load", "docs.sgml", "--index", "index")
    Path("topics.tsv").write_text("1\tstrike\n")
    arguments = ("run", "topics.tsv", "--index", "index", "-o", "x.run")
    message = esr(*arguments, "--field", "nar", code=2).stderr
    assert message == "Error: unknown field of a topic 'nar': did you mean 'narr'?\n"
    assert "topic 1 has no desc: it has title" in esr(*arguments, "--field", "desc", code=2).stderr
    assert "no topic names documents" in esr(*arguments, "--restrict", "topics", code=2).stderr
    assert not Path("x.run").exists()


def test_a_topic_without_the_field_is_skipped_and_reported(folder):
    esr("load", "docs.sgml", "--index", "index")
    lines = [
        '{"id": 1, "title": "strike", "documents": ["XIE20010101.0001"]}',
        '{"id": 2, "title": "bridge"}',
    ]
    Path("topics.jsonl").write_text("\n".join([*lines, '{"id": 3, "desc": "toll"}']))
    done = esr("run", "topics.jsonl", "--index", "index", "--restrict", "topics", "-o", "x.run")
    assert done.stderr.splitlines() == [
        "skipped topic 3: topic 3 has no title: it has desc",
        "skipped topic 2: --restrict names no document for it",
    ]
    assert "for 1 topics to x.run" in done.stdout
    assert {line.split()[0] for line in Path("x.run").read_text().splitlines()} == {"1"}


def test_figures_are_those_of_ir_measures(folder):
    write("a.run", N1="XIE20010101.0001:1:1.5 x:2 NYT20010102.0002:1:0.3", N2="XIE20010104.0004:1:1")
    (results,) = json.loads(esr("evaluate", "qrels", "a.run", "--json").stdout)
    judged = {}
    for line in QRELS.splitlines():
        judged.setdefault(line.split()[0], {})[line.split()[1]] = 1
    for name, value in results["measures"].items():
        measure = ir_measures.parse_measure(name)
        run = ir_measures.read_trec_run("a.run")
        assert value == ir_measures.calc_aggregate([measure], judged, run)[measure]
    assert list(results["measures"]) == ["P@10", "AP", "RPrec", "RR", "nDCG@10", "R@1000"]


def test_topics_missing_in_run_or_judgements_are_reported(folder):
    Path("qrels").write_text("N1 0 a 1\nN2 0 b 1\nN3 0 a 0\n")
    write("a.run", N1="a:1", N7="a:1")
    done = esr("evaluate", "qrels", "a.run", "-m", "AP", "--json", "--per-topic")
    (results,) = json.loads(done.stdout)
    assert results["measures"] == {"AP": 1 / 3}
    assert results["topics"] == {"N1": {"AP": 1.0}, "N2": {"AP": 0.0}, "N3": {"AP": 0.0}}
    assert done.stderr.splitlines() == [
        "qrels has no relevant sentence for 1 of 3 topics, which score 0: N3",
        "a.run lacks 2 of 3 topics, which score 0: N2, N3",
        "a.run: no judgements for 1 of 2 topics, which are ignored: N7",
    ]


def test_judged_sentences_missing_in_the_index_are_counted_and_listed(folder):
    esr("load", "docs.sgml", "--index", "index")
    Path("qrels").write_text(QRELS + "".join(f"N2 X:{n}\n" for n in range(7)))
    write("a.run", N1="a:1", N2="a:1")
    warning = esr("evaluate", "qrels", "a.run", "--index", "index").stderr
    assert warning == "index lacks 7 of 11 judged sentences: X:0, X:1, X:2, X:3, X:4, …\n"


def test_a_baseline_may_be_among_the_runs(folder):
    write("a.run", N1="XIE20010101.0001:1:2", N2="XIE20010104.0004:1:1")
    write("b.run", N1="x:2", N2="XIE20010104.0004:1:1")
    for runs in (["a.run"], ["a.run", "b.run"], ["b.run", "a.run"]):
        results = json.loads(esr("evaluate", "qrels", *runs, "--baseline", "./b.run", "--json").stdout)
        assert [entry["run"] for entry in results] == ["b", "a"]
        assert [entry.get("baseline") for entry in results] == [True, None]
        assert results[1]["significance"]["AP"]["wins"] == 1
    assert "differs from b" in esr("evaluate", "qrels", "a.run", "--baseline", "b.run").stdout


def test_the_same_command_prints_the_same(folder):
    write("a.run", **{f"N{n}": "XIE20010101.0001:1:2" for n in range(30)})
    write("b.run", **{f"N{n}": "x:2" for n in range(30)})
    Path("qrels").write_text("".join(f"N{n} XIE20010101.0001:{n % 2 + 1}\n" for n in range(30)))
    arguments = ("evaluate", "qrels", "a.run", "--baseline", "b.run", "--csv")
    assert esr(*arguments).stdout == esr(*arguments).stdout
    assert esr(*arguments, "--seed", "1").stdout != esr(*arguments).stdout


def test_runs_with_the_same_tag_are_named_by_their_files(folder):
    write("a.run", N1="a:1", N2="a:1")
    Path("copy.run").write_text(Path("a.run").read_text())
    results = json.loads(esr("evaluate", "qrels", "a.run", "copy.run", "--json").stdout)
    assert [entry["run"] for entry in results] == ["a.run", "copy.run"]


def test_packed_files_and_standard_input_are_read(folder):
    write("a.run", N1="a:1", N2="XIE20010104.0004:1:1")
    Path("qrels.gz").write_bytes(gzip.compress(QRELS.encode()))
    results = json.loads(
        esr("evaluate", "qrels.gz", "-", "-m", "RR", "--json", input=Path("a.run").read_text()).stdout
    )
    assert results == [{"run": "a", "measures": {"RR": 0.5}}]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["qrels", "a.run", "-m", "ndcg@10"], 2, "unknown measure 'ndcg': did you mean 'nDCG'?"),
        (["qrels", "a.run", "-m", " "], 2, "no measure given"),
        (["qrels", "a.run", "--csv", "--json"], 2, "--csv and --json exclude each other"),
        (["qrels", "bad.run"], 1, "bad.run:2: expected qid Q0 sentence_id rank score tag"),
        (["bad.run", "a.run"], 1, "bad.run:1: expected qid 0 sentence_id grade"),
        (["qrels", "none"], 1, "none: cannot be read"),
        (["qrels", "a.run", "--by", "a.run"], 1, "a.run:1: expected qid<TAB>type"),
        (["qrels", "a.run", "--index", "none"], 1, "none"),
        (["qrels"], 2, "RUN..."),
    ],
)
def test_a_wrong_call_is_one_line(folder, arguments, code, message):
    write("a.run", N1="a:1", N2="a:1")
    Path("bad.run").write_text("N1 Q0 a 1 2 x\nN1 Q0 b 2 1\n")
    done = esr("evaluate", *arguments, code=code)
    assert message in done.stderr
    assert done.stdout == ""
