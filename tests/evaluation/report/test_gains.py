import numpy as np
import pytest

from esr.evaluation.report.gains import Gains, build_rows, compute_gains, draw, merge_steps


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
    assert build_rows(compute_gains(results, "AP"))[2] == [
        *("odd", "1", "2", "3", "t0 +0.17"),
        "t5 -0.83, t4 -0.25, t3 -0.25",
    ]


def test_a_few_topics_are_drawn_as_labelled_bars(results):
    panel = draw(compute_gains(results, "AP"), "AP").axes[1]
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
    figure = draw([Gains("run", tuple(map(str, range(5000))), tuple(map(float, values)))], "AP")
    assert sum(len(patch.get_path()) for patch in figure.axes[0].patches) < 5000
