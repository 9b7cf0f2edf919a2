"""A preview has the days up to that of the newest document, with examples and unusual days."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.alerts.alert_conditions import read_conditions
from esr.alerts.preview import Preview, preview_alert
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, load


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twenty quiet days, six storms on the 21st, seven on the 22nd."""
    quiet = [document(f"q{n:02}", "All is calm.", date=f"2017-01-{n:02}") for n in range(1, 21)]
    storms = [document(f"s{n:02}", f"Storm {n}.", date=f"2017-01-{21 + n // 6 % 2}") for n in range(12)]
    where = str(tmp_path_factory.mktemp("preview") / "news")
    load(where, [*quiet, *storms, document("s12", "A storm.", date="2017-01-22T23:59:59Z")])
    return where


def preview(where: str, days: int, **table: object) -> Preview:
    with open_searcher(where) as searcher:
        return preview_alert(searcher.index.snapshot(), read_conditions({"query": "storm", **table}), days)


def test_a_preview_has_so_many_days_and_ten_examples(where: str) -> None:
    two, one = preview(where, 2), preview(where, 1)
    assert (two.first, two.last, two.sentences) == ("2017-01-21", "2017-01-22", 13)
    assert two.by_day == {"2017-01-21": 6, "2017-01-22": 7}
    assert (len(two.examples), two.by_similarity, two.incomplete) == (10, {}, None)
    assert (one.first, one.last, one.by_day) == ("2017-01-22", "2017-01-22", {"2017-01-22": 7})
    assert {example["date"][:10] for example in one.examples} == {"2017-01-22"}


def test_a_preview_begins_at_the_date_of_the_alert_if_that_is_later(where: str) -> None:
    assert preview(where, 31).first == "2016-12-23"
    later = preview(where, 31, after="2017-01-22")
    assert (later.first, later.by_day) == ("2017-01-22", {"2017-01-22": 7})


def test_a_preview_of_a_collection_from_before_1970_has_its_last_days(tmp_path: Path) -> None:
    old = str(tmp_path / "old")
    load(
        old, [document("a", "A storm.", date="1918-01-05"), document("b", "All is calm.", date="1918-01-06")]
    )
    shown = preview(old, 2)
    assert (shown.first, shown.last, shown.by_day) == ("1918-01-05", "1918-01-06", {"1918-01-05": 1})


@pytest.mark.parametrize(("days", "unusual"), [(1, ["2017-01-22"]), (2, ["2017-01-21", "2017-01-22"])])
def test_the_unusual_days_of_a_preview_are_those_it_has(where: str, days: int, unusual: list[str]) -> None:
    assert preview(where, days, unusual=True).unusual == unusual
    assert preview(where, days).unusual == []
