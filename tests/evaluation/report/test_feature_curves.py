"""The report's curves of a feature, over the worked examples."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import esr
from esr import adjustments
from esr.evaluation.report import feature_curves
from esr.evaluation.tuning.tuner import Task
from esr.ranking.ranking import Ranking
from tests.support import worked_examples as worked
from tests.support.folder_index import document, load

TASKS = [Task("Q1", worked.queries()["Q1"], tuple(worked.relevant()["Q1"]))]
STEEP_RANKING = Ranking("tfisf", candidates="all", features=(adjustments.parse("pos:linear:100"),))


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    load(tmp_path / "index", worked.documents())
    return tmp_path / "index"


def test_curves_show_the_ranking_before_and_after_a_feature_is_added(index_path: Path) -> None:
    with esr.open(str(index_path)) as searcher:
        curves = feature_curves.estimate_curves(searcher, TASKS, STEEP_RANKING, "pos")
    assert curves.before.top == pytest.approx([1.5 / 4.5, 2.5 / 4.5, 0.5 / 4.5])
    assert curves.after is not None
    assert curves.after.top == pytest.approx([0.5 / 4.5, 1.5 / 4.5, 2.5 / 4.5])
    assert feature_curves.build_rows(curves)[0][-2:] == ["p(I|T) after", "FLOE after"]
    assert feature_curves.build_rows(curves)[3] == [
        *["2", "0.2632", "0.3333", "0.1111", "0.2364", "1.099"],
        *["0.5556", f"{math.log(1.5 / 2.5):.4g}"],
    ]
    picture = feature_curves.build_picture(curves)
    assert picture.name == "feature-pos" and "added by linear" in picture.text
    left, right = picture.figure.axes
    names = [
        [line.get_label() for line in axes.get_lines() if line.get_label()[0] != "_"]
        for axes in (left, right)
    ]
    assert names == [["p(I)", "p(I|R)", "p(I|T)", "p(I|T) after"], ["indep", "FLOE", "FLOE after"]]
    assert list(right.get_lines()[1].get_ydata()) == pytest.approx(list(curves.before.floe))


def test_curves_of_a_feature_that_the_ranking_lacks_have_no_after(index_path: Path) -> None:
    with esr.open(str(index_path)) as searcher:
        curves = feature_curves.estimate_curves(searcher, TASKS, STEEP_RANKING, "subj")
    assert curves.after is None
    assert len(feature_curves.build_rows(curves)[0]) == 6
    assert "Dashed" not in feature_curves.build_picture(curves).text


def test_a_feature_of_many_values_is_smoothed(tmp_path: Path) -> None:
    sentences = [" ".join(["word"] * n) for n in range(1, 61)]
    load(tmp_path / "index", [document("d", *sentences)])
    task = Task("t", "word", tuple(f"d.s{n}" for n in range(10, 30)))
    with esr.open(str(tmp_path / "index")) as searcher:
        curves = feature_curves.estimate_curves(searcher, [task], Ranking("tfisf"), "len")
    # 20 values of spread sqrt((20^2 - 1) / 12) by Silverman's rule.
    assert curves.bandwidth == pytest.approx(1.06 * math.sqrt(399 / 12) * 20**-0.2)
    assert "smoothed" in feature_curves.build_picture(curves).text
    assert len(feature_curves.build_rows(curves)) <= 41
