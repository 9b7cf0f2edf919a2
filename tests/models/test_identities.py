"""Models that are one another with some parameters: the papers say so, the scores must."""

from __future__ import annotations

import random
from typing import Any

import pytest

from esr.ranking.searcher import Searcher, open_searcher
from tests.support.folder_index import document, load

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
