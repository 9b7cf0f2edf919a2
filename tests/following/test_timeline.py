"""Timelines beside a plain scan of the exported documents, on both engines."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path

import pytest

import esr
from esr.errors import UsageError
from esr.folder.index import FolderSnapshot
from esr.following.timeline import (
    INTERVALS,
    MAX_PERIODS,
    Interval,
    Timeline,
    build_timeline,
    date_range,
    find_peaks,
    first_day,
    name_of,
    period_of,
    timeline_rows,
)
from esr.index.filters import DAY, NO_FILTERS, Filters
from esr.index.hits import SearchResult
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document
from tests.support.elasticsearch import document, fresh, load

WORDS = ["storm", "flood", "wind", "rain", "river"]


def random_documents() -> Iterator[Document]:
    """Three hundred documents of 2016 to 2018, some with a time and a zone, some without a date."""
    rng = random.Random(23)
    for n in range(300):
        day = date(2016, 11, 1) + timedelta(days=rng.randrange(500))
        when = rng.choice([f"{day}", f"{day}T23:30:00-05:00", None, f"{day}T00:30:00+02:00"])
        texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, 4))) + "." for _ in range(rng.randint(1, 4))]
        known = {"source": rng.choice(["a.org", "b.org"]), **({"date": when} if when else {})}
        yield document(f"d{n}", *texts, **known)


@pytest.fixture
def searcher(anywhere: str) -> Iterator[Searcher]:
    load(anywhere, list(random_documents()), analyzer="plain")
    with open_searcher(anywhere) as opened:
        yield opened


def make(searcher: Searcher, *queries: str, filters: Filters = NO_FILTERS, **options: object) -> Timeline:
    prepared = [searcher.prepare(esr.parse_query(query), Ranking()) for query in queries]
    return build_timeline(prepared, filters, **options)  # type: ignore[arg-type]


def utc_day(text: str) -> date:
    """The day in UTC: the scan's own arithmetic."""
    day = date.fromisoformat(text[:10])
    if text.endswith("T23:30:00-05:00"):
        return day + timedelta(days=1)
    return day - timedelta(days=1) if text.endswith("T00:30:00+02:00") else day


def scan(searcher: Searcher, interval: Interval, words: set[str], source: str | None = None) -> Counter[str]:
    """Sentences with all words by the name of their period."""
    counts: Counter[str] = Counter()
    for each in searcher.index.documents():
        if each.date and source in (None, each.source):
            day = utc_day(each.date)
            year, week, _ = day.isocalendar()
            name = {
                "day": f"{day}",
                "week": f"{year}-W{week:02}",
                "month": f"{day}"[:7],
                "year": f"{day}"[:4],
            }
            counts[name[interval]] += sum(words <= set(s.text.strip(".").split()) for s in each.sentences)
    return counts


def test_counts_are_those_of_a_plain_scan(searcher: Searcher) -> None:
    for interval in INTERVALS:
        made = make(searcher, "storm", "+flood wind -rain", interval=interval)
        storm, everything = scan(searcher, interval, {"storm"}), scan(searcher, interval, set())
        assert dict(zip(made.periods, made.series[0].counts, strict=True)) == {
            name: storm[name] for name in made.periods
        }
        assert sum(storm.values()) == made.series[0].total
        assert list(made.sentences) == [everything[name] for name in made.periods]
        both, rainy = (
            scan(searcher, interval, words) for words in ({"flood", "wind"}, {"flood", "wind", "rain"})
        )
        assert list(made.series[1].counts) == [both[name] - rainy[name] for name in made.periods]


def test_three_shards_count_alike(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, list(random_documents()), analyzer="plain", shards=3)
        with open_searcher(where) as opened:
            test_counts_are_those_of_a_plain_scan(opened)
            test_a_peak_has_the_best_of_its_sentences(opened)


def test_sentences_without_a_date_are_counted_apart(searcher: Searcher) -> None:
    (series,) = make(searcher, "storm").series
    undated = (each for each in searcher.index.documents() if not each.date)
    expected = sum("storm" in s.text.strip(".").split() for each in undated for s in each.sentences)
    assert series.undated == expected > 0


def test_filters_hold_for_the_counts_and_for_what_rates_are_shares_of(searcher: Searcher) -> None:
    made = make(searcher, "storm", filters=Filters(sources=("A.org",)), interval="month")
    storm, of_source = (scan(searcher, "month", words, "a.org") for words in ({"storm"}, set()))
    assert list(made.series[0].counts) == [storm[name] for name in made.periods]
    rates = [1e6 * storm[name] / of_source[name] for name in made.periods]
    assert made.rates(made.series[0]) == pytest.approx(rates)


def test_a_peak_has_the_best_of_its_sentences(searcher: Searcher) -> None:
    made = make(searcher, "storm river", interval="month", peaks=2)
    (series,) = made.series
    assert len(series.peaks) == 2 and series.peaks[0].count == max(series.counts)
    for peak in series.peaks:
        numbers = {name_of(n, "month"): n for n in range(period_of(17_000, "month"), 12 * 60)}
        start, end = date_range(numbers[peak.period], "month")
        within = searcher.search(
            esr.parse_query("storm river"), 1, require_all=True, filters=Filters(start, end)
        )
        assert peak.hit.sentence_id == within.hits[0].sentence_id
        assert within.total == peak.count


def test_alternatives_count_where_one_of_them_is(searcher: Searcher) -> None:
    either = make(searcher, "storm OR flood").series[0].total
    both = make(searcher, "storm flood").series[0].total
    each = [make(searcher, word).series[0].total for word in ("storm", "flood")]
    assert either == sum(each) - both
    answer = searcher.search(esr.parse_query("storm OR flood"), 1, require_all=True)
    assert answer.total == either + make(searcher, "storm OR flood").series[0].undated


def test_words_in_no_document_have_no_periods(searcher: Searcher) -> None:
    made = make(searcher, "volcano")
    assert (made.periods, made.series[0].total, made.series[0].peaks) == ([], 0, [])
    assert timeline_rows(made) == []


def test_a_peak_without_an_answer_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(f"{tmp_path}/index", [document("a", "storm", date="2017-03-05")])
    nothing = SearchResult([], 0, "no shard answered")
    monkeypatch.setattr(FolderSnapshot, "search", lambda *args, **options: nothing)
    with open_searcher(f"{tmp_path}/index") as opened:
        (series,) = make(opened, "storm").series
    assert (series.total, series.peaks) == (1, [])


@pytest.mark.parametrize("interval", INTERVALS)
def test_periods_follow_one_another_without_a_gap(interval: Interval) -> None:
    for day in range(-30_000, 30_000, 137):
        period = period_of(day, interval)
        assert first_day(period, interval) <= day < first_day(period + 1, interval)
        start, end = date_range(period, interval)
        assert (start // DAY, (end + 1) // DAY) == (
            first_day(period, interval),
            first_day(period + 1, interval),
        )
        when = date(1970, 1, 1) + timedelta(days=day)
        names: Mapping[str, str] = {
            "day": when.isoformat(),
            "week": "{:04}-W{:02}".format(*when.isocalendar()[:2]),
            "month": when.isoformat()[:7],
            "year": when.isoformat()[:4],
        }
        assert name_of(period, interval) == names[interval]


def test_peaks_are_local_maxima_the_highest_first() -> None:
    assert find_peaks([0, 3, 1, 5, 5, 2, 0, 3]) == [3, 1, 7]
    assert find_peaks([]) == find_peaks([0, 0]) == []
    assert find_peaks([4]) == [0]


def test_an_interval_that_makes_too_many_periods_is_refused(tmp_path: object) -> None:
    where = f"{tmp_path}/index"
    load(where, [document("a", "storm", date="1700"), document("b", "storm", date="2017-03-05")])
    with open_searcher(where) as opened:
        assert make(opened, "storm").interval == "year"
        with pytest.raises(UsageError, match=f"at most {MAX_PERIODS:,} are allowed: take the interval month"):
            make(opened, "storm", interval="day")
