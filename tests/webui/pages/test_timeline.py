"""The page of a timeline: its chart, its table and its addresses."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from flask.testing import FlaskClient

from esr.following.timeline import Series, Timeline
from tests.support.page_corpus import get
from webui.pages.timeline import HEIGHT, WIDTH, draw_chart

TIMELINE = Timeline(
    "month", ["2017-01", "2017-02", "2017-03"], [100, 0, 400], [Series("a", [1, 0, 2], 0, [])]
)


def test_the_highest_bar_fills_the_chart_and_periods_without_sentences_have_none() -> None:
    chart = draw_chart(TIMELINE, "count")
    bars = [column.bar for column in chart.columns]
    assert bars[1] is None and bars[0] is not None and bars[2] is not None
    assert (bars[2].height, bars[0].height, chart.top) == (HEIGHT, HEIGHT / 2, "2")
    assert sum(column.reach.width for column in chart.columns) == WIDTH
    assert chart.ticks == TIMELINE.periods


def test_rates_are_drawn_where_they_are_asked_for() -> None:
    chart = draw_chart(TIMELINE, "rate")
    assert [column.values for column in chart.columns] == [["10,000"], ["–"], ["5,000"]]
    assert chart.columns[0].says == "January 2017: 10,000 per million sentences"
    assert chart.columns[1].says == "February 2017: no articles"


def test_several_queries_are_lines(real: FlaskClient) -> None:
    html = real.get("/timeline?q=earthquake&also=relief&also=China").text
    assert len(re.findall('<g class="line-.">', html)) == 3 and 'rect class="bar' not in html
    html = real.get("/timeline?q=earthquake").text
    assert 'class="bar peak"' in html and '<rect class="gap"' in html and "days without articles" in html


def test_the_chart_is_a_file_that_needs_no_page(real: FlaskClient) -> None:
    answer = real.get("/timeline.svg?q=earthquake")
    assert answer.mimetype == "image/svg+xml" and "timeline.svg" in answer.headers["Content-Disposition"]
    root = ElementTree.fromstring(answer.text)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "earthquake" in texts and "no articles of the day" in texts


def test_the_table_leads_to_the_sentences_that_were_counted(real: FlaskClient) -> None:
    html = real.get("/timeline?q=earthquake&interval=month").text
    rows = re.findall(r'<th scope="row"><a href="/search\?([^"]+)">([^<]+)</a></th><td>([\d,]+)</td>', html)
    assert rows
    for query, _, number in rows:
        answer = real.get(f"/search.json?{query.replace('&amp;', '&')}").json
        assert answer is not None and answer["total"] == int(number.replace(",", ""))


def test_the_page_and_the_api_give_the_same_answer(real: FlaskClient) -> None:
    answer = get(real, "/timeline", q="earthquake", also="relief", interval="month")
    twin = real.get("/timeline.json?q=earthquake&also=relief&interval=month&scale=rate&k=5").json
    assert twin == answer
    csv = real.get("/timeline.csv?q=earthquake&also=relief&interval=month").text
    assert len(csv.splitlines()) == 1 + 2 * len(answer["periods"])


def test_a_query_can_be_added_and_removed(real: FlaskClient) -> None:
    html = real.get("/timeline?q=earthquake&also=relief&also=China").text
    assert 'href="/timeline?q=earthquake&amp;also=China"' in html
    assert html.count('<input type="hidden" name="also"') == 2
    many = real.get("/timeline?q=earthquake" + "&also=relief" * 6)
    assert many.status_code == 400 and "at most 6 are allowed" in many.text


def test_bad_arguments_are_named(real: FlaskClient) -> None:
    for address, message in (
        ("interval=fortnight", "nknown interval"),
        ("scale=log", "nknown scale"),
        ("also=the", "stop words"),
    ):
        answer = real.get(f"/timeline?q=earthquake&{address}")
        assert answer.status_code == 400 and message in answer.text, address


def test_dates_that_are_written_out_limit_the_chart_and_its_links(real: FlaskClient) -> None:
    written = real.get("/timeline?q=earthquake&after=+1+May+2010&before=2030/1/2")
    assert written.status_code == 200
    in_iso = real.get("/timeline?q=earthquake&after=2010-05-01&before=2030-01-02")
    chart, expected = (html.text.partition("<main")[2].partition("</main>")[0] for html in (written, in_iso))
    assert chart == expected and "after=2010-05-01" in chart
    assert real.get("/frequencies?q=earthquake&after=yesterday&before=today").status_code == 200
