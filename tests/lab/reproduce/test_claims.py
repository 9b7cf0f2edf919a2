"""The claims of the papers and their targets, and the systems, training and data of the experiments."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from esr.errors import UsageError
from esr.index.questions import HasParses, Summary
from esr.lab.curves import Estimates, ValueCounts
from esr.lab.grid import expand_grid
from esr.lab.reproduce import experiment
from esr.lab.reproduce.checks import (
    BOTH_WAYS,
    MAIN_PAIRS,
    any_of,
    at,
    compared,
    curve_mean,
    from_to,
    majority_of,
    near,
    ordered,
    sign_changes,
    tuned_to,
)
from esr.lab.reproduce.claims import ADDED, PUBLISHED, TARGETS
from esr.lab.reproduce.experiment import POOLED, measure_interpretations
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.pooled_years import CROSSED, POOLED_SYSTEMS
from esr.lab.reproduce.protocol import Protocol, SystemFigures, TrainedSystem
from esr.lab.reproduce.systems import BOTH_YEARS, SUBJECTIVE, SYSTEMS, name_with_feature, name_with_prior
from esr.lab.reproduce.targets import (
    MET,
    NOT_MET,
    REPORTED,
    RUN,
    UNCHECKED,
    UNJUDGED,
    Line,
    Target,
    choose_mark,
    judge,
)
from esr.lab.reproduce.year_experiment import (
    YearExperiment,
    add_counts,
    build_index,
    open_grid,
    open_indexes,
    read_feature,
)
from esr.lab.tuner import Task
from esr.models.adjustments import Adjustment
from esr.models.language_models import MU_GRID
from esr.models.tfidf_models import K1_GRID
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from tests.lab.reproduce.conftest import GRID
from tests.support.runs import need

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
    check = compared(relation, [system], [other], ["AP"], [("2002", "2003")])
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
    check = compared("above", ["a"], ["b"], ["AP"], [("2004", "2003")])
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
        check = majority_of(compared("below", systems, ["b"], ["AP"], [("2002", "2003")]))
        return check(results_of(b=NEAR, low=LOW, high=HIGH, higher=HIGH))[0].holds

    assert holds("low") is True
    assert holds("low", "high") is False
    assert holds("low", "none") is None


def test_one_of_several_checks_is_enough():
    def holds(*systems):
        checks = [compared("above", [name], ["b"], ["AP"], [("2002", "2003")]) for name in systems]
        return any_of("one", *checks)(results_of(b=NEAR, low=LOW, high=HIGH))[0].holds

    assert holds("low", "high") is True
    assert holds("low", "low") is False
    assert holds("high", "none") is None


def test_topics_of_one_kind_are_compared_alone():
    results = replace(results_of(a=HIGH, b=[0.9, 0.1, 0.9, 0.1, 0.9]), kinds={"N1": "event", "N3": "event"})
    pairs = [("2002", "2003")]
    (line,) = compared("above", ["a"], ["b"], ["AP"], pairs, "event")(results)
    assert line.holds and line.found.startswith("0.5050 against 0.1000")
    assert not compared("above", ["a"], ["b"], ["AP"], pairs)(results)[0].holds
    assert compared("above", ["a"], ["b"], ["AP"], pairs, "opinion")(results)[0].holds is None


def test_numbers_are_in_the_claimed_order():
    def holds(*numbers):
        return ordered("x", *((f"n{n}", lambda results, v=v: v) for n, v in enumerate(numbers)))(None)[
            0
        ].holds

    assert holds(3.0, 2.0, 1.0) and holds(3.0, 3.0, 1.0) is False and holds(3.0, None) is None


def test_curves_are_weighed_by_the_sentences_with_their_values():
    values, p = np.array([0.0, 1.0, 2.0]), np.array([0.7, 0.2, 0.1])
    floe = np.array([-0.5, 0.3, -0.9])
    estimates = Estimates(values, p, p, p, floe, floe, (None, None))
    results = replace(results_of(), curves={("2003", "tfisf", "pos"): estimates})
    assert curve_mean("2003", "pos", "floe", from_to(1))(results) == pytest.approx(
        (0.2 * 0.3 - 0.1 * 0.9) / 0.3
    )
    assert curve_mean("2003", "pos", "floe", at(0))(results) == pytest.approx(-0.5)
    assert curve_mean("2003", "pos", "floe", at(5))(results) is None
    assert curve_mean("2004", "pos", "floe", at(0))(results) is None
    assert sign_changes("2003", "pos", "floe")(results) == 2


@pytest.mark.parametrize(
    ("lines", "mark"),
    [
        ([("1", True), ("2", True)], MET),
        ([("1", True), ("2", False)], NOT_MET),
        ([("1", True), ("2", None)], UNCHECKED),
        ([("1", None), ("2", False)], NOT_MET),
        ([(REPORTED, True), (REPORTED, True)], RUN),
        ([(REPORTED, True), ("2", True)], MET),
        ([(REPORTED, None)], UNCHECKED),
        ([], UNCHECKED),
    ],
)
def test_the_mark_follows_from_its_lines(lines, mark):
    assert choose_mark([Line("", claimed, "", holds) for claimed, holds in lines]) == mark


def test_what_nothing_judges_is_listed_with_its_reason():
    assert judge(Target("FL-F0", "", None, "why"), results_of()).mark == UNJUDGED
    assert all(target.differs for target in TARGETS if target.check is None)


def marks(results, *ids):
    """The marks of these targets, or of all, by id."""
    return {t.id: judge(t, results).mark for t in TARGETS if not ids or t.id in ids}


COUNTS = {
    "FLA": {"D": 4, "E": 11, "F": 21},
    "FL": {"D": 3, "E": 15, "F": 22},
    "TDSR": {"E": 2, "F": 3},
    "MRF": {"E": 1, "F": 2},
}
"""What the papers report: statistics of data, experiments and findings."""


def test_every_statistic_experiment_and_finding_of_the_papers_is_a_target():
    expected = [
        f"{paper}-{kind}{number}"
        for paper, kinds in COUNTS.items()
        for kind, last in kinds.items()
        for number in range(1, last + 1)
    ]
    ids = [target.id for target in TARGETS]
    assert len(expected) == 84
    assert [id for id in ids if id not in ADDED] == expected
    assert len(set(ids)) == len(ids) == len(expected) + len(ADDED)
    assert {target.kind for target in TARGETS} == {"data", "experiment", "finding"}


@pytest.mark.slow
def test_with_all_files_every_target_is_checked(results):
    by_mark = marks(results)
    assert UNCHECKED not in by_mark.values()
    assert {id for id, mark in by_mark.items() if mark == UNJUDGED} == {"FLA-F25", "FLA-F26", "FL-F27"}
    assert {id for id, mark in by_mark.items() if mark == RUN} <= {
        t.id for t in TARGETS if t.kind == "experiment"
    }


@pytest.mark.slow
def test_targets_of_2002_cannot_be_checked_without_its_training(results):
    tested = {years: systems for years, systems in results.tested.items() if years[0] != "2002"}
    trained = {year: systems for year, systems in results.trained.items() if year != "2002"}
    before, after = marks(results), marks(replace(results, tested=tested, trained=trained))
    without_training = {"FLA-F18", "FLA-E7", "FLA-E9", "FLA-E3", "FLA-E6", "FLA-F25", "FLA-F26"}
    expected = {id for id in after if id.startswith("FLA") and "-D" not in id} - without_training
    assert {id for id, mark in after.items() if mark in (UNCHECKED, NOT_MET)} >= expected
    assert {after[id] for id in ("FLA-F1", "FLA-F8", "FLA-E2", "FLA-F12")} == {UNCHECKED}
    assert {id for id in after if before[id] != after[id] and not id.startswith("FLA")} == set()


@pytest.mark.slow
def test_trends_are_judged_on_all_training_years(results):
    by_id = {verdict.target.id: verdict for verdict in experiment.verdicts(results)}
    assert list(by_id) == [target.id for target in TARGETS]
    trained = {line.what for line in by_id["FLA-F7"].lines}
    assert {"FLA-F1, trained on 2003", "FLA-F1, trained on 2004"} <= trained
    years = {f"{train} to {test}" for train, test in results.tested}
    assert {line.what.rpartition(", ")[2] for line in by_id["FLA-F2"].lines} == years


@pytest.mark.slow
def test_a_trend_differs_if_another_training_year_has_another_mark(results):
    tested = {
        pair: dict(systems) | {"bm25": systems["tfisf"]} if pair[0] != "2004" else dict(systems)
        for pair, systems in results.tested.items()
    }
    worse = {
        t: v / 9 - 0.01 * n
        for n, (t, v) in enumerate(results.tested["2004", "2003"]["tfisf"].values["AP"].items())
    }
    figures = results.tested["2004", "2003"]["bm25"]
    tested["2004", "2003"]["bm25"] = replace(figures, values=dict(figures.values) | {"AP": worse})
    (trends,) = (target for target in TARGETS if target.id == "FLA-F7")
    holds = {line.what: line.holds for line in judge(trends, replace(results, tested=tested)).lines}
    assert holds["FLA-F11, trained on 2003"] is True
    assert holds["FLA-F11, trained on 2004"] is False


@pytest.mark.slow
def test_only_the_published_shares_meet_their_targets(results):
    shares = {"2002": 0.02, "2003": 0.3907, "2004": 0.1597}
    statistics = {
        year: replace(figures, relevant_micro=shares[year], sentence_length=9.2, relevant_length=13.8)
        for year, figures in results.statistics.items()
    }
    assert set(marks(results, "FLA-D1", "FLA-D2").values()) == {NOT_MET}
    ids = ("FLA-D1", "FLA-D2")
    assert set(marks(replace(results, statistics=statistics), *ids).values()) == {MET}


@pytest.mark.slow
def test_only_the_published_parameters_meet_their_targets(results):
    def with_parameters(**params):
        ranking = Ranking("bm25f", "document", params=params)
        best = {name: replace(system, ranking=ranking) for name, system in results.trained["2002"].items()}
        return marks(replace(results, trained=dict(results.trained) | {"2002": best}), "FLA-F13")["FLA-F13"]

    assert with_parameters(b_sent=0.0, alpha=1.0) == MET
    assert with_parameters(b_sent=0.1, alpha=1.0) == NOT_MET


@pytest.mark.slow
def test_published_figures_are_met_within_0_01(results):
    def with_figures(**changed):
        tested = {
            (train, test): {
                name: replace(system, means=dict(system.means) | {"AP": figures[name]})
                if name in figures
                else system
                for name, system in systems.items()
            }
            for (train, test), systems in results.tested.items()
            for figures in (dict(PUBLISHED.get(test, {})) | (changed if test == "2003" else {}),)
        }
        return list(marks(replace(results, tested=tested), "TDSR-E1", "TDSR-F2").values())

    assert with_figures() == with_figures(tdsr=0.36) == [MET, MET]
    assert with_figures(tdsr=0.37) == [NOT_MET, MET]
    assert with_figures(okapi=0.3) == [NOT_MET, NOT_MET]


@pytest.mark.slow
def test_gains_are_met_only_with_significance_and_in_their_range(results):
    """With a gain of the same per cent in every topic."""

    def with_gains(low, high):
        tested = {pair: dict(systems) for pair, systems in results.tested.items()}
        for n, pair in enumerate(BOTH_WAYS):
            plain = tested[pair]["tfisf"]
            values = {
                measure: {t: (0.1 + 0.01 * k) * factor for k, t in enumerate(by_topic)}
                for measure, by_topic in plain.values.items()
                for factor in (1 + (low if (measure == "P@10") == bool(n) else high) / 100,)
            }
            means = {m: sum(v.values()) / len(v) for m, v in values.items()}
            base = {m: {t: 0.1 + 0.01 * k for k, t in enumerate(v)} for m, v in plain.values.items()}
            base_means = {m: sum(v.values()) / len(v) for m, v in base.items()}
            for name in tested[pair]:
                tested[pair][name] = SystemFigures(base, base_means, 9.0)
            tested[pair][SUBJECTIVE] = SystemFigures(values, means, 9.0)
        return marks(replace(results, tested=tested), "FL-F5")["FL-F5"]

    assert with_gains(9.4, 25.5) == MET
    assert with_gains(7.0, 25.5) == NOT_MET
    assert with_gains(9.4, 29.0) == NOT_MET


@pytest.mark.slow
def test_all_systems_of_the_papers_are_built(results):
    features = 5 * 4 + 5 * 4 + 4 + 3
    assert len(SYSTEMS) == 4 + 8 + 8 + 7 + 2 + features + 4 + 6
    for pair in BOTH_WAYS:
        assert list(results.tested[pair]) == list(SYSTEMS)
    assert all(SUBJECTIVE not in results.tested[pair] for pair in MAIN_PAIRS)


@pytest.mark.slow
def test_the_fourth_paper_runs_in_each_reading_of_its_collection(results):
    assert [reading for _, reading in results.pooled] == ["topic", "pooled", "aquaint"]
    for figures in results.pooled.values():
        assert list(figures) == list(POOLED_SYSTEMS)
        assert len(figures["sdm"].values["P@10"]) == 8
    means = [results.pooled[CROSSED, r]["kld"].means["AP"] for r in ("topic", "pooled", "aquaint")]
    assert len(set(means)) == 3
    for (train, test), topics in ((BOTH_WAYS[1], ("N1", "N45")), (BOTH_WAYS[0], ("N51", "N54"))):
        for topic in topics:
            figure = results.tested[train, test]["fdm"].values["AP"][topic]
            assert results.pooled[CROSSED, "topic"]["fdm"].values["AP"][topic] == figure


@pytest.mark.slow
def test_features_are_trained_on_their_base(results):
    for year in BOTH_YEARS:
        trained = results.trained[year]
        (subjective,) = trained[SUBJECTIVE].ranking.features
        both = trained[name_with_feature("log", "len", SUBJECTIVE)].ranking.features
        assert both[0] == subjective and both[1].feature == "len" and both[1].params["w"] in GRID["w"]
        (floe,) = trained[name_with_feature("floe", "neg")].ranking.features
        curve = results.curves[year, "tfisf", "neg"]
        assert floe.curve == curve.curve("floe") and trained[name_with_feature("floe", "neg")].tried == 1
        assert trained[name_with_feature("indep", "neg")].ranking.features[0].curve == curve.curve("indep")
        assert results.curves[year, "tfisf", "neg"] is not results.curves[year, SUBJECTIVE, "neg"]


@pytest.mark.slow
def test_the_papers_examples_are_found_and_ranked(results):
    earthquake, reward = results.examples["earthquake"], results.examples["reward"]
    assert {(e.topic, e.sentence) for e in earthquake} == {("N3", "XIE20030101.0200:8")}
    assert {e.train for e in earthquake} == {"2002", "2004"}
    assert {(e.train, e.topic) for e in reward} == {("2004", "N2")}
    assert all(e.ranks["3mm document + p(d|s)"] for e in earthquake)


@pytest.mark.slow
def test_subjective_sentences_rise_with_the_feature(results):
    for promotions in results.promotions.values():
        assert len(promotions) == 4
        assert all(p.subjective[1] < p.subjective[0] and p.objective[1] > p.objective[0] for p in promotions)


@pytest.mark.slow
def test_what_the_folder_lacks_is_computed_like_esr_enrich(years, tmp_path):
    """And nothing that it has: a document with opinions keeps them, and gets a parse."""
    need("spacy")
    annotated = years["2003"].documents[0]
    sentences = tuple(structs.replace(s, parse=None) for s in annotated.sentences)
    annotated = structs.replace(annotated, sentences=sentences)
    place = build_index([annotated], tmp_path / "annotated", enrich=True)
    with open_searcher(str(place)) as searcher:
        assert searcher.index.status(HasParses())
        values = read_feature(searcher, [s.id for s in annotated.sentences], "neg")
        assert values == {s.id: s.features["neg"] for s in annotated.sentences}
    titles = [Task("N1", "Bill Clinton in Beijing", ()), Task("N2", "heavy rain", ())]
    assert experiment.find_names(replace(years["2003"], tasks=titles), tmp_path) == {"N1": True, "N2": False}


def test_counts_of_several_indexes_are_added():
    year = [np.array(v) for v in ([0.0, 2.0], [3, 1], [1, 0], [0, 1])]
    other = [np.array(v) for v in ([1.0, 2.0], [5, 2], [2, 2], [1, 1])]
    total = add_counts([ValueCounts(*year), ValueCounts(*other)])
    assert total.values.tolist() == [0.0, 1.0, 2.0]
    assert [part.tolist() for part in (total.everywhere, total.relevant, total.top)] == [
        [3, 5, 3],
        [1, 2, 2],
        [0, 1, 2],
    ]


@pytest.mark.slow
def test_training_selects_the_parameters_that_test_best_on_their_own_year(year_experiment):
    names = (
        "bm25",
        "2si document",
        name_with_prior("3mm surrounding"),
        "tfmix document",
        "jm + length",
        "tdsr",
        "fidm",
    )
    trained = year_experiment.train(names)
    spread = 0.0
    for name in names:
        start = structs.replace(SYSTEMS[name].ranking, candidates="matching")
        grid = open_grid(SYSTEMS[name], start, Protocol(grid=GRID))
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
    trained = year_experiment.train(["bm25", "bm25f document", "bm25f surrounding"])
    for context in ("document", "surrounding"):
        k1 = trained[f"bm25f {context}"].ranking.params["k1"]
        assert k1 == trained["bm25"].ranking.params["k1"] in GRID["k1"]


@pytest.mark.slow
def test_systems_without_a_grid_are_not_tuned(year_experiment):
    trained = year_experiment.train(["okapi", "tfisf", "idfdoc"])
    assert dict(trained["okapi"].ranking.params) == {"k1": 1.2, "b": 0.75, "k3": 0.0}
    assert [trained[name].tried for name in ("okapi", "tfisf", "idfdoc")] == [1, 1, 1]


@pytest.mark.slow
def test_the_grids_have_the_sizes_in_the_papers():
    sizes = {
        name: len(expand_grid(system.ranking, open_grid(system, system.ranking, Protocol())))
        for name, system in SYSTEMS.items()
    }
    assert (sizes["jm"], sizes["dir"], sizes["kld"], sizes["3mm document"]) == (9, 12, 12, 36)
    assert sizes["2s surrounding"] == sizes["2si document"] == sizes[name_with_prior("2si document")] == 108
    assert (sizes["bm25"], sizes["tfmix document"]) == (121, 11)
    assert pytest.approx([1 + n / 10 for n in range(11)]) == K1_GRID
    assert MU_GRID == (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


@pytest.mark.slow
def test_only_sentences_of_the_topics_documents_are_ranked(years, work):
    ranking = Ranking("tfisf", candidates="matching")
    with open_indexes(years["2003"], work, Protocol()) as topic_indexes:
        experiment = YearExperiment(years["2003"], topic_indexes, Protocol())
        wide, run = experiment.run(ranking, restricted=False), experiment.run(ranking)
    for topic, scores in run.items():
        assert set(scores) <= set(years["2003"].sentences(topic))
    assert any(set(wide[topic]) - set(years["2003"].sentences(topic)) for topic in wide)


@pytest.mark.slow
def test_the_top_length_averages_the_best_sentences_of_each_topic(year_experiment, years, monkeypatch):
    monkeypatch.setattr("esr.lab.reproduce.year_experiment.TOP", 7)
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
    with open_indexes(years["2003"], work, protocol) as topic_indexes:
        assert [len(topic_index.tasks) for topic_index in topic_indexes] == [1, 1, 1, 1]
        sizes = [
            topic_index.searcher.index.statistics([]).collection.sentences for topic_index in topic_indexes
        ]
        assert sizes == [60, 72, 60, 60]
        experiment = YearExperiment(years["2003"], topic_indexes, protocol)
        trained = experiment.train(["2si document"])["2si document"]
        assert experiment.test(trained.ranking).means["AP"] == pytest.approx(trained.figure, abs=1e-12)
        assert set(experiment.test(trained.ranking).values["AP"]) == {"N1", "N2", "N3", "N45"}


@pytest.mark.slow
def test_the_interpretations_of_the_protocol_differ(years, work):
    figures = measure_interpretations(years["2003"], work, Protocol())
    assert figures["matching, year"] < figures["all, year"]
    assert figures[POOLED] < figures["matching, year"]
    assert set(figures) == {
        "matching, year", "all, year", POOLED, "matching, topic", "all, topic"
    }  # fmt: skip


@pytest.mark.slow
def test_indexes_are_reused_until_the_documents_change(years, tmp_path):
    year = years["2003"]
    with open_indexes(year, tmp_path, Protocol()) as (topic_index,):
        before = topic_index.searcher.index.status(Summary())["generation"]
    with open_indexes(year, tmp_path, Protocol()) as (topic_index,):
        assert topic_index.searcher.index.status(Summary())["generation"] == before
    with open_indexes(replace(year, documents=year.documents[1:]), tmp_path, Protocol()) as (topic_index,):
        assert topic_index.searcher.index.status(Summary())["documents"] == 19


@pytest.mark.slow
def test_a_ranking_that_cannot_be_searched_with_is_no_empty_answer(year_experiment):
    ranking = Ranking("tfisf", features=(Adjustment("subj_score", "linear"),))
    with pytest.raises(UsageError, match="unknown feature"):
        year_experiment.test(ranking)
