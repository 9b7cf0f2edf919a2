"""Both engines boost alike: the same variants, the same feedback, the same steps, the same scores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from esr.index.filters import Filters
from esr.plans.plan import CANDIDATES
from esr.ranking.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from tests.index.test_parity import SPLITS, Engines, compare_answers
from tests.support.boost_corpus import ODD, WORDS, corpus
from tests.support.elasticsearch import fresh, load

BOOSTS = [
    {"answer_type": 0.7},
    {"variants": 0.3},
    {"feedback": {"w": 0.5, "sentences": 3, "terms": 4}},
    {"answer_type": 0.5, "variants": 0.2, "feedback": 0.2},
]
QUERIES = ["who stops migrated", "how many courts vote", "court migrants court banker"]


@pytest.fixture(scope="module", params=[1, 3], ids=["1 shard", "3 shards"])
def engines(
    request: pytest.FixtureRequest, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engines]:
    folder = str(tmp_path_factory.mktemp("boosts") / "index")
    with fresh(elasticsearch_url) as where:
        for location, options in ((folder, {}), (where, {"shards": request.param})):
            load(location, corpus(0, 30), analyzer="plain", **options)
            load(location, corpus(100, 10), if_exists="append")
        with open_searcher(folder) as embedded, open_searcher(where) as elasticsearch:
            yield Engines(embedded, elasticsearch)


def test_both_have_the_same_terms_that_begin_so(engines: Engines) -> None:
    all_terms = {
        term for word in [*WORDS, *ODD, "migrational"] for term in engines.embedded.index.analyzer.terms(word)
    }
    checked_terms = 0
    for prefix in ("", "m", "migr", "bank", "x", "i", "𐐷", "𐐷𐐷𐐷𐐷𐐷", "ÿÿ", "ﬀ", "a b", "1990", "*", "("):
        for limit in (1, 2, 3, 100):
            expected = sorted(term for term in all_terms if term.startswith(prefix))
            if prefix:  # all terms are more than those above
                assert engines.embedded.index.terms_with_prefix(prefix, limit) == expected[:limit]
                checked_terms += len(expected)
            assert engines.elasticsearch.index.terms_with_prefix(
                prefix, limit
            ) == engines.embedded.index.terms_with_prefix(prefix, limit)
    assert checked_terms > 50


@pytest.mark.parametrize("boosts", BOOSTS, ids=lambda names: "+".join(names))
def test_both_make_the_same_plans(engines: Engines, boosts: dict[str, object]) -> None:
    for query in QUERIES:
        embedded_plan, elasticsearch_plan = (
            s.prepare(query, Ranking.from_dict({"boosts": boosts})).plan for s in engines
        )
        assert [term.term for term in elasticsearch_plan.terms] == [term.term for term in embedded_plan.terms]
        assert [term.weight for term in elasticsearch_plan.terms] == pytest.approx(
            [term.weight for term in embedded_plan.terms]
        )
        assert elasticsearch_plan.statics == embedded_plan.statics
        assert embedded_plan != engines.embedded.prepare(query, Ranking()).plan or list(boosts) == [
            "answer_type"
        ]


@pytest.mark.parametrize("boosts", BOOSTS, ids=lambda names: "+".join(names))
def test_both_give_the_same_answers(engines: Engines, boosts: dict[str, object]) -> None:
    problems = [
        problem
        for model, context in SPLITS
        for query, rule in zip(QUERIES, CANDIDATES, strict=True)
        for filters in (Filters(), Filters(documents=("d1", "d2", "d3")))
        for problem in compare_answers(
            engines, query, filters, 500, model=model, context=context, candidates=rule, boosts=boosts
        )
    ]
    assert not problems, "\n".join(problems[:10])


def test_boosts_features_and_a_second_stage_go_together(engines: Engines) -> None:
    ranking = Ranking.from_dict(
        {
            "boosts": BOOSTS[-1],
            "features": [{"feature": "position", "form": "log", "w": -0.3}],
            "rerank": [{"signal": "tdsr", "w": 0.5}],
            "depth": 20,
        }
    )
    for query in QUERIES:
        embedded_hits, elasticsearch_hits = (
            searcher.search(query, 30, ranking=ranking).hits for searcher in engines
        )
        assert [hit.sentence_id for hit in elasticsearch_hits] == [hit.sentence_id for hit in embedded_hits]
        assert [hit.score for hit in elasticsearch_hits] == pytest.approx(
            [hit.score for hit in embedded_hits], rel=1e-5
        )
        for hit in embedded_hits[:3]:
            first, second = (
                explain(searcher.prepare(query, ranking), hit.sentence_id) for searcher in engines
            )
            assert first.score == pytest.approx(hit.score)
            assert second.boosted == pytest.approx(first.boosted)
            assert set(first.boosted) >= {"variants", "feedback"}
            assert [part.boosts for part in second.terms] == [
                pytest.approx(part.boosts) for part in first.terms
            ]
