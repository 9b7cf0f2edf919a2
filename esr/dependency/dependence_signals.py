"""Term dependence as signals: TDSR and the Markov random fields, numbers that a second stage adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct

from esr.dependency.clique_search import ParsedSentences
from esr.dependency.cliques import Array, SetFamily
from esr.dependency.random_fields import (
    MRF_FAMILIES,
    MRF_PARAMETERS,
    Potentials,
    compute_potentials,
    sum_potentials,
)
from esr.dependency.tdsr import TDSR_PARAMETERS, BestSets, nearest_distances, score_best_sets
from esr.registry import Parameter, Registry, Value, describe

Settings = Mapping[str, Value]


class Signal(Struct, frozen=True):
    """A number of each sentence for a query. `scores` returns shape (n,).

    All its parameters have an effect; parameters of the first stage belong only to the model of the same
    name.
    """

    name: str
    description: str
    source: str
    parameters: tuple[Parameter, ...]
    scores: Callable[[ParsedSentences, Settings], Array]

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


SIGNALS: Registry[Signal] = Registry("signal")


def best_sets(sentences: ParsedSentences, settings: Settings) -> BestSets:
    """Scores and sizes of the best sets of TDSR."""
    family = cast(SetFamily, settings["sets"])
    nearest = sentences.cached(
        ("nearest", family),
        lambda: nearest_distances(sentences.evidence(family), sentences.text_counts()),
    )
    alpha, beta, form = float(settings["alpha"]), float(settings["beta"]), str(settings["form"])
    return score_best_sets(nearest, alpha, beta, form)


def mrf_potentials(name: str, sentences: ParsedSentences, settings: Settings) -> Potentials:
    """Both potentials of an MRF's term sets."""
    readings = tuple(settings[p] for p in ("proximity", "max_dis", "h_SR", "h_PR", "sr_on_ud"))
    evidence = sentences.evidence(MRF_FAMILIES[name] or "adjacent")
    potentials = sentences.cached((name, readings), lambda: compute_potentials(name, evidence, settings))
    return cast(Potentials, potentials)


def _mrf_scores(name: str) -> Callable[[ParsedSentences, Settings], Array]:
    def scores(sentences: ParsedSentences, settings: Settings) -> Array:
        return sum_potentials(mrf_potentials(name, sentences, settings), settings)

    return scores


_FIRST_STAGE_PARAMETERS = {"lambda_I", "f_I", "mu", "lambda"}

TDSR = SIGNALS.register(
    Signal(
        "tdsr",
        "the strength of the sentence's best set of query terms in its dependency tree",
        "Cai, Bu, Chen & Liu 2007; docs/formulas.md, section C",
        tuple(p for p in TDSR_PARAMETERS if p.name != "ties"),
        lambda sentences, settings: best_sets(sentences, settings).scores,
    )
)
for _name, _sets in (
    ("mrf_sdm", "pairs of neighbouring query terms"),
    ("mrf_fdm", "all sets of query terms"),
):
    SIGNALS.register(
        Signal(
            _name,
            f"syntactic relation and proximity of {_sets} in the dependency tree",
            "Cai, Chen, Liu, Bu & Huang 2007; docs/formulas.md, section D",
            tuple(p for p in MRF_PARAMETERS if p.name not in _FIRST_STAGE_PARAMETERS),
            _mrf_scores(_name),
        )
    )
