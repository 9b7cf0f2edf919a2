from __future__ import annotations

import json

from esr.plans.plan import (
    Affine,
    CollectionStatistics,
    Mixture,
    Plan,
    PlanTerm,
    Saturation,
    Smoothing,
    Static,
    TermStatistics,
)

MIXTURE = Mixture(30.0, Affine(0.5, -0.5), Affine(), Affine(0.0, 0.25), Affine(0.0, 1.0))


def test_a_plan_looks_at_the_fields_that_have_a_share() -> None:
    assert list(MIXTURE.fields()) == ["sentence", "document"]
    saturation = Saturation(1.2, Smoothing(), Smoothing(0.4), Smoothing(0.6))
    assert list(saturation.fields()) == ["surrounding", "document"]


def test_a_share_that_slopes_alone_is_a_share() -> None:
    assert Affine().is_zero and not Affine(0.0, 1.0).is_zero and not Affine(1.0).is_zero


def test_a_plan_is_plain_data() -> None:
    plan = Plan(
        (PlanTerm("storm", 2.0, 0.1), PlanTerm("flood", 0.5, 0.2)),
        MIXTURE,
        "context",
        "document",
        (Static("length", "log", 1.0, -2.0, required=True),),
    )
    data = plan.as_dict()
    assert json.loads(json.dumps(data))["shape"] == "mixture"
    assert data["candidates"] == "context"
    assert plan.query_weight == 2.5


def test_a_term_in_a_title_alone_is_seen() -> None:
    assert TermStatistics(0, 1, 0).is_seen
    assert not TermStatistics(0, 0, 0).is_seen


def test_averages_of_nothing_are_nothing() -> None:
    empty = CollectionStatistics()
    averages = (
        empty.average_sentence,
        empty.average_document,
        empty.average_surrounding,
        empty.average_document_by_sentences,
    )
    assert averages == (0.0, 0.0, 0.0, 0.0)


def test_averages_are_over_sentences_or_over_documents() -> None:
    collection = CollectionStatistics(
        sentences=8,
        documents=3,
        occurrences=32,
        document_length=36,
        surrounding_length=80,
        weighted_document_length=104,
    )
    assert collection.average_sentence == 4.0
    assert collection.average_document == 12.0
    assert collection.average_surrounding == 10.0
    assert collection.average_document_by_sentences == 13.0
