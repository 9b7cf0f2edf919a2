import pytest

from esr.evaluation.reproduce import checks, experiment
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.target import MET, NOT_BUILT, NOT_MET, UNCHECKED, Target, judge, not_built
from esr.ranking.ranking import Ranking

LOW, HIGH = [0.1, 0.2, 0.3, 0.4, 0.5], [0.31, 0.42, 0.5, 0.59, 0.72]
NEAR = [0.12, 0.18, 0.33, 0.38, 0.5]


def figures_of(values):
    by_topic = {f"N{n}": value for n, value in enumerate(values)}
    return experiment.SystemFigures({"AP": by_topic}, {"AP": sum(values) / len(values)}, 9.0)


def results_of(**systems):
    """Results of systems that were trained on 2002 and tested on 2003."""
    trained = {"bm25": experiment.TrainedSystem(Ranking("bm25", params={"k1": 1.5, "b": 0.0}), 0.5, 4)}
    figures = {name: figures_of(values) for name, values in systems.items()}
    return ExperimentResults(Protocol(), [], {}, {}, {"2002": trained}, {("2002", "2003"): figures}, {})


def check_relation(relation, system, other, **systems):
    check = checks.compared(relation, "2002", ["2003"], [system], [other], ["AP"])
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
    check = checks.compared("above", "2004", ["2003"], ["a"], ["b"], ["AP"])
    assert [line.holds for line in check(results_of(a=HIGH, b=LOW))] == [None]


def test_one_value_within_the_tolerance_is_enough():
    def holds(*values):
        check = checks.near("x", 10.0, 0.5, *(lambda results, v=v: v for v in values))
        return check(results_of())[0].holds

    assert holds(10.5) and holds(9.5) and holds(2.0, 10.1)
    assert holds(10.51) is False and holds(2.0, None) is False
    assert holds(None) is None


def test_a_tuned_parameter_is_compared_with_the_claim():
    def holds(**claimed):
        return [line.holds for line in checks.tuned_to("2002", "bm25", **claimed)(results_of())]

    assert holds(b=0.0, k1=1.5) == [True, True]
    assert holds(b=0.1, k1=1.5) == [False, True]
    assert [line.holds for line in checks.tuned_to("2004", "bm25", b=0.0)(results_of())] == [None]


def test_a_majority_is_more_than_half():
    def holds(*systems):
        check = checks.majority_of(checks.compared("below", "2002", ["2003"], systems, ["b"], ["AP"]))
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
    lines = [checks.Line("", "", "", outcome) for outcome in holds]
    assert judge(Target("X", "", "", lambda results: lines), results_of()).mark == mark


def test_a_claim_about_an_unbuilt_part_is_neither_met_nor_failed():
    assert judge(Target("X", "", "", not_built), results_of()).mark == NOT_BUILT
