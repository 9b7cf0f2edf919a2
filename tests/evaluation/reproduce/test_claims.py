from dataclasses import replace

import pytest

from esr.evaluation.reproduce import experiment
from esr.evaluation.reproduce.claims import TARGETS as FIRST
from esr.evaluation.reproduce.experiment import TARGETS
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import MET, NOT_BUILT, NOT_MET, UNCHECKED
from esr.ranking.ranking import Ranking

pytestmark = pytest.mark.slow


def marks(found):
    return {verdict.target.id: verdict.mark for verdict in experiment.verdicts(found)}


def test_every_target_that_survives_is_there_once():
    ids = [target.id for target in TARGETS]
    assert len(set(ids)) == len(ids)
    assert [t.source.rpartition(", ")[2] for t in FIRST] == [str(n) for n in range(1, 14)]
    assert {target.id[0] for target in TARGETS} == {"A", "B", "C"}


def test_with_all_years_every_target_that_is_built_gets_checked(found):
    assert UNCHECKED not in marks(found).values()
    not_yet = {id for id, mark in marks(found).items() if mark == NOT_BUILT}
    assert not_yet == {f"B{n}" for n in range(2, 11)} | {"C5"}


def test_without_the_training_on_2002_its_targets_cannot_be_checked(found):
    tested = {years: systems for years, systems in found.tested.items() if years[0] != "2002"}
    without = replace(found, tested=tested, trained={y: t for y, t in found.trained.items() if y != "2002"})
    unchecked = {id for id, mark in marks(without).items() if mark == UNCHECKED}
    assert unchecked == {f"A{n}" for n in range(3, 14)}
    assert marks(without)["C1"] == marks(found)["C1"]


def test_shares_of_the_papers_are_met_and_others_are_not(found):
    shares = {"2002": 0.02, "2003": 0.3907, "2004": 0.1597}
    shapes = {
        year: replace(shape, relevant_micro=shares[year], sentence_length=9.2, relevant_length=13.8)
        for year, shape in found.shapes.items()
    }
    assert [marks(found)[id] for id in ("A1", "A2")] == [NOT_MET, NOT_MET]
    assert [marks(replace(found, shapes=shapes))[id] for id in ("A1", "A2")] == [MET, MET]


def test_best_parameters_of_the_papers_are_met_and_others_are_not(found):
    def with_parameters(**params):
        ranking = Ranking("bm25f", "document", params=params)
        best = {name: replace(one, ranking=ranking) for name, one in found.trained["2002"].items()}
        return marks(replace(found, trained=dict(found.trained) | {"2002": best}))["A6"]

    assert with_parameters(b_sent=0.0, alpha=1.0) == MET
    assert with_parameters(b_sent=0.1, alpha=1.0) == NOT_MET


def test_published_figures_are_met_within_a_hundredth(found):
    published = {"tfisf": 0.31, "okapi": 0.23, "kld": 0.29}
    second = {"tfisf": 0.22, "okapi": 0.17, "kld": 0.2}

    def with_figures(**changed):
        tested = {
            (train, test): {
                name: replace(one, means=dict(one.means) | {"AP": figures[name]}) if name in figures else one
                for name, one in systems.items()
            }
            for (train, test), systems in found.tested.items()
            for figures in ((published | changed) if test == "2003" else second,)
        }
        found_marks = marks(replace(found, tested=tested))
        return [found_marks[id] for id in ("C1", "C2", "C3", "C4")]

    assert with_figures() == [MET] * 4
    assert with_figures(tfisf=0.33) == [NOT_MET, MET, MET, MET]
    assert with_figures(okapi=0.3) == [MET, NOT_MET, MET, NOT_MET]


def test_all_systems_of_the_papers_are_there():
    assert len(SYSTEMS) == 4 + 8 + 8 + 7 + 2
