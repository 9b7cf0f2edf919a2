import re
from html.parser import HTMLParser

import pytest

from esr.evaluation.report import gains, page, precision_recall, unseen
from esr.evaluation.report.picture import inline, png, svg
from esr.evaluation.results import evaluate_runs


@pytest.fixture
def report(qrels, runs, results):
    def make():
        drawn = [
            precision_recall.picture(precision_recall.curves(qrels, runs)),
            gains.picture(gains.gains(results, "AP"), "AP", "base"),
            unseen.picture(unseen.weights()),
        ]
        return page.Report("A <report>", results, drawn, ["<note> & more"])

    return make


class Tags(HTMLParser):
    """Collects a page's tags, and checks that they are closed in their order."""

    VOID = ("meta", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_needs_no_other_file_host_or_script(report):
    text = page.html(report())
    found = Tags(text)
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(found.tags)
    assert "http" not in text
    assert "//" not in text
    assert "@import" not in text
    for name, value in found.attributes:
        assert not name.startswith("on")
        if name in ("href", "src"):
            assert value.startswith("#")
    assert all(place.startswith("#") for place in re.findall(r"url\(([^)]*)\)", text))


def test_ids_are_distinct_and_what_is_used_is_there(report):
    found = Tags(page.html(report()))
    ids = [value for name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = [value[1:] for name, value in found.attributes if name == "href"]
    used += [value for name, value in found.attributes if name == "aria-labelledby"]
    used += re.findall(r"url\(#([^)]*)\)", page.html(report()))
    assert set(used) <= set(ids)


@pytest.mark.slow
def test_the_same_report_is_the_same_page_and_the_same_pictures(report):
    one, other = report(), report()
    assert page.html(one) == page.html(other)
    assert svg(one.pictures[0]) == svg(other.pictures[0])
    assert png(one.pictures[0]) == png(other.pictures[0])
    assert page.html(one) == page.html(one)


def test_texts_are_escaped(report):
    found = Tags(page.html(report()))
    assert "report" not in found.tags
    assert "<note> & more" in found.text


def test_a_run_may_have_any_name(qrels, runs):
    named = {"a$b$<i>&日本": runs["base"], "x_{1}^2": runs["good"]}
    results = evaluate_runs(["AP"], qrels, named, baseline="x_{1}^2")
    drawn = [precision_recall.picture(precision_recall.curves(qrels, named))]
    found = Tags(page.html(page.Report("Names", results, drawn)))
    assert found.text.count("a$b$<i>&日本") >= 3
    assert png(drawn[0]).startswith(b"\x89PNG")


def test_figures_have_marks_intervals_and_counts_of_topics(results):
    text = Tags(page.html(page.Report("Figures", results, []))).text
    comparison = results[1].parts["all"].significance["AP"]
    assert comparison.mark == "**"
    assert "1.0000**" in text
    assert f"+{comparison.difference:.4f}**" in text
    assert "corrected by Holm over 2 runs" in text
    assert "−0." in text


def test_types_of_topics_have_rows_of_their_own(qrels, runs):
    kinds = {topic: "event" if topic < "t3" else "opinion" for topic in qrels}
    results = evaluate_runs(["AP"], qrels, runs, baseline="base", kinds=kinds)
    text = Tags(page.html(page.Report("Types", results, []))).text
    assert "event topics" in text
    assert "good, opinion" in text


def test_without_a_baseline_nothing_is_compared(qrels, runs):
    results = evaluate_runs(["AP"], qrels, {"good": runs["good"]})
    text = Tags(page.html(page.Report("One", results, []))).text
    assert "1 run on 6 judged topics." in text
    assert "Differences" not in text
    assert "t-test" not in text


def test_pictures_follow_the_screen(report):
    for picture in report().pictures:
        text = inline(picture)
        assert "var(--c" in text
        used = set(re.findall(r"#[0-9a-f]{6}\b(?=[;\"])", text))
        assert not used, "a colour that stays the same on a dark screen"
        assert text.startswith("<svg role=")
        assert "width=" not in text[: text.index(">")]


def test_a_file_of_a_picture_is_in_the_colours_of_print(report):
    text = svg(report().pictures[0]).decode()
    assert text.startswith("<?xml")
    assert "var(" not in text
    assert "<dc:date>" not in text
