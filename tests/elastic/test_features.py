"""The score script's forms are those of esr/plans/evaluate.py, and features never make a score negative."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from esr import resources
from esr.elastic.search.score_query import SCORE_SCRIPT, score_query
from esr.elastic.statistics import static_bounds
from esr.errors import EsrError
from esr.index.filters import Filters
from esr.models.adjustment import Adjustment, adjustment_from_dict, feature_column
from esr.models.forms import FORMS, get_form
from esr.plans.evaluate import score_static
from esr.plans.plan import CollectionStatistics, Plan, PlanTerm, Saturation, Smoothing
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import close, differences, fresh, http, load

TFISF = Saturation(None, Smoothing(1.0), Smoothing(), Smoothing())
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    7.0,
    1e-300,
    -1e-300,
    1e12,
    -1e12,
    1e150,
    -1e150,
    1.7e308,
    -1.7e308,
]


class Engines(NamedTuple):
    embedded: Searcher
    elasticsearch: Searcher
    ids: list[str]


def documents() -> Iterator[Document]:
    """Two thirds of the sentences have `wild` and `tame`; none but those of one document have `rare`."""
    rng = random.Random(3)
    for number in range(30):
        sentences = []
        for n in range(8):
            features = {}
            if rng.random() < 0.67:
                wild = rng.choice([*SPECIAL, rng.uniform(-9, 9), math.ldexp(1, rng.randint(-60, 60))])
                features = {"wild": wild, "tame": float(rng.choice([0, 1, 2, 3, 0.5, -1, 4.25]))}
            if number == 7:
                features["rare"] = float(n)
            text = " ".join(rng.choices(["flood", "bank", "court", "vote"], k=rng.randrange(5)))
            sentences.append(Sentence(f"f{number}.s{n}", text, features))
        yield Document(f"f{number}", tuple(sentences))


@pytest.fixture(scope="module")
def engines(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    folder = str(tmp_path_factory.mktemp("features") / "index")
    load(folder, documents())
    with fresh(elasticsearch_url) as where:
        load(where, documents(), shards=3)
        with open_searcher(folder) as embedded, open_searcher(where) as elasticsearch:
            yield Engines(embedded, elasticsearch, [s.id for d in documents() for s in d.sentences])


def draw_parameters(rng: random.Random, form: str) -> dict[str, Any]:
    """Parameters of a form, drawn."""
    if get_form(form).is_trained:
        values = sorted({round(rng.uniform(-10, 10), rng.choice([0, 3])) for _ in range(rng.randint(1, 9))})
        adds = [round(rng.uniform(-3, 3), 3) for _ in values]
        outside = rng.choice([{}, {"outside": 0.75}, {"outside": 0}])
        return {"curve": {"values": values, "adds": adds, **outside}}
    drawn = {"w": rng.uniform(-2, 2), "k": rng.uniform(0.01, 9), "a": rng.uniform(0.1, 5)}
    drawn["shift"] = rng.choice([0, 1, 2.5])
    return {p.name: drawn[p.name] for p in get_form(form).parameters}


def doubles(engines: Engines, adjustment: Adjustment) -> dict[str, float]:
    """What the score script's own source adds, as the doubles that a score of 32 bits cannot hold."""
    source = resources.read_text(f"scripts/{SCORE_SCRIPT}.painless")
    assert source.count("return Math.max(0, score);") == 1
    query, _ = score_query(
        Plan((PlanTerm("flood", 1.0),), TFISF, "all", "document", (adjustment.static(),)),
        CollectionStatistics(),
        Filters(),
    )
    source = source.replace("return Math.max(0, score);", "return score;")
    script = {
        "lang": "painless",
        "source": source.replace("_score", "0.0"),
        "params": query["script_score"]["script"]["params"] | {"offset": 0},
    }
    node_url, _, alias = engines.elasticsearch.index.where.rpartition("/")
    body = {
        "size": 1000,
        "query": {"match_all": {}},
        "sort": [{"_script": {"type": "number", "script": script}}],
    }
    hits = http("POST", f"{node_url}/{alias}/_search", body)["hits"]["hits"]
    return {hit["_id"]: hit["sort"][0] for hit in hits}


@pytest.mark.parametrize("feature", ["wild", "tame", "rare", "len", "position"])
@pytest.mark.parametrize("form", FORMS)
def test_the_script_adds_what_the_plan_means(engines: Engines, form: str, feature: str) -> None:
    rng = random.Random(f"{form} {feature}")
    column = feature_column(feature)
    for _ in range(4):
        adjustment = adjustment_from_dict({"feature": feature, "form": form, **draw_parameters(rng, form)})
        evidence = engines.embedded.index.evidence([], engines.ids, [column])
        expected = score_static(adjustment.static(), evidence.columns[column])
        actual = doubles(engines, adjustment)
        assert len(actual) == len(expected) == 240
        for number, name in enumerate(engines.ids):
            value = evidence.columns[column][number]
            assert actual[name] == pytest.approx(expected[number], rel=1e-9, abs=1e-12), (adjustment, value)
            if adjustment.curve is not None and value in adjustment.curve.values:
                assert actual[name] == expected[number]  # exact at the values of a curve


@pytest.mark.parametrize("feature", ["wild", "tame", "rare", "len", "position"])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_added_stays_within_the_bounds(engines: Engines, form: str, feature: str) -> None:
    rng = random.Random(f"{feature} {form}")
    column = feature_column(feature)
    evidence = engines.elasticsearch.index.evidence([], engines.ids, [column])
    for _ in range(10):
        static = adjustment_from_dict(
            {"feature": feature, "form": form, **draw_parameters(rng, form)}
        ).static()
        plan = Plan((), TFISF, "all", "document", (static,))
        low, high = static_bounds(static, engines.elasticsearch.index.bounded_collection(plan))
        added = score_static(static, evidence.columns[column])
        assert low <= added.min() + 1e-9 and added.max() <= high + 1e-9, (static, low, high)


@pytest.mark.parametrize("rule", ["matching", "all"])
@pytest.mark.parametrize(
    "features",
    [
        [{"feature": "tame", "form": "linear", "w": -5}],
        [{"feature": "tame", "form": "log", "w": 1}],
        [{"feature": "wild", "form": "satu", "w": -0.7, "k": 2}],
        [
            {"feature": "wild", "form": "sigm", "w": 3, "a": 2},
            {"feature": "len", "form": "log", "w": 0.5, "shift": 0},
        ],
        [
            {"feature": "rare", "form": "linear", "w": -0.5},
            {"feature": "position", "form": "linear", "w": -0.3},
        ],
        [
            {
                "feature": "tame",
                "form": "floe",
                "curve": {"values": [-1, 0, 2], "adds": [-3, 2, 0.1], "outside": -9},
            }
        ],
    ],
    ids=lambda features: (
        " ".join(f"{f['form']}({f['feature']})" for f in features) if isinstance(features, list) else features
    ),
)
def test_both_engines_rank_alike(engines: Engines, features: list[dict[str, Any]], rule: str) -> None:
    for model in ("tfisf", "2si"):
        ranking = Ranking.from_dict({"model": model, "candidates": rule, "features": features})
        for query in ("flood bank", "vote"):
            expected = engines.embedded.search(query, 1000, ranking=ranking)
            actual = engines.elasticsearch.search(query, 1000, ranking=ranking)
            assert differences(expected.hits, actual.hits, 1000) == []
            assert expected.total == actual.total > 20


def test_a_feature_beyond_the_range_of_scores_is_rejected_with_what_to_do(engines: Engines) -> None:
    ranking = Ranking.from_dict({"features": [{"feature": "wild", "form": "linear", "w": 1}]})
    with pytest.raises(EsrError, match=r"features.wild adds from -1.7e\+308 .* lower its weight, or use"):
        engines.elasticsearch.search("flood", ranking=ranking)


def test_the_feature_columns_of_both_engines_are_equal(engines: Engines) -> None:
    columns = ["position", "features.wild", "features.tame", "features.rare", "features.none"]
    expected, actual = (
        searcher.index.evidence(["flood"], engines.ids[::-1], columns) for searcher in engines[:2]
    )
    for column in (*columns, "length"):
        np.testing.assert_array_equal(expected.columns[column], actual.columns[column], column)
    assert list(expected.columns["position"][:8]) == [7, 6, 5, 4, 3, 2, 1, 0]
    assert np.isnan(expected.columns["features.none"]).all()


def test_the_histograms_of_both_engines_are_equal(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    from esr.elastic import statistics as stored_columns

    monkeypatch.setattr(stored_columns, "_PAGE", 3)  # several pages
    for column in ("length", "position", "features.wild", "features.tame", "features.rare", "features.none"):
        expected, actual = (searcher.index.histogram(column) for searcher in engines[:2])
        np.testing.assert_array_equal(expected.values, actual.values)
        np.testing.assert_array_equal(expected.counts, actual.counts)
    assert engines.embedded.index.histogram("position").counts.tolist() == [30] * 8


def test_both_engines_name_the_features_they_have(engines: Engines) -> None:
    assert [list(searcher.index.features()) for searcher in engines[:2]] == [["rare", "tame", "wild"]] * 2


def test_a_query_for_other_applications_carries_the_features(engines: Engines) -> None:
    from esr.elastic.search.score_query import search_body

    curve = {"values": [0, 1], "adds": [-1.5, 2]}
    ranking = Ranking.from_dict(
        {"features": [{"feature": "tame", "form": "floe", "curve": curve}, {"feature": "len", "form": "log"}]}
    )
    searcher = engines.elasticsearch
    plan = searcher.prepare("flood bank", ranking).plan
    node_url, _, alias = searcher.index.where.rpartition("/")
    for standalone in (False, True):
        body = search_body(
            plan, searcher.index.bounded_collection(plan), Filters(), 20, standalone=standalone
        )
        hits = http("POST", f"{node_url}/{alias}/_search?search_type=dfs_query_then_fetch", body)["hits"][
            "hits"
        ]
        expected = searcher.search("flood bank", 20, ranking=ranking).hits
        shift = expected[0].score - hits[0]["_score"]
        assert [hit["_id"] for hit in hits] == [hit.sentence_id for hit in expected]
        assert all(close(a["_score"] + shift, b.score) for a, b in zip(hits, expected, strict=True))


def test_a_load_without_the_feature_is_ranked_too(elasticsearch_url: str) -> None:
    """Its index has no field of that name."""
    with fresh(elasticsearch_url) as where:
        load(where, [Document("a", (Sentence("a.s0", "flood", {"subj": 1.0}), Sentence("a.s1", "flood")))])
        load(where, [Document("b", (Sentence("b.s0", "flood"),))], if_exists="append")
        with open_searcher(where) as searcher:
            answer = searcher.search("flood", model="tfisf", features=[{"feature": "subj", "form": "linear"}])
            assert [hit.sentence_id for hit in answer.hits] == ["a.s0", "a.s1", "b.s0"]
            assert answer.hits[0].score - answer.hits[2].score == pytest.approx(1, rel=1e-6)
            assert answer.incomplete is None
