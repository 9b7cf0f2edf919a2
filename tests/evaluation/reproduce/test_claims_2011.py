from dataclasses import replace

import pytest

from esr.evaluation.reproduce import experiment
from esr.evaluation.reproduce.claims_2011 import TARGETS as TARGETS_2011
from esr.evaluation.reproduce.experiment import TARGETS
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import MET, NOT_BUILT, NOT_MET, UNCHECKED
from esr.ranking.ranking import Ranking

pytestmark = pytest.mark.slow


def marks(results):
    return {verdict.target.id: verdict.mark for verdict in experiment.verdicts(results)}


def test_the_targets_are_listed_once():
    ids = [target.id for target in TARGETS]
    assert len(set(ids)) == len(ids)
    assert [t.source.rpartition(", ")[2] for t in TARGETS_2011] == [str(n) for n in range(1, 14)]
    assert {target.id[0] for target in TARGETS} == {"A", "B", "C"}


def test_with_all_years_every_target_is_checked(results):
    assert UNCHECKED not in marks(results).values()
    not_built = {id for id, mark in marks(results).items() if mark == NOT_BUILT}
    assert not_built == {f"B{n}" for n in range(2, 11)} | {"C5"}


def test_targets_of_2002_cannot_be_checked_without_its_training(results):
    tested = {years: systems for years, systems in results.tested.items() if years[0] != "2002"}
    without = replace(
        results, tested=tested, trained={y: t for y, t in results.trained.items() if y != "2002"}
    )
    unchecked = {id for id, mark in marks(without).items() if mark == UNCHECKED}
    assert unchecked == {f"A{n}" for n in range(3, 14)}
    assert marks(without)["C1"] == marks(results)["C1"]


def test_only_the_published_shares_meet_their_targets(results):
    shares = {"2002": 0.02, "2003": 0.3907, "2004": 0.1597}
    statistics = {
        year: replace(figures, relevant_micro=shares[year], sentence_length=9.2, relevant_length=13.8)
        for year, figures in results.statistics.items()
    }
    assert [marks(results)[id] for id in ("A1", "A2")] == [NOT_MET, NOT_MET]
    assert [marks(replace(results, statistics=statistics))[id] for id in ("A1", "A2")] == [MET, MET]


def test_only_the_published_parameters_meet_their_targets(results):
    def with_parameters(**params):
        ranking = Ranking("bm25f", "document", params=params)
        best = {name: replace(system, ranking=ranking) for name, system in results.trained["2002"].items()}
        return marks(replace(results, trained=dict(results.trained) | {"2002": best}))["A6"]

    assert with_parameters(b_sent=0.0, alpha=1.0) == MET
    assert with_parameters(b_sent=0.1, alpha=1.0) == NOT_MET


def test_published_figures_are_met_within_0_01(results):
    published = {"tfisf": 0.31, "okapi": 0.23, "kld": 0.29}
    second = {"tfisf": 0.22, "okapi": 0.17, "kld": 0.2}

    def with_figures(**changed):
        tested = {
            (train, test): {
                name: replace(system, means=dict(system.means) | {"AP": figures[name]})
                if name in figures
                else system
                for name, system in systems.items()
            }
            for (train, test), systems in results.tested.items()
            for figures in ((published | changed) if test == "2003" else second,)
        }
        by_target = marks(replace(results, tested=tested))
        return [by_target[id] for id in ("C1", "C2", "C3", "C4")]

    assert with_figures() == [MET] * 4
    assert with_figures(tfisf=0.33) == [NOT_MET, MET, MET, MET]
    assert with_figures(okapi=0.3) == [MET, NOT_MET, MET, NOT_MET]


def test_all_systems_of_the_papers_are_built():
    assert len(SYSTEMS) == 4 + 8 + 8 + 7 + 2
