"""Models that are one another with some parameters: the papers say so, the scores must."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from esr import models
from esr.errors import UsageError
from esr.models import MODELS, Model, Query
from esr.models.priors import PRIORS, check_weight
from esr.plans.plan import CollectionStatistics, Mixture, Plan, Statistics, TermStatistics
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.support import worked_examples as worked
from tests.support.folder_index import document, load
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
        assert [*map(parameter.check, parameter.grid)] == [*parameter.grid], "what is tried is in range"
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


QUERIES = ["a b", "c c c a", "e title", "f unseen a"]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    rng = random.Random(11)
    where = tmp_path_factory.mktemp("identities") / "index"
    news = [
        document(
            f"d{n}",
            *(" ".join(rng.choices("abcdef", k=rng.choice([0, 1, 3, 7, 40]))) for _ in range(n % 5)),
            title="title a" if n % 3 else None,
        )
        for n in range(25)
    ]
    load(where, news)
    return open_searcher(str(where))


def scores(
    searcher: Searcher, query: str, model: str, context: str | None, **params: Any
) -> dict[str, float]:
    answer = searcher.search(query, 1000, model=model, context=context, params=params, candidates="all")
    assert answer.hits
    return {hit.sentence_id: hit.score for hit in answer.hits}


Setting = tuple[str, str | None, dict[str, Any]]
SAME: dict[str, tuple[Setting, Setting]] = {
    "3MM without a context is JM": (
        ("3mm", "document", {"lambda": 0.3, "gamma": 0.0}),
        ("jm", None, {"lambda": 0.7}),
    ),
    "3MM nested without a context is JM": (
        ("3mm", "surrounding", {"lambda": 0.7, "gamma": 0.0, "form": "nested"}),
        ("jm", None, {"lambda": 0.7}),
    ),
    "3MM flat_jm is 3MM flat with other names": (
        ("3mm", "document", {"lambda": 0.2, "gamma": 0.3, "form": "flat_jm"}),
        ("3mm", "document", {"lambda": 0.5, "gamma": 0.3}),
    ),
    "2S-I without a context is DIR": (
        ("2si", "surrounding", {"lambda": 0.0, "mu": 8}),
        ("dir", None, {"mu": 8}),
    ),
    "2S-I with both and no share of either is DIR": (
        ("2si", "both", {"lambda": 0.0, "nu": 0.0, "mu": 8}),
        ("dir", None, {"mu": 8}),
    ),
    "BM25f of the sentence alone is BM25": (
        ("bm25f", "document", {"alpha": 1.0, "b_sent": 0.6, "k1": 1.5}),
        ("bm25", None, {"b": 0.6, "k1": 1.5}),
    ),
    "tfmix of the sentence alone is tfisf": (
        ("tfmix", "surrounding", {"alpha": 1.0}),
        ("tfisf", None, {}),
    ),
    "JM of the collection alone is 2S of the collection alone": (
        ("jm", None, {"lambda": 1.0}),
        ("2s", "document", {"lambda": 1.0}),
    ),
    **{
        f"{model} with both and nothing for the surrounding is the document's": (
            (model, "both", {"nu": 0.0}),
            (model, "document", {}),
        )
        for model in ("tfmix", "bm25f", "3mm", "2s", "2si")
    },
    **{
        f"{model} with both and nothing for the document is the surrounding's": (
            (model, "both", both),
            (model, "surrounding", alone),
        )
        for model, both, alone in (
            ("tfmix", {"alpha": 0.6, "nu": 0.4}, {"alpha": 0.6}),
            ("bm25f", {"alpha": 0.6, "nu": 0.4}, {"alpha": 0.6}),
            ("3mm", {"gamma": 0.0, "nu": 0.25}, {"gamma": 0.25}),
            ("2s", {"nu": 1.0}, {}),
            ("2si", {"lambda": 0.0, "nu": 0.3}, {"lambda": 0.3}),
        )
    },
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_model_by_another_name_has_the_same_scores(searcher: Searcher, name: str) -> None:
    (model, context, params), (other, other_context, other_params) = SAME[name]
    for query in QUERIES:
        actual = scores(searcher, query, model, context, **params)
        assert actual == pytest.approx(
            scores(searcher, query, other, other_context, **other_params), rel=1e-9
        )


def test_kld_is_dir_divided_by_the_querys_length(searcher: Searcher) -> None:
    for query in QUERIES:
        kld = scores(searcher, query, "kld", None, mu=8)
        expected = scores(searcher, query, "dir", None, mu=8)
        length = len(query.split())
        assert kld == pytest.approx({name: score / length for name, score in expected.items()}, rel=1e-9)


def rank(searcher: Searcher, query: str, model: str, **options: Any) -> list[str]:
    hits = searcher.search(query, 1000, model=model, params={"mu": 8}, candidates="all", **options).hits
    return [hit.sentence_id for hit in hits]


def test_kld_ranks_as_dir_does_unless_a_prior_is_added(searcher: Searcher) -> None:
    rng = random.Random(3)
    queries = [" ".join(rng.choices("abcdef", k=rng.randint(2, 7))) for _ in range(60)]
    assert all(rank(searcher, query, "kld") == rank(searcher, query, "dir") for query in queries)
    prior = {"priors": {"length": 1.0}}
    assert any(
        rank(searcher, query, "kld", **prior) != rank(searcher, query, "dir", **prior) for query in queries
    )


def test_a_parameter_changes_the_scores(searcher: Searcher) -> None:
    """Else the identities above would hold of anything."""
    for (model, context, params), _ in SAME.values():
        for name in ("mu", "lambda", "gamma", "alpha", "k1"):
            if name in params and (model, params[name]) not in [("jm", 1.0), ("2s", 1.0)]:
                changed = params | {name: {"mu": 9, "k1": 2.0}.get(name, 0.15)}
                if name != "lambda" or params.get("form") is None:
                    assert scores(searcher, "a b", model, context, **params) != scores(
                        searcher, "a b", model, context, **changed
                    ), (model, name)


COLLECTION = CollectionStatistics(sentences=4, documents=2, occurrences=40)


def test_these_are_the_priors() -> None:
    assert list(PRIORS) == ["importance", "importance-surrounding", "length"]
    for prior in PRIORS.values():
        assert prior.description and prior.source
        assert prior.as_dict()["name"] == prior.name


def test_the_help_of_the_importance_priors_says_that_they_hurt() -> None:
    for name in ("importance", "importance-surrounding"):
        assert "much worse" in PRIORS.find(name).description


def test_an_unknown_prior_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown prior 'lenght': did you mean 'length'"):
        PRIORS.find("lenght")


@pytest.mark.parametrize("value", ["x", None, True, math.nan, math.inf, -math.inf, [], ""])
def test_a_weight_is_a_finite_number(value: object) -> None:
    with pytest.raises(UsageError, match="the weight of prior 'length' must be a finite number"):
        check_weight("length", value)


@pytest.mark.parametrize("value", [0, -2, "0.5", 1e300])
def test_any_finite_weight_is_taken(value: object) -> None:
    assert check_weight("length", value) == float(value)  # type: ignore[arg-type]


def test_a_weight_goes_on_the_whole_log_prior() -> None:
    static_score = PRIORS.find("length").static_score(2.0, COLLECTION)
    assert (static_score.weight, static_score.constant) == (2.0, pytest.approx(-2 * math.log(40)))
    assert PRIORS.find("importance").static_score(-0.5, COLLECTION).constant == 0.0


def test_the_length_prior_of_an_empty_collection_is_a_number() -> None:
    assert math.isfinite(PRIORS.find("length").static_score(1.0, CollectionStatistics()).constant)


@pytest.fixture
def prior_searcher(tmp_path: Path) -> Searcher:
    load(tmp_path / "index", worked.documents())
    return open_searcher(str(tmp_path / "index"))


def test_a_weight_scales_what_the_prior_adds(prior_searcher: Searcher) -> None:
    def scores(**weights: float) -> dict[str, float]:
        hits = prior_searcher.search("china", 100, model="jm", candidates="all", priors=weights).hits
        return {hit.sentence_id: hit.score for hit in hits}

    bare, once = scores(), scores(importance=1.0)
    expected = {name: bare[name] + 0.25 * (once[name] - bare[name]) for name in bare}
    assert scores(importance=0.25) == pytest.approx(expected)
    assert scores(importance=0.0) == pytest.approx(bare)
    assert once["D1.1"] - bare["D1.1"] == pytest.approx(1.8438754703670686)


@pytest.mark.parametrize("weight", [1.0, 0.0, -1.0])
def test_the_length_prior_leaves_sentences_without_terms_out(tmp_path: Path, weight: float) -> None:
    load(tmp_path / "index", [document("A", "storm", "", "...", "storm flood")])
    with open_searcher(str(tmp_path / "index")) as searcher:
        answer = searcher.search("storm", candidates="all", priors={"length": weight})
    assert {hit.sentence_id for hit in answer.hits} == {"A.s0", "A.s3"}
    assert answer.total == 2
