from itertools import pairwise

import ir_measures
import numpy as np
import pytest

from esr.errors import UsageError
from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.report.rankings import (
    RECALL,
    Gains,
    build_precision_recall,
    compute_curves,
    compute_gains,
    draw_gains,
    draw_lengths,
    draw_precision_recall,
    gain_rows,
    length_rows,
    measure_lengths,
    merge_steps,
)
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located, Sentence


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
    assert gain_rows(compute_gains(results, "AP"))[2] == [
        *("odd", "1", "2", "3", "t0 +0.17"),
        "t5 -0.83, t4 -0.25, t3 -0.25",
    ]


def test_a_few_topics_are_drawn_as_labelled_bars(results):
    panel = draw_gains(compute_gains(results, "AP"), "AP").axes[1]
    assert [bar.get_height() for bar in panel.patches] == pytest.approx(
        [*compute_gains(results, "AP")[1].values]
    )
    assert [label.get_text() for label in panel.get_xticklabels()] == [f"t{n}" for n in range(6)]


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
QRELS = {"t": {"s3": 1, "s1": 0, "gone": 1}, "u": {"s2": 2}}


def test_a_length_is_the_mean_over_the_top_of_all_judged_topics(index):
    lengths = measure_lengths(index, QRELS, RUNS, top=2)
    assert lengths.runs == {"long": pytest.approx(11 / 3), "short": 1.5}


def test_the_table_ends_with_the_collection_and_its_relevant_sentences(index):
    lengths = measure_lengths(index, QRELS, RUNS)
    assert (lengths.collection, lengths.relevant) == (2.5, 2.5)
    assert length_rows(lengths)[-2:] == [["all sentences", "2.50"], ["relevant sentences", "2.50"]]


def test_without_relevant_sentences_there_is_no_line_for_them(index):
    lengths = measure_lengths(index, {"t": {"s1": 0}}, RUNS)
    assert lengths.relevant is None
    assert [bar.get_width() for bar in draw_lengths(lengths).axes[0].patches] == list(lengths.runs.values())


def test_a_run_of_another_index_is_rejected(index):
    with pytest.raises(UsageError, match=r"run strange has sentences that the index lacks: .*'x1'"):
        measure_lengths(index, QRELS, {"strange": {"t": {"x1": 1.0}}})


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
