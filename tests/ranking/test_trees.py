"""Trees of signals: what they predict, how a ranking file keeps them, and what is no tree."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from esr.errors import InputError, UsageError
from esr.ranking.ranking import Ranking
from esr.ranking.second_stage.regression_trees import RegressionTree, relative_to_best, trees_from_dict
from esr.ranking.second_stage.signals import RankingSignal

TREES: dict[str, Any] = {
    "inputs": [{"signal": "dir"}, {"signal": "feature len"}],
    "trees": [
        {
            "input": [1, 0],
            "threshold": [4.5, -1.0],
            "missing_left": [1, 0],
            "left": [1, -2],
            "right": [-1, -3],
            "value": [3.0, -0.5, 0.25],
        },
        {"input": [], "threshold": [], "missing_left": [], "left": [], "right": [], "value": [0.125]},
    ],
}


def test_a_row_goes_left_up_to_the_threshold_and_an_unknown_value_as_the_node_says() -> None:
    table = np.array([[0.0, 5.0], [0.0, 4.5], [-1.0, 1.0], [np.nan, np.nan]])
    assert trees_from_dict(TREES).predict(table).tolist() == [3.125, 0.375, -0.375, 0.375]


def test_what_depends_on_the_query_is_measured_from_the_lists_best() -> None:
    inputs = [RankingSignal("dir"), RankingSignal("feature len"), RankingSignal("tdsr")]
    values = np.array([[-5.0, 3.0, np.nan], [-2.0, np.nan, np.nan], [np.nan, 8.0, np.nan]])
    table = relative_to_best(inputs, values)
    assert np.array_equal(
        table,
        [[-3.0, 3.0, np.nan], [0.0, np.nan, np.nan], [np.nan, 8.0, np.nan]],
        equal_nan=True,
    )
    assert relative_to_best(inputs, np.zeros((0, 3))).shape == (0, 3)


def test_a_ranking_file_keeps_its_trees() -> None:
    saved = Ranking.from_dict({"trees": TREES}).as_dict()
    assert saved["trees"]["trees"] == TREES["trees"]
    (first, second) = saved["trees"]["inputs"]
    assert (first["signal"], first["mu"], second) == ("dir", 30.0, {"signal": "feature len"})
    assert Ranking.from_dict(saved).as_dict() == saved
    assert "trees" not in Ranking().as_dict()


def with_tree_parts(**parts: Any) -> dict[str, Any]:
    data = copy.deepcopy(TREES)
    data["trees"][0] |= parts
    return data


BAD = [
    ({"inputs": [], "trees": []}, "must be lists, 'inputs' not empty"),
    ({"trees": []}, 'with "inputs" and "trees"'),
    ("x", 'with "inputs" and "trees"'),
    ({**TREES, "inputs": [{"signal": "dirr"}]}, "unknown signal 'dirr'"),
    ({**TREES, "inputs": [{"signal": "dir", "mu": -1}] * 2}, "parameter 'mu' must be a number"),
    ({**TREES, "trees": [[]]}, "tree 1 of the ranking is not an object of"),
    (with_tree_parts(left="ab"), "has a part that is not a list"),
    (with_tree_parts(left=[1]), "has lists of the wrong lengths"),
    (with_tree_parts(value=[1.0]), "has lists of the wrong lengths"),
    (with_tree_parts(left=[0, -2]), "a child that is neither a later node nor"),
    (with_tree_parts(left=[2, -2]), "a child that is neither a later node nor"),
    (with_tree_parts(right=[-1, -4]), "a child that is neither a later node nor"),
    (with_tree_parts(input=[2, 0]), "an input that is none of its 2"),
    (with_tree_parts(input=[-1, 0]), "an input that is none of its 2"),
    (with_tree_parts(input=[True, 0]), "input that is not a whole number"),
    (with_tree_parts(threshold=[float("nan"), 0.0]), "threshold that is not a finite number"),
    (with_tree_parts(value=[float("inf"), 0.0, 0.0]), "value that is not a finite number"),
    (with_tree_parts(value=["1", 0.0, 0.0]), "value that is not a finite number"),
    (with_tree_parts(left=[1.0, -2]), "left that is not a whole number"),
]


@pytest.mark.parametrize(("data", "message"), BAD)
def test_an_invalid_tree_is_an_error_that_says_why(data: Any, message: str, tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        Ranking.from_dict({"trees": data})
    file = tmp_path / "r.json"
    file.write_text('{"trees": {"inputs": 3}}')
    with pytest.raises(InputError, match=r"r\.json"):
        Ranking.from_file(file)


def test_numbers_that_are_too_large_are_refused() -> None:
    with pytest.raises(UsageError, match="value that is not a finite number"):
        Ranking.from_dict({"trees": with_tree_parts(value=[10**400, 0.0, 0.0])})


def test_a_damaged_tree_cannot_go_in_circles() -> None:
    tree = RegressionTree((0,), (0.0,), (1,), (-1,), (-2,), (1.0, 2.0))
    assert tree.predict(np.array([[-1.0], [1.0], [np.nan]])).tolist() == [1.0, 2.0, 1.0]
