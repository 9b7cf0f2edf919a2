import math

import pytest

from esr.evaluation.report.unseen import LENGTHS, picture, weights


@pytest.mark.parametrize(
    "model, first, last", [("dir", -7.61, -8.01), ("2s", -4.59, -4.97), ("2si", -7.43, -5.61)]
)
def test_the_weights_are_those_of_the_formulas(model, first, last):
    found = weights()[model]
    assert len(found) == len(LENGTHS) == 50
    assert (round(found[0], 2), round(found[-1], 2)) == (first, last)


def test_weights_without_a_say_of_length_stay_as_they_are():
    found = weights()
    assert found["jm"] == pytest.approx([math.log(0.5 * 0.0005)] * 50)
    assert found["3mm"] == pytest.approx([math.log(0.25 * 0.02 + 0.25 * 0.0005)] * 50)


def test_2si_falls_when_its_document_hardly_holds_the_term():
    found = weights(in_document=0.0011, in_collection=0.001)["2si"]
    assert found[-1] < found[0]


def test_dir_falls_at_every_step_and_2si_rises():
    found = weights()
    assert list(found["dir"]) == sorted(found["dir"], reverse=True)
    assert list(found["2si"]) == sorted(found["2si"])


def test_the_table_shows_the_ends():
    rows = picture(weights()).rows
    assert rows[1] == ["1", "-8.29", "-7.61", "-5.27", "-4.59", "-7.43"]
    assert rows[-1][0] == "50"
