import re
from html.parser import HTMLParser

import pytest

from esr.lab.report import page
from esr.lab.report.inputs import read_inputs
from esr.lab.report.page import (
    DARK,
    INK,
    PAPER,
    SERIES,
    shorten,
    spread_labels,
    style_of,
    to_inline_svg,
    to_png,
    to_svg,
)
from esr.lab.report.parameters import build_unseen_terms, compute_weights
from esr.lab.report.rankings import build_gains, build_precision_recall, compute_curves, compute_gains
from esr.lab.results import evaluate_runs


@pytest.fixture
def report(qrels, runs, results):
    def build():
        pictures = [
            build_precision_recall(compute_curves(qrels, runs)),
            build_gains(compute_gains(results, "AP"), "AP", "base"),
            build_unseen_terms(compute_weights()),
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_ids_are_distinct_and_all_references_resolve(report):
    tags = Tags(page.render(report()))
    ids = [value for name, value in tags.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = [value[1:] for name, value in tags.attributes if name == "href"]
    used += [value for name, value in tags.attributes if name == "aria-labelledby"]
    used += re.findall(r"url\(#([^)]*)\)", page.render(report()))
    assert set(used) <= set(ids)


@pytest.mark.slow
@pytest.mark.slow
def test_the_same_report_gives_the_same_page_and_the_same_pictures(report):
    first, second = report(), report()
    assert page.render(first) == page.render(second)
    assert to_svg(first.pictures[0]) == to_svg(second.pictures[0])
    assert to_png(first.pictures[0]) == to_png(second.pictures[0])
    assert page.render(first) == page.render(first)


@pytest.mark.slow
def test_texts_are_escaped(report):
    tags = Tags(page.render(report()))
    assert "report" not in tags.tags
    assert "<note> & more" in tags.text


@pytest.mark.slow
def test_a_run_may_have_any_name(qrels, runs):
    renamed = {"a$b$<i>&日本": runs["base"], "x_{1}^2": runs["good"]}
    results = evaluate_runs(["AP"], qrels, renamed, baseline="x_{1}^2")
    pictures = [build_precision_recall(compute_curves(qrels, renamed))]
    tags = Tags(page.render(page.ReportPage("Names", results, pictures)))
    assert tags.text.count("a$b$<i>&日本") >= 3
    assert to_png(pictures[0]).startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_tables_show_significance_marks_and_intervals(results):
    text = Tags(page.render(page.ReportPage("Figures", results, []))).text
    comparison = results[1].groups["all"].significance["AP"]
    assert comparison.mark == "**"
    assert "1.0000**" in text
    assert f"+{comparison.difference:.4f}**" in text
    assert "corrected by Holm over 2 runs" in text
    assert "−0." in text


@pytest.mark.slow
def test_topic_types_have_rows_of_their_own(qrels, runs):
    kinds = {topic: "event" if topic < "t3" else "opinion" for topic in qrels}
    results = evaluate_runs(["AP"], qrels, runs, baseline="base", kinds=kinds)
    text = Tags(page.render(page.ReportPage("Types", results, []))).text
    assert "event topics" in text
    assert "good, opinion" in text


@pytest.mark.slow
def test_without_a_baseline_nothing_is_compared(qrels, runs):
    results = evaluate_runs(["AP"], qrels, {"good": runs["good"]})
    text = Tags(page.render(page.ReportPage("One", results, []))).text
    assert "1 run on 6 judged topics." in text
    assert "Differences" not in text
    assert "t-test" not in text


@pytest.mark.slow
def test_inline_pictures_take_their_colours_from_the_style_sheet(report):
    for picture in report().pictures:
        text = to_inline_svg(picture)
        assert "var(--c" in text
        used = set(re.findall(r"#[0-9a-f]{6}\b(?=[;\"])", text))
        assert not used, "a colour that stays the same on a dark screen"
        assert text.startswith("<svg role=")
        assert "width=" not in text[: text.index(">")]


@pytest.mark.slow
def test_saved_pictures_have_fixed_colours_and_no_date(report):
    text = to_svg(report().pictures[0]).decode()
    assert text.startswith("<?xml")
    assert "var(" not in text
    assert "<dc:date>" not in text


QRELS = "t1 0 a 1\nt2 0 a 1\nt3 0 a 0\n"


def run(tag, *topics):
    return "".join(f"{topic} Q0 a 1 1.0 {tag}\n" for topic in topics)


def test_the_baseline_becomes_the_first_run_and_is_not_repeated(file):
    qrels = str(file(QRELS, "qrels"))
    first, second = (str(file(run(name, "t1", "t2", "t3"), f"{name}.run")) for name in ("one", "two"))
    inputs = read_inputs(qrels, [first, second], second, None)
    assert list(inputs.runs) == ["two", "one"]
    assert inputs.baseline == "two"
    assert inputs.notes == ["1 of 3 judged topics have no relevant sentence and score 0: t3"]


def test_runs_with_the_same_tag_are_named_by_their_paths(file):
    qrels = str(file(QRELS, "qrels"))
    paths = [str(file(run("same", "t1"), name)) for name in ("one.run", "two.run")]
    assert list(read_inputs(qrels, paths, None, None).runs) == paths


def test_runs_that_lack_the_same_topics_share_a_note(file):
    qrels = str(file("t1 0 a 1\nt2 0 a 1\n", "qrels"))
    paths = [str(file(run(name, "t1", "x"), f"{name}.run")) for name in ("one", "{two}")]
    paths.append(str(file(run("whole", "t1", "t2"), "whole.run")))
    assert read_inputs(qrels, paths, None, {"t1": "event"}).notes == [
        "1 of 2 judged topics have no type: t2",
        "one, {two} lack 1 of 2 judged topics, which score 0: t2",
        "one, {two} answer 1 topics without judgements, which are ignored: x",
    ]


def test_labels_that_are_far_apart_stay_in_place():
    assert spread_labels([0.9, 0.1, 0.5], 0.2, 0, 1) == pytest.approx([0.9, 0.1, 0.5])


def test_labels_that_are_too_close_are_moved_apart_in_order():
    positions = spread_labels([0.5, 0.52, 0.51], 0.1, 0, 1)
    assert positions == pytest.approx([0.41, 0.61, 0.51])


def test_labels_stay_within_the_limits():
    assert spread_labels([0.0, 0.0, 0.0], 0.1, 0, 1) == pytest.approx([0.0, 0.1, 0.2])
    assert spread_labels([1.0, 1.0], 0.1, 0, 1) == pytest.approx([0.9, 1.0])


def test_runs_beyond_the_colours_differ_in_their_dashes():
    styles = [style_of(position) for position in range(4 * len(SERIES))]
    assert len({str(style) for style in styles}) == len(styles)


def test_a_long_name_keeps_its_end():
    assert shorten("a" * 50 + ".run") == "…" + "a" * 31 + ".run"
    assert shorten("2si") == "2si"


def luminance(color):
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    dark, light = sorted([luminance(a), luminance(b)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("color", [*SERIES, INK])
def test_every_colour_is_legible_on_both_backgrounds(color):
    assert contrast(color, PAPER) >= 4.5
    assert contrast(DARK[color], DARK[PAPER]) >= 4.5
