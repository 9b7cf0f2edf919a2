"""Invalid arguments give one line that says what to do, and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr

RANKING: list[tuple[list[str], str]] = [
    (["--model", "bm52"], "unknown model 'bm52': did you mean 'bm25'"),
    (["--set", "mi=3"], "unknown parameter of 2si 'mi': did you mean 'mu'"),
    (["--set", "mu"], "--set needs NAME=VALUE, not 'mu'"),
    (["--set", "=3"], "--set needs NAME=VALUE, not '=3'"),
    (["--set", "mu=-1"], "parameter 'mu' must be a number in (0, inf), not '-1'"),
    (["--set", "lambda=1.5"], "parameter 'lambda' must be a number in [0, 1], not '1.5'"),
    (["--set", "mu=many"], "parameter 'mu' must be a number"),
    (["--set", "lambda=0.9"], "lambda + nu must be at most 1"),
    (["--model", "3mm", "--set", "lambda=0.8"], "lambda + gamma + nu must be below 1"),
    (["--model", "3mm", "--set", "form=flt"], "parameter 'form' must be one of flat | flat_jm | nested"),
    (["--context", "docment"], "unknown context 'docment': did you mean 'document'"),
    (["--model", "bm25", "--context", "both"], "model 'bm25' uses the sentence alone"),
    (["--context", "document", "--set", "nu=0.1"], "needs --context both"),
    (["--prior", "importnce"], "unknown prior 'importnce': did you mean 'importance'"),
    (["--prior", "length:long"], "the weight of prior 'length' must be a finite number, not 'long'"),
    (["--prior", "length:nan"], "the weight of prior 'length' must be a finite number"),
    (["--candidates", "every"], "unknown candidates 'every'"),
    (["--ranking", "/nowhere/r.json"], "/nowhere/r.json: cannot be read"),
]


@pytest.mark.parametrize(
    ("options", "message"), RANKING, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_bad_ranking_is_rejected_by_every_command_that_ranks(
    esr_error: Esr, index: Path, topics: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    out = tmp_path / "out.run"
    for command in (
        ["search", "china"],
        ["explain", "china", "D1.1"],
        ["run", topics, "-o", out],
    ):
        assert message in str(esr_error(*command, "--index", index, *options))
    assert not out.exists() and not [*tmp_path.glob("out.run.*")]


def test_a_bad_key_in_a_ranking_file_is_rejected_with_the_files_name(
    esr_error: Esr, index: Path, tmp_path: Path
) -> None:
    file = tmp_path / "ranking.json"
    file.write_text(json.dumps({"modle": "2si"}))
    line = str(esr_error("search", "china", "--index", index, "--ranking", file))
    assert line == f"{file}: unknown ranking key 'modle': did you mean 'model'?"


@pytest.mark.parametrize(
    ("query", "message"),
    [("", "the query is empty"), ("  ", "the query is empty"), ("?!", "the query has no words")],
)
def test_a_query_without_words_is_rejected(esr_error: Esr, index: Path, query: str, message: str) -> None:
    for command in (["search", query], ["explain", query, "D1.1"]):
        assert message in str(esr_error(*command, "--index", index))


def test_a_query_of_stop_words_is_rejected(esr: Esr, esr_error: Esr, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "The storm."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "index")
    line = str(esr_error("search", "the of", "--index", tmp_path / "index"))
    assert line == "the query has only stop words: give at least one word to search for"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--from", "yesterday"], "--from needs an ISO 8601 date such as 2017-02-28, not 'yesterday'"),
        (["--to", "2017-13"], "--to needs an ISO 8601 date"),
        (["--to", ""], "--to needs an ISO 8601 date"),
    ],
)
def test_a_bad_date_is_rejected(esr_error: Esr, index: Path, options: list[str], message: str) -> None:
    assert message in str(esr_error("search", "china", "--index", index, *options))


def test_an_unknown_sentence_is_rejected(esr_error: Esr, index: Path) -> None:
    assert "there is no sentence 'D9.9'" in str(esr_error("explain", "china", "D9.9", "--index", index))


def test_arguments_that_are_not_utf_8_break_nothing(esr: Esr, esr_error: Esr, index: Path) -> None:
    assert "there is no sentence" in str(esr_error("explain", "china", "D1\udcff", "--index", index))
    assert esr("search", "china \udcff", "--index", index).exit_code == 0
    filtered = esr("search", "china", "--index", index, "--document", "D1\udcff", "--source", "\udcff")
    assert filtered.exit_code == 0 and "0 of 0" in filtered.output


COMMANDS = [["search", "x"], ["explain", "x", "y"], ["status"], ["query", "x"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_rejects_a_place_without_an_index(
    esr_error: Esr, tmp_path: Path, command: list[str]
) -> None:
    assert "there is no index at" in str(esr_error(*command, "--index", tmp_path / "none"))
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    assert "is not an index" in str(esr_error(*command, "--index", tmp_path / "letters"))
    assert "is a file" in str(esr_error(*command, "--index", tmp_path / "letters" / "a.txt"))
    assert "is neither a folder nor http" in str(esr_error(*command, "--index", "ftp://x/y"))


def test_a_run_of_a_missing_index_writes_nothing(esr_error: Esr, topics: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.run"
    assert "there is no index at" in str(esr_error("run", topics, "--index", tmp_path / "none", "-o", out))
    assert not out.exists() and not [*tmp_path.glob("out.run.*")]


def test_a_missing_index_option_is_reported(esr: Esr) -> None:
    result = esr("search", "china")
    assert result.exit_code == 2
    assert "--index" in result.stderr and "ESR_INDEX" in result.stderr


@pytest.mark.parametrize("k", ["0", "-1", "ten", "1000000000"])
def test_a_bad_number_of_sentences_is_rejected(esr: Esr, index: Path, k: str) -> None:
    result = esr("search", "china", "--index", index, "-k", k)
    assert result.exit_code == 2
    assert result.stdout == "" and "Error: Invalid value for '-k'" in result.stderr
