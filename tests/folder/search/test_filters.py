from __future__ import annotations

from pathlib import Path

import pytest

from esr.index.filters import Filters
from esr.ranking.searcher import open_searcher
from esr.text.dates import parse_date_end, parse_date_start
from tests.support.folder_index import document, load

pytestmark = pytest.mark.slow

NEWS = [
    document("jan", "storm", date="2017-01-31T23:59:59Z", source="a.org"),
    document("feb1", "storm", "calm", date="2017-02-01", source="b.org"),
    document("feb28", "storm", date="2017-02-28T23:59:59.999Z", source="b.org"),
    document("mar", "storm", date="2017-03-01T00:30:00+01:00", source="c.org"),
    document("april", "storm", date="2017-04"),
    document("undated", "storm", source="a.org"),
]


@pytest.fixture(params=["one segment", "several"])
def index(request: pytest.FixtureRequest, where: Path) -> str:
    if request.param == "several":
        request.getfixturevalue("small_segments")
    load(where, NEWS)
    return str(where)


def search_documents(index: str, filters: Filters, **settings: object) -> list[str]:
    with open_searcher(index) as searcher:
        hits = searcher.search("storm", 100, model="tfisf", filters=filters, **settings).hits
    return [hit.sentence_id.rpartition(".s")[0] for hit in hits]


def dates(first: str | None = None, last: str | None = None) -> Filters:
    return Filters(first and parse_date_start(first), last and parse_date_end(last))  # type: ignore[arg-type]


def test_no_filter_lets_everything_through(index: str) -> None:
    assert search_documents(index, Filters()) == [located.document.id for located in NEWS]


def test_a_month_reaches_from_its_first_to_its_last_moment(index: str) -> None:
    # 00:30 in Paris on the first of March is still February in UTC.
    assert search_documents(index, dates("2017-02", "2017-02")) == ["feb1", "feb28", "mar"]


def test_each_end_alone_is_a_filter_and_undated_documents_pass_neither(index: str) -> None:
    assert search_documents(index, dates("2017-02")) == ["feb1", "feb28", "mar", "april"]
    assert search_documents(index, dates(None, "2017-01")) == ["jan"]
    assert search_documents(index, dates("2017", "2017")) == ["jan", "feb1", "feb28", "mar", "april"]


def test_a_day_and_a_moment_are_ends_too(index: str) -> None:
    assert search_documents(index, dates("2017-02-28", "2017-02-28")) == ["feb28", "mar"]
    assert search_documents(index, dates("2017-02-28T23:59:59.999Z")) == ["feb28", "april"]


def test_dates_before_1970_and_the_epoch_itself_are_dates(where: Path) -> None:
    load(where, [document("old", "storm", date="1944-06-06"), document("epoch", "storm", date="1970-01-01")])
    assert search_documents(str(where), dates("1940", "1969")) == ["old"]
    assert search_documents(str(where), dates("1970", "1970")) == ["epoch"]


def test_sources_and_documents_are_alternatives_among_themselves(index: str) -> None:
    assert search_documents(index, Filters(sources=("a.org",))) == ["jan", "undated"]
    assert search_documents(index, Filters(sources=("a.org", "c.org", "nowhere"))) == [
        "jan",
        "mar",
        "undated",
    ]
    assert search_documents(index, Filters(documents=("april", "jan", "nothing"))) == ["jan", "april"]


def test_all_filters_hold_together(index: str) -> None:
    filters = Filters(parse_date_start("2017-02"), None, ("b.org",), ("feb1", "jan", "mar"))
    assert search_documents(index, filters) == ["feb1"]


@pytest.mark.parametrize("candidates", ["matching", "context", "all"])
def test_every_candidate_rule_is_filtered(index: str, candidates: str) -> None:
    expected = ["feb1"] if candidates == "matching" else ["feb1", "feb1"]
    assert search_documents(index, Filters(documents=("feb1",)), candidates=candidates) == expected


def test_filters_leave_the_statistics_and_so_the_scores_alone(index: str) -> None:
    with open_searcher(index) as searcher:
        unfiltered_scores = {hit.sentence_id: hit.score for hit in searcher.search("storm", 100).hits}
        few = searcher.search("storm", 100, filters=Filters(sources=("b.org",))).hits
    assert few and all(hit.score == unfiltered_scores[hit.sentence_id] for hit in few)
