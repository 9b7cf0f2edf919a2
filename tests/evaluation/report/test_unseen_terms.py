import math

import pytest

from esr.evaluation.report.unseen_terms import LENGTHS, build_picture, compute_weights


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
    rows = build_picture(compute_weights()).rows
    assert rows[1] == ["1", "-8.29", "-7.61", "-5.27", "-4.59", "-7.43"]
    assert rows[-1][0] == "50"
