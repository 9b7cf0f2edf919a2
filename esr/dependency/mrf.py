"""The Markov random field of query terms and a sentence: FIDM, SDM and FDM.

Cai, Chen, Liu, Bu & Huang 2007 (SIGIR poster); docs/formulas.md, section D. With I the cliques of one query
term, CD those of several that are contiguous in the query, and UD those of others (D.8),

    score = lambda_I  sum over I        of f_I
          + lambda_SR sum over CD       of f_SR      (and UD with `sr_on_ud`)
          + lambda_PR sum over CD or UD of f_PR

f_SR and f_PR are alpha^distance * beta^height, f_SR of sets that direct links connect, f_PR of sets with
other words between theirs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from esr.dependency.cliques import HEIGHTS, Array, CliqueEvidence, Cliques, SetFamily
from esr.dependency.forest import Flags
from esr.dependency.potentials import Decay, Potentials, concatenate, select_choices
from esr.errors import unknown
from esr.parameter import TENTHS, Parameter, check_parameters

MODELS: dict[str, SetFamily | None] = {"mrf_fidm": None, "mrf_sdm": "adjacent", "mrf_fdm": "subsets"}
"""The models, and the sets of terms that each uses beside single terms (docs/formulas.md, D.9)."""

ALIASES = {name.removeprefix("mrf_"): name for name in MODELS}
"""Short names."""

FORMS = ("product", "sum")
"""alpha^distance * beta^height, or alpha/distance + beta/(1 + height) with distances below 1 as 1
(docs/formulas.md, D.4)."""

PROXIMITIES = ("exclusive", "inclusive", "threshold")
"""The sets of f_PR: those in one tree that no choice of nodes connects, all in one tree, or those with a
distance of at most `max_dis` (docs/formulas.md, D.7)."""

DECAYS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)

F_I = ("dir", "jm", "tfisf", "binary")
"""Readings of the score of single terms (docs/formulas.md, D.3), which the first stage computes."""

PARAMETERS = (
    Parameter("lambda_I", "weight of single terms; the others are tuned against it", 0.8),
    Parameter("lambda_SR", "weight of connected term sets", 0.1, grid=TENTHS),
    Parameter("lambda_PR", "weight of term sets near each other", 0.1, grid=TENTHS),
    Parameter("alpha", "decay with the distance; 1 is none", 0.5, grid=DECAYS),
    Parameter("beta", "decay with the height; 1 is none", 0.5, grid=DECAYS),
    Parameter("form", "the reading of both potentials", "product", choices=FORMS),
    Parameter("f_I", "the score of single terms", "dir", choices=F_I),
    Parameter("mu", "smoothing of f_I = dir", 30.0, high=math.inf, open_low=True),
    Parameter("lambda", "smoothing of f_I = jm: the collection's share", 0.5, open_low=True),
    Parameter("proximity", "which term sets are near each other", "exclusive", choices=PROXIMITIES),
    Parameter("max_dis", "the greatest distance for proximity = threshold", 3.0, high=math.inf),
    Parameter("h_SR", "the height of connected sets", "top", choices=tuple(HEIGHTS)),
    Parameter("h_PR", "the height of sets near each other", "lca", choices=tuple(HEIGHTS)),
    Parameter("sr_on_ud", "connected sets need not be contiguous in the query", "no", choices=("no", "yes")),
)


def full_name(name: str) -> str:
    """The model's full name. Raises UsageError with the nearest one."""
    if name not in MODELS and name not in ALIASES:
        raise unknown("model", name, MODELS)
    return ALIASES.get(name, name)


def settings(name: str, values: Mapping[str, Any]) -> dict[str, float | str]:
    """Checked parameters, defaults filled in. Raises UsageError for a bad name or value."""
    return check_parameters(full_name(name), PARAMETERS, values)


def compute_potentials(
    name: str, evidence: CliqueEvidence, settings: Mapping[str, float | str]
) -> Potentials:
    """Both potentials for the readings in `settings`; its weights make no difference.

    `evidence` has the sets of MODELS[name], or all subsets: those serve every model.
    """
    family = MODELS[full_name(name)]
    if family and evidence.family not in (family, "subsets"):
        raise ValueError(f"{name} needs {family} sets, not {evidence.family} ones")
    used = [
        cliques
        for cliques in evidence.cliques
        if family == "subsets" or (family is not None and cliques.size == 2)
    ]
    n = len(evidence)
    syntactic, proximity, choices_before = [], [], 0
    for cliques in used:
        near, contiguous = _is_near(cliques, settings), cliques.is_contiguous[cliques.sets]
        connected = cliques.is_connected
        if settings["sr_on_ud"] == "no":
            connected = connected & contiguous
        if family == "adjacent":
            connected, near = connected & contiguous, near & contiguous
        syntactic.append(select_choices(n, cliques, connected, str(settings["h_SR"]), choices_before))
        proximity.append(select_choices(n, cliques, near, str(settings["h_PR"]), choices_before))
        choices_before += len(cliques.sets)
    return Potentials(concatenate(n, syntactic), concatenate(n, proximity))


def score_sentences(single: Array, potentials: Potentials, settings: Mapping[str, float | str]) -> Array:
    """(n): the sentences' scores. `single` is the sum of f_I or any other score of single terms."""
    return float(settings["lambda_I"]) * single + sum_potentials(potentials, settings)


def sum_potentials(potentials: Potentials, settings: Mapping[str, float | str]) -> Array:
    """(n): what the sets of terms add to the scores."""
    decay = Decay.from_settings(settings)
    syntactic, proximity = potentials.syntactic.total(decay), potentials.proximity.total(decay)
    return float(settings["lambda_SR"]) * syntactic + float(settings["lambda_PR"]) * proximity


def _is_near(cliques: Cliques, settings: Mapping[str, float | str]) -> Flags:
    """(R): the choices that pass BoolSynP."""
    match settings["proximity"]:
        case "exclusive":
            return ~np.logical_or.reduceat(cliques.is_connected, cliques.first_choices)[cliques.sets]
        case "threshold":
            return np.asarray(cliques.distances <= float(settings["max_dis"]), bool)
        case _:
            return np.ones(len(cliques.sets), bool)
