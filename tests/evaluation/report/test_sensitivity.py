from dataclasses import replace

import pytest

import esr
from esr.documents import Located
from esr.engines.index import Description
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import UsageError
from esr.evaluation.report.sensitivity import draw, lines, rows, varied
from esr.evaluation.tuning.figures import Tuner
from esr.ranking.ranking import Ranking
from tests.evaluation.tuning.conftest import documents, tasks


@pytest.fixture(scope="module")
def tuner(tmp_path_factory):
    where = tmp_path_factory.mktemp("sensitivity") / "index"
    FolderWriter(where, Description("plain", True)).load(Located("made up", d) for d in documents())
    with esr.open(str(where)) as searcher:
        yield Tuner(searcher, tasks())


def test_each_parameter_of_the_context_has_a_line():
    assert [p.name for p in varied(Ranking("2si", "both"))] == ["mu", "lambda", "nu"]
    assert [p.name for p in varied(Ranking("2si", "document"))] == ["mu", "lambda"]
    assert varied(Ranking("tfisf")) == []


def test_the_figures_are_those_of_tuning_with_the_others_as_given(tuner):
    ranking = Ranking("2si", "document", {"mu": 7.0})
    mu, weight = lines(tuner, ranking)
    assert (mu.given, weight.given) == (7.0, 0.25)
    assert 7.0 in mu.values
    assert 10000.0 in mu.values
    for value, figure in zip(weight.values, weight.figures, strict=True):
        setting = replace(ranking, params={"mu": 7.0, "lambda": value})
        assert figure == pytest.approx(tuner.table([setting]).mean(), abs=1e-12)
    assert mu.at_given == pytest.approx(weight.at_given, abs=1e-12)


def test_values_that_exceed_a_whole_with_the_others_are_left_out(tuner):
    found = {
        line.parameter: line
        for line in lines(tuner, Ranking("3mm", "document", {"gamma": 0.6, "lambda": 0.3}))
    }
    assert max(found["lambda"].values) == 0.3
    assert 0.6 in found["gamma"].values


def test_given_values_that_do_not_go_together_are_refused(tuner):
    with pytest.raises(UsageError, match="gamma"):
        lines(tuner, Ranking("3mm", "document", {"gamma": 0.6, "lambda": 0.5}))


def test_the_given_value_is_ringed_and_named(tuner):
    found = lines(tuner, Ranking("dir", None, {"mu": 50}))
    axes = draw(found, "AP").axes[0]
    line, ring = axes.lines
    assert tuple(line.get_xdata()) == found[0].values
    assert tuple(line.get_ydata()) == found[0].figures
    assert list(ring.get_xdata()) == [50]
    assert axes.get_xscale() == "log"
    assert ["mu", "50 (given)", f"{found[0].at_given:.4f}"] in rows(found, "AP")
