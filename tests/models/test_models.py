from __future__ import annotations

import math
import re
from typing import Any

import pytest

from esr import models
from esr.errors import UsageError
from esr.models import MODELS, Model, Query
from esr.plans.plan import CollectionStatistics, Mixture, Plan, Statistics, TermStatistics
from esr.ranking.ranking import Ranking
from tests.support.reference_scores import CONTEXTS, DEFAULT_CONTEXT, DEFAULTS

STATISTICS = Statistics(
    CollectionStatistics(
        sentences=1000,
        documents=100,
        occurrences=12_000,
        document_length=12_400,
        surrounding_length=34_000,
        weighted_document_length=130_000,
        document_terms=9_000,
    ),
    {
        "storm": TermStatistics(50, 20, 70),
        "flood": TermStatistics(3, 2, 4),
        "headline": TermStatistics(0, 1, 0),
        "common": TermStatistics(900, 100, 5000),
    },
)


def plan(ranking: Ranking, **counts: int) -> Plan:
    return ranking.plan(counts or {"storm": 1, "flood": 2}, STATISTICS)


NAMES = {"tfisf", "tfmix", "bm25", "bm25f", "jm", "dir", "kld", "3mm", "2s", "2si"}
DEPENDENCE = {"tdsr", "mrf_fidm", "mrf_sdm", "mrf_fdm"}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)


def test_these_are_the_models_and_this_is_the_default() -> None:
    assert set(DEFAULTS) == NAMES
    assert set(MODELS) >= NAMES | DEPENDENCE, "the papers' models; others may stand beside them"
    assert models.DEFAULT.name == "2si"
    assert Ranking().as_dict() == {
        "model": "2si",
        "context": "both",
        "params": {"mu": 30.0, "lambda": 0.25, "nu": 0.2, "background": "occurrences"},
        "priors": {},
        "features": [],
        "boosts": {},
        "rerank": [],
        "depth": 1000,
        "candidates": "context",
    }


@each_model
def test_a_model_says_what_it_is_and_where_it_is_from(model: Model) -> None:
    assert MODELS[model.name] is models.get(model.name) is model
    assert len(model.description) > 10 and len(model.source) > 10
    assert re.search(r"docs/formulas\.md, (section )?[A-D]", model.source)
    for parameter in model.parameters:
        assert parameter.description
        assert parameter.check(parameter.default) == parameter.default, "the default is in range"
    assert set(model.as_dict()) >= {"name", "description", "source", "contexts", "candidates", "parameters"}


@pytest.mark.parametrize("model", [MODELS[name] for name in sorted(NAMES)], ids=lambda model: model.name)
def test_parameters_defaults_and_contexts_are_the_papers(model: Model) -> None:
    assert {p.name: p.default for p in model.parameters} == DEFAULTS[model.name]
    assert set(model.contexts) == set(CONTEXTS[model.name])
    assert model.context(None) == DEFAULT_CONTEXT.get(model.name)
    assert model.candidates == ("context" if model.contexts else "matching")


@each_model
def test_every_context_makes_a_plan_with_finite_numbers(model: Model) -> None:
    for context in (None, *model.contexts):
        result = plan(Ranking(model.name, context), storm=1, flood=3, headline=1, common=100)
        assert [term.term for term in result.terms] == ["storm", "flood", "headline", "common"]
        for term in result.terms:
            assert math.isfinite(term.weight)
            if isinstance(result.transform, Mixture):
                assert 0 < term.background <= 1


@each_model
def test_unseen_terms_are_dropped_from_the_plan(model: Model) -> None:
    statistics = Statistics(STATISTICS.collection, {**STATISTICS.terms, "unseen": TermStatistics(0, 0, 0)})
    result = Ranking(model.name).plan({"unseen": 2, "storm": 1}, statistics)
    assert [term.term for term in result.terms] == ["storm"]


@each_model
def test_a_collection_with_nothing_in_it_makes_a_plan(model: Model) -> None:
    for context in (None, *model.contexts):
        settings = model.settings({}, context)
        result = model.plan(settings, Query({}, 0, Statistics(CollectionStatistics(), {})))
        assert result.terms == ()


@each_model
def test_every_number_is_checked_at_both_ends(model: Model) -> None:
    for p in model.parameters:
        if p.choices:
            with pytest.raises(UsageError, match=f"parameter '{p.name}' must be one of"):
                Ranking(model.name, _context(model, p.only_with), {p.name: "x"})
            continue
        for bad in (p.low - 0.001, p.high + 0.001, *([p.low] if p.open_low else [])):
            with pytest.raises(UsageError, match=f"parameter '{p.name}' must be a number in"):
                Ranking(model.name, _context(model, p.only_with), {p.name: bad})


def _context(model: Model, only: str | None) -> str | None:
    return only or model.context(None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm52", "unknown model 'bm52': did you mean 'bm25'"),
        ("BM25", "unknown model 'BM25'"),
        ("", "unknown model ''"),
        ("xyzzy", "known: 2s, 2si, 3mm"),
    ],
)
def test_an_unknown_model_is_refused_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        models.get(name)
    assert message in str(caught.value)


def test_an_unknown_parameter_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown parameter of dir 'mi': did you mean 'mu'"):
        Ranking("dir", params={"mi": 3})
    with pytest.raises(UsageError, match="unknown parameter of jm 'mu'"):
        Ranking("jm", params={"mu": 3})


def test_an_unknown_context_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown context 'documents': did you mean 'document'"):
        Ranking("2s", "documents")


@each_model
def test_a_context_for_a_model_without_one_is_refused(model: Model) -> None:
    if not model.contexts:
        with pytest.raises(UsageError, match="uses the sentence alone"):
            Ranking(model.name, "document")


@each_model
def test_nu_needs_both_contexts(model: Model) -> None:
    if not model.contexts:
        return
    Ranking(model.name, "both", {"nu": 0.1})
    for context in ("document", "surrounding"):
        with pytest.raises(UsageError, match=r"'nu' .* needs --context both"):
            Ranking(model.name, context, {"nu": 0.1})


TOO_MUCH: list[tuple[str, str | None, dict[str, Any]]] = [
    ("3mm", "document", {"lambda": 0.6, "gamma": 0.4}),
    ("3mm", "document", {"lambda": 0.8, "gamma": 0.3}),
    ("3mm", "both", {"lambda": 0.5, "gamma": 0.3, "nu": 0.2}),
    ("3mm", "document", {"lambda": 0.8, "gamma": 0.3, "form": "flat_jm"}),
    ("3mm", "document", {"lambda": 0.0, "gamma": 0.3, "form": "flat_jm"}),
    ("3mm", "document", {"lambda": 0.0, "form": "nested"}),
    ("3mm", "both", {"gamma": 0.9, "nu": 0.2, "form": "nested"}),
    ("2si", "both", {"lambda": 0.9, "nu": 0.2}),
    ("tfmix", "both", {"alpha": 0.9, "nu": 0.2}),
    ("bm25f", "both", {"alpha": 0.9, "nu": 0.2}),
]


@pytest.mark.parametrize(("model", "context", "params"), TOO_MUCH)
def test_shares_of_one_whole_that_exceed_it_are_refused(
    model: str, context: str | None, params: dict[str, Any]
) -> None:
    """Each is in range by itself, so tuning may make such a ranking; nothing can be ranked with it."""
    ranking = Ranking(model, context, params)
    with pytest.raises(UsageError, match=r"must be (below|at most) 1"):
        plan(ranking)
    with pytest.raises(UsageError, match=r"must be (below|at most) 1"):
        ranking.plan({}, Statistics(CollectionStatistics(), {}))


@pytest.mark.parametrize(
    ("model", "params"),
    [
        ("2si", {"lambda": 0.9, "nu": 0.1}),
        ("tfmix", {"alpha": 0.7, "nu": 0.3}),
        ("bm25f", {"alpha": 0.0, "nu": 1.0}),
        ("3mm", {"lambda": 0.1, "gamma": 0.7, "nu": 0.2, "form": "flat_jm"}),
    ],
)
def test_shares_that_are_just_one_whole_are_taken(model: str, params: dict[str, Any]) -> None:
    plan(Ranking(model, "both", params))
