"""Signals that other learners read, the trees that they learn, and LambdaMART on both engines."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.errors import InputError, UsageError
from esr.lab import learners
from esr.lab.learners import (
    Description,
    LearnedModel,
    fit_lambdamart,
    fit_linear,
    read_description,
    read_model,
    write_signals,
)
from esr.lab.training_data import SignalTable, collect_signals, list_signals
from esr.lab.tuner import Task
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.regression_trees import TreeEnsemble, relative_to_best, trees_from_dict
from esr.ranking.second_stage.signals import RankingSignal
from tests.lab.conftest import SIGNALS, topics
from tests.ranking.test_reranker import QUERIES, WORDS, documents
from tests.support.elasticsearch import close, fresh, load
from tests.support.runs import need

lightgbm = need("lightgbm")

DESCRIPTION = Description(Ranking(), 100, SIGNALS)
THREE = Description(Ranking(), 100, (*SIGNALS, RankingSignal("feature len")))
XGBOOST = json.loads((Path(__file__).parents[1] / "data" / "xgboost.json").read_text("utf-8"))
"""A model that XGBoost 3.2 saved, rows of signals, some at its thresholds, and what it predicts for these."""


def test_letor_has_grades_topics_and_all_values(tmp_path: Path) -> None:
    sample = topics(3)
    sample[1].values[2, 1] = np.nan
    assert write_signals(tmp_path / "train.txt", "letor", sample, DESCRIPTION) == 60
    lines = (tmp_path / "train.txt").read_text("utf-8").splitlines()
    for row, line in enumerate(lines):
        topic, place = sample[row // 20], row % 20
        data, _, comment = line.partition(" # ")
        grade, qid, *values = data.split()
        assert comment == f"{topic.topic} {topic.ids[place]}"
        assert (int(grade), qid) == (topic.grades[place], f"qid:{row // 20 + 1}")
        numbers = {int(n): float(v) for n, v in (value.split(":") for value in values)}
        expected = relative_to_best(SIGNALS, topic.values)[place]
        assert list(numbers) == [1, 2] and np.array_equal(list(numbers.values()), expected, equal_nan=True)


def test_lightgbm_reads_the_file_and_its_topics(tmp_path: Path) -> None:
    sample = topics(30)
    write_signals(tmp_path / "train.txt", "svmlight", sample, DESCRIPTION)
    data = lightgbm.Dataset(str(tmp_path / "train.txt"), params={"verbose": -1}).construct()
    assert data.num_data() == 600 and data.num_feature() == len(SIGNALS)
    assert data.get_label().tolist() == [g for topic in sample for g in topic.grades.tolist()]
    assert data.get_group().tolist() == [20] * 30


def test_a_model_of_lightgbm_ranks_as_in_lightgbm(tmp_path: Path) -> None:
    write_signals(tmp_path / "train.txt", "svmlight", topics(60), DESCRIPTION)
    settings = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 20}
    booster = lightgbm.train(settings, lightgbm.Dataset(str(tmp_path / "train.txt")), 10)
    (tmp_path / "model.json").write_text(json.dumps(booster.dump_model()))
    trees = read_model(tmp_path / "model.json", DESCRIPTION).trees
    assert trees is not None and trees.alone
    probe = np.random.default_rng(1).normal(size=(200, 2))
    assert trees.predict(probe) == pytest.approx(booster.predict(probe), abs=1e-12)


def as_array(rows: list[list[float | None]]) -> Any:
    return np.array(rows, float)


def saved(tmp_path: Path, model: object) -> Path:
    (tmp_path / "model.json").write_text(json.dumps(model))
    return tmp_path / "model.json"


def test_a_model_of_xgboost_ranks_as_in_xgboost(tmp_path: Path) -> None:
    """Also at thresholds, which XGBoost compares in single precision, and for unknown values."""
    trees = read_model(saved(tmp_path, XGBOOST["model"]), THREE).trees
    assert trees is not None
    assert trees.predict(as_array(XGBOOST["table"])) == pytest.approx(XGBOOST["predictions"], abs=1e-6)


def changed(**parts: object) -> Any:
    """The model of XGBoost with parts of its first tree, its parameters or its booster changed."""
    model = json.loads(json.dumps(XGBOOST["model"]))
    learner = model["learner"]
    for place in (
        learner["gradient_booster"]["model"]["trees"][0],
        learner["learner_model_param"],
        learner["gradient_booster"],
    ):
        place.update({name: value for name, value in parts.items() if name in place})
    return model


def test_columns_that_begin_at_1_are_recognised(tmp_path: Path) -> None:
    """As loaders of LETOR keep its numbers."""
    model = changed(num_feature="4")
    for tree in model["learner"]["gradient_booster"]["model"]["trees"]:
        tree["split_indices"] = [column + 1 for column in tree["split_indices"]]
    shifted = read_model(saved(tmp_path, model), THREE)
    assert shifted == read_model(saved(tmp_path, XGBOOST["model"]), THREE)


_TREE = XGBOOST["model"]["learner"]["gradient_booster"]["model"]["trees"][0]
_LEAF = {"leaf_value": 1.0}
_NODE = {
    "split_feature": 0,
    "threshold": 0.5,
    "decision_type": "<=",
    "missing_type": "None",
    "default_left": True,
}


def lightgbm_model(**parts: object) -> Any:
    node = {**_NODE, "left_child": _LEAF, "right_child": _LEAF}
    tree = {"tree_structure": {**node, **{name: parts.pop(name) for name in list(parts) if name in node}}}
    return {"num_tree_per_iteration": 1, "max_feature_idx": 2, "tree_info": [tree], **parts}


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ([], "is not a model: it must be a JSON object"),
        ({"trees": []}, "is no model of LightGBM or XGBoost: write it with json.dump"),
        ({"learner": {}}, "is a damaged model: KeyError 'gradient_booster'"),
        (changed(num_feature="7"), "was learned from 7 signals, but the description has 3"),
        (changed(num_class="3"), "has several classes, which esr cannot convert"),
        (changed(name="dart"), "has a booster 'dart', which esr cannot convert"),
        (changed(split_type=[1, *_TREE["split_type"][1:]]), "has categorical splits"),
        (changed(left_children=[0] * len(_TREE["left_children"])), "has a tree with a cycle"),
        (changed(left_children=[99, *_TREE["left_children"][1:]]), "is a damaged model: IndexError"),
        (changed(split_conditions=["x", *_TREE["split_conditions"][1:]]), "is a damaged model: TypeError"),
        (
            changed(split_conditions=[1e99, *_TREE["split_conditions"][1:]]),
            "a threshold that is not",
        ),
        (changed(split_indices=[8, *_TREE["split_indices"][1:]]), "uses an input that is none of its 3"),
        (lightgbm_model(num_tree_per_iteration=3), "has several trees per round"),
        (lightgbm_model(average_output=True), "has trees that are averaged"),
        (lightgbm_model(max_feature_idx=0), "was learned from 1 signals, but the description has 3"),
        (lightgbm_model(decision_type="=="), "has categorical splits"),
        (lightgbm_model(missing_type="Zero"), "has splits that take 0 for a missing value"),
        (lightgbm_model(left_child={**_LEAF, "leaf_coeff": [1.0]}), "has linear models in its leaves"),
        (lightgbm_model(split_feature=5), "uses an input that is none of its 3"),
        (lightgbm_model(threshold="1||2"), "is a damaged model: ValueError"),
        (lightgbm_model(left_child={}), "is a damaged model: KeyError"),
    ],
)
def test_a_model_that_cannot_be_converted_is_rejected(tmp_path: Path, model: object, problem: str) -> None:
    with pytest.raises(InputError) as error:
        read_model(saved(tmp_path, model), THREE)
    assert problem in str(error.value)


def test_a_deeply_nested_model_is_rejected(tmp_path: Path) -> None:
    node = json.dumps({**_NODE, "right_child": _LEAF})[:-1] + ', "left_child": '
    nested = node * 400 + json.dumps(_LEAF) + "}" * 400
    text = json.dumps(lightgbm_model()).replace(
        '"tree_info": [', f'"tree_info": [{{"tree_structure": {nested}}}, '
    )
    (tmp_path / "model.json").write_text(text)
    try:
        ranking = read_model(tmp_path / "model.json", THREE)
    except InputError as error:
        assert "nested too deeply" in str(error)
    else:
        assert ranking.trees is not None and len(ranking.trees.trees[0].input) == 400
    (tmp_path / "model.json").write_text(text.replace(node, node * 50))
    with pytest.raises(InputError, match="nested too deeply"):
        read_model(tmp_path / "model.json", THREE)


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"ranking": {}},
        {"ranking": {}, "depth": 0, "signals": []},
        {"ranking": {}, "depth": 5, "signals": [{"signal": "nosuch"}]},
        {"ranking": 3, "depth": 5, "signals": []},
    ],
)
def test_another_description_is_rejected(tmp_path: Path, data: object) -> None:
    with pytest.raises(InputError):
        read_description(saved(tmp_path, data))


def test_trees_alone_take_the_place_of_the_first_stage(tmp_path: Path) -> None:
    """The order is that of the trees, by whichever path the ranking is read."""
    load(str(tmp_path / "index"), documents())
    with open_searcher(str(tmp_path / "index")) as searcher:
        ranking = learned_elsewhere(tmp_path, searcher)
        again = Ranking.from_dict(json.loads(json.dumps(ranking.as_dict())))
        assert again == ranking and again.trees is not None and again.trees.alone
        (topic,) = collect(searcher, QUERIES[0], list(ranking.trees.inputs if ranking.trees else ()))
        expected = again.trees.predict(relative_to_best(again.trees.inputs, topic.values))
        answer = searcher.search(QUERIES[0], 5, ranking=again)
        by_id = dict(zip(topic.ids, expected.tolist(), strict=False))
        for hit in answer.hits:
            assert hit.score == pytest.approx(by_id[hit.sentence_id])
        assert answer.hits[0].score == pytest.approx(max(by_id.values()))


def collect(searcher: Searcher, query: str, signals: list[RankingSignal]) -> Any:
    return collect_signals(searcher, [Task("1", query, ())], {}, Ranking(), signals, 100)


def learned_elsewhere(folder: Path, searcher: Searcher) -> Ranking:
    names = [s.signal for s in list_signals(searcher.index, Ranking()) if s.type.group == "models"][:3]
    description = Description(Ranking(), 100, tuple(map(RankingSignal, names)))
    path = folder / "train.txt"
    sample = collect(searcher, QUERIES[0], list(description.signals))
    write_signals(path, "letor", sample, description)
    read = read_description(folder / "train.txt.signals.json")
    assert read.as_dict()["signals"] == description.as_dict()["signals"]
    assert read.ranking.as_dict() == Ranking(depth=100).as_dict()
    return read_model(saved(folder, XGBOOST["model"]), read)


def test_only_trees_that_are_alone_say_so() -> None:
    data = {"inputs": [{"signal": "dir"}], "trees": []}
    assert "alone" not in trees_from_dict(data).as_dict()
    assert trees_from_dict({**data, "alone": True}).as_dict()["alone"] is True


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "ROUNDS", 20)
    monkeypatch.setattr(learners, "SETTINGS", {**learners.SETTINGS, "min_data_in_leaf": 20})


@pytest.mark.usefixtures("small")
def test_trees_improve_unseen_topics() -> None:
    model = learners.fit_lambdamart(SignalTable(topics(150), "AP"), SIGNALS)
    table = SignalTable(topics(100, seed=1), "AP")
    assert (
        table.compute_figures(model.scores(table)).mean()
        > table.compute_figures(table.first_scores).mean() + 0.05
    )
    assert model.importance[0] > model.importance[1]


@pytest.mark.usefixtures("small")
def test_the_same_seed_grows_the_same_trees() -> None:
    table = SignalTable(topics(60), "AP")
    first, second = (learners.fit_lambdamart(table, SIGNALS, 5).trees.as_dict() for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("missing", [False, True])
def test_converted_trees_predict_as_lightgbm_does(missing: bool) -> None:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(800, 2))
    if missing:
        table[::3, 1] = np.nan
    target = np.where(np.isnan(table[:, 1]), 1.0, table[:, 1]) * (table[:, 0] > 0.3)
    settings = {"verbose": -1, "num_leaves": 6, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(table, target), 15)
    converted = tuple(
        learners.convert_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]
    )
    probe = chance.normal(size=(300, 2))
    probe[::5, 0], probe[::7, 1] = np.nan, np.nan
    probe[0] = [converted[0].threshold[0]] * 2  # equal to the threshold
    assert TreeEnsemble(SIGNALS, converted).predict(probe) == pytest.approx(booster.predict(probe), abs=1e-12)


@pytest.mark.usefixtures("small")
def test_a_tree_with_one_leaf_adds_its_value() -> None:
    converted = learners.convert_tree({"leaf_value": 0.25})
    assert converted.predict(np.zeros((3, 1))).tolist() == [0.25] * 3


@pytest.mark.usefixtures("small")
def test_a_saved_ranking_has_the_same_trees() -> None:
    model = learners.fit_lambdamart(SignalTable(topics(60), "AP"), SIGNALS)
    ranking = model.ranking(Ranking(), 30)
    loaded = Ranking.from_dict(json.loads(json.dumps(ranking.as_dict())))
    assert loaded.trees is not None
    assert loaded.trees.as_dict() == model.trees.as_dict()
    assert loaded.depth == 30


@pytest.mark.usefixtures("small")
def test_without_lightgbm_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(UsageError, match=r"pip install 'esr\[learn\]'"):
        learners.fit_lambdamart(SignalTable(topics(5), "AP"), SIGNALS)


def train(searcher: Searcher, learner: str, monkeypatch: pytest.MonkeyPatch) -> LearnedModel:
    """Train on all signals. Sentences with the first two words of a query side by side are relevant."""
    monkeypatch.setattr(learners, "ROUNDS", 10)
    monkeypatch.setattr(learners, "SETTINGS", {**learners.SETTINGS, "min_data_in_leaf": 5})
    monkeypatch.setattr(learners, "MIN_STANDARD_ERRORS", 0.2)
    pairs = [(a, b) for a in WORDS for b in WORDS if a != b]
    qrels = {
        f"{a}-{b}": {s.id: 1 for d in documents() for s in d.sentences if f"{a} {b}" in s.text}
        for a, b in pairs
    }
    tasks = [Task(f"{a}-{b}", f"{a} {b}", tuple(qrels[f"{a}-{b}"])) for a, b in pairs if qrels[f"{a}-{b}"]]
    signals = list_signals(searcher.index, Ranking())
    table = SignalTable(collect_signals(searcher, tasks, qrels, Ranking(), signals), "AP")
    return (fit_linear if learner == "linear" else fit_lambdamart)(table, signals)


@pytest.mark.elasticsearch
@pytest.mark.parametrize("learner", ["linear", "lambdamart"])
def test_a_learned_ranking_gives_the_same_order_on_both_engines(
    elasticsearch_url: str, tmp_path: Path, learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "index")
    load(path, documents(), analyzer="plain")
    with fresh(elasticsearch_url) as index:
        load(index, documents(), analyzer="plain", shards=2)
        with open_searcher(path) as embedded, open_searcher(index) as elasticsearch:
            ranking = train(embedded, learner, monkeypatch).ranking(Ranking(), 1000)
            data = ranking.as_dict()
            assert data["trees"]["trees"] if learner == "lambdamart" else ranking.rerank
            for query in QUERIES:
                ours = embedded.search(query, 200, ranking=ranking).hits
                theirs = {h.sentence_id: h for h in elasticsearch.search(query, 200, ranking=ranking).hits}
                assert theirs.keys() == {hit.sentence_id for hit in ours}
                assert all(close(hit.score, theirs[hit.sentence_id].score) for hit in ours)
                for above, below in pairwise(ours):
                    if above.score - below.score > 1e-4:
                        assert theirs[above.sentence_id].score > theirs[below.sentence_id].score
