"""Conditions are combined, searched and changed part by part, and plans are data."""

from __future__ import annotations

import json

from msgspec.structs import asdict, replace

from esr.plans.plan import (
    Affine,
    AllOf,
    AnyOf,
    CollectionStatistics,
    Condition,
    Curve,
    DateRange,
    HasLanguage,
    HasPrefix,
    HasSource,
    HasTerm,
    HasWords,
    Mixture,
    Not,
    Plan,
    PlanTerm,
    SaidBy,
    StaticScore,
    TermStatistics,
    all_of,
    any_of,
    leaves,
    replace_leaves,
)

A, B, C = HasTerm("a"), HasTerm("b"), HasTerm("c")
NESTED = AllOf((A, AnyOf((B, Not(C))), Not(AllOf((HasSource(("S",)), A)))))


def test_conditions_are_combined_once_each_and_one_stays_alone() -> None:
    assert all_of([]) is None
    assert all_of([A]) == all_of([A, A]) == A
    assert all_of([B, A, B]) == AllOf((B, A))
    assert any_of([A]) == any_of([A, A]) == A
    assert any_of([B, A, B]) == AnyOf((B, A))


def test_the_leaves_of_a_condition_are_those_without_parts_in_their_order() -> None:
    assert [*leaves(A)] == [A]
    assert [*leaves(NESTED)] == [A, B, C, HasSource(("S",)), A]


def test_leaves_are_replaced_where_they_stand() -> None:
    def to_language(condition: Condition) -> Condition:
        return HasLanguage(condition.term) if isinstance(condition, HasTerm) else condition

    a, b, c = (HasLanguage(letter) for letter in "abc")
    assert replace_leaves(NESTED, to_language) == AllOf(
        (a, AnyOf((b, Not(c))), Not(AllOf((HasSource(("S",)), a))))
    )


def test_a_plan_is_json_with_the_names_of_its_conditions() -> None:
    mixture = Mixture(30.0, Affine(0.7), Affine(), Affine(0.0, 0.2), Affine(0.1))
    terms = (PlanTerm("flood", 2.0, 0.1), PlanTerm("rain", 0.5, 0.2, own=False), PlanTerm("x", 0.25))
    condition = AnyOf((Not(DateRange(1, None)), AllOf((A, HasSource(("S", "T"))))))
    curve = Curve((0.0, 1.0), (0.5, 1.5), (1.0, 1.0))
    plan = Plan(terms, mixture, "matching", "document", (StaticScore("length", "curve", curve=curve),))
    data = json.loads(json.dumps(replace(plan, condition=condition).as_dict()))
    assert data["shape"] == "mixture" and data["transform"]["document"] == [0.0, 0.2]
    assert data["static_scores"][0]["curve"]["adds"] == [0.5, 1.5]
    assert data["condition"] == {
        "is": "AnyOf",
        "conditions": [
            {"is": "Not", "condition": {"is": "DateRange", "start": 1, "end": None}},
            {
                "is": "AllOf",
                "conditions": [{"is": "HasTerm", "term": "a"}, {"is": "HasSource", "forms": ["S", "T"]}],
            },
        ],
    }
    assert plan.as_dict()["condition"] is None
    assert plan.candidate_terms == ("flood", "x") and plan.query_weight == 2.25


def test_what_a_plan_leaves_open_has_the_value_that_changes_nothing() -> None:
    assert PlanTerm("flood", 2.0) == ("flood", 2.0, 0.0, True)
    assert not SaidBy(("ann",)).probable
    assert StaticScore("length", "linear") == StaticScore("length", "linear", 1.0, 0.0, False)
    nothing = {**asdict(CollectionStatistics()), "bounds": 0}
    assert nothing == dict.fromkeys(nothing, 0)
    assert HasWords(("a",)).field == HasPrefix("a").field == "sentence"


def test_the_share_of_a_term_in_the_collection_is_never_zero_or_of_nothing() -> None:
    collection = CollectionStatistics(occurrences=10, document_terms=4)
    assert [collection.background(TermStatistics(1, 1, cf)) for cf in (0, 1, 2, 5)] == [0.1, 0.1, 0.2, 0.5]
    assert [collection.background_by_documents(TermStatistics(df, df, df)) for df in (1, 2)] == [0.25, 0.5]
    assert CollectionStatistics().background(TermStatistics(0, 0, 0)) == 1.0
    assert CollectionStatistics().background_by_documents(TermStatistics(1, 1, 1)) == 1.0
    assert CollectionStatistics(document_terms=1).background_by_documents(TermStatistics(1, 1, 1)) == 1.0
