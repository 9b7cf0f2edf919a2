"""Every worked score, from `esr load` and `esr run` to the lines of the run."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import ir_measures
import pytest
from click.testing import CliRunner

from esr.cli.main import main
from tests.cli.conftest import Esr
from tests.lab.conftest import NOVELTY
from tests.support import worked_examples as worked

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
    assert "'nar'" in message and "'narr'" in message
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
        "skipped: topic 3 has no title: it has desc",
        "skipped: topic 2: --restrict names no document for it",
    ]
    assert "for 1 topic to x.run" in done.stdout
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
        "1 of 3 judged topics without a relevant sentence (score 0): N3",
        "a lacks 2 of 3 judged topics (score 0): N2, N3",
        "a answers 1 topic without judgements (ignored): N7",
    ]


def test_judged_sentences_missing_in_the_index_are_counted_and_listed(folder):
    esr("load", "docs.sgml", "--index", "index")
    Path("qrels").write_text(QRELS + "".join(f"N2 X:{n}\n" for n in range(7)))
    write("a.run", N1="a:1", N2="a:1")
    warning = esr("evaluate", "qrels", "a.run", "--index", "index").stderr
    assert warning == "index lacks 7 of 11 judged sentences: X:0, X:1, X:2, X:3, X:4, …\n"


def test_a_pool_has_what_judges_read_and_its_judgements_can_be_compared(folder):
    esr("load", "docs.sgml", "--index", "index")
    arguments = ("topics.sgml", "--index", "index", "-k", "4", "-o")
    for model in ("2si", "tfisf"):
        esr("run", *arguments, f"{model}.run", "--model", model)
    make = ("pool", "2si.run", "tfisf.run", "--depth", "2", "--index", "index")
    make += ("--topics", "topics.sgml", "-o")
    assert "of 2 topics to pool.jsonl" in esr(*make, "pool.jsonl").stdout
    lines = [json.loads(line) for line in Path("pool.jsonl").read_text().splitlines()]
    pairs = [(line["topic"], line["sentence_id"]) for line in lines]
    assert len(pairs) == len(set(pairs)) <= 8 and {topic for topic, _ in pairs} == {"N1", "N2"}
    assert lines[0]["query"] and all(line["text"] in DOCUMENTS for line in lines)
    assert set(lines[0]) <= {"topic", "query", "sentence_id", "text", "previous", "next", "date"}
    left = esr(*make, "-", "--qrels", "qrels").stdout.splitlines()
    assert 0 < len(left) < len(lines)

    for name, last in (("a", 2), ("b", 1)):
        grades = [0] * (len(pairs) - 1) + [last]
        judged = [f"{t} 0 {s} {grade}\n" for (t, s), grade in zip(pairs, grades, strict=True)]
        Path(f"{name}.qrels").write_text("".join(judged))
    printed = esr("agreement", "a.qrels", "b.qrels").stdout
    assert f"{len(pairs)} sentences judged by both, 0 by the first alone" in printed
    assert "100.0% the same, kappa 1.000" in printed
    data = json.loads(esr("agreement", "a.qrels", "b.qrels", "--json").stdout)
    assert (data["kappa"], data["grades"], data["counts"][2]) == (1.0, [0, 1, 2], [0, 1, 0])


def test_a_pool_of_sentences_that_the_index_lacks_is_refused(folder):
    esr("load", "docs.sgml", "--index", "index")
    write("other.run", N1="XIE20010101.0001:1:2 nowhere:1:1")
    printed = esr("pool", "other.run", "--index", "index", "-o", "pool.jsonl", code=2).output
    assert "index lacks 1 of the sentences, such as nowhere:1" in printed
    assert not Path("pool.jsonl").exists()


def test_condensed_runs_ignore_what_nobody_judged(folder):
    write("a.run", N1="nowhere:1:3 XIE20010101.0001:1:2", N2="XIE20010104.0004:1:1")
    values = [
        json.loads(esr("evaluate", "qrels", "a.run", "-m", "RR Bpref", "--json", *more).stdout)[0]["measures"]
        for more in ((), ("--condensed",))
    ]
    assert [each["RR"] for each in values] == [0.75, 1.0]
    assert values[0]["Bpref"] == values[1]["Bpref"]


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


Run = dict[str, list[tuple[str, int, float, str]]]


def parsed(path: Path) -> Run:
    """(sentence, rank, score, tag) by topic."""
    run_lines: Run = {}
    for line in path.read_text().splitlines():
        topic, q0, sentence, rank, score, tag = line.split(" ")
        assert q0 == "Q0"
        run_lines.setdefault(topic, []).append((sentence, int(rank), float(score), tag))
    return run_lines


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.fixture
def written_run(esr: Esr, index: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs topics from text; the run is written to `out.run`."""

    def run(topics: str | bytes, *options: object, index: Path = index):  # type: ignore[no-untyped-def]
        path = tmp_path / "topics.tsv"
        path.write_bytes(topics if isinstance(topics, bytes) else topics.encode())
        return esr("run", path, "--index", index, "-o", tmp_path / "out.run", *options)

    return run


def test_ties_are_broken_in_collection_order(written_run, tmp_path: Path) -> None:
    result = written_run("q\tchina\n", "--model", "tfisf", "--candidates", "all")
    assert result.exit_code == 0
    lines = parsed(tmp_path / "out.run")["q"]
    assert [sentence for sentence, *_ in lines] == [
        "D1.1",
        "D2.1",
        "D2.2",
        "D3.1",
        "D1.2",
        "D1.3",
        "D2.3",
        "D3.2",
    ]
    falling = [score for _, _, score, _ in lines]
    assert all(a > b for a, b in pairwise(falling))
    # They are set apart by the smallest step, so nobody mistakes them for different.
    assert falling[0] - falling[3] < 1e-15


def test_topics_keep_their_order_and_k_limits_each(written_run, tmp_path: Path) -> None:
    written_run("z\tchina\na\trelief\n", "-k", 2)
    run_lines = parsed(tmp_path / "out.run")
    assert [(topic, len(lines)) for topic, lines in run_lines.items()] == [("z", 2), ("a", 2)]


def test_a_tag_is_the_last_column(written_run, tmp_path: Path) -> None:
    written_run("q\tchina\n", "--tag", "mine")
    assert {line[3] for line in parsed(tmp_path / "out.run")["q"]} == {"mine"}


@pytest.mark.parametrize("tag", ["", "two words", " x", "a\tb"])
def test_a_tag_must_be_one_word(written_run, tmp_path: Path, tag: str) -> None:
    result = written_run("q\tchina\n", "--tag", tag)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: a tag must be one word")
    assert not (tmp_path / "out.run").exists()


def test_a_restriction_ranks_only_a_topics_documents(written_run, tmp_path: Path) -> None:
    (tmp_path / "restrict.tsv").write_text("q\tD2\nq\tD3\nother\tD1\nq\tD2\n")
    options = ["--restrict", tmp_path / "restrict.tsv", "--candidates", "all"]
    result = written_run("q\tchina\nother\tchina\nnone\tchina\n", *options)
    assert result.exit_code == 0
    run_lines = parsed(tmp_path / "out.run")
    assert {s for s, *_ in run_lines["q"]} == {"D2.1", "D2.2", "D2.3", "D3.1", "D3.2"}
    assert {s for s, *_ in run_lines["other"]} == {"D1.1", "D1.2", "D1.3"}
    assert "none" not in run_lines
    assert "skipped: topic none: --restrict names no document" in result.stderr


def test_a_restriction_does_not_change_scores(written_run, tmp_path: Path) -> None:
    written_run("q\tchina relief\n", "--candidates", "all")
    everything = {sentence: score for sentence, _, score, _ in parsed(tmp_path / "out.run")["q"]}
    (tmp_path / "restrict.tsv").write_text("q\tD2\n")
    written_run("q\tchina relief\n", "--candidates", "all", "--restrict", tmp_path / "restrict.tsv")
    for sentence, _, score, _ in parsed(tmp_path / "out.run")["q"]:
        assert score == pytest.approx(everything[sentence], rel=1e-12)


def test_filters_apply_to_a_run(written_run, tmp_path: Path) -> None:
    written_run("q\tchina\n", "--document", "D2", "--candidates", "all")
    assert {s for s, *_ in parsed(tmp_path / "out.run")["q"]} == {"D2.1", "D2.2", "D2.3"}


def test_a_topic_without_search_terms_is_skipped_and_reported(esr: Esr, written_run, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "The storm."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "english")
    result = written_run("q1\tthe of\nq2\tstorm\nq3\t?!\n", index=tmp_path / "english")
    assert result.exit_code == 0
    assert list(parsed(tmp_path / "out.run")) == ["q2"]
    warnings = result.stderr.splitlines()
    assert [line.split(":")[1] for line in warnings] == [" topic q1", " topic q3"]
    assert "stop words" in warnings[0]


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ("q1\tchina\nno tab here\n", "topics.tsv:2: "),
        ("q1\tchina\n\n\n\tchina\n", "topics.tsv:4: "),
        ("q1\tchina\nq2\tx\nq1\trelief\n", "topics.tsv:3: "),
        ("", "topics.tsv"),
        ("\n \n", "topics.tsv"),
        (b"q1\tcaf\xe9\n", "topics.tsv"),
    ],
    ids=["no tab", "no id", "an id twice", "empty", "blank", "not UTF-8"],
)
def test_bad_topics_are_rejected_with_their_place(
    written_run, tmp_path: Path, topics: str | bytes, message: str
) -> None:
    result = written_run(topics)
    assert result.exit_code in (1, 2)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ") and message in line
    assert result.stdout == ""
    assert not (tmp_path / "out.run").exists()


def test_missing_files_of_topics_and_restrictions_are_rejected(
    esr_error: Esr, index: Path, topics: Path, tmp_path: Path
) -> None:
    out, none = tmp_path / "out.run", tmp_path / "none.tsv"
    assert "none.tsv" in str(esr_error("run", none, "--index", index, "-o", out))
    assert "none.tsv" in str(esr_error("run", topics, "--index", index, "-o", out, "--restrict", none))
    assert not out.exists()


def test_windows_line_ends_and_a_byte_order_mark_are_read(written_run, tmp_path: Path) -> None:
    assert written_run(b"\xef\xbb\xbfq1\tchina\r\nq2\trelief\r\n").exit_code == 0
    assert list(parsed(tmp_path / "out.run")) == ["q1", "q2"]


def test_a_failed_run_leaves_the_old_file(
    written_run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from esr.errors import EngineUnreachable
    from esr.ranking.searcher import Searcher

    (tmp_path / "out.run").write_text("old\n")
    search = Searcher.search

    def breaks(self: Searcher, query: str, *args: object, **kwargs: object) -> object:
        if query == "relief":
            raise EngineUnreachable("gone")
        return search(self, query, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Searcher, "search", breaks)
    result = written_run("q1\tchina\nq2\trelief\n")
    assert (result.exit_code, result.stderr) == (1, "Error: gone\n")
    assert (tmp_path / "out.run").read_text() == "old\n"
    assert not [*tmp_path.glob("out.run.*")]


def test_an_incomplete_answer_stops_the_run(
    written_run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from esr.ranking.prepared_query import Answer
    from esr.ranking.searcher import Searcher

    monkeypatch.setattr(
        Searcher, "search", lambda self, query, *_, **__: Answer([], 0, 0.0, (), "1 of 3 shards failed")
    )
    result = written_run("q1\tchina\n")
    assert result.exit_code == 1
    assert "topic q1: the answer is incomplete: 1 of 3 shards failed" in result.stderr
    assert not (tmp_path / "out.run").exists()


def test_an_unwritable_output_is_rejected(esr: Esr, index: Path, topics: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "no" / "out.run", tmp_path):
        result = esr("run", topics, "--index", index, "-o", out)
        assert result.exit_code == 1
        assert result.stderr.startswith(f"Error: cannot write {out}: ")


def test_a_dash_prints_only_the_run(esr: Esr, index: Path, topics: Path) -> None:
    result = esr("run", topics, "--index", index, "-o", "-", "-k", 1)
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["Q1", "Q2"]
    assert result.stderr == ""


def test_a_run_is_reproducible(written_run, tmp_path: Path) -> None:
    written_run("q\tchina relief\n")
    first = (tmp_path / "out.run").read_bytes()
    written_run("q\tchina relief\n")
    assert (tmp_path / "out.run").read_bytes() == first


def test_a_saved_ranking_gives_the_run_of_its_options(
    esr: Esr, written_run, index: Path, tmp_path: Path
) -> None:
    from esr.ranking.ranking import Ranking

    (tmp_path / "ranking.json").write_text(json.dumps(Ranking("bm25f", "both", {"k1": 2}).as_dict()))
    written_run("q\tchina relief\n", "--ranking", tmp_path / "ranking.json")
    saved = (tmp_path / "out.run").read_text()
    written_run("q\tchina relief\n", "--model", "bm25f", "--context", "both", "--set", "k1=2")
    assert (tmp_path / "out.run").read_text() == saved
