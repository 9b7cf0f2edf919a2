from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import Esr
from tests.cli.test_worked import parsed


@pytest.fixture
def run(esr: Esr, index: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs topics from text; the run is written to `out.run`."""

    def run(topics: str | bytes, *options: object, index: Path = index):  # type: ignore[no-untyped-def]
        path = tmp_path / "topics.tsv"
        path.write_bytes(topics if isinstance(topics, bytes) else topics.encode())
        return esr("run", path, "--index", index, "-o", tmp_path / "out.run", *options)

    return run


def test_ties_are_broken_in_collection_order(run, tmp_path: Path) -> None:
    result = run("q\tchina\n", "--model", "tfisf", "--candidates", "all")
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


def test_topics_keep_their_order_and_k_limits_each(run, tmp_path: Path) -> None:
    run("z\tchina\na\trelief\n", "-k", 2)
    run_lines = parsed(tmp_path / "out.run")
    assert [(topic, len(lines)) for topic, lines in run_lines.items()] == [("z", 2), ("a", 2)]


def test_a_tag_is_the_last_column(run, tmp_path: Path) -> None:
    run("q\tchina\n", "--tag", "mine")
    assert {line[3] for line in parsed(tmp_path / "out.run")["q"]} == {"mine"}


@pytest.mark.parametrize("tag", ["", "two words", " x", "a\tb"])
def test_a_tag_must_be_one_word(run, tmp_path: Path, tag: str) -> None:
    result = run("q\tchina\n", "--tag", tag)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: a tag must be one word")
    assert not (tmp_path / "out.run").exists()


def test_a_restriction_ranks_only_a_topics_documents(run, tmp_path: Path) -> None:
    (tmp_path / "restrict.tsv").write_text("q\tD2\nq\tD3\nother\tD1\nq\tD2\n")
    options = ["--restrict", tmp_path / "restrict.tsv", "--candidates", "all"]
    result = run("q\tchina\nother\tchina\nnone\tchina\n", *options)
    assert result.exit_code == 0
    run_lines = parsed(tmp_path / "out.run")
    assert {s for s, *_ in run_lines["q"]} == {"D2.1", "D2.2", "D2.3", "D3.1", "D3.2"}
    assert {s for s, *_ in run_lines["other"]} == {"D1.1", "D1.2", "D1.3"}
    assert "none" not in run_lines
    assert "skipped topic none: --restrict names no document" in result.stderr


def test_a_restriction_does_not_change_scores(run, tmp_path: Path) -> None:
    run("q\tchina relief\n", "--candidates", "all")
    everything = {sentence: score for sentence, _, score, _ in parsed(tmp_path / "out.run")["q"]}
    (tmp_path / "restrict.tsv").write_text("q\tD2\n")
    run("q\tchina relief\n", "--candidates", "all", "--restrict", tmp_path / "restrict.tsv")
    for sentence, _, score, _ in parsed(tmp_path / "out.run")["q"]:
        assert score == pytest.approx(everything[sentence], rel=1e-12)


def test_filters_apply_to_a_run(run, tmp_path: Path) -> None:
    run("q\tchina\n", "--document", "D2", "--candidates", "all")
    assert {s for s, *_ in parsed(tmp_path / "out.run")["q"]} == {"D2.1", "D2.2", "D2.3"}


def test_a_topic_without_search_terms_is_skipped_and_reported(esr: Esr, run, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "The storm."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "english")
    result = run("q1\tthe of\nq2\tstorm\nq3\t?!\n", index=tmp_path / "english")
    assert result.exit_code == 0
    assert list(parsed(tmp_path / "out.run")) == ["q2"]
    warnings = result.stderr.splitlines()
    assert [line.split(":")[0] for line in warnings] == ["skipped topic q1", "skipped topic q3"]
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
    run, tmp_path: Path, topics: str | bytes, message: str
) -> None:
    result = run(topics)
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


def test_windows_line_ends_and_a_byte_order_mark_are_read(run, tmp_path: Path) -> None:
    assert run(b"\xef\xbb\xbfq1\tchina\r\nq2\trelief\r\n").exit_code == 0
    assert list(parsed(tmp_path / "out.run")) == ["q1", "q2"]


def test_a_failed_run_leaves_the_old_file(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from esr.errors import EngineUnreachable
    from esr.ranking.searcher import Searcher

    (tmp_path / "out.run").write_text("old\n")
    search = Searcher.search

    def breaks(self: Searcher, query: str, *args: object, **kwargs: object) -> object:
        if query == "relief":
            raise EngineUnreachable("gone")
        return search(self, query, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Searcher, "search", breaks)
    result = run("q1\tchina\nq2\trelief\n")
    assert (result.exit_code, result.stderr) == (1, "Error: gone\n")
    assert (tmp_path / "out.run").read_text() == "old\n"
    assert not [*tmp_path.glob("out.run.*")]


def test_an_incomplete_answer_stops_the_run(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from esr.ranking.prepared_query import Answer
    from esr.ranking.searcher import Searcher

    monkeypatch.setattr(
        Searcher, "search", lambda self, query, *_, **__: Answer([], 0, 0.0, (), "1 of 3 shards failed")
    )
    result = run("q1\tchina\n")
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


def test_a_run_is_reproducible(run, tmp_path: Path) -> None:
    run("q\tchina relief\n")
    first = (tmp_path / "out.run").read_bytes()
    run("q\tchina relief\n")
    assert (tmp_path / "out.run").read_bytes() == first


def test_a_saved_ranking_gives_the_run_of_its_options(esr: Esr, run, index: Path, tmp_path: Path) -> None:
    from esr.ranking.ranking import Ranking

    (tmp_path / "ranking.json").write_text(json.dumps(Ranking("bm25f", "both", {"k1": 2}).as_dict()))
    run("q\tchina relief\n", "--ranking", tmp_path / "ranking.json")
    saved = (tmp_path / "out.run").read_text()
    run("q\tchina relief\n", "--model", "bm25f", "--context", "both", "--set", "k1=2")
    assert (tmp_path / "out.run").read_text() == saved
