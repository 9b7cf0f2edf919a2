"""What all boosts share: how they are written, saved, switched off, and that they add no candidates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from esr import boosts
from esr.boosts import plan_expansion
from esr.errors import UsageError
from esr.models import MODELS
from esr.plans.plan import CANDIDATES, PlanTerm
from esr.ranking.explain import explain
from esr.ranking.origin import Origin
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

pytestmark = pytest.mark.slow

ALL: dict[str, Any] = {
    "answer_type": 0.3,
    "variants": 0.2,
    "feedback": {"w": 0.5, "sentences": 2, "terms": 5},
}
QUERY = "who leads migration policy"


def test_a_saved_ranking_has_them_with_every_default() -> None:
    ranking = Ranking.from_dict({"boosts": {"variants": {}, "feedback": 0.3, "answer_type": 1}})
    saved = json.loads(json.dumps(ranking.as_dict()))
    assert saved["boosts"] == {
        "variants": 0.2,
        "feedback": {"w": 0.3, "sentences": 10, "terms": 20},
        "answer_type": 1,
    }
    assert Ranking.from_dict(saved).as_dict() == saved


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"variant": 0.2}, "unknown boost 'variant': did you mean 'variants'?"),
        ({"feedback": {"term": 3}}, "unknown parameter of boost feedback 'term': did you mean 'terms'?"),
        ({"feedback": {"terms": 2.5}}, r"'terms' must be a whole number in \[1, 1000\], not 2.5"),
        ({"variants": -1}, r"'w' must be a number in \[0, inf\), not -1"),
        ({"variants": True}, "not True"),
        ({"variants": None}, "not None"),
        (["variants"], "boosts must be a JSON object"),
        ("variants", "boosts must be a JSON object"),
    ],
)
def test_a_bad_boost_is_refused_with_the_nearest_name(data: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Ranking.from_dict({"boosts": data})


def test_they_are_parsed_from_the_command_line() -> None:
    assert boosts.parse("variants") == ("variants", {})
    assert boosts.parse("variants:0.3") == ("variants", {"w": "0.3"})
    assert boosts.parse("feedback:0.1:terms=5") == ("feedback", {"w": "0.1", "terms": "5"})
    for text in ("variants:1:2", "feedback:terms=1:terms=2", "variants:0.1:w=2"):
        with pytest.raises(UsageError, match="give each parameter once"):
            boosts.parse(text)


def test_an_expansion_makes_query_terms_heavier_and_other_terms_no_candidates() -> None:
    query_terms = [PlanTerm("a", 2.0, 0.1)]
    unit_terms = [PlanTerm("a", 0.5, 0.1), PlanTerm("b", 3.0, 0.2)]
    assert plan_expansion.add_terms(query_terms, unit_terms, {"a": 1.0, "b": 0.5}) == (
        PlanTerm("a", 2.5, 0.1),
        PlanTerm("b", 1.5, 0.2, own=False),
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", CANDIDATES)
def test_they_change_scores_and_no_candidates(searcher: Searcher, model: str, rule: str) -> None:
    plain = searcher.search(QUERY, 100, model=model, candidates=rule).hits
    boosted = searcher.search(QUERY, 100, model=model, candidates=rule, boosts=ALL).hits
    assert {hit.sentence_id for hit in boosted} == {hit.sentence_id for hit in plain}
    # The second stage of tdsr ranks by trees alone.
    assert (boosted != plain) == (model != "tdsr")


@pytest.mark.parametrize("model", MODELS)
def test_of_weight_0_they_are_off(searcher: Searcher, model: str) -> None:
    off = {"answer_type": 0, "variants": 0, "feedback": 0}
    answer = searcher.search(QUERY, 100, model=model, boosts=off)
    assert answer.hits == searcher.search(QUERY, 100, model=model).hits


@pytest.mark.parametrize("model", MODELS)
def test_the_parts_that_are_explained_add_up(searcher: Searcher, model: str) -> None:
    ranking = Ranking.from_dict({"model": model, "priors": {"length": 0.5}, "boosts": ALL})
    hits = searcher.search(QUERY, 100, ranking=ranking).hits
    assert hits
    for hit in hits:
        explanation = explain(searcher.prepare(QUERY, ranking), hit.sentence_id)
        parts = [*explanation.terms, *explanation.priors, *explanation.features, *explanation.boosts]
        assert explanation.length + sum(part.adds for part in parts) == pytest.approx(
            explanation.first, rel=1e-9
        )
        assert explanation.score == pytest.approx(hit.score, rel=1e-9)


def test_an_explanation_has_the_boost_of_a_term_and_what_each_adds(searcher: Searcher) -> None:
    ranking = Ranking.from_dict({"boosts": ALL})
    explanation = explain(searcher.prepare(QUERY, ranking), "a0")
    shares_by_term = {part.origin.name: dict(part.boosts) for part in explanation.terms}
    assert shares_by_term["migrations"] == {"variants": pytest.approx(0.2)}
    assert set(shares_by_term["bank"]) == set(shares_by_term["policy"]) == {"feedback"}
    weights = {part.origin.name: part.weight for part in explanation.terms}
    plain = {term.term: term.weight for term in searcher.prepare(QUERY, Ranking()).plan.terms}
    for term, shares in shares_by_term.items():
        assert sum(shares.values()) == pytest.approx(weights[term] - plain.get(term, 0.0))
    (step,) = explanation.boosts
    assert step.origin == Origin("boost", "answer_type", "pers")
    assert (step.value, step.weight) == (2, 0.3)
    assert explanation.boosted["answer_type"] == step.adds == 0.3
    feedback_terms = {part.origin.name: part for part in explanation.terms if "feedback" in part.boosts}
    assert set(feedback_terms) == {"migration", "policy", "bank", "court"}
    assert explanation.boosted["feedback"] == pytest.approx(
        sum(part.adds * part.boosts["feedback"] / part.weight for part in feedback_terms.values())
    )
    assert explanation.as_dict()["boosted"] == explanation.boosted


def test_a_feature_without_a_value_adds_nothing(searcher: Searcher) -> None:
    explanation = explain(searcher.prepare(QUERY, Ranking.from_dict({"boosts": ALL})), "a2")
    assert (explanation.boosts[0].value, explanation.boosts[0].adds) == (None, 0.0)
    assert explanation.boosted["variants"] == 0.0  # a sentence without them loses nothing


@pytest.mark.parametrize("model", MODELS)
def test_two_boosts_of_one_term_share_what_it_adds(searcher: Searcher, model: str) -> None:
    """migrations is a variant of migration, and stands in a sentence that is fed back for migraine."""
    both_boosts = {"variants": 0.2, "feedback": {"w": 0.5, "terms": 50}}
    query = "migration migraine"

    def explained_term(boosts: Any) -> Any:
        ranking = Ranking.from_dict({"model": model, "boosts": boosts})
        parts = explain(searcher.prepare(query, ranking), "b.s0").terms
        return next(part for part in parts if part.origin.name == "migrations")

    part = explained_term(both_boosts)
    assert part.boosts == pytest.approx(
        {name: explained_term({name: both_boosts[name]}).weight for name in both_boosts}
    )
    assert sum(part.boosts.values()) == pytest.approx(part.weight)
