"""Reports as pages: the curves of features, pictures and tables of rankings, and what was learned."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from msgspec.structs import replace

from esr.errors import UsageError
from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.commands.evaluate import read_inputs
from esr.lab.judgements import Qrels
from esr.lab.report import page
from esr.lab.report.gains import Gains, build_gains, compute_gains, draw_gains, list_gains, merge_steps
from esr.lab.report.lengths import draw_lengths, list_lengths, measure_lengths
from esr.lab.report.moves import Move, TopicMoves, choose_moves, find_moves, render_moves
from esr.lab.report.parameters import (
    build_feature_curves,
    build_unseen_terms,
    compute_lines,
    draw_sensitivity,
    estimate_feature_curves,
    feature_curve_rows,
    sensitivity_rows,
    varied_parameters,
)
from esr.lab.report.picture_style import DARK, INK, PAPER, SERIES, get_style, shorten, spread_labels
from esr.lab.report.pictures import to_inline_svg, to_png, to_svg
from esr.lab.report.precision_recall import (
    RECALL,
    build_precision_recall,
    compute_curves,
    draw_precision_recall,
)
from esr.lab.results import RunEvaluation, evaluate_runs
from esr.lab.tuner import Task, Tuner
from esr.lab.unseen_terms import LENGTHS, compute_weights
from esr.models.adjustments import parse_adjustment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located, Sentence
from esr.topics.runs import Scores
from tests.lab.conftest import documents, tasks
from tests.support import worked_examples as worked
from tests.support.folder_index import document, load

TOPICS = tuple(f"t{n}" for n in range(6))


@pytest.fixture
def qrels() -> Qrels:
    return {topic: {"a": 1, "b": 1, "c": 0} for topic in TOPICS}


@pytest.fixture
def runs() -> Mapping[str, Scores]:
    """`good` has all relevant sentences first; `base` misses one of two; `odd` wins, ties and loses."""
    orders = {"base": ["acb"] * 6, "good": ["abc"] * 6, "odd": ["abc", "acb", "acb", "cab", "cab", "c"]}
    return {
        run: {
            topic: {sentence: -float(rank) for rank, sentence in enumerate(order)}
            for topic, order in zip(TOPICS, by_topic, strict=True)
        }
        for run, by_topic in orders.items()
    }


@pytest.fixture
def results(qrels: Qrels, runs: Mapping[str, Scores]) -> list[RunEvaluation]:
    return evaluate_runs(["AP", "P@1"], qrels, runs, baseline="base")


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
def test_the_page_needs_no_other_file_or_host(report):
    text = page.render(report())
    tags = Tags(text)
    assert tags.tags.count("script") == 1 and not {"link", "img", "iframe", "object", "image"} & set(
        tags.tags
    )
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
def test_the_same_report_gives_the_same_page_and_the_same_pictures(report):
    first, second = report(), report()
    assert page.render(first) == page.render(second)
    assert to_svg(first.pictures[0]) == to_svg(second.pictures[0])
    assert to_png(first.pictures[0]) == to_png(second.pictures[0])
    assert page.render(first) == page.render(first)


def test_the_sentences_that_moved_stand_under_their_topic(qrels, runs, results):
    moved = find_moves(compute_gains(results, "AP"), results, "AP", qrels, runs)
    assert [each.run for each in moved] == ["good"] * 6 + ["odd"] * 4
    assert (moved[0].topic, moved[0].before, moved[0].after) == ("t0", pytest.approx(5 / 6), 1.0)
    assert moved[0].moves == [Move("b", 3, 2, 1)]
    assert moved[-3].moves == [Move("a", 1, None, 1), Move("b", 3, None, 1)]


def test_of_sentences_that_are_not_relevant_those_at_the_top_are_shown():
    before = {f"s{n}": n for n in range(1, 40)}
    after = {**before, "s3": 11, "s30": 10, "s10": 30, "new": 12, "s20": 5}
    moves = choose_moves(before, after, {"s3": 0, "s20": 1})
    assert moves == [
        Move("s20", 20, 5, 1),
        Move("s3", 3, 11, 0),
        Move("s10", 10, 30, None),
        Move("s30", 30, 10, None),
    ]


def test_topics_show_their_query_and_sentences_their_text():
    topic = TopicMoves("run", "t1", 0.25, 0.5, [Move("a.s1", None, 2, None)])
    text = render_moves([topic], "AP", "base", {"t1": "war & peace"}, {"a.s1": "A <b>."})
    tags = Tags(text)
    assert "t1 war & peace AP 0.2500 → 0.5000 (+0.2500)" in tags.text
    assert "a.s1 A <b>.–2not judged" in tags.text
    assert render_moves([], "AP", "base", {}, {}) == ""


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
    assert inputs.notes == ["1 of 3 judged topics without a relevant sentence (score 0): t3"]


def test_runs_with_the_same_tag_are_named_by_their_paths(file):
    qrels = str(file(QRELS, "qrels"))
    paths = [str(file(run("same", "t1"), name)) for name in ("one.run", "two.run")]
    assert list(read_inputs(qrels, paths, None, None).runs) == paths


def test_runs_that_lack_the_same_topics_share_a_note(file):
    qrels = str(file("t1 0 a 1\nt2 0 a 1\n", "qrels"))
    paths = [str(file(run(name, "t1", "x"), f"{name}.run")) for name in ("one", "{two}")]
    paths.append(str(file(run("whole", "t1", "t2"), "whole.run")))
    assert read_inputs(qrels, paths, None, {"t1": "event"}).notes == [
        "1 of 2 judged topics without a type: t2",
        "one, {two} lack 1 of 2 judged topics (score 0): t2",
        "one, {two} answer 1 topic without judgements (ignored): x",
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
    styles = [get_style(position) for position in range(4 * len(SERIES))]
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


TASKS = [Task("Q1", worked.queries()["Q1"], tuple(worked.relevant()["Q1"]))]
STEEP_RANKING = Ranking("tfisf", candidates="all", features=(parse_adjustment("pos:linear:100"),))


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    load(tmp_path / "index", worked.documents())
    return tmp_path / "index"


def test_curves_show_the_ranking_before_and_after_a_feature_is_added(index_path: Path) -> None:
    with open_searcher(str(index_path)) as searcher:
        curves = estimate_feature_curves(searcher, TASKS, STEEP_RANKING, "pos")
    assert curves.before.top == pytest.approx([1.5 / 4.5, 2.5 / 4.5, 0.5 / 4.5])
    assert curves.after is not None
    assert curves.after.top == pytest.approx([0.5 / 4.5, 1.5 / 4.5, 2.5 / 4.5])
    assert feature_curve_rows(curves)[0][-2:] == ["p(I|T) after", "FLOE after"]
    assert feature_curve_rows(curves)[3] == [
        *["2", "0.2632", "0.3333", "0.1111", "0.2364", "1.099"],
        *["0.5556", f"{math.log(1.5 / 2.5):.4g}"],
    ]
    picture = build_feature_curves(curves)
    assert picture.name == "feature-pos" and "added by linear" in picture.text
    left, right = picture.figure.axes
    names = [
        [line.get_label() for line in axes.get_lines() if line.get_label()[0] != "_"]
        for axes in (left, right)
    ]
    assert names == [["p(I)", "p(I|R)", "p(I|T)", "p(I|T) after"], ["indep", "FLOE", "FLOE after"]]
    assert list(right.get_lines()[1].get_ydata()) == pytest.approx(list(curves.before.floe))


def test_curves_of_a_feature_that_the_ranking_lacks_have_no_after(index_path: Path) -> None:
    with open_searcher(str(index_path)) as searcher:
        curves = estimate_feature_curves(searcher, TASKS, STEEP_RANKING, "subj")
    assert curves.after is None
    assert len(feature_curve_rows(curves)[0]) == 6
    assert "Dashed" not in build_feature_curves(curves).text


def test_a_feature_of_many_values_is_smoothed(tmp_path: Path) -> None:
    sentences = [" ".join(["word"] * n) for n in range(1, 61)]
    load(tmp_path / "index", [document("d", *sentences)])
    task = Task("t", "word", tuple(f"d.s{n}" for n in range(10, 30)))
    with open_searcher(str(tmp_path / "index")) as searcher:
        curves = estimate_feature_curves(searcher, [task], Ranking("tfisf"), "len")
    # 20 values of spread sqrt((20^2 - 1) / 12) by Silverman's rule.
    assert curves.bandwidth == pytest.approx(1.06 * math.sqrt(399 / 12) * 20**-0.2)
    assert "smoothed" in build_feature_curves(curves).text
    assert len(feature_curve_rows(curves)) <= 41


@pytest.fixture(scope="module")
def tuner(tmp_path_factory):
    path = tmp_path_factory.mktemp("sensitivity") / "index"
    FolderWriter(path, Description("plain", True)).load(Located("sample", d) for d in documents())
    with open_searcher(str(path)) as searcher:
        yield Tuner(searcher, tasks())


def test_every_parameter_of_the_context_has_a_line():
    assert [p.name for p in varied_parameters(Ranking("2si", "both"))] == ["mu", "lambda", "nu"]
    assert [p.name for p in varied_parameters(Ranking("2si", "document"))] == ["mu", "lambda"]
    assert varied_parameters(Ranking("tfisf")) == []


def test_the_figures_equal_those_of_tuning_with_the_other_parameters_fixed(tuner):
    ranking = Ranking("2si", "document", {"mu": 7.0})
    mu, weight = compute_lines(tuner, ranking)
    assert (mu.own_value, weight.own_value) == (7.0, 0.25)
    assert 7.0 in mu.values
    assert 10000.0 in mu.values
    for value, figure in zip(weight.values, weight.figures, strict=True):
        setting = replace(ranking, params={"mu": 7.0, "lambda": value})
        assert figure == pytest.approx(tuner.compute_figures([setting]).mean(), abs=1e-12)
    assert mu.own_figure == pytest.approx(weight.own_figure, abs=1e-12)


def test_values_whose_sum_with_the_others_exceeds_1_are_left_out(tuner):
    by_parameter = {
        line.parameter: line
        for line in compute_lines(tuner, Ranking("3mm", "document", {"gamma": 0.6, "lambda": 0.3}))
    }
    assert max(by_parameter["lambda"].values) == 0.3
    assert 0.6 in by_parameter["gamma"].values


def test_a_ranking_with_incompatible_values_is_rejected(tuner):
    with pytest.raises(UsageError, match="gamma"):
        compute_lines(tuner, Ranking("3mm", "document", {"gamma": 0.6, "lambda": 0.5}))


def test_a_signal_with_incompatible_values_is_rejected(tuner):
    signal = {"signal": "2si both", "lambda": 0.9, "nu": 0.4}
    with pytest.raises(UsageError, match="lambda"):
        compute_lines(tuner, Ranking.from_dict({"model": "dir", "rerank": [signal]}))


def test_the_rankings_own_value_is_circled_and_labelled(tuner):
    lines = compute_lines(tuner, Ranking("dir", None, {"mu": 50}))
    axes = draw_sensitivity(lines, "AP").axes[0]
    line, ring = axes.lines
    assert tuple(line.get_xdata()) == lines[0].values
    assert tuple(line.get_ydata()) == lines[0].figures
    assert list(ring.get_xdata()) == [50]
    assert axes.get_xscale() == "log"
    assert ["mu", "50 (given)", f"{lines[0].own_figure:.4f}"] in sensitivity_rows(lines, "AP")


@pytest.mark.parametrize(
    "model, first, last", [("dir", -7.61, -8.01), ("2s", -4.59, -4.97), ("2si", -7.43, -5.61)]
)
def test_the_weights_agree_with_the_formulas(model, first, last):
    weights = compute_weights()[model]
    assert len(weights) == len(LENGTHS) == 50
    assert (round(weights[0], 2), round(weights[-1], 2)) == (first, last)


def test_weights_of_models_without_length_are_constant():
    weights = compute_weights()
    assert weights["jm"] == pytest.approx([math.log(0.5 * 0.0005)] * 50)
    assert weights["3mm"] == pytest.approx([math.log(0.25 * 0.02 + 0.25 * 0.0005)] * 50)


def test_2si_falls_when_the_term_is_rare_in_its_document():
    weights = compute_weights(in_document=0.0011, in_collection=0.001)["2si"]
    assert weights[-1] < weights[0]


def test_dir_always_falls_and_2si_always_rises():
    weights = compute_weights()
    assert list(weights["dir"]) == sorted(weights["dir"], reverse=True)
    assert list(weights["2si"]) == sorted(weights["2si"])


def test_the_table_shows_the_first_and_the_last_length():
    rows = build_unseen_terms(compute_weights()).rows
    assert rows[1] == ["1", "-8.29", "-7.61", "-5.27", "-4.59", "-7.43"]
    assert rows[-1][0] == "50"


def test_gains_are_differences_by_topic_sorted_in_descending_order(results):
    good, odd = compute_gains(results, "AP")
    assert (good.run, odd.run) == ("good", "odd")
    assert good.values == pytest.approx([1 - 5 / 6] * 6)
    assert odd.topics == ("t0", "t1", "t2", "t3", "t4", "t5")
    assert odd.values == pytest.approx([1 / 6, 0, 0, 7 / 12 - 5 / 6, 7 / 12 - 5 / 6, -5 / 6])
    assert odd.counts == (1, 2, 3)


def test_counts_equal_those_of_the_significance_test(results):
    for result, gains in zip(results[1:], compute_gains(results, "AP"), strict=True):
        comparison = result.groups["all"].significance["AP"]
        assert gains.counts == (comparison.wins, comparison.ties, comparison.losses)


def test_the_table_names_the_topics_with_the_greatest_gains_and_losses(results):
    assert list_gains(compute_gains(results, "AP"))[2] == [
        *("odd", "1", "2", "3", "t0 +0.17"),
        "t5 -0.83, t4 -0.25, t3 -0.25",
    ]


def test_a_few_topics_are_drawn_as_labelled_bars(results):
    panel = draw_gains(compute_gains(results, "AP"), "AP").axes[1]
    assert [bar.get_height() for bar in panel.patches] == pytest.approx(
        [*compute_gains(results, "AP")[1].values]
    )
    assert [label.get_text() for label in panel.get_xticklabels()] == [f"t{n}" for n in range(6)]


def test_the_counts_stand_below_the_bars_where_all_topics_lose():
    (panel,) = draw_gains([Gains("run", ("a", "b"), (-0.1, -0.1))], "AP").axes
    assert not panel.texts
    assert panel.get_xlabel() == "mean -0.1000; 0 won, 0 tied, 2 lost"


def test_neighbouring_values_that_look_alike_are_merged():
    steps, edges = merge_steps(np.array([0.5, 0.4999, 0.2, 0, 0, 0, -0.3]))
    assert steps == pytest.approx([0.5, 0.2, 0, -0.3])
    assert list(edges) == [-0.5, 1.5, 2.5, 5.5, 6.5]


def test_thousands_of_topics_are_drawn_as_a_small_picture():
    values = np.linspace(1, -1, 5000)
    figure = draw_gains([Gains("run", tuple(map(str, range(5000))), tuple(map(float, values)))], "AP")
    assert sum(len(patch.get_path()) for patch in figure.axes[0].patches) < 5000


@pytest.fixture
def index(tmp_path):
    """Sentences s1 to s4 of one to four terms."""
    words = ["one", "one two", "one two three", "one two three four"]
    document = Document("d", tuple(Sentence(f"s{n}", text) for n, text in enumerate(words, 1)))
    FolderWriter(tmp_path / "index", Description("plain", True)).load([Located("sample", document)])
    with open_searcher(str(tmp_path / "index")) as searcher:
        yield searcher.index


RUNS = {
    "long": {"t": {"s4": 3.0, "s3": 2.0, "s1": 1.0}, "u": {"s4": 1.0}},
    "short": {"t": {"s1": 3.0, "s2": 2.0}, "other": {"s4": 1.0}},
}
RANKINGS_QRELS = {"t": {"s3": 1, "s1": 0, "gone": 1}, "u": {"s2": 2}}


def test_a_length_is_the_mean_over_the_top_of_all_judged_topics(index):
    lengths = measure_lengths(index, RANKINGS_QRELS, RUNS, top=2)
    assert lengths.runs == {"long": pytest.approx(11 / 3), "short": 1.5}


def test_the_table_ends_with_the_collection_and_its_relevant_sentences(index):
    lengths = measure_lengths(index, RANKINGS_QRELS, RUNS)
    assert (lengths.collection, lengths.relevant) == (2.5, 2.5)
    assert list_lengths(lengths)[-2:] == [["all sentences", "2.50"], ["relevant sentences", "2.50"]]


def test_without_relevant_sentences_there_is_no_line_for_them(index):
    lengths = measure_lengths(index, {"t": {"s1": 0}}, RUNS)
    assert lengths.relevant is None
    assert [bar.get_width() for bar in draw_lengths(lengths).axes[0].patches] == list(lengths.runs.values())


def test_a_run_of_another_index_is_rejected(index):
    with pytest.raises(UsageError, match=r"run strange has sentences that the index lacks: .*'x1'"):
        measure_lengths(index, RANKINGS_QRELS, {"strange": {"t": {"x1": 1.0}}})


def test_the_curve_equals_that_of_ir_measures(qrels, runs):
    curves = compute_curves(qrels, runs)
    assert list(curves) == ["base", "good", "odd"]
    for run, values in curves.items():
        names = [ir_measures.parse_measure(f"IPrec@{recall}") for recall in RECALL]
        expected = ir_measures.calc_aggregate(names, qrels, runs[run])
        assert values == pytest.approx([expected[name] for name in names], abs=1e-12)


def test_a_perfect_run_is_a_line_at_one(qrels, runs):
    assert compute_curves(qrels, runs)["good"] == (1.0,) * 11


def test_a_topic_that_the_run_lacks_counts_as_zero(qrels, runs):
    run = {topic: answers for topic, answers in runs["good"].items() if topic != "t0"}
    assert compute_curves(qrels, {"run": run})["run"] == pytest.approx([5 / 6] * 11)


def test_the_lines_are_drawn_at_the_computed_values(qrels, runs):
    curves = compute_curves(qrels, runs)
    axes = draw_precision_recall(curves).axes[0]
    assert [tuple(line.get_ydata()) for line in axes.lines] == list(curves.values())
    assert [text.get_text() for text in axes.texts] == list(curves)


def test_the_caption_says_when_the_axis_does_not_begin_at_0(qrels, runs):
    near = {"one": (0.82,) * 11, "two": (0.8,) * 11}
    assert draw_precision_recall(near).axes[0].get_ylim() == pytest.approx((0.78, 0.84))
    assert "does not begin at 0" in build_precision_recall(near).text
    far = near | {"three": (0.1,) * 11}
    assert draw_precision_recall(far).axes[0].get_ylim()[0] == 0
    assert "begin" not in build_precision_recall(far).text


def test_many_runs_have_labels_that_do_not_overlap():
    axes = draw_precision_recall({f"run{n}": (0.5 + n / 1000,) * 11 for n in range(30)}).axes[0]
    heights = sorted(text.xyann[1] for text in axes.texts)
    assert min(b - a for a, b in pairwise(heights)) > 0.02
    assert heights[0] >= 0
    assert heights[-1] <= 1
