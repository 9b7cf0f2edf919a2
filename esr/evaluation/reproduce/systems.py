"""The systems of the papers' tables: rankings with tuned or fixed parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from esr.ranking.ranking import Ranking

BASELINES = "baselines"
PLAIN = "language models, p(d|s) uniform"
PRIOR = "language models with p(d|s)"
VECTOR = "tfisf and BM25 with context"
LENGTH = "language models with a length prior"
CONTEXTS = ("document", "surrounding")
ALONE = ("jm", "dir")
WITH_CONTEXT = ("3mm", "2s", "2si")


@dataclass(frozen=True)
class System:
    """`is_fixed` systems are not tuned; `inherits` has pairs of a tuned system and its parameter to use."""

    name: str
    group: str
    ranking: Ranking
    is_fixed: bool = False
    inherits: tuple[tuple[str, str], ...] = ()


def with_prior(name: str) -> str:
    """The name of the same system with the sentence's importance."""
    return f"{name} + p(d|s)"


def language_models() -> list[str]:
    """The names of the language models without a prior."""
    return [system.name for system in SYSTEMS.values() if system.group == PLAIN]


def _build_systems() -> Iterator[System]:
    yield System("tfisf", BASELINES, Ranking("tfisf"))
    yield System("bm25", BASELINES, Ranking("bm25", params={"k3": 0.0}))
    yield System("okapi", BASELINES, Ranking("bm25", params={"k1": 1.2, "b": 0.75, "k3": 0.0}), is_fixed=True)
    yield System("kld", BASELINES, Ranking("kld"))
    for group, priors in ((PLAIN, {}), (PRIOR, {"importance": 1.0})):
        for model, context in _models():
            name = f"{model} {context}" if context else model
            yield System(with_prior(name) if priors else name, group, Ranking(model, context, priors=priors))
    yield System("idfdoc", VECTOR, Ranking("tfisf", params={"idf": "document"}))
    for context in CONTEXTS:
        yield System(f"tfmix {context}", VECTOR, Ranking("tfmix", context))
        with_idfdoc = Ranking("tfmix", context, params={"idf": "document"})
        yield System(f"tfmix {context} + idfdoc", VECTOR, with_idfdoc)
    for context in CONTEXTS:
        yield System(f"bm25f {context}", VECTOR, Ranking("bm25f", context), inherits=(("bm25", "k1"),))
    for model in ALONE:
        yield System(f"{model} + length", LENGTH, Ranking(model, priors={"length": 1.0}))


def _models() -> Iterator[tuple[str, str | None]]:
    yield from ((model, None) for model in ALONE)
    yield from ((model, context) for model in WITH_CONTEXT for context in CONTEXTS)


SYSTEMS: dict[str, System] = {system.name: system for system in _build_systems()}
