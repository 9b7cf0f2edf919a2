"""Curves trained through a real index: the worked examples, combinations, and folds without leaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import esr
from esr import adjustments
from esr.adjustments import Adjustment
from esr.adjustments.estimate import EstimationOptions
from esr.errors import UsageError
from esr.evaluation.tuning import curves, grid
from esr.evaluation.tuning.curves import Training
from esr.evaluation.tuning.figures import Task, Tuner
from esr.evaluation.tuning.folds import folds
from esr.evaluation.tuning.search import ascent, full
from esr.evaluation.tuning.training import cross_validate, train
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.evaluation.tuning.conftest import tasks
from tests.support import elasticsearch as support
from tests.support import worked_examples as worked
from tests.support.folder_index import load


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = tmp_path_factory.mktemp("worked") / "index"
    load(where, worked.documents())
    with esr.open(str(where)) as searcher:
        yield searcher


@pytest.fixture(scope="module")
def elasticsearch(elasticsearch_url: str) -> Iterator[Searcher]:
    with support.fresh(elasticsearch_url) as where:
        support.load(where, [found.document for found in worked.documents()], analyzer="plain")
        with esr.open(where) as searcher:
            yield searcher


def worked_tasks(queries: list[str]) -> list[Task]:
    return [Task(q, worked.queries()[q], tuple(worked.relevant()[q])) for q in queries]


@pytest.mark.parametrize(
    "engine", ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]
)
@pytest.mark.parametrize("run", worked.trained(), ids=lambda run: run.name)
def test_the_worked_curves(request: pytest.FixtureRequest, engine: str, run: worked.Trained) -> None:
    searcher: Searcher = request.getfixturevalue(engine)
    base = Ranking.from_dict(run.ranking)
    training = Training(run.form, run.feature, EstimationOptions(run.delta))
    fitted = curves.fit(searcher, worked_tasks(run.queries), base, [training])
    assert {q: len(scores) for q, scores in run.scores.items()} == {"Q1": 8, "Q2": 8}
    # What is trained and what a ranking file gives back are the same, to the last digit.
    again = Ranking.from_dict(fitted.as_dict())
    for query, right in run.scores.items():
        found = searcher.search(worked.queries()[query], 100, ranking=again)
        scores = {hit.sentence_id: hit.score for hit in found.hits}
        rel = 1e-9 if engine == "embedded" else support.RELATIVE
        assert scores == pytest.approx(right, rel=rel, abs=1e-9 if engine == "embedded" else 1e-5)
    (made,) = fitted.features
    assert made.curve is not None
    parts = {
        "floe": [0, -0.5108256237659907, 1.0986122886681096],
        "indep": [0.23638877806423034, -0.3513978868378886, 0.23638877806423034],
    }
    assert made.curve.adds == pytest.approx(parts[run.form], rel=1e-9, abs=1e-12)


def test_t_is_what_the_base_ranks_first(embedded: Searcher) -> None:
    """With a base that already has the feature, T is taken from that base."""
    plain = Ranking("tfisf", candidates="all")
    steep = replace(plain, features=(Adjustment("pos", "linear", {"w": 100.0}),))
    task = worked_tasks(["Q1"])
    assert curves.sample(embedded, task, plain, "pos").top.tolist() == [1, 2, 0]
    assert curves.sample(embedded, task, steep, "pos").top.tolist() == [0, 1, 2]
    assert curves.sample(embedded, task, steep, "pos").relevant.tolist() == [1, 1, 1]
    assert curves.sample(embedded, task, steep, "pos").everywhere.tolist() == [2, 4, 2]


def test_t_and_r_are_unions_over_topics(embedded: Searcher) -> None:
    twice = [*worked_tasks(["Q1"]), replace(worked_tasks(["Q1"])[0], topic="again")]
    base = Ranking("tfisf", candidates="all")
    once = curves.sample(embedded, twice[:1], base, "pos")
    both = curves.sample(embedded, twice, base, "pos")
    assert (once.relevant.tolist(), once.top.tolist()) == (both.relevant.tolist(), both.top.tolist())
    pooled = curves.sample(embedded, worked_tasks(["Q1", "Q2"]), base, "pos")
    assert pooled.relevant.sum() == 5


def test_judged_sentences_that_the_index_lacks_are_passed_over(embedded: Searcher) -> None:
    (task,) = worked_tasks(["Q1"])
    strange = replace(task, relevant=(*task.relevant, "gone"))
    base = Ranking("tfisf", candidates="all")
    assert curves.sample(embedded, [strange], base, "pos").top.sum() == 3


def test_curves_learn_one_after_another(embedded: Searcher) -> None:
    base = Ranking("tfisf", candidates="all")
    task = worked_tasks(["Q1", "Q2"])
    one, two = Training("floe", "pos"), Training("floe", "len")
    both = curves.fit(embedded, task, base, [one, two])
    assert [each.feature for each in both.features] == ["pos", "len"]
    after_first = curves.fit(embedded, task, base, [one])
    assert both == curves.fit(embedded, task, after_first, [two])
    again = curves.fit(embedded, task, both, [two])
    assert again == both  # replaced, not added twice


def test_what_is_left_is_computed_with_t_from_the_combined_ranking(searcher: Searcher) -> None:
    training, base = Training("floe", "len"), Ranking("tfisf")
    fitted = curves.fit(searcher, tasks(), base, [training])
    (left,) = curves.left_over(searcher, tasks(), fitted, [training])
    for when, ranking in (("before", base), ("after", fitted)):
        found = curves.estimates(searcher, tasks(), ranking, "len", training.how)
        assert left[when] == pytest.approx(sum(abs(found.floe) * found.everywhere))
    assert left["before"] != left["after"]


def test_a_feature_that_the_index_lacks_is_refused_with_the_nearest(embedded: Searcher) -> None:
    with pytest.raises(UsageError, match=r"unknown feature of .* 'poss': did you mean 'pos'"):
        curves.fit(embedded, worked_tasks(["Q1"]), Ranking("tfisf"), [Training("floe", "poss")])
    with pytest.raises(UsageError, match=r"unknown feature of .* 'subject': did you mean 'subj'"):
        embedded.search("china", features=[{"feature": "subject", "form": "linear"}])


def test_each_fold_has_curves_of_its_own(searcher: Searcher) -> None:
    tuner, start, training = Tuner(searcher, tasks()), Ranking("tfisf"), [Training("floe", "len")]
    found = cross_validate(tuner, start, {}, "grid", 3, {}, curves=training)
    for part, setting in zip(folds(tasks(), 3, {}), found.settings, strict=True):
        rest = [task for n, task in enumerate(tasks()) if n not in part]
        assert setting == curves.fit(searcher, rest, start, training)
        assert np.array_equal(found.figures[part], tuner.part(part).table([setting])[0])
    assert len({str(setting) for setting in found.settings}) == 3


def test_curves_are_trained_over_the_best_setting(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    ranking, values = Ranking("dir"), {"mu": [1.0, 50.0]}
    best = full(tuner, ranking, values).ranking
    found = train(tuner, ranking, values, "grid", curves=[Training("indep", "len")])
    assert found.ranking == curves.fit(searcher, tasks(), best, [Training("indep", "len")])
    assert np.array_equal(found.figures, tuner.table([found.ranking])[0])


WEIGHTED = Ranking(
    "dir", params={"mu": 10}, features=(adjustments.parse("len:satu"), adjustments.parse("position:linear:2"))
)


def test_one_tuner_may_tune_without_a_feature_and_with_it(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    for ranking in (Ranking("dir"), WEIGHTED):
        assert np.array_equal(tuner.table([ranking]), Tuner(searcher, tasks()).table([ranking]))


def test_a_feature_without_a_weight_gets_one_from_a_grid() -> None:
    found = grid.default(WEIGHTED)
    assert found == {"len.w": (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)}


@pytest.mark.parametrize("way", [full, ascent])
def test_weights_of_features_are_tuned_like_parameters(searcher: Searcher, way: object) -> None:
    tuner = Tuner(searcher, tasks())
    values = {"len.w": [-1.0, 0.5], "len.k": [1.0, 4.0], "mu": [5.0, 50.0]}
    found = way(tuner, WEIGHTED, values)  # type: ignore[operator]
    every = [
        Ranking(
            "dir",
            params={"mu": mu},
            features=(Adjustment("len", "satu", {"w": w, "k": k}), WEIGHTED.features[1]),
        )
        for w in values["len.w"]
        for k in values["len.k"]
        for mu in values["mu"]
    ]
    figures = tuner.table(every).mean(axis=1)
    assert len(set(figures)) > 4
    if way is full:
        assert found.figures.mean() == figures.max()
    assert found.ranking in every or way is ascent


def test_the_figures_are_those_of_a_search(embedded: Searcher) -> None:
    """A setting's scores over the pool are the scores that a search gives."""
    from esr.evaluation.tuning.pool import gather

    (task,) = worked_tasks(["Q1"])
    ranking = Ranking(
        "tfisf", features=(adjustments.parse("subj:linear:0.5"), adjustments.parse("neg:step:1"))
    )
    pool = gather(embedded, task.query, ranking, task.filters, task.relevant)
    assert pool is not None
    scores = {pool.name(n): score for n, score in enumerate(pool.scores(ranking))}
    found = embedded.search(task.query, 100, ranking=ranking).hits
    assert scores == pytest.approx({hit.sentence_id: hit.score for hit in found})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lenn.w": [1]}, "unknown feature of the ranking 'lenn': did you mean 'len'"),
        ({"len.a": [1]}, "unknown parameter of form satu 'a'"),
        ({"len.k": [0]}, "'k' must be a number in"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(values: dict[str, list[float]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grid.settings(WEIGHTED, values)


def test_a_parameter_of_two_forms_is_refused() -> None:
    both = Ranking(features=(adjustments.parse("len:log"), adjustments.parse("len:linear")))
    with pytest.raises(UsageError, match="two forms of len"):
        grid.settings(both, {"len.w": [1]})


@pytest.mark.parametrize(
    ("text", "training"),
    [
        ("floe:pos", Training("floe", "pos")),
        ("indep:len:delta=1:bandwidth=2", Training("indep", "len", EstimationOptions(1, 2))),
        (
            "floe:len:complement=exact:outside=nearest",
            Training("floe", "len", EstimationOptions(complement="exact", outside="nearest")),
        ),
    ],
)
def test_a_training_is_read_from_text(text: str, training: Training) -> None:
    assert curves.parse(text) == training


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flow:pos", "unknown form to train 'flow': did you mean 'floe'"),
        ("linear:pos", "unknown form to train"),
        ("floe", "a feature name is"),
        ("floe:pos:delta", "--train wants"),
        ("floe:pos:dleta=1", "did you mean 'delta'"),
        ("floe:pos:delta=-1", "'delta' must be a number"),
        ("floe:pos:complement=half", "'complement' must be one of"),
    ],
)
def test_text_that_is_no_training_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        curves.parse(text)
