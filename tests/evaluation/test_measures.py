import random

import ir_measures
import pytest

from esr.errors import UsageError
from esr.evaluation import measures, qrels, runs

NAMES = [*measures.DEFAULT, "RR@10", "Judged@10", "Success@5", "NumRet", "IPrec@0.1", "P(rel=2)@5", "SetF"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Judgements and a run of 40 topics: graded, with ties, unsorted, some topics on one side only."""
    chance = random.Random(3)
    folder = tmp_path_factory.mktemp("files")
    with open(folder / "qrels", "w") as file:
        for topic in range(40):
            for sentence in chance.sample(range(60), 20):
                file.write(f"{topic} 0 s{sentence} {chance.choice([-1, 0, 0, 1, 2])}\n")
    with open(folder / "run", "w") as file:
        for topic in chance.sample(range(3, 45), 42):
            for sentence in chance.sample(range(60), 30):
                file.write(f"{topic} Q0 s{sentence} 0 {chance.choice([chance.random(), 0.5])!r} x\n")
    return folder / "qrels", folder / "run"


def test_figures_equal_those_of_ir_measures_exactly(files):
    judgements, run = qrels.read(files[0]), runs.read(files[1])
    values = measures.evaluate(NAMES, judgements, run.scores)
    for name in NAMES:
        measure = ir_measures.parse_measure(name)
        total, per_topic = ir_measures.calc(
            [measure], ir_measures.read_trec_qrels(str(files[0])), ir_measures.read_trec_run(str(files[1]))
        )
        assert values[name] == {metric.query_id: metric.value for metric in per_topic}
        assert measures.mean(name, values[name].values()) == total[measure]


def test_a_topic_without_answers_scores_0_and_one_without_judgements_is_ignored():
    values = measures.evaluate(
        ["AP", "RR"], {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0}, "3": {"a": 1.0}}
    )
    assert values == {"AP": {"1": 1.0, "2": 0.0}, "RR": {"1": 1.0, "2": 0.0}}
    assert measures.mean("AP", values["AP"].values()) == 0.5


def test_a_measure_does_not_take_the_parameters_of_another():
    judgements = {"1": {"a": 1, "b": 2, "c": 0}}
    run = {"1": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
    names = ["nDCG(gains={1:9})@3", "P(judged_only=True)@2", "nDCG@3", "NumRet", "P@2"]
    for order in (names, names[::-1]):
        values = measures.evaluate(order, judgements, run)
        assert values == {name: measures.evaluate([name], judgements, run)[name] for name in names}
    assert values["P@2"] == {"1": 0.5}
    assert values["P(judged_only=True)@2"] == {"1": 1.0}


def test_measures_keep_the_names_they_were_requested_by():
    assert list(measures.evaluate(["MAP", "AP", "RPrec"], {"1": {"a": 1}}, {})) == ["MAP", "AP", "RPrec"]


def test_a_list_of_measures_may_have_commas_and_brackets():
    text = "AP, P@10  nDCG(judged_only=True, dcg='log2')@10\nAP"
    assert measures.split_names(text) == ["AP", "P@10", "nDCG(judged_only=True, dcg='log2')@10"]
    with pytest.raises(UsageError, match="not a list of measures"):
        measures.split_names("AP )(")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndcg@10", "unknown measure 'ndcg': did you mean 'nDCG'"),
        ("Rprecc", "unknown measure 'Rprecc': did you mean 'Rprec'"),
        ("P", "cutoff is missing"),
        ("P@0", "a cutoff must be from 1"),
        ("P@-3", "a cutoff must be from 1"),
        ("P@99999999999", "a cutoff must be from 1"),
        ("P@1.5", "invalid param cutoff=1.5"),
        ("P@ten", "not a measure: 'P@ten': write a measure like"),
        ("P(5)", "write a measure like"),
        ("P(**{})@5", "write a measure like"),
        ("P(relevance=2)@5", "unknown parameter of P 'relevance': did you mean 'rel'"),
        ("P(rel=-5)@5", "any other number from 0"),
        ("nDCG(gains={1:'a'})@5", "any other number from 0"),
        ("nDCG(gains={1:999999999})@5", "any other number from 0"),
        ("RBP", "Unsupported measures {RBP}"),
        ("@10", "not a measure: '@10'"),
    ],
)
def test_an_unknown_or_malformed_measure_is_rejected(name, expected):
    with pytest.raises(UsageError) as error:
        measures.evaluate([name], {"1": {"a": 1}}, {})
    assert expected in str(error.value)
