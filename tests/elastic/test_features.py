"""The score script's forms are those of esr/plans/evaluate.py, and features never make a score negative."""

from __future__ import annotations

import gc
import math
import random
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest
from elastic_transport import Urllib3HttpNode

import esr
from esr import resources
from esr.elastic.connection import AliasTargets
from esr.elastic.search import pruned_search
from esr.elastic.search.plan_query import SCORE_SCRIPT, score_query
from esr.elastic.search.sentence_search import Presumption, SnapshotOutdated
from esr.elastic.statistics import static_bounds
from esr.errors import EsrError, IndexMissing, UsageError
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByValue, EvidenceOf, Features
from esr.models.adjustments import Adjustment, adjustment_from_dict, feature_column
from esr.models.forms import FORMS, get_form
from esr.plans.evaluate import apply_static_score
from esr.plans.plan import CollectionStatistics, Plan, PlanTerm, Saturation, Smoothing
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, Sentence
from tests.support import worked_examples as worked
from tests.support.elasticsearch import all_indices, close, differences, document, fresh, http, load
from tests.support.runs import SHARDS

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
        Plan((PlanTerm("flood", 1.0),), TFISF, "all", "document", (adjustment.static_score(),)),
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
        evidence = engines.embedded.index.read(engines.ids, EvidenceOf([], [column]))
        expected = apply_static_score(adjustment.static_score(), evidence.columns[column])
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
    evidence = engines.elasticsearch.index.read(engines.ids, EvidenceOf([], [column]))
    for _ in range(10):
        static_score = adjustment_from_dict(
            {"feature": feature, "form": form, **draw_parameters(rng, form)}
        ).static_score()
        plan = Plan((), TFISF, "all", "document", (static_score,))
        low, high = static_bounds(static_score, engines.elasticsearch.index.bounded_collection(plan))
        added = apply_static_score(static_score, evidence.columns[column])
        assert low <= added.min() + 1e-9 and added.max() <= high + 1e-9, (static_score, low, high)


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
        searcher.index.read(engines.ids[::-1], EvidenceOf(["flood"], columns)) for searcher in engines[:2]
    )
    for column in (*columns, "length"):
        np.testing.assert_array_equal(expected.columns[column], actual.columns[column], column)
    assert list(expected.columns["position"][:8]) == [7, 6, 5, 4, 3, 2, 1, 0]
    assert np.isnan(expected.columns["features.none"]).all()


def test_the_histograms_of_both_engines_are_equal(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr("esr.elastic.requests.MAX_BUCKETS", 3)  # several pages
    for column in ("length", "position", "features.wild", "features.tame", "features.rare", "features.none"):
        expected, actual = (
            searcher.index.count([None], NO_FILTERS, ByValue(column))[0] for searcher in engines[:2]
        )
        np.testing.assert_array_equal(expected.values, actual.values)
        np.testing.assert_array_equal(expected.counts, actual.counts)
    assert (
        engines.embedded.index.count([None], NO_FILTERS, ByValue("position"))[0].counts.tolist() == [30] * 8
    )


def test_both_engines_name_the_features_they_have(engines: Engines) -> None:
    """Sentences that many documents repeat have `furniture` from the load."""
    expected = ["furniture", "rare", "tame", "wild"]
    assert [list(searcher.index.status(Features())) for searcher in engines[:2]] == [expected] * 2


def test_a_query_for_other_applications_carries_the_features(engines: Engines) -> None:
    from esr.elastic.search.plan_query import search_body

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


# The worked examples, whose scores were computed elsewhere, on a real Elasticsearch.


RUNS = [*worked.runs(), *worked.adjusted(), *worked.dependence()]


@pytest.fixture(scope="module", params=SHARDS, ids="{} shards".format)
def searcher(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[Searcher]:
    with fresh(elasticsearch_url) as where:
        load(
            where,
            [located.document for located in worked.documents()],
            analyzer="plain",
            shards=request.param,
        )
        with open_searcher(where) as searcher:
            yield searcher


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_elasticsearch_gives_the_worked_scores(searcher: Searcher, run: worked.Run) -> None:
    for name, query in worked.queries().items():
        actual = {hit.sentence_id: hit.score for hit in searcher.search(query, 100, **run.ranking).hits}
        expected = {sentence: score for sentence, score in run.scores[name].items() if score is not None}
        assert actual.keys() == expected.keys()
        assert [s for s in actual if not close(actual[s], expected[s])] == [], (name, actual, expected)


# A search finds out from its own answer whether the alias still leads where it led, and is right if not.


OLD = [document("old", "A flood at the bank.", "A river.")]
NEW = [document("new", "A flood in the valley."), document("newer", "The bank."), document("last", "Relief.")]
Requests = list[str]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Requests:
    """The addresses of all requests."""
    targets: Requests = []
    send = Urllib3HttpNode.perform_request

    def perform(self: Urllib3HttpNode, method: str, target: str, *args: object, **options: object) -> object:
        targets.append(target)
        return send(self, method, target, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Urllib3HttpNode, "perform_request", perform)
    return targets


@pytest.fixture(params=["exhaustive", "by documents", "by sentences"])
def moving_searcher(
    request: pytest.FixtureRequest, where: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[esr.ranking.searcher.Searcher]:
    """It has searched: it knows the number of shards."""
    if request.param != "exhaustive":
        monkeypatch.setattr(pruned_search, "FEW_CANDIDATES", 0)
    mixture = Ranking().mixture() if request.param == "by sentences" else None
    load(where, OLD, precomputed_mixture=mixture)
    with open_searcher(where) as searcher:
        assert found(searcher, "flood") == ["old.s0", "old.s1"]
        yield searcher


def found(searcher: esr.ranking.searcher.Searcher, query: str, **options: object) -> list[str]:
    return [hit.sentence_id for hit in searcher.search(query, 10, **options).hits]  # type: ignore[arg-type]


def lookups(sent: Requests) -> int:
    return sum("/_alias/" in target for target in sent)


@pytest.mark.elasticsearch
def test_a_further_search_does_not_look_the_alias_up(
    moving_searcher: esr.ranking.searcher.Searcher, sent: Requests
) -> None:
    for query in ("flood", "bank river"):
        assert len(found(moving_searcher, query)) == 2
    assert sent and lookups(sent) == 0


@pytest.mark.elasticsearch
def test_an_answer_without_hits_is_followed_by_a_lookup(
    moving_searcher: esr.ranking.searcher.Searcher, sent: Requests
) -> None:
    assert found(moving_searcher, "unseen") == []
    assert lookups(sent) == 1


@pytest.mark.elasticsearch
def test_the_next_search_sees_what_replaced_the_index(
    moving_searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    load(where, NEW, if_exists="replace")
    assert found(moving_searcher, "flood") == ["new.s0"]
    assert found(moving_searcher, "relief") == ["last.s0"]


@pytest.mark.elasticsearch
def test_the_next_search_sees_what_only_the_new_index_has(
    moving_searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    load(where, NEW, if_exists="replace")
    assert found(moving_searcher, "relief") == ["last.s0"]


@pytest.mark.elasticsearch
def test_the_next_search_sees_a_second_index_that_has_none_of_its_words(
    moving_searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    before = moving_searcher.search("flood", 1).hits[0].score
    load(where, [document("more", "Nothing of that, nothing at all.")] * 1, if_exists="append")
    assert moving_searcher.search("flood", 1).hits[0].score != before, "p(t|C) is another"
    with open_searcher(where) as fresh:
        assert moving_searcher.search("flood", 10).hits == fresh.search("flood", 10).hits


@pytest.mark.elasticsearch
def test_an_error_of_the_old_index_is_none_of_the_new_one(
    moving_searcher: esr.ranking.searcher.Searcher, where: str
) -> None:
    """The feature is in the new index alone."""
    features = [{"feature": "x", "form": "linear", "w": 1.0}]
    with pytest.raises(UsageError, match="'x'"):
        found(moving_searcher, "flood", features=features)
    sentence = NEW[0].sentences[0]
    featured = type(sentence)(sentence.id, sentence.text, {"x": 1.0})
    load(where, [type(NEW[0])("new", (featured,)), *NEW[1:]], if_exists="replace")
    assert found(moving_searcher, "flood", features=features) == ["new.s0"]


@pytest.mark.elasticsearch
def test_a_removed_index_is_missing(moving_searcher: esr.ranking.searcher.Searcher, where: str) -> None:
    base = "{0.scheme}://{0.netloc}".format(urlsplit(where))
    for index in all_indices(where):
        http("DELETE", f"{base}/{index}")
    with pytest.raises(IndexMissing):
        found(moving_searcher, "flood")


@pytest.mark.elasticsearch
def test_a_mistake_is_still_an_error(moving_searcher: esr.ranking.searcher.Searcher) -> None:
    with pytest.raises(EsrError, match="is empty"):
        found(moving_searcher, " ")


@pytest.mark.elasticsearch
@pytest.mark.parametrize(
    ("hits", "shards", "confirmed"),
    [(["a", "a"], 1, True), ([], 1, False), (["a", "b"], 1, None), (["b"], 1, None), (["a"], 2, None)],
)
def test_hits_and_shards_tell(hits: list[str], shards: int, confirmed: bool | None) -> None:
    """`confirmed` is None where the aliases lead elsewhere."""
    presumption = Presumption(
        AliasTargets("news", "news-documents"), AliasTargets("a", "d"), {"a": 1, "d": 1}
    )
    assert presumption.alias("d") == "news-documents"
    answer = {"hits": {"hits": [{"_index": name} for name in hits]}, "_shards": {"total": shards}}
    if confirmed is None:
        with pytest.raises(SnapshotOutdated):
            presumption.check("a", answer)
    else:
        presumption.check("a", answer)
    assert presumption.confirmed is bool(confirmed)
    assert presumption.needs("a") is not bool(confirmed)


@pytest.mark.elasticsearch
def test_of_several_loads_nothing_is_presumed(
    moving_searcher: esr.ranking.searcher.Searcher, where: str, sent: Requests
) -> None:
    load(where, NEW, if_exists="append")
    for _ in range(2):
        sent.clear()
        assert len(found(moving_searcher, "flood bank")) == 4
    alias = where.rpartition("/")[2]
    by_alias = [target for target in sent if target.startswith((f"/{alias}/", f"/{alias}-documents/"))]
    assert (lookups(sent), by_alias) == (1, [])


@pytest.mark.elasticsearch
def test_a_snapshot_does_not_keep_those_before_it(where: str) -> None:
    """A server makes one of each generation, and each has caches of its own."""
    load(where, OLD)
    with open_searcher(where) as searcher:
        first = weakref.ref(searcher.index.snapshot())
        load(where, NEW, if_exists="replace")
        searcher.index.snapshot()
        gc.collect()
        assert first() is None
