import re
from html.parser import HTMLParser

import pytest

from esr.evaluation.report import gains, page, precision_recall, unseen_terms
from esr.evaluation.report.picture import to_inline_svg, to_png, to_svg
from esr.evaluation.results import evaluate_runs

pytestmark = pytest.mark.slow


@pytest.fixture
def report(qrels, runs, results):
    def build():
        pictures = [
            precision_recall.build_picture(precision_recall.compute_curves(qrels, runs)),
            gains.build_picture(gains.compute_gains(results, "AP"), "AP", "base"),
            unseen_terms.build_picture(unseen_terms.compute_weights()),
        ]
        return page.ReportPage("A <report>", results, pictures, ["<note> & more"])

    return build


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


def test_the_page_needs_no_other_file_or_host_and_no_script(report):
    text = page.render(report())
    tags = Tags(text)
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(tags.tags)
    assert "http" not in text
    assert "//" not in text
    assert "@import" not in text
    for name, value in tags.attributes:
        assert not name.startswith("on")
        if name in ("href", "src"):
            assert value.startswith("#")
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))


def test_ids_are_distinct_and_all_references_resolve(report):
    tags = Tags(page.render(report()))
    ids = [value for name, value in tags.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = [value[1:] for name, value in tags.attributes if name == "href"]
    used += [value for name, value in tags.attributes if name == "aria-labelledby"]
    used += re.findall(r"url\(#([^)]*)\)", page.render(report()))
    assert set(used) <= set(ids)


@pytest.mark.slow
def test_the_same_report_gives_the_same_page_and_the_same_pictures(report):
    first, second = report(), report()
    assert page.render(first) == page.render(second)
    assert to_svg(first.pictures[0]) == to_svg(second.pictures[0])
    assert to_png(first.pictures[0]) == to_png(second.pictures[0])
    assert page.render(first) == page.render(first)


def test_texts_are_escaped(report):
    tags = Tags(page.render(report()))
    assert "report" not in tags.tags
    assert "<note> & more" in tags.text


def test_a_run_may_have_any_name(qrels, runs):
    renamed = {"a$b$<i>&日本": runs["base"], "x_{1}^2": runs["good"]}
    results = evaluate_runs(["AP"], qrels, renamed, baseline="x_{1}^2")
    pictures = [precision_recall.build_picture(precision_recall.compute_curves(qrels, renamed))]
    tags = Tags(page.render(page.ReportPage("Names", results, pictures)))
    assert tags.text.count("a$b$<i>&日本") >= 3
    assert to_png(pictures[0]).startswith(b"\x89PNG")


def test_the_tables_show_significance_marks_and_intervals(results):
    text = Tags(page.render(page.ReportPage("Figures", results, []))).text
    comparison = results[1].groups["all"].significance["AP"]
    assert comparison.mark == "**"
    assert "1.0000**" in text
    assert f"+{comparison.difference:.4f}**" in text
    assert "corrected by Holm over 2 runs" in text
    assert "−0." in text


def test_topic_types_have_rows_of_their_own(qrels, runs):
    kinds = {topic: "event" if topic < "t3" else "opinion" for topic in qrels}
    results = evaluate_runs(["AP"], qrels, runs, baseline="base", kinds=kinds)
    text = Tags(page.render(page.ReportPage("Types", results, []))).text
    assert "event topics" in text
    assert "good, opinion" in text


def test_without_a_baseline_nothing_is_compared(qrels, runs):
    results = evaluate_runs(["AP"], qrels, {"good": runs["good"]})
    text = Tags(page.render(page.ReportPage("One", results, []))).text
    assert "1 run on 6 judged topics." in text
    assert "Differences" not in text
    assert "t-test" not in text


def test_inline_pictures_take_their_colours_from_the_style_sheet(report):
    for picture in report().pictures:
        text = to_inline_svg(picture)
        assert "var(--c" in text
        used = set(re.findall(r"#[0-9a-f]{6}\b(?=[;\"])", text))
        assert not used, "a colour that stays the same on a dark screen"
        assert text.startswith("<svg role=")
        assert "width=" not in text[: text.index(">")]


def test_saved_pictures_have_fixed_colours_and_no_date(report):
    text = to_svg(report().pictures[0]).decode()
    assert text.startswith("<?xml")
    assert "var(" not in text
    assert "<dc:date>" not in text
