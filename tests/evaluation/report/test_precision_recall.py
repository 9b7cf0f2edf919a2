from itertools import pairwise

import ir_measures
import pytest

from esr.evaluation.report.precision_recall import RECALL, build_picture, compute_curves, draw


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
    axes = draw(curves).axes[0]
    assert [tuple(line.get_ydata()) for line in axes.lines] == list(curves.values())
    assert [text.get_text() for text in axes.texts] == list(curves)


def test_the_caption_says_when_the_axis_does_not_begin_at_0(qrels, runs):
    near = {"one": (0.82,) * 11, "two": (0.8,) * 11}
    assert draw(near).axes[0].get_ylim() == pytest.approx((0.78, 0.84))
    assert "does not begin at 0" in build_picture(near).text
    far = near | {"three": (0.1,) * 11}
    assert draw(far).axes[0].get_ylim()[0] == 0
    assert "begin" not in build_picture(far).text


def test_many_runs_have_labels_that_do_not_overlap():
    axes = draw({f"run{n}": (0.5 + n / 1000,) * 11 for n in range(30)}).axes[0]
    heights = sorted(text.xyann[1] for text in axes.texts)
    assert min(b - a for a, b in pairwise(heights)) > 0.02
    assert heights[0] >= 0
    assert heights[-1] <= 1
