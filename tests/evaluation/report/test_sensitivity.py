import pytest
from msgspec.structs import replace

import esr
from esr.documents import Located
from esr.engines.index import Description
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import UsageError
from esr.evaluation.report.sensitivity import build_rows, compute_lines, draw, varied_parameters
from esr.evaluation.tuning.tuner import Tuner
from esr.ranking.ranking import Ranking
from tests.evaluation.tuning.conftest import documents, tasks


@pytest.fixture(scope="module")
def tuner(tmp_path_factory):
    path = tmp_path_factory.mktemp("sensitivity") / "index"
    FolderWriter(path, Description("plain", True)).load(Located("sample", d) for d in documents())
    with esr.open(str(path)) as searcher:
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
    axes = draw(lines, "AP").axes[0]
    line, ring = axes.lines
    assert tuple(line.get_xdata()) == lines[0].values
    assert tuple(line.get_ydata()) == lines[0].figures
    assert list(ring.get_xdata()) == [50]
    assert axes.get_xscale() == "log"
    assert ["mu", "50 (given)", f"{lines[0].own_figure:.4f}"] in build_rows(lines, "AP")
