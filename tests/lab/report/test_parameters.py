"""The report's curves of a feature, over the worked examples."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from esr.errors import UsageError
from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.report.parameters import (
    LENGTHS,
    build_feature_curves,
    build_unseen_terms,
    compute_lines,
    compute_weights,
    draw_sensitivity,
    estimate_feature_curves,
    feature_curve_rows,
    sensitivity_rows,
    varied_parameters,
)
from esr.lab.tuner import Task, Tuner
from esr.models.adjustment import parse_adjustment
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import Located
from tests.lab.tuning.conftest import documents, tasks
from tests.support import worked_examples as worked
from tests.support.folder_index import document, load

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
