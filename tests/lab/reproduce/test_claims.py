""""""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from esr.errors import UsageError
from esr.lab.grid import build_default_grid, expand_grid
from esr.lab.reproduce import experiment
from esr.lab.reproduce.claims import (
    MET,
    NOT_BUILT,
    NOT_MET,
    TARGETS_2011,
    UNCHECKED,
    ExperimentResults,
    Line,
    Target,
    compared,
    judge,
    majority_of,
    near,
    not_built,
    tuned_to,
)
from esr.lab.reproduce.experiment import POOLED, TARGETS, measure_interpretations
from esr.lab.reproduce.systems import (
    SYSTEMS,
    Protocol,
    SystemFigures,
    TrainedSystem,
    YearExperiment,
    open_indexes,
    with_prior,
)
from esr.models.adjustment import Adjustment
from esr.models.bm25 import K1_GRID
from esr.models.likelihood import MU_GRID
from esr.ranking.ranking import Ranking
from tests.lab.reproduce.conftest import GRID

LOW, HIGH = [0.1, 0.2, 0.3, 0.4, 0.5], [0.31, 0.42, 0.5, 0.59, 0.72]
NEAR = [0.12, 0.18, 0.33, 0.38, 0.5]


def figures_of(values):
    by_topic = {f"N{n}": value for n, value in enumerate(values)}
    return SystemFigures({"AP": by_topic}, {"AP": sum(values) / len(values)}, 9.0)


def results_of(**systems):
    """Results of systems that were trained on 2002 and tested on 2003."""
    trained = {"bm25": TrainedSystem(Ranking("bm25", params={"k1": 1.5, "b": 0.0}), 0.5, 4)}
    figures = {name: figures_of(values) for name, values in systems.items()}
    return ExperimentResults(Protocol(), [], {}, {}, {"2002": trained}, {("2002", "2003"): figures}, {})


def check_relation(relation, system, other, **systems):
    check = compared(relation, "2002", ["2003"], [system], [other], ["AP"])
    return [line.holds for line in check(results_of(**systems))]


@pytest.mark.parametrize(
    ("relation", "high_to_low", "low_to_high", "low_to_near", "near_to_low", "same"),
    [
        ("above", True, False, False, True, False),
        ("below", False, True, True, False, False),
        ("not below", True, False, False, True, True),
        ("significantly above", True, False, False, False, False),
        ("not significantly above", False, True, True, True, True),
        ("not significantly below", True, False, True, True, True),
        ("not significantly different from", False, False, True, True, True),
    ],
)
def test_every_relation_between_two_systems_is_checked(
    relation, high_to_low, low_to_high, low_to_near, near_to_low, same
):
    assert check_relation(relation, "a", "b", a=HIGH, b=LOW) == [high_to_low]
    assert check_relation(relation, "a", "b", a=LOW, b=HIGH) == [low_to_high]
    assert check_relation(relation, "a", "b", a=LOW, b=NEAR) == [low_to_near]
    assert check_relation(relation, "a", "b", a=NEAR, b=LOW) == [near_to_low]
    assert check_relation(relation, "a", "b", a=LOW, b=LOW) == [same]


def test_a_comparison_without_figures_cannot_be_checked():
    assert check_relation("above", "a", "none", a=HIGH) == [None]
    check = compared("above", "2004", ["2003"], ["a"], ["b"], ["AP"])
    assert [line.holds for line in check(results_of(a=HIGH, b=LOW))] == [None]


def test_one_value_within_the_tolerance_is_enough():
    def holds(*values):
        check = near("x", 10.0, 0.5, *(lambda results, v=v: v for v in values))
        return check(results_of())[0].holds

    assert holds(10.5) and holds(9.5) and holds(2.0, 10.1)
    assert holds(10.51) is False and holds(2.0, None) is False
    assert holds(None) is None


def test_a_tuned_parameter_is_compared_with_the_claim():
    def holds(**claimed):
        return [line.holds for line in tuned_to("2002", "bm25", **claimed)(results_of())]

    assert holds(b=0.0, k1=1.5) == [True, True]
    assert holds(b=0.1, k1=1.5) == [False, True]
    assert [line.holds for line in tuned_to("2004", "bm25", b=0.0)(results_of())] == [None]


def test_a_majority_is_more_than_half():
    def holds(*systems):
        check = majority_of(compared("below", "2002", ["2003"], systems, ["b"], ["AP"]))
        return check(results_of(b=NEAR, low=LOW, high=HIGH, higher=HIGH))[0].holds

    assert holds("low") is True
    assert holds("low", "high") is False
    assert holds("low", "none") is None


@pytest.mark.parametrize(
    ("holds", "mark"),
    [
        ([True, True], MET),
        ([True, False], NOT_MET),
        ([True, None], UNCHECKED),
        ([None, False], NOT_MET),
        ([], UNCHECKED),
    ],
)
def test_the_mark_follows_from_its_lines(holds, mark):
    lines = [Line("", "", "", outcome) for outcome in holds]
    assert judge(Target("X", "", "", lambda results: lines), results_of()).mark == mark


def test_a_claim_about_an_unbuilt_part_is_neither_met_nor_failed():
    assert judge(Target("X", "", "", not_built), results_of()).mark == NOT_BUILT


def marks(results):
    return {verdict.target.id: verdict.mark for verdict in experiment.verdicts(results)}


@pytest.mark.slow
def test_the_targets_are_listed_once():
    ids = [target.id for target in TARGETS]
    assert len(set(ids)) == len(ids)
    assert [t.source.rpartition(", ")[2] for t in TARGETS_2011] == [str(n) for n in range(1, 14)]
    assert {target.id[0] for target in TARGETS} == {"A", "B", "C"}


@pytest.mark.slow
def test_with_all_years_every_target_is_checked(results):
    assert UNCHECKED not in marks(results).values()
    not_built = {id for id, mark in marks(results).items() if mark == NOT_BUILT}
    assert not_built == {f"B{n}" for n in range(2, 11)} | {"C5"}


@pytest.mark.slow
def test_targets_of_2002_cannot_be_checked_without_its_training(results):
    tested = {years: systems for years, systems in results.tested.items() if years[0] != "2002"}
    without = replace(
        results, tested=tested, trained={y: t for y, t in results.trained.items() if y != "2002"}
    )
    unchecked = {id for id, mark in marks(without).items() if mark == UNCHECKED}
    assert unchecked == {f"A{n}" for n in range(3, 14)}
    assert marks(without)["C1"] == marks(results)["C1"]


@pytest.mark.slow
def test_only_the_published_shares_meet_their_targets(results):
    shares = {"2002": 0.02, "2003": 0.3907, "2004": 0.1597}
    statistics = {
        year: replace(figures, relevant_micro=shares[year], sentence_length=9.2, relevant_length=13.8)
        for year, figures in results.statistics.items()
    }
    assert [marks(results)[id] for id in ("A1", "A2")] == [NOT_MET, NOT_MET]
    assert [marks(replace(results, statistics=statistics))[id] for id in ("A1", "A2")] == [MET, MET]


@pytest.mark.slow
def test_only_the_published_parameters_meet_their_targets(results):
    def with_parameters(**params):
        ranking = Ranking("bm25f", "document", params=params)
        best = {name: replace(system, ranking=ranking) for name, system in results.trained["2002"].items()}
        return marks(replace(results, trained=dict(results.trained) | {"2002": best}))["A6"]

    assert with_parameters(b_sent=0.0, alpha=1.0) == MET
    assert with_parameters(b_sent=0.1, alpha=1.0) == NOT_MET


@pytest.mark.slow
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


@pytest.mark.slow
def test_all_systems_of_the_papers_are_built():
    assert len(SYSTEMS) == 4 + 8 + 8 + 7 + 2


@pytest.mark.slow
def test_training_selects_the_parameters_that_test_best_on_their_own_year(year_experiment):
    trained = year_experiment.train()
    spread = 0.0
    for name in ("bm25", "2si document", with_prior("3mm surrounding"), "tfmix document", "jm + length"):
        start = structs.replace(SYSTEMS[name].ranking, candidates="matching")
        grid = {parameter: GRID[parameter] for parameter in build_default_grid(start)}
        figures = [year_experiment.test(ranking).means["AP"] for ranking in expand_grid(start, grid)]
        assert trained[name].figure == pytest.approx(max(figures), abs=1e-12)
        assert trained[name].tried == len(figures) > 1
        assert year_experiment.test(trained[name].ranking).means["AP"] == pytest.approx(
            max(figures), abs=1e-12
        )
        spread = max(spread, max(figures) - min(figures))
    assert spread > 0.001


@pytest.mark.slow
def test_bm25f_inherits_k1_from_the_tuned_bm25(year_experiment):
    trained = year_experiment.train()
    for context in ("document", "surrounding"):
        k1 = trained[f"bm25f {context}"].ranking.params["k1"]
        assert k1 == trained["bm25"].ranking.params["k1"] in GRID["k1"]


@pytest.mark.slow
def test_systems_without_a_grid_are_not_tuned(year_experiment):
    trained = year_experiment.train()
    assert dict(trained["okapi"].ranking.params) == {"k1": 1.2, "b": 0.75, "k3": 0.0}
    assert [trained[name].tried for name in ("okapi", "tfisf", "idfdoc")] == [1, 1, 1]


@pytest.mark.slow
def test_the_grids_have_the_sizes_in_the_papers():
    sizes = {
        name: len(expand_grid(system.ranking, build_default_grid(system.ranking)))
        for name, system in SYSTEMS.items()
    }
    assert (sizes["jm"], sizes["dir"], sizes["kld"], sizes["3mm document"]) == (9, 12, 12, 36)
    assert sizes["2s surrounding"] == sizes["2si document"] == sizes[with_prior("2si document")] == 108
    assert (sizes["bm25"], sizes["tfmix document"]) == (121, 11)
    assert pytest.approx([1 + n / 10 for n in range(11)]) == K1_GRID
    assert MU_GRID == (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


@pytest.mark.slow
def test_only_sentences_of_the_topics_documents_are_ranked(years, work):
    ranking = Ranking("tfisf", candidates="matching")
    with open_indexes(years["2003"], work, "year") as topic_indexes:
        experiment = YearExperiment(years["2003"], topic_indexes, Protocol())
        wide, run = experiment.run(ranking, restricted=False), experiment.run(ranking)
    for topic, scores in run.items():
        assert set(scores) <= set(years["2003"].sentences(topic))
    assert any(set(wide[topic]) - set(years["2003"].sentences(topic)) for topic in wide)


@pytest.mark.slow
def test_the_top_length_averages_the_best_sentences_of_each_topic(year_experiment, years, monkeypatch):
    monkeypatch.setattr("esr.lab.reproduce.systems.TOP", 7)
    ranking = Ranking("dir", priors={"length": 1.0}, candidates="matching")
    lengths = years["2003"].lengths
    means = [
        np.mean([lengths[s] for s in list(scores)[:7]]) for scores in year_experiment.run(ranking).values()
    ]
    assert year_experiment.test(ranking).top_length == pytest.approx(np.mean(means))
    plain = Ranking("dir", candidates="matching")
    assert year_experiment.test(plain).top_length < year_experiment.test(ranking).top_length


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranked", "alone", "context"),
    [("matching", "matching", "matching"), ("context", "matching", "all"), ("all", "all", "all")],
)
def test_the_protocol_sets_which_sentences_are_ranked(ranked, alone, context):
    protocol = Protocol(ranked=ranked)
    assert {protocol.candidates(name) for name in ("jm", "dir", "tfisf", "bm25")} == {alone}
    assert {protocol.candidates(name) for name in ("3mm", "2s", "2si", "tfmix", "bm25f")} == {context}


@pytest.mark.slow
def test_topic_statistics_cover_the_documents_of_the_topic(years, work):
    protocol = Protocol(statistics="topic", grid=GRID)
    with open_indexes(years["2003"], work, "topic") as topic_indexes:
        assert [len(topic_index.tasks) for topic_index in topic_indexes] == [1, 1, 1, 1]
        sizes = [
            topic_index.searcher.index.statistics([]).collection.sentences for topic_index in topic_indexes
        ]
        assert sizes == [60, 72, 60, 60]
        experiment = YearExperiment(years["2003"], topic_indexes, protocol)
        trained = experiment.train()["2si document"]
        assert experiment.test(trained.ranking).means["AP"] == pytest.approx(trained.figure, abs=1e-12)
        assert set(experiment.test(trained.ranking).values["AP"]) == {"N1", "N2", "N3", "N4"}


@pytest.mark.slow
def test_the_interpretations_of_the_protocol_differ(years, work):
    figures = measure_interpretations(years["2003"], work, 1000)
    assert figures["matching, year"] < figures["all, year"]
    assert figures[POOLED] < figures["matching, year"]
    assert set(figures) == {
        "matching, year", "all, year", POOLED, "matching, topic", "all, topic"
    }  # fmt: skip


@pytest.mark.slow
def test_indexes_are_reused_until_the_documents_change(years, tmp_path):
    year = years["2003"]
    with open_indexes(year, tmp_path, "year") as (topic_index,):
        before = topic_index.searcher.index.status()["generation"]
    with open_indexes(year, tmp_path, "year") as (topic_index,):
        assert topic_index.searcher.index.status()["generation"] == before
    with open_indexes(replace(year, documents=year.documents[1:]), tmp_path, "year") as (topic_index,):
        assert topic_index.searcher.index.status()["documents"] == 19


@pytest.mark.slow
def test_a_ranking_that_cannot_be_searched_with_is_no_empty_answer(year_experiment):
    ranking = Ranking("tfisf", features=(Adjustment("subj", "linear"),))
    with pytest.raises(UsageError, match="unknown feature"):
        year_experiment.test(ranking)
