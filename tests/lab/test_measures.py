"""Measures of effectiveness, judgements, significance, pools, and comparisons of models."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from esr.errors import EsrError, InputError, UsageError
from esr.lab import measures
from esr.lab.commands.evaluate import compare
from esr.lab.comparison import (
    SOURCES,
    ComparisonPlan,
    build_cells,
    build_default_rankings,
    compute_cell,
    compute_cells,
    read_results,
)
from esr.lab.cross_validation import cross_validate
from esr.lab.judgements import (
    find_topics_without_relevant,
    find_unknown_sentences,
    keep_judged,
    make_pool,
    measure_agreement,
    read_qrels,
)
from esr.lab.significance import RESAMPLES, compare_systems, correct_by_holm, correct_p_values
from esr.lab.tuner import Task, Tuner
from esr.models.language_models import MU_GRID
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.topics.runs import read_run
from tests.lab.conftest import tasks

pytestmark = pytest.mark.slow

NAMES = [
    *measures.DEFAULT,
    *("RR@10", "Judged@10", "Success@5", "NumRet", "IPrec@0.1", "P(rel=2)@5", "SetF", "Bpref"),
]


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
    judgements, run = read_qrels(files[0]), read_run(files[1])
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


def test_trec_lines_are_grades_by_topic_and_sentence(file):
    path = file("1 0 a.s0 2\n2\t0\tb.s0\t0\r\n\n1 Q0 a.s1 -1\n1 0 a.s0 2\n", "qrels.gz")
    assert read_qrels(path) == {"1": {"a.s0": 2, "a.s1": -1}, "2": {"b.s0": 0}}


def test_lines_of_the_novelty_track_are_relevant_sentences(file):
    path = file("N1 XIE20010101.0001:2\nN1 XIE20010101.0001:12\nN2 NYT20010102.0002:1\n")
    assert read_qrels(path) == {
        "N1": {"XIE20010101.0001:2": 1, "XIE20010101.0001:12": 1},
        "N2": {"NYT20010102.0002:1": 1},
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (" \n", "file.txt: contains no judgements"),
        ("1 0 a 1\n1 0 a\n", "file.txt:2: expected qid 0 sentence_id grade, found '1 0 a'"),
        ("1 0 a 1\n\n1 a:1\n", "file.txt:3: expected qid 0 sentence_id grade"),
        ("1 0 a 1.5\n", "file.txt:1: expected qid 0 sentence_id grade with an integer as the grade"),
        ("1 0 a 1001\n", "file.txt:1: expected a grade from -1000 to 1000"),
        ("1 0 a 1\n1 0 a 0\n", "file.txt:2: sentence a has two grades in topic 1, 1 and 0"),
        ("N1 a:1\nN1 0 a 1\n", "file.txt:2: expected qid docno:num"),
        ("N1 a:1\nN1 a1\n", "file.txt:2: expected qid docno:num, found 'N1 a1'"),
        ("N1 a:\n", "file.txt:1: expected qid docno:num"),
        (b"1 0 a 1\n1 0 \xe9 1\n", "file.txt:2: this line is not UTF-8"),
    ],
)
def test_a_bad_line_is_rejected_with_its_number(read_error, content, expected):
    assert expected in read_error(read_qrels, content)


def test_topics_without_a_relevant_sentence_are_found():
    assert find_topics_without_relevant({"1": {"a": 0, "b": 1}, "2": {"a": 0, "b": -1}}) == ["2"]


class IndexOf:
    """A minimal index of these sentences."""

    def __init__(self, *ids):
        self.ids = set(ids)

    def read(self, ids, column):
        if not self.ids.issuperset(ids):
            raise UsageError("no such sentence")
        return [None] * len(ids)


def test_judged_sentences_that_the_index_lacks_are_found_in_order():
    judgements = {"1": {f"s{n}": 1 for n in range(1300)}, "2": {"s7": 0, "t": 1}}
    indexed = [f"s{n}" for n in range(1300) if n not in (0, 7, 1299)]
    assert find_unknown_sentences(judgements, IndexOf(*indexed)) == ["s0", "s7", "s1299", "t"]
    assert find_unknown_sentences(judgements, IndexOf(*indexed, "s0", "s7", "s1299", "t")) == []


WORDS = st.sampled_from(["1", "N1", "0", "a", "a:1", "-3", " ", "\t", "\n", ":"])


@settings(deadline=None)
@given(st.binary() | st.lists(WORDS).map(lambda words: " ".join(words).encode()))
def test_any_bytes_are_judgements_or_an_input_error(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "qrels"
        path.write_bytes(data)
        try:
            judgements = read_qrels(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert judgements and all(grades for grades in judgements.values())


def values(seed, topics=40, offset=0.0):
    numbers = np.random.default_rng(seed).random(topics)
    return {f"q{n}": float(value) + offset for n, value in enumerate(numbers)}


def mean_difference(x, y, axis):
    return np.mean(x - y, axis=axis)


def test_figures_equal_those_of_scipy():
    a, b = values(1, offset=0.1), values(2)
    result = compare_systems(a, b)
    x, y = np.array(list(a.values())), np.array(list(b.values()))
    test = stats.ttest_rel(x, y)
    interval = test.confidence_interval(0.95)
    assert (result.t_test, result.low, result.high) == (test.pvalue, interval.low, interval.high)
    assert result.difference == np.mean(x - y)
    swaps = stats.permutation_test(
        (x, y),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    )
    assert result.randomisation == swaps.pvalue
    assert (result.wins, result.ties, result.losses) == ((x > y).sum(), 0, (x < y).sum())


def test_topics_are_paired_by_name():
    a, b = values(1), values(2)
    assert compare_systems(a, dict(reversed(b.items()))) == compare_systems(a, b)


def test_figures_are_reproducible_and_depend_on_the_seed():
    a, b = values(1, 200), values(2, 200)
    assert compare_systems(a, b) == compare_systems(a, b)
    assert compare_systems(a, b, seed=1).randomisation != compare_systems(a, b).randomisation
    in_thousandths = compare_systems(a, b, resamples=999).randomisation * 1000
    assert in_thousandths == pytest.approx(round(in_thousandths))


def test_few_topics_are_permuted_exhaustively():
    a = {"1": 0.5, "2": 0.6, "3": 0.7}
    b = {"1": 0.1, "2": 0.1, "3": 0.1}
    assert compare_systems(a, b).randomisation == 2 / 8


def test_equal_runs_do_not_differ_and_a_constant_difference_does():
    a = {"1": 0.5, "2": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = compare_systems(a, a)
        above = compare_systems({t: v + 0.25 for t, v in a.items()}, a)
    assert (same.t_test, same.randomisation, same.low, same.high, same.ties) == (1.0, 1.0, 0.0, 0.0, 2)
    assert (above.t_test, above.low, above.high, above.wins) == (0.0, 0.25, 0.25, 2)


def test_one_topic_gives_no_p_value():
    result = compare_systems({"1": 1.0}, {"1": 0.0})
    assert math.isnan(result.t_test) and math.isnan(result.randomisation)
    assert result.mark == ""
    assert json.loads(json.dumps(result.as_dict(), allow_nan=False))["t_test"] is None


@pytest.mark.parametrize(("a", "b"), [({}, {}), ({"1": 1.0}, {"2": 1.0}), ({"1": 1.0}, {})])
def test_different_topics_cannot_be_compared(a, b):
    with pytest.raises(UsageError, match="the same topics"):
        compare_systems(a, b)


def test_holm_corrects_step_by_step():
    assert correct_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert correct_by_holm([0.01, math.nan, 0.6]) == pytest.approx([0.02, math.nan, 0.6], nan_ok=True)
    assert correct_by_holm([0.9, 0.8]) == [1.0, 1.0]
    assert correct_by_holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_lies_between_no_correction_and_bonferroni(p_values):
    result = correct_by_holm(p_values)
    for p, q in zip(p_values, result, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p)
    for p, q in zip(p_values, result, strict=True):
        assert all(q <= next_q for next_p, next_q in zip(p_values, result, strict=True) if p < next_p)
    assert min(result) == min(1.0, len(p_values) * min(p_values))


def test_marks_follow_the_corrected_t_test():
    base = values(1)
    close = {t: v + (0.07 if n % 2 else -0.033) for n, (t, v) in enumerate(base.items())}
    weak = compare_systems(close, base)
    assert 0.01 < weak.t_test < 0.05
    assert weak.mark == "*"
    clear = compare_systems({t: v + (0.11 if n % 2 else 0.1) for n, (t, v) in enumerate(base.items())}, base)
    assert clear.mark == "**"
    many = correct_p_values([weak, *[compare_systems(values(9), base)] * 5])
    assert many[0].t_test == weak.t_test
    assert many[0].t_test_holm == pytest.approx(6 * weak.t_test)
    assert many[0].randomisation_holm == pytest.approx(6 * weak.randomisation)
    assert many[0].mark == ""


@pytest.mark.slow
def test_the_effect_is_the_difference_in_standard_deviations_of_the_topics():
    a, b = dict(enumerate([0.5, 0.4, 0.9])), dict(enumerate([0.4, 0.1, 0.4]))
    assert compare_systems(a, b).effect == pytest.approx(0.3 / 0.2)
    assert compare_systems(a, a).effect == 0.0
    assert math.isnan(compare_systems({1: 0.5, 2: 1.0}, {1: 0.25, 2: 0.75}).effect)
    assert math.isnan(compare_systems({1: 0.8, 2: 0.3}, {1: 0.7, 2: 0.2}).effect), "equal but for rounding"
    assert math.isnan(compare_systems({1: 0.5}, {1: 0.25}).effect)


# Judging


def test_kappa_counts_relevant_or_not_and_weights_the_distance_of_grades():
    a = {"1": {"s0": 0, "s1": 1}, "2": {"s0": 2, "s9": 1}}
    b = {"1": {"s0": 0, "s1": 0}, "2": {"s0": 2}, "3": {"s0": 1}}
    found = measure_agreement(a, b)
    assert (found.sentences, found.agreed) == (3, pytest.approx(2 / 3))
    assert (found.kappa, found.weighted) == (pytest.approx(0.4), pytest.approx(2 / 3))
    same = measure_agreement(b, b)
    assert (same.agreed, same.kappa, same.weighted) == (1.0, 1.0, 1.0)
    alike = measure_agreement({"1": {"s0": 1, "s1": 2}}, {"1": {"s0": 1, "s1": 1}})
    assert alike.agreed == 1.0 and math.isnan(alike.kappa) and alike.weighted == pytest.approx(0.0)
    with pytest.raises(UsageError, match="no sentence in common"):
        measure_agreement({"1": {"s0": 1}}, {"2": {"s0": 1}})


def test_a_pool_has_the_best_of_each_run_once_in_an_order_without_ranks():
    runs = [{"1": {f"s{n}": -n for n in range(9)}}, {"1": {f"s{n}": n for n in range(9)}, "2": {"s5": 1}}]
    pool = make_pool(runs, 3)
    assert set(pool["1"]) == {"s0", "s1", "s2", "s6", "s7", "s8"} and pool["2"] == ["s5"]
    assert pool == make_pool(runs[::-1], 3)
    left = make_pool(runs, 3, {"1": {"s0": 0}, "2": {"s5": 1}})
    assert left == {"1": [sentence for sentence in pool["1"] if sentence != "s0"]}


def test_a_condensed_run_has_what_was_judged_and_bpref_needs_no_condensing():
    qrels = {"1": {"a": 1, "b": 0, "c": 2, "d": 0}, "2": {"a": 1}}
    run = {"1": {"x": 9.0, "b": 8.0, "a": 7.0, "y": 6.0, "c": 5.0, "d": 4.0}, "2": {"x": 1.0}}
    condensed = keep_judged(run, qrels)
    assert condensed == {"1": {"b": 8.0, "a": 7.0, "c": 5.0, "d": 4.0}, "2": {}}
    names = ["AP", "AP(judged_only=True)", "Bpref"]
    whole, short = (measures.evaluate(names, qrels, each) for each in (run, condensed))
    assert short["AP"] == whole["AP(judged_only=True)"] != whole["AP"]
    assert short["Bpref"] == whole["Bpref"] == {"1": 0.5, "2": 0.0}  # one of two before each relevant one


def test_thousands_of_topics_fit_in_memory():
    import tracemalloc

    a, b = values(1, 4000), values(2, 4000)
    tracemalloc.start()
    compare_systems(a, b, resamples=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    assert RESAMPLES == 10_000


@pytest.fixture
def plan(index_path: Path, tmp_path: Path) -> Path:
    topics = "".join(f"{task.topic}\t{task.query}\n" for task in tasks())
    qrels = "".join(f"{t.topic} 0 {sentence} 1\n" for t in tasks() for sentence in t.relevant)
    (tmp_path / "topics.tsv").write_text(topics + "stop\t...\n", "utf-8")
    (tmp_path / "qrels.txt").write_text(qrels + "stop 0 d0.s0 1\n", "utf-8")
    data = {
        "collections": {
            "sample": {
                "index": str(index_path),
                "topics": str(tmp_path / "topics.tsv"),
                "qrels": str(tmp_path / "qrels.txt"),
            }
        },
        "rankings": {"tfisf": {"model": "tfisf"}, "long": {"model": "dir", "priors": {"length": 1}}},
        "measures": ["AP", "P@10"],
        "baseline": "tfisf",
    }
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_a_cell_has_a_figure_for_every_topic_and_their_mean(plan: Path) -> None:
    cell = compute_cell(build_cells(ComparisonPlan.from_file(plan))[0], "its key")
    assert cell["topics"] == len(cell["values"]["AP"]) == len(tasks()) + 1
    assert cell["values"]["AP"]["stop"] == 0.0
    assert cell["measures"]["AP"] == pytest.approx(sum(cell["values"]["AP"].values()) / cell["topics"])


def test_by_default_every_model_is_compared_in_every_context() -> None:
    assert {"2si both", "2si document", "bm25", "tfmix surrounding"} <= set(build_default_rankings())


def test_models_that_need_parses_are_left_out_of_the_default_comparison_without_them(
    plan: Path, tmp_path: Path
) -> None:
    data = json.loads(plan.read_text())
    named = {**data, "rankings": {"tdsr": {"model": "tdsr"}}, "baseline": None}
    plan.write_text(json.dumps(named))
    output = str(tmp_path / "figures.jsonl")
    with pytest.raises(UsageError, match="has no parses: run esr enrich --only parse"):
        CliRunner().invoke(compare, [str(plan), "-o", output], catch_exceptions=False)
    assert not Path(output).exists()
    plan.write_text(
        json.dumps({name: each for name, each in data.items() if name != "rankings"} | {"baseline": "bm25"})
    )
    done = CliRunner().invoke(compare, [str(plan), "-o", output, "--workers", "1"], catch_exceptions=False)
    assert "left out tdsr, mrf_sdm, mrf_fdm: " in done.stderr and done.exit_code == 0
    assert "2si both" in done.stdout and "tdsr" not in done.stdout


def test_topics_without_a_value_are_left_out_of_the_marks_of_a_comparison(plan: Path, tmp_path: Path) -> None:
    for name, line in (("topics.tsv", "none\tunheardof\n"), ("qrels.txt", "none 0 d0.s0 1\n")):
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write(line)
    data = json.loads(plan.read_text("utf-8")) | {"measures": ["Accuracy"]}
    data["rankings"]["all"] = {"model": "dir", "candidates": "all"}  # which alone answers the new topic
    plan.write_text(json.dumps(data), "utf-8")
    output = str(tmp_path / "figures.jsonl")
    done = CliRunner().invoke(compare, [str(plan), "-o", output, "--workers", "1"], catch_exceptions=False)
    assert done.exit_code == 0 and done.stdout.startswith("Accuracy\n")


def cell_of(plan: Path, parameters: str, model: str = "dir") -> dict[str, Any]:
    data = json.loads(plan.read_text("utf-8"))
    rankings = {"it": {"model": model}}
    plan.write_text(
        json.dumps(data | {"rankings": rankings, "baseline": "it", "parameters": [parameters]}), "utf-8"
    )
    (cell,) = build_cells(ComparisonPlan.from_file(plan))
    return compute_cell(cell, cell.key())


def test_a_tuned_cell_tests_each_topic_with_the_parameters_of_the_other_folds(plan: Path) -> None:
    cell = cell_of(plan, "tuned")
    assert len(cell["settings"]) == 5
    with open_searcher(build_cells(ComparisonPlan.from_file(plan))[0].inputs.index) as searcher:
        ready = [*tasks(), Task("stop", "...", ("d0.s0",))]
        validation = cross_validate(Tuner(searcher, ready), Ranking("dir"), {"mu": MU_GRID}, "grid", 5, {})
    figures_of = {task.topic: figure for task, figure in zip(ready, validation.figures, strict=True)}
    assert cell["values"]["AP"] == figures_of


@pytest.mark.slow
def test_few_topics_are_tuned_on_all_others(plan: Path, tmp_path: Path) -> None:
    few = (tmp_path / "topics.tsv").read_text("utf-8").splitlines()[:2]
    (tmp_path / "topics.tsv").write_text("\n".join(few), "utf-8")
    assert len(cell_of(plan, "tuned")["settings"]) == 2


def test_an_estimated_cell_does_not_depend_on_the_judgements(plan: Path) -> None:
    first = cell_of(plan, "estimated")
    qrels = Path(json.loads(plan.read_text("utf-8"))["collections"]["sample"]["qrels"])
    qrels.write_text("t0 0 d3.s0 1\nt1 0 d4.s0 1\n", "utf-8")
    second = cell_of(plan, "estimated")
    assert first["settings"] == second["settings"]
    assert len(first["settings"]) == 1
    assert first["measures"] != second["measures"]


def test_a_model_without_parameters_is_the_same_from_every_source(plan: Path) -> None:
    values = [cell_of(plan, source, "tfisf")["values"] for source in SOURCES]
    assert values[0] == values[1] == values[2]


def test_an_unknown_source_of_parameters_is_rejected(plan: Path) -> None:
    with pytest.raises(InputError, match="unknown source of parameters 'tuned '"):
        cell_of(plan, "tuned ")


@pytest.mark.slow
def test_an_interrupted_comparison_resumes(plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures.jsonl"
    first = CliRunner().invoke(compare, [str(plan), "-o", str(out), "--workers", "1"])
    assert first.exit_code == 0, first.output
    lines = out.read_text("utf-8").splitlines()
    out.write_text(lines[0] + "\n" + lines[1][:40], "utf-8")
    assert len(read_results(out)) == 1
    again = CliRunner().invoke(compare, [str(plan), "-o", str(out), "--workers", "1"])
    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert len(read_results(out)) == 2


class Deadly:
    """A cell that ends the worker which computes it."""

    @property
    def inputs(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_the_death_of_a_worker_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EsrError, match=r"a worker process died.*fewer workers"):
        list(compute_cells({"its key": Deadly()}, tmp_path / "figures", 1))  # type: ignore[dict-item]


PROGRAM = """
import signal
from pathlib import Path
from esr.lab.comparison import Cell, Collection, compute_cells
from esr.ranking.ranking import Ranking

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts it in the background ignores it
    inputs = Collection("index", "topics", "qrels")
    cells = {str(n): Cell("c", "r", "default", inputs, Ranking(), ("AP",), 10) for n in range(9)}
    try:
        list(compute_cells(cells, Path("figures"), 1))
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.fixture
def comparison(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program with a worker that has begun a cell, in a group of processes of its own."""
    (tmp_path / "program.py").write_text(PROGRAM)
    os.mkfifo(tmp_path / "qrels")  # a cell waits for what is never written into it
    program = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        writing_end = open_when_read(tmp_path / "qrels")
        yield program
        os.close(writing_end)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()


@pytest.mark.slow
def test_an_interrupt_ends_the_workers_amid_their_cells_without_a_trace(
    comparison: subprocess.Popen[str],
) -> None:
    os.killpg(comparison.pid, signal.SIGINT)
    assert (*comparison.communicate(timeout=60), comparison.returncode) == ("stopped\n", "", 0)


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(comparison: subprocess.Popen[str]) -> None:
    comparison.kill()
    comparison.communicate(timeout=60)  # until the last process has closed the pipes


def open_when_read(pipe: Path) -> int:
    """The pipe, once a process reads it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            time.sleep(0.05)
    raise AssertionError("no worker began a cell")


@pytest.mark.parametrize("content", ['{"id": "a", "text": "x"}\n', "q 0 s 1\n", "[]"])
def test_a_file_with_other_content_is_never_appended_to(plan: Path, tmp_path: Path, content: str) -> None:
    foreign_file = tmp_path / "other"
    foreign_file.write_text(content, "utf-8")
    result = CliRunner().invoke(compare, [str(plan), "-o", str(foreign_file)])
    assert isinstance(result.exception, InputError)
    assert foreign_file.read_text("utf-8") == content


def test_changed_judgements_change_the_key_of_a_cell(plan: Path) -> None:
    before = build_cells(ComparisonPlan.from_file(plan))[0]
    key = before.key()
    of_dataset = dataclasses.replace(before.inputs, qrels="ir_datasets:x")
    assert "ir_datasets:x" in dataclasses.replace(before, inputs=of_dataset).key()
    qrels = Path(before.inputs.qrels)
    qrels.write_text("t0 0 d0.s0 1\n", "utf-8")
    assert before.key() != key


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("[]", "must be an object"),
        ('{"collections": {"a": {"index": "x"}}}', "needs the key 'topics'"),
        ('{"collections": {}, "colour": 1}', "unknown key"),
        ('{"collections": {}, "rankings": {"a": {"model": "bm52"}}}', "did you mean 'bm25'"),
        ('{"collections": {}, "measures": ["APP"]}', "unknown measure"),
        ('{"collections": {}, "baseline": "x"}', "unknown baseline"),
        ('{"collections": {"a": 5}}', "collection 'a' must be an object, not 5"),
        ('{"collections": {"a": {"index": 5}}}', "'index' of collection 'a' must be a string, not 5"),
        ('{"collections": {}, "rankings": ["2si"]}', "'rankings' must be an object"),
        ('{"collections": {}, "measures": "AP"}', "'measures' must be a list of strings, not 'AP'"),
        ('{"collections": {}, "measures": [10]}', "'measures' must be a list of strings, not [10]"),
        ('{"collections": {}, "parameters": 1}', "'parameters' must be a list of strings"),
        ('{"collections": {}, "depth": "1000"}', "'depth' must be a whole number from 1 on, not '1000'"),
        ('{"collections": {}, "depth": 0}', "'depth' must be a whole number from 1 on, not 0"),
        ('{"collections": {}, "baseline": ["a"]}', "'baseline' must be the name of a ranking"),
        ('{"collections":\n{', "bad.json:2: not JSON"),
        ("[" * 100_000, "not JSON: nested too deeply"),
    ],
)
def test_an_error_in_a_comparison_names_its_file(tmp_path: Path, data: str, expected: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(data, "utf-8")
    with pytest.raises(InputError, match=r"bad\.json") as error:
        ComparisonPlan.from_file(path)
    assert expected in str(error.value)
