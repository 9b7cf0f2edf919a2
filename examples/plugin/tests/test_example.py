"""The items of the plug-in, each by itself and as esr uses them. They need the package to be installed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from click.testing import CliRunner

import esr
from esr.cli import main

NEWS = """\
ID: w1
HEAD: Storm
DATE: 2026-01-01
FROM: Wire A

A storm hit the coast. Will the storm return?
$$
ID: w2
HEAD: Flood
FROM: Wire B

The flood followed the storm. Rain fell.
$$
"""


@pytest.fixture
def news(tmp_path: Path) -> Path:
    (tmp_path / "news.wire").write_text(NEWS)
    return tmp_path / "news.wire"


@pytest.fixture
def index(news: Path) -> str:
    where = str(news.with_name("index"))
    esr.load(where, news).close()
    return where


def test_the_format_reads_each_document(index: str) -> None:
    with esr.open(index) as news:
        first, second = news.documents()
    assert (first.id, first.title, first.date, first.source) == ("w1", "Storm", "2026-01-01", "Wire A")
    assert [sentence.text for sentence in second.sentences] == ["The flood followed the storm.", "Rain fell."]


def test_a_line_that_is_no_field_is_reported_with_its_place(news: Path) -> None:
    news.write_text(NEWS.replace("HEAD: Flood", "HEADLINE Flood"))
    with pytest.raises(esr.InputError, match=r"news.wire:8: 'HEADLINE Flood' is no line KEY: value"):
        esr.load(news.with_name("other"), news)


def test_the_model_is_the_logarithm_of_its_formula(index: str) -> None:
    with esr.open(index) as news:
        hits = news.search("storm", model="share", share=0.4)
        sentence, collection = 1 / 3, 3 / news.stats()["occurrences"]
    assert hits[0].score == pytest.approx(math.log(0.6 * sentence + 0.4 * collection))


def test_the_feature_counts_question_marks(index: str) -> None:
    with esr.open(index) as news:
        news.enrich("features")
        (best, *_) = news.search("storm", feature="questions:step:10")
    assert best.text == "Will the storm return?"


def test_the_command_counts_sources(index: str) -> None:
    done = CliRunner().invoke(main, ["sources", "storm", "--index", index])
    assert done.exit_code == 0
    assert done.output.split() == ["2", "Wire", "A", "2", "Wire", "B"]
