"""The systems of the papers' tables: rankings with tuned or fixed parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from esr.lab.reproduce.annotations import NAMES, OPINIONS
from esr.lab.reproduce.raw_files import YEARS
from esr.plugin.provisional import MU_GRID, Ranking, Value

BASELINES = "baselines"
OPINION = "tfisf with features of opinion"
NAMED = "tfisf with features of names"
SENTENCE_LENGTH = "tfisf with the sentence length"
COMBINED = "tfisf with subjectivity and length"
TDSR = "TDSR"
MRF = "Markov random field"
PLAIN = "language models, p(d|s) uniform"
PRIOR = "language models with p(d|s)"
VECTOR = "tfisf and BM25 with context"
LENGTH = "language models with a length prior"
CONTEXTS = ("document", "surrounding")
ALONE = ("jm", "dir")
WITH_CONTEXT = ("3mm", "2s", "2si")
BOTH_YEARS = ("2003", "2004")
"""The years of the second, third and fourth paper."""
FORMS = ("indep", "floe", "linear", "log", "step")
"""The forms of features. A step of the length would be equal for all sentences."""


@dataclass(frozen=True)
class System:
    """A ranking of the tables. An `is_fixed` system is not tuned.

    `inherits` has pairs of a tuned system and the name of the parameter to take from it. With a `feature` and
    its form, the ranking is the tuned one of the system `base`, and the feature is added. A `grid` replaces
    the default one. `years` are those that the system is trained and tested on. A system that
    `uses_parses` needs them.
    """

    name: str
    group: str
    ranking: Ranking
    is_fixed: bool = False
    inherits: tuple[tuple[str, str], ...] = ()
    grid: Mapping[str, Sequence[Value]] | None = None
    base: str = ""
    feature: tuple[str, str] | None = None
    years: tuple[str, ...] = YEARS
    uses_parses: bool = False


def name_with_prior(name: str) -> str:
    """The name of the same system with the importance prior p(d|s)."""
    return f"{name} + p(d|s)"


def list_language_models() -> list[str]:
    """The names of the language models without a prior."""
    return [system.name for system in SYSTEMS.values() if system.group == PLAIN]


def name_with_feature(form: str, feature: str, base: str = "tfisf") -> str:
    """The name of a system with a feature added."""
    return f"{base} + {form}({feature})"


SUBJECTIVE = name_with_feature("linear", "subj")
"""The name of the second paper's best model of opinion, to which the length is added."""
TDSR_READINGS: Mapping[str, Mapping[str, str]] = {
    "tdsr": {"form": "exp"},
    "tdsr, ties by tfisf": {"form": "exp", "ties": "score"},
    "tdsr power": {"form": "power"},
    "tdsr linear": {"form": "linear"},
}
"""The interpretations of the association strength, and of the order of equal strengths."""
MRF_MODELS = ("fidm", "sdm", "fdm")
MRF_SUFFIXES = {"dir": "", "tfisf": ", f_I tfisf"}
"""The suffixes of the names of models, by the potential of single terms."""
MRF_GRID: Mapping[str, Sequence[Value]] = {
    "lambda_SR": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "lambda_PR": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "alpha": (0.1, 0.5, 1.0),
    "beta": (0.1, 0.5, 1.0),
}
RERANKED = 10_000
"""The depth of ranking by trees: more than the sentences of a topic's documents."""


def _build_systems() -> Iterator[System]:
    yield System("tfisf", BASELINES, Ranking("tfisf"))
    yield System("bm25", BASELINES, Ranking("bm25", params={"k3": 0.0}))
    yield System("okapi", BASELINES, Ranking("bm25", params={"k1": 1.2, "b": 0.75, "k3": 0.0}), is_fixed=True)
    yield System("kld", BASELINES, Ranking("kld"))
    for group, priors in ((PLAIN, {}), (PRIOR, {"importance": 1.0})):
        for model, context in _iterate_models():
            name = f"{model} {context}" if context else model
            yield System(
                name_with_prior(name) if priors else name, group, Ranking(model, context, priors=priors)
            )
    yield System("idfdoc", VECTOR, Ranking("tfisf", params={"idf": "document"}))
    for context in CONTEXTS:
        yield System(f"tfmix {context}", VECTOR, Ranking("tfmix", context))
        with_idfdoc = Ranking("tfmix", context, params={"idf": "document"})
        yield System(f"tfmix {context} + idfdoc", VECTOR, with_idfdoc)
    for context in CONTEXTS:
        yield System(f"bm25f {context}", VECTOR, Ranking("bm25f", context), inherits=(("bm25", "k1"),))
    for model in ALONE:
        yield System(f"{model} + length", LENGTH, Ranking(model, priors={"length": 1.0}))
    for group, features in ((OPINION, OPINIONS), (NAMED, NAMES), (SENTENCE_LENGTH, ("len",))):
        for form in FORMS if features != ("len",) else FORMS[:-1]:
            for feature in features:
                yield _add_feature(form, feature, "tfisf", group)
    for form in ("floe", "linear", "log"):
        yield _add_feature(form, "len", SUBJECTIVE, COMBINED)
    for name, params in TDSR_READINGS.items():
        ranking = Ranking("tdsr", params=params, depth=RERANKED)
        yield System(name, TDSR, ranking, years=BOTH_YEARS, uses_parses=True)
    for f_i, suffix in MRF_SUFFIXES.items():
        for model in MRF_MODELS:
            ranking = Ranking(f"mrf_{model}", params={"f_I": f_i}, depth=RERANKED)
            is_single, is_smoothed = model == "fidm", f_i == "dir"
            grid = MRF_GRID if not is_single else {"mu": MU_GRID} if is_smoothed else {}
            inherits = (("fidm", "mu"),) if is_smoothed and not is_single else ()
            yield System(
                model + suffix,
                MRF,
                ranking,
                False,
                inherits,
                grid,
                years=BOTH_YEARS,
                uses_parses=not is_single,
            )


def _add_feature(form: str, feature: str, base: str, group: str) -> System:
    name = name_with_feature(form, feature, base)
    return System(name, group, Ranking("tfisf"), base=base, feature=(feature, form), years=BOTH_YEARS)


def _iterate_models() -> Iterator[tuple[str, str | None]]:
    yield from ((model, None) for model in ALONE)
    yield from ((model, context) for model in WITH_CONTEXT for context in CONTEXTS)


SYSTEMS: dict[str, System] = {system.name: system for system in _build_systems()}
