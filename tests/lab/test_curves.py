"""Curves trained through a real index: the worked examples, combinations, and folds without leaks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from scipy.stats import gaussian_kde

from esr.errors import UsageError
from esr.lab import curves, grid
from esr.lab.cross_validation import cross_validate, split_folds, train
from esr.lab.curves import (
    MAX_POINTS,
    CurveTraining,
    Estimates,
    EstimationOptions,
    ValueCounts,
    count_values,
    estimate_indep_and_floe,
)
from esr.lab.grid_search import ascend, search_grid
from esr.lab.tuner import Task, Tuner
from esr.models.adjustments import Adjustment, parse_adjustment
from esr.plans.evaluate import evaluate_curve
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.lab.conftest import tasks
from tests.support import elasticsearch as support
from tests.support import worked_examples as worked
from tests.support.folder_index import load


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    path = tmp_path_factory.mktemp("worked") / "index"
    load(path, worked.documents())
    with open_searcher(str(path)) as searcher:
        yield searcher


@pytest.fixture(scope="module")
def elasticsearch(elasticsearch_url: str) -> Iterator[Searcher]:
    with support.fresh(elasticsearch_url) as index:
        support.load(index, [located.document for located in worked.documents()], analyzer="plain")
        with open_searcher(index) as searcher:
            yield searcher


def worked_tasks(queries: list[str]) -> list[Task]:
    return [Task(q, worked.queries()[q], tuple(worked.relevant()[q])) for q in queries]


@pytest.mark.parametrize(
    "engine", ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]
)
@pytest.mark.parametrize("run", worked.trained(), ids=lambda run: run.name)
def test_trained_curves_agree_with_the_worked_examples(
    request: pytest.FixtureRequest, engine: str, run: worked.Trained
) -> None:
    searcher: Searcher = request.getfixturevalue(engine)
    base = Ranking.from_dict(run.ranking)
    training = CurveTraining(run.form, run.feature, EstimationOptions(run.delta))
    fitted = curves.train_curves(searcher, worked_tasks(run.queries), base, [training])
    assert {q: len(scores) for q, scores in run.scores.items()} == {"Q1": 8, "Q2": 8}
    # A trained ranking is the same after a round trip through a ranking file.
    again = Ranking.from_dict(fitted.as_dict())
    for query, expected in run.scores.items():
        answer = searcher.search(worked.queries()[query], 100, ranking=again)
        scores = {hit.sentence_id: hit.score for hit in answer.hits}
        rel = 1e-9 if engine == "embedded" else support.RELATIVE
        assert scores == pytest.approx(expected, rel=rel, abs=1e-9 if engine == "embedded" else 1e-5)
    (adjustment,) = fitted.features
    assert adjustment.curve is not None
    parts = {
        "floe": [0, -0.5108256237659907, 1.0986122886681096],
        "indep": [0.23638877806423034, -0.3513978868378886, 0.23638877806423034],
    }
    assert adjustment.curve.adds == pytest.approx(parts[run.form], rel=1e-9, abs=1e-12)


def test_t_is_the_top_of_the_base_ranking(embedded: Searcher) -> None:
    """T is the top of the base ranking, even if that already has the feature."""
    plain = Ranking("tfisf", candidates="all")
    steep = structs.replace(plain, features=(Adjustment("pos", "linear", {"w": 100.0}),))
    task = worked_tasks(["Q1"])
    assert curves.count_feature_values(embedded, task, plain, "pos").top.tolist() == [1, 2, 0]
    assert curves.count_feature_values(embedded, task, steep, "pos").top.tolist() == [0, 1, 2]
    assert curves.count_feature_values(embedded, task, steep, "pos").relevant.tolist() == [1, 1, 1]
    assert curves.count_feature_values(embedded, task, steep, "pos").everywhere.tolist() == [2, 4, 2]


def test_t_and_r_are_unions_over_topics(embedded: Searcher) -> None:
    twice = [*worked_tasks(["Q1"]), replace(worked_tasks(["Q1"])[0], topic="again")]
    base = Ranking("tfisf", candidates="all")
    once = curves.count_feature_values(embedded, twice[:1], base, "pos")
    both = curves.count_feature_values(embedded, twice, base, "pos")
    assert (once.relevant.tolist(), once.top.tolist()) == (both.relevant.tolist(), both.top.tolist())
    pooled = curves.count_feature_values(embedded, worked_tasks(["Q1", "Q2"]), base, "pos")
    assert pooled.relevant.sum() == 5


def test_judged_sentences_that_the_index_lacks_are_ignored(embedded: Searcher) -> None:
    (task,) = worked_tasks(["Q1"])
    unindexed = replace(task, relevant=(*task.relevant, "gone"))
    base = Ranking("tfisf", candidates="all")
    assert curves.count_feature_values(embedded, [unindexed], base, "pos").top.sum() == 3


def test_curves_are_trained_in_sequence(embedded: Searcher) -> None:
    base = Ranking("tfisf", candidates="all")
    task = worked_tasks(["Q1", "Q2"])
    position, length = CurveTraining("floe", "pos"), CurveTraining("floe", "len")
    both = curves.train_curves(embedded, task, base, [position, length])
    assert [feature.feature for feature in both.features] == ["pos", "len"]
    after_first = curves.train_curves(embedded, task, base, [position])
    assert both == curves.train_curves(embedded, task, after_first, [length])
    again = curves.train_curves(embedded, task, both, [length])
    assert again == both  # replaced, not added twice


def test_residuals_use_the_top_of_the_combined_ranking(searcher: Searcher) -> None:
    training, base = CurveTraining("floe", "len"), Ranking("tfisf")
    fitted = curves.train_curves(searcher, tasks(), base, [training])
    (residual,) = curves.measure_residuals(searcher, tasks(), fitted, [training])
    for stage, ranking in (("before", base), ("after", fitted)):
        estimates = curves.estimate_over(searcher, tasks(), ranking, "len", training.options)
        assert residual[stage] == pytest.approx(sum(abs(estimates.floe) * estimates.everywhere))
    assert residual["before"] != residual["after"]


def test_an_unknown_feature_is_rejected_with_the_nearest_name(embedded: Searcher) -> None:
    with pytest.raises(UsageError, match=r"unknown feature of .* 'poss': did you mean 'pos'"):
        curves.train_curves(embedded, worked_tasks(["Q1"]), Ranking("tfisf"), [CurveTraining("floe", "poss")])
    with pytest.raises(UsageError, match=r"unknown feature of .* 'subject': did you mean 'subj'"):
        embedded.search("china", features=[{"feature": "subject", "form": "linear"}])


def test_every_fold_trains_its_own_curves(searcher: Searcher) -> None:
    tuner, start, training = Tuner(searcher, tasks()), Ranking("tfisf"), [CurveTraining("floe", "len")]
    validation = cross_validate(tuner, start, {}, "grid", 3, {}, curves=training)
    for fold, setting in zip(split_folds(tasks(), 3, {}), validation.settings, strict=True):
        rest = [task for n, task in enumerate(tasks()) if n not in fold]
        assert setting == curves.train_curves(searcher, rest, start, training)
        assert np.array_equal(
            validation.figures[fold], tuner.select_tasks(fold).compute_figures([setting])[0]
        )
    assert len({str(setting) for setting in validation.settings}) == 3


def test_curves_are_trained_on_the_best_setting(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    ranking, values = Ranking("dir"), {"mu": [1.0, 50.0]}
    best = search_grid(tuner, ranking, values).ranking
    result = train(tuner, ranking, values, "grid", curves=[CurveTraining("indep", "len")])
    assert result.ranking == curves.train_curves(searcher, tasks(), best, [CurveTraining("indep", "len")])
    assert np.array_equal(result.figures, tuner.compute_figures([result.ranking])[0])


WEIGHTED = Ranking(
    "dir", params={"mu": 10}, features=(parse_adjustment("len:satu"), parse_adjustment("position:linear:2"))
)


def test_one_tuner_may_tune_with_and_without_a_feature(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    for ranking in (Ranking("dir"), WEIGHTED):
        assert np.array_equal(
            tuner.compute_figures([ranking]), Tuner(searcher, tasks()).compute_figures([ranking])
        )


def test_a_feature_without_a_weight_has_a_default_grid() -> None:
    values = grid.build_default_grid(WEIGHTED)
    assert values == {"len.w": (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)}


@pytest.mark.parametrize("search", [search_grid, ascend])
def test_weights_of_features_are_tuned_like_parameters(searcher: Searcher, search: object) -> None:
    tuner = Tuner(searcher, tasks())
    values = {"len.w": [-1.0, 0.5], "len.k": [1.0, 4.0], "mu": [5.0, 50.0]}
    result = search(tuner, WEIGHTED, values)  # type: ignore[operator]
    candidates = [
        Ranking(
            "dir",
            params={"mu": mu},
            features=(Adjustment("len", "satu", {"w": w, "k": k}), WEIGHTED.features[1]),
        )
        for w in values["len.w"]
        for k in values["len.k"]
        for mu in values["mu"]
    ]
    figures = tuner.compute_figures(candidates).mean(axis=1)
    assert len(set(figures)) > 4
    if search is search_grid:
        assert result.figures.mean() == figures.max()
    assert result.ranking in candidates or search is ascend


def test_tuning_scores_equal_those_of_a_search(embedded: Searcher) -> None:
    """The scores of the judged candidates equal those of a search."""
    from esr.lab.tuner import retrieve_candidates

    (task,) = worked_tasks(["Q1"])
    ranking = Ranking("tfisf", features=(parse_adjustment("subj:linear:0.5"), parse_adjustment("neg:step:1")))
    candidates = retrieve_candidates(embedded, task.query, ranking, task.filters, task.relevant)
    assert candidates is not None
    scores = {candidates.sentence_id(n): score for n, score in enumerate(candidates.scores(ranking))}
    hits = embedded.search(task.query, 100, ranking=ranking).hits
    assert scores == pytest.approx({hit.sentence_id: hit.score for hit in hits})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lenn.w": [1]}, "unknown feature of the ranking 'lenn': did you mean 'len'"),
        ({"len.a": [1]}, "unknown parameter of form satu 'a'"),
        ({"len.k": [0]}, "'k' must be a number in"),
    ],
)
def test_an_invalid_grid_is_rejected(values: dict[str, list[float]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grid.expand_grid(WEIGHTED, values)


def test_an_ambiguous_parameter_is_rejected() -> None:
    both = Ranking(features=(parse_adjustment("len:log"), parse_adjustment("len:linear")))
    with pytest.raises(UsageError, match="two forms of len"):
        grid.expand_grid(both, {"len.w": [1]})


@pytest.mark.parametrize(
    ("text", "training"),
    [
        ("floe:pos", CurveTraining("floe", "pos")),
        ("indep:len:delta=1:bandwidth=2", CurveTraining("indep", "len", EstimationOptions(1, 2))),
        (
            "floe:len:complement=exact:outside=nearest",
            CurveTraining("floe", "len", EstimationOptions(complement="exact", outside="nearest")),
        ),
    ],
)
def test_a_training_is_parsed_from_text(text: str, training: CurveTraining) -> None:
    assert curves.parse_training(text) == training


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flow:pos", "unknown form to train 'flow': did you mean 'floe'"),
        ("linear:pos", "unknown form to train"),
        ("floe", "a feature name"),
        ("floe:pos:delta", "--train needs"),
        ("floe:pos:dleta=1", "did you mean 'delta'"),
        ("floe:pos:delta=-1", "'delta' must be a number"),
        ("floe:pos:complement=half", "'complement' must be one of"),
    ],
)
def test_a_malformed_training_is_rejected(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        curves.parse_training(text)


# indep and FLOE by hand, and against other ways to compute them.


def value_counts(everywhere: dict[float, int], relevant: list[float], top: list[float]) -> ValueCounts:
    values = np.array(sorted(everywhere), float)
    counts = np.array([everywhere[v] for v in values])
    return count_values(values, counts, np.array(relevant, float), np.array(top, float))


# docs/formulas.md, E.10: F_pos over the eight sentences, the three relevant ones, and tfisf's first three.
WORKED = value_counts({0: 2, 1: 4, 2: 2}, [0, 1, 2], [1, 1, 0])


def estimate_adjustments(counts: ValueCounts = WORKED, **options: Any) -> Estimates:
    return estimate_indep_and_floe(counts, EstimationOptions.from_values(options))


def test_probabilities_are_those_of_the_worked_example() -> None:
    estimates = estimate_adjustments()
    assert estimates.everywhere == pytest.approx([2.5 / 9.5, 4.5 / 9.5, 2.5 / 9.5], rel=1e-12)
    assert estimates.relevant == pytest.approx([1.5 / 4.5] * 3, rel=1e-12)
    assert estimates.top == pytest.approx([1.5 / 4.5, 2.5 / 4.5, 0.5 / 4.5], rel=1e-12)
    assert estimates.floe == pytest.approx([0, math.log(1.5 / 2.5), math.log(3)], rel=1e-12, abs=1e-12)
    assert estimates.indep == pytest.approx(
        [math.log(9.5 / 7.5), math.log(9.5 / 13.5), math.log(9.5 / 7.5)], rel=1e-12
    )


def test_exact_complements_compare_with_what_is_not_relevant_and_not_at_the_top() -> None:
    estimates = estimate_adjustments(complement="exact")
    # Not in R: {0: 1, 1: 3, 2: 1}; not in T: {0: 1, 1: 2, 2: 2}.
    indep = np.log([(1.5 / 4.5) / (c / 6.5) for c in (1.5, 3.5, 1.5)])
    captured = np.log([(t / 4.5) / (c / 6.5) for t, c in zip((1.5, 2.5, 0.5), (1.5, 2.5, 2.5), strict=True)])
    assert estimates.indep == pytest.approx(indep, rel=1e-12)
    assert estimates.floe == pytest.approx(indep - captured, rel=1e-12)


def test_a_zero_in_a_ratio_adds_nothing() -> None:
    estimates = estimate_adjustments(value_counts({0: 5, 1: 5, 2: 5}, [0, 0, 1], [0, 2, 2]), delta=0)
    assert estimates.floe == pytest.approx([math.log(2), 0, 0])
    assert estimates.indep == pytest.approx([math.log(2), 0, 0])


@pytest.mark.parametrize(("value", "adds"), [(-1, None), (7, None), (0, 0.0), (2, math.log(3))])
def test_values_that_training_has_not_seen_get_the_ratio_of_smoothed_nothing(value: float, adds: Any) -> None:
    counts = value_counts({0: 2, 1: 4, 2: 2}, [0, 1, 2, 2], [1, 1, 0])
    curve = estimate_adjustments(counts).curve("floe")
    unseen = math.log((0.5 / 5.5) / (0.5 / 4.5))
    expected = unseen if adds is None else adds + math.log(4.5 / 5.5) + (math.log(2.5 / 1.5) if value else 0)
    assert evaluate_curve(curve, np.array([value]))[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_or_what_the_nearest_value_gets() -> None:
    curve = estimate_adjustments(outside="nearest").curve("floe")
    assert evaluate_curve(curve, np.array([-1.0, 9.0])) == pytest.approx([0, math.log(3)], abs=1e-12)


def test_densities_are_those_of_scipys_kernels() -> None:
    generator = np.random.default_rng(1)
    values_drawn = np.round(generator.normal(5, 3, 400), 1)
    relevant, top = values_drawn[:40], values_drawn[20:60]
    values, counts = np.unique(values_drawn, return_counts=True)
    estimates = estimate_adjustments(count_values(values, counts, relevant, top), bandwidth=0.7)
    for part, sample in (
        (estimates.everywhere, values_drawn),
        (estimates.relevant, relevant),
        (estimates.top, top),
    ):
        expected = gaussian_kde(sample, bw_method=0.7 / sample.std(ddof=1))(estimates.values)
        assert part == pytest.approx(expected, rel=1e-9)
    assert estimates.floe == pytest.approx(np.log(estimates.relevant / estimates.top))
    assert estimates.indep == pytest.approx(np.log(estimates.relevant / estimates.everywhere))
    trained_on = np.concatenate([relevant, top])
    assert (estimates.values[0], estimates.values[-1]) == (trained_on.min(), trained_on.max())
    assert estimates.outside == (None, None)


def test_many_distinct_values_need_a_bandwidth() -> None:
    values = np.linspace(0, 1, 5000)
    counts = count_values(values, np.ones(5000, int), values[:50], values[50:90])
    with pytest.raises(UsageError, match="5,000 distinct values: give a bandwidth"):
        estimate_adjustments(counts)
    assert len(estimate_adjustments(counts, bandwidth=0.1).values) <= MAX_POINTS


def test_unknown_values_do_not_count() -> None:
    assert estimate_adjustments(
        value_counts({0: 2, 1: 4, 2: 2}, [0, math.nan, 1, 2], [1, 1, 0, math.nan])
    ).floe == pytest.approx(estimate_adjustments().floe)


def test_nothing_known_of_any_relevant_sentence_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to train from"):
        value_counts({0: 1}, [math.nan], [0])


def test_no_sentence_at_the_top_leaves_floe_to_smoothing() -> None:
    assert estimate_adjustments(value_counts({0: 2, 1: 2}, [1, 1], [])).floe == pytest.approx(
        np.log([0.5 / 1.5, 2.5 / 1.5])
    )


@pytest.mark.parametrize(
    "how", [{"delta": -1}, {"bandwidth": "wide"}, {"complement": "none"}, {"outside": "in"}]
)
def test_options_out_of_range_are_refused(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        EstimationOptions.from_values(how)
