"""Timelines beside a plain scan of the exported documents, on both engines."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

import bibtexparser
import pytest
import rispy
from bibtexparser.customization import convert_to_unicode
from click.testing import CliRunner

import esr
from esr.cli import main
from esr.errors import UsageError
from esr.folder.index import FolderSnapshot
from esr.following.exports import CITATIONS
from esr.following.timeline import (
    INTERVALS,
    MAX_PERIODS,
    Interval,
    Peak,
    Series,
    Timeline,
    build_timeline,
    date_range,
    find_peaks,
    first_day,
    name_of,
    period_of,
    timeline_rows,
)
from esr.following.timeline_chart import layout_chart
from esr.following.timeline_svg import draw_svg
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit, SearchResult, SentenceRecord
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.dates import DAY
from esr.text.document import Document
from tests.support.elasticsearch import document, fresh, load
from tests.support.fake_index import FLOOD, STORM

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
            test_a_peak_has_one_of_its_sentences(opened)


def test_sentences_without_a_date_are_counted_apart(searcher: Searcher) -> None:
    (series,) = make(searcher, "storm").series
    undated = (each for each in searcher.index.documents() if not each.date)
    expected = sum("storm" in s.text.strip(".").split() for each in undated for s in each.sentences)
    assert series.undated == expected > 0


def test_filters_hold_for_the_counts_and_for_what_rates_are_shares_of(searcher: Searcher) -> None:
    made = make(searcher, "storm", filters=Filters(sources=("A.org",)), interval="month")
    storm, of_source = (scan(searcher, "month", words, "a.org") for words in ({"storm"}, set()))
    assert list(made.series[0].counts) == [storm[name] for name in made.periods]
    rates = [
        1e6 * storm[name] / of_source[name] if of_source[name] >= made.least_sentences else None
        for name in made.periods
    ]
    assert made.rates(made.series[0]) == pytest.approx(rates)


def test_a_peak_has_one_of_its_sentences(searcher: Searcher) -> None:
    made = make(searcher, "storm river", interval="month", peaks=2)
    (series,) = made.series
    assert len(series.peaks) == 2 and series.peaks[0].count == max(series.counts)
    for peak in series.peaks:
        numbers = {name_of(n, "month"): n for n in range(period_of(17_000, "month"), 12 * 60)}
        start, end = date_range(numbers[peak.period], "month")
        within = searcher.search(
            esr.parse_query("storm river"), 500, require_all=True, filters=Filters(start, end)
        )
        assert peak.hit.sentence_id in {hit.sentence_id for hit in within.hits}
        assert within.total == peak.count


def test_the_sentence_of_a_peak_is_the_one_that_other_articles_agree_with(anywhere: str) -> None:
    told = [
        "The storm broke a dam.",
        "A dam broke in the storm, a mayor said.",
        "The storm broke the old dam near town.",
    ]
    wire = [document(f"d{n}", text, date="2017-03-05", source=f"{n}.org") for n, text in enumerate(told)]
    aside = ["Storm or no storm, the rocket flies.", "A storm is no reason to stop a rocket."]
    load(anywhere, [document("rocket", *aside, date="2017-03-05", source="2.org"), *wire], analyzer="plain")
    with open_searcher(anywhere) as opened:
        (peak,) = make(opened, "storm", interval="day").series[0].peaks
    assert (peak.count, peak.sources) == (5, 3)
    assert "dam" in peak.hit.text, "two sentences of one article do not outvote three articles"


def test_a_period_with_few_sentences_has_no_rate() -> None:
    series = Series("a", [1, 0, 2, 1], 0, [])
    days = [f"2017-03-0{n}" for n in range(5, 9)]
    made = Timeline("day", days, [100, 0, 400, 9], [series])
    assert made.least_sentences == 10
    assert made.rates(series) == [10_000, None, 5_000, None]


def test_a_chart_tells_days_without_articles_from_days_without_hits_and_labels_do_not_overlap() -> None:
    days = [f"2017-03-{n:02}" for n in range(1, 31)]
    counts = [7 if n % 3 == 0 else 0 for n in range(30)]
    text = "The dam\x02 broke and " + "water rose " * 9
    hit = Hit("a.s0", 0.0, SentenceRecord("a.s0", "a", 0, text, *[None] * 7))
    peaks = [Peak(day, 7, hit) for day, count in zip(days, counts, strict=True) if count]
    sentences = [0 if n in (4, 5, 10) else 50 for n in range(30)]
    made = Timeline("day", days, sentences, [Series("\x02dam", counts, 0, peaks)])
    chart = layout_chart(made)
    assert [(round(30 * gap.start), round(30 * gap.end)) for gap in chart.gaps] == [(4, 6), (10, 11)]
    assert [tick.text for tick in chart.y_ticks] == ["0", "2", "4", "6", "8"]
    assert [label.number for label in chart.labels] == list(range(1, 11))
    shown = [label for label in chart.labels if label.lines]
    assert 2 <= len(shown) < 10, "some labels have no room"
    svg = ElementTree.fromstring(draw_svg(made))
    assert sum(each.get("class") == "gap" for each in svg.iter()) == 3, "two gaps and the legend"
    for row in (0, 1):
        ends = [(label.x, label.anchor) for label in shown if label.row == row]
        assert len({x for x, _ in ends}) == len(ends)


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
    load(f"{tmp_path}/index", [document("a", "storm", "storm", date="2017-03-05")])
    nothing = SearchResult([], 0, "no shard answered")
    monkeypatch.setattr(FolderSnapshot, "search", lambda *args, **options: nothing)
    with open_searcher(f"{tmp_path}/index") as opened:
        (series,) = make(opened, "storm").series
    assert (series.total, series.peaks) == (2, [])


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
    assert find_peaks([1, 0, 2, 0, 1]) == [2], "a single sentence makes no peak"


def test_an_interval_that_makes_too_many_periods_is_refused(tmp_path: object) -> None:
    where = f"{tmp_path}/index"
    load(where, [document("a", "storm", date="1700"), document("b", "storm", date="2017-03-05")])
    with open_searcher(where) as opened:
        assert make(opened, "storm").interval == "year"
        with pytest.raises(UsageError, match=f"at most {MAX_PERIODS:,} are allowed: take the interval month"):
            make(opened, "storm", interval="day")


# Citations, read back by other programs' readers.


ODD = STORM._replace(
    sentence_id="ä/1.s0",
    title='50% of {R&D} cost $3_000 ~ #1 \\ "Zoë"',
    text="First line\r\nTY  - JOUR\r\nsecond } line",
    source="Ärzte & Co.",
    date="2017-03",
    url="https://x.org/a_b?c={d}&e=%20",
)
RECORDS = [STORM, FLOOD, ODD, STORM._replace(title="Again")]


def test_bibtex_is_read_as_it_was_meant() -> None:
    library = bibtexparser.loads(CITATIONS["bibtex"].render(RECORDS))
    entries = {entry["ID"]: convert_to_unicode(entry) for entry in library.entries}
    assert list(entries) == ["a-s1", "b-s0", "1-s0", "a-s1-2"]
    storm = entries["a-s1"]
    assert (storm["year"], storm["month"], storm["day"]) == ("2017", "3", "5")
    assert (storm["journal"], storm["url"]) == ("The Example", STORM.url)
    assert STORM.text in storm["note"]
    assert "year" not in entries["b-s0"] and entries["b-s0"]["title"].strip("{}") == "b"
    odd = entries["1-s0"]
    assert odd["month"] == "3" and "day" not in odd
    assert odd["url"] == "https://x.org/a_b?c=%7Bd%7D&e=%20"


def test_bibtex_escapes_what_tex_would_read() -> None:
    title = next(
        line for line in CITATIONS["bibtex"].render([ODD]).splitlines() if line.startswith("  title")
    )
    assert (
        r"50\% of \textbraceleft{}R\&D\textbraceright{} cost \$3\_000 \textasciitilde{} \#1 \textbackslash{}"
        in title
    )


def test_ris_is_read_as_it_was_meant() -> None:
    entries = rispy.loads(CITATIONS["ris"].render(RECORDS))
    assert [entry["type_of_reference"] for entry in entries] == ["NEWS"] * 4
    assert entries[0]["title"] == STORM.title and entries[0]["abstract"] == STORM.text
    assert entries[0]["urls"] == [STORM.url] and entries[0]["year"] == "2017"
    assert entries[2]["abstract"] == "First line TY - JOUR second } line"
    assert "year" not in entries[1]


def test_csl_json_has_the_parts_of_dates_that_are_known() -> None:
    items = json.loads(CITATIONS["csl"].render(RECORDS))
    assert [item.get("issued") for item in items] == [
        {"date-parts": [[2017, 3, 5]]},
        None,
        {"date-parts": [[2017, 3]]},
        {"date-parts": [[2017, 3, 5]]},
    ]
    assert items[0]["container-title"] == "The Example" and items[0]["type"] == "article-newspaper"
    assert len({item["id"] for item in items}) == 4


@pytest.mark.parametrize("name", CITATIONS)
def test_no_sentence_is_no_citation(name: str) -> None:
    assert CITATIONS[name].render([]).strip() in ("", "[]")


# The commands and the Python of docs/following.md, run as they stand.


ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "following.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_what_the_page_shows_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command in (line for block in blocks("sh") for line in block.splitlines()):
        result = CliRunner().invoke(main, shlex.split(command)[1:], catch_exceptions=False)
        assert result.exit_code == 0 and result.output, f"{command}: {result.output}"
    for block in blocks("python"):
        exec(block, {})
        assert capsys.readouterr().out
