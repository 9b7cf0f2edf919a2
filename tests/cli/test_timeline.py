"""`esr timeline`: text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Esr


@pytest.fixture
def news(esr: Esr, tmp_path: Path) -> Path:
    lines = [
        {"id": "a", "date": "2017-01-05", "text": "A storm came. It rained."},
        {"id": "b", "date": "2017-01-07T20:00:00Z", "text": "The storm went on. The storm was loud."},
        {"id": "c", "text": "A storm once."},
    ]
    source = tmp_path / "news.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert esr("load", source, "--index", tmp_path / "news").exit_code == 0
    return tmp_path / "news"


def test_text_has_a_bar_for_each_period_and_the_best_sentence_of_a_peak(esr: Esr, news: Path) -> None:
    lines = esr("timeline", "storm", "--index", news, "--peaks", 1).stdout.splitlines()
    assert lines[0] == "storm"
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["2017-01-05", "1"],
        ["2017-01-06", "0"],
        ["2017-01-07", "2"],
    ]
    assert [line.count("█") for line in lines[1:4]] == [20, 0, 40]
    assert lines[4] == "3 sentences with all words, 1 without a date"
    assert lines[6].startswith("2017-01-07  2: The storm w") and "(b.s" in lines[6]


def test_json_and_csv_have_the_same_counts(esr: Esr, news: Path) -> None:
    options = ["storm", "rain", "--index", news, "--interval", "day"]
    data = json.loads(esr("timeline", *options, "--format", "json").stdout)
    rows = list(csv.DictReader(io.StringIO(esr("timeline", *options, "--format", "csv").stdout)))
    assert [series["query"] for series in data["series"]] == ["storm", "rain"]
    assert data["series"][1]["counts"] == [1, 0, 0]
    assert data["series"][1]["rates"] == [500_000.0, 0.0, 0.0]
    for series in data["series"]:
        of_query = [row for row in rows if row["query"] == series["query"]]
        assert [row["period"] for row in of_query] == data["periods"]
        assert [int(row["count"]) for row in of_query] == series["counts"]
        assert [int(row["sentences"]) for row in of_query] == data["sentences"]


def test_rates_are_shown_in_text_alone(esr: Esr, esr_error: Esr, news: Path) -> None:
    lines = esr("timeline", "rain", "--index", news, "--rate").stdout.splitlines()
    assert lines[1].split()[:2] == ["2017-01-05", "500000.0"]
    line = esr_error("timeline", "rain", "--index", news, "--rate", "--format", "csv")
    assert line == "--rate is for text: --format csv has rates and counts"
