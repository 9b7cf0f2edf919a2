"""The query language on the command line: what is found, what is said, how it is switched off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr

SENTENCES = [
    "The White House burned.",
    "A house is white.",
    "Climate models of the White House.",
    "Storms and the climatic change.",
]


@pytest.fixture
def news(esr: Esr, tmp_path: Path) -> Path:
    lines = [
        {"id": "a", "title": "Fire", "source": "BBC", "sentences": [{"text": text} for text in SENTENCES]},
        {"id": "b", "source": "AP", "date": "2017-03-05", "text": "The white house again."},
    ]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "news").exit_code == 0
    return tmp_path / "news"


def ids(esr: Esr, news: Path, *args: str) -> set[str]:
    result = esr(
        "search", *args, "--index", news, "--candidates", "matching", "--no-fold", "--no-passages", "--json"
    )
    assert result.exit_code == 0, result.output
    return {hit["sentence_id"] for hit in json.loads(result.stdout)["hits"]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("white house", {"a.s0", "a.s1", "a.s2", "b.s0"}),
        ('"white house"', {"a.s0", "a.s2", "b.s0"}),
        ('"house white"', set()),
        ('"white house" -climate', {"a.s0", "b.s0"}),
        ("climat*", {"a.s2", "a.s3"}),
        ("white source:bbc", {"a.s0", "a.s1", "a.s2"}),
        ("house after:2017-03", {"b.s0"}),
        ("title:fire storm", {"a.s3"}),
    ],
)
def test_a_query_lets_through_what_it_says(esr: Esr, news: Path, query: str, expected: set[str]) -> None:
    assert ids(esr, news, query) == expected


def test_every_word_can_be_required(esr: Esr, news: Path) -> None:
    assert ids(esr, news, "white climate", "--require", "all") == {"a.s2"}


def test_the_language_can_be_switched_off(esr: Esr, news: Path) -> None:
    assert ids(esr, news, '"white house" -climate', "--literal") == {"a.s0", "a.s1", "a.s2", "a.s3", "b.s0"}


def test_it_is_said_how_a_query_was_read(esr: Esr, news: Path) -> None:
    result = esr("search", 'the "white house" -climate "hail', "--index", news)
    assert result.stderr.splitlines() == [
        "No sentence has hail; without it:",
        "required: “white house” · excluded: climate · ignored: the",
        "Character 28: This quotation mark has no effect: close it at the end of the phrase.",
    ]


def test_plain_words_need_no_comment(esr: Esr, news: Path) -> None:
    assert esr("search", "white climate", "--index", news).stderr == ""


def test_sentences_with_all_words_and_with_any_are_counted(esr: Esr, news: Path) -> None:
    counts = esr(
        "search", "white climate", "--index", news, "--no-fold", "--no-passages"
    ).stdout.splitlines()[-1]
    assert counts.startswith("5 of 5 candidates, 1 sentences with all words, 5 with any, ")
    one = esr("search", "white", "--index", news, "--no-fold", "--no-passages").stdout.splitlines()[-1]
    assert one.startswith("5 of 5 candidates, 4 sentences with the word, ")


def test_json_has_what_was_understood_with_its_places(esr: Esr, news: Path) -> None:
    query = json.loads(esr("search", '+white -"the house"', "--index", news, "--json").stdout)["query"]
    assert query == {
        "groups": [
            {
                "reading": "required",
                "start": 0,
                "end": 6,
                "clauses": [{"field": "text", "form": "word", "text": "white"}],
                "reason": None,
            },
            {
                "reading": "excluded",
                "start": 7,
                "end": 19,
                "clauses": [{"field": "text", "form": "phrase", "text": "the house"}],
                "reason": None,
            },
        ],
        "notes": [],
        "all_words": 4,
        "any_word": 4,
        "suggestions": [],
        "corrected": None,
    }


def test_an_unknown_source_is_told_with_the_nearest(esr: Esr, news: Path) -> None:
    result = esr("search", "white source:bbcc", "--index", news)
    assert result.exit_code == 0
    assert "unknown source 'bbcc': did you mean 'BBC'?" in result.stderr


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("NOT white", "the query only excludes: give at least one word to search for"),
        ("the of", "the query has only stop words"),
    ],
)
def test_a_query_that_asks_for_nothing_is_refused(esr: Esr, news: Path, query: str, problem: str) -> None:
    result = esr("search", query, "--index", news)
    assert result.exit_code != 0
    assert problem in result.stderr


def test_topics_are_plain_words_unless_syntax_is_asked_for(esr: Esr, news: Path, tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text('q\t"white house" -climate\n')
    command = ("run", tmp_path / "topics.tsv", "--index", news, "--candidates", "matching", "-o", "-")
    literal, syntax = esr(*command).stdout, esr(*command, "--syntax").stdout
    assert [len(text.splitlines()) for text in (literal, syntax)] == [5, 2]


def test_a_sentence_is_explained_by_the_same_query(esr: Esr, news: Path) -> None:
    result = esr("explain", '"white house" -climate', "a.s0", "--index", news, "--json")
    condition = json.loads(result.stdout)["plan"]["condition"]
    assert condition == {
        "is": "AllOf",
        "conditions": [
            {"is": "HasWords", "words": ["white", "house"], "field": "sentence"},
            {"is": "Not", "condition": {"is": "HasTerm", "term": "climat"}},
        ],
    }
