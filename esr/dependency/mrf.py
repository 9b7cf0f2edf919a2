"""The Markov random field of query terms and a sentence: FIDM, SDM and FDM.

Cai, Chen, Liu, Bu & Huang 2007 (SIGIR poster); docs/formulas.md, section D. With I the cliques of one query
term, CD those of several that stand in a row in the query, and UD those of others (D.8),

    score = lambda_I  sum over I        of f_I
          + lambda_SR sum over CD       of f_SR      (and UD with `sr_on_ud`)
          + lambda_PR sum over CD or UD of f_PR

f_SR and f_PR are alpha^distance * beta^height, f_SR of sets that direct links connect, f_PR of sets that
other words lie between. What depends on no weight is `Potentials`, computed once; `scores` is cheap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from esr.dependency.cliques import HEIGHTS, Array, CliqueEvidence, Cliques, Sets
from esr.dependency.settings import checked
from esr.dependency.trees import Flags, Indices
from esr.errors import unknown
from esr.parameter import TENTHS, Parameter

MODELS: dict[str, Sets | None] = {"mrf_fidm": None, "mrf_sdm": "adjacent", "mrf_fdm": "subsets"}
"""The models, and the sets of terms that each looks at beside single ones (docs/formulas.md, D.9)."""

ALIASES = {name.removeprefix("mrf_"): name for name in MODELS}
"""Short names."""

FORMS = ("product", "sum")
"""alpha^distance * beta^height, or alpha/distance + beta/(1 + height) with distances below 1 as 1
(docs/formulas.md, D.4)."""

PROXIMITIES = ("exclusive", "inclusive", "threshold")
"""Which sets f_PR takes: those in one tree that no choice of nodes connects, all in one tree, or those with a
distance of at most `max_dis` (docs/formulas.md, D.7)."""

DECAYS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)

F_I = ("dir", "jm", "tfisf", "binary")
"""Readings of the score of single terms (docs/formulas.md, D.3), which the first stage computes."""

PARAMETERS = (
    Parameter("lambda_I", "weight of single terms; the others are tuned against it", 0.8),
    Parameter("lambda_SR", "weight of connected term sets", 0.1, grid=TENTHS),
    Parameter("lambda_PR", "weight of term sets near each other", 0.1, grid=TENTHS),
    Parameter("alpha", "how slowly the distance takes away", 0.5, grid=DECAYS),
    Parameter("beta", "how slowly the height takes away", 0.5, grid=DECAYS),
    Parameter("form", "the reading of both potentials", "product", choices=FORMS),
    Parameter("f_I", "the score of single terms", "dir", choices=F_I),
    Parameter("mu", "smoothing of f_I = dir", 30.0, high=math.inf, open_low=True),
    Parameter("lambda", "smoothing of f_I = jm: the collection's share", 0.5, open_low=True),
    Parameter("proximity", "which term sets are near each other", "exclusive", choices=PROXIMITIES),
    Parameter("max_dis", "the greatest distance for proximity = threshold", 3.0, high=math.inf),
    Parameter("h_SR", "the height of connected sets", "top", choices=tuple(HEIGHTS)),
    Parameter("h_PR", "the height of sets near each other", "lca", choices=tuple(HEIGHTS)),
    Parameter("sr_on_ud", "connected sets need not stand in a row", "no", choices=("no", "yes")),
)


@dataclass(frozen=True)
class Potential:
    """f_SR or f_PR of n sentences: C sets and the R choices of nodes that it takes.

    `sentences` (C): the set's sentence. `firsts` (C): its first choice. `distances`, `heights` (R).
    `choices` (R): the choice's number, counted through the evidence's cliques.
    """

    n: int
    sentences: Indices
    firsts: Indices
    distances: Array
    heights: Array
    choices: Indices

    def values(self, alpha: float, beta: float, form: str) -> Array:
        """(R): of each choice."""
        if form == "sum":
            return alpha / np.maximum(self.distances, 1.0) + beta / (1.0 + self.heights)
        return alpha**self.distances * beta**self.heights

    def total(self, alpha: float, beta: float, form: str) -> Array:
        """(n): the sum over a sentence's sets, each with its best choice."""
        values = self.values(alpha, beta, form)
        if len(self.firsts) < len(values):
            values = np.maximum.reduceat(values, self.firsts)
        return np.bincount(self.sentences, values, self.n).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Potentials:
    """Both potentials of term sets."""

    syntactic: Potential
    proximity: Potential


def model(name: str) -> str:
    """The model's full name. Raises UsageError with the nearest one."""
    if name not in MODELS and name not in ALIASES:
        raise unknown("model", name, MODELS)
    return ALIASES.get(name, name)


def settings(name: str, values: Mapping[str, Any]) -> dict[str, float | str]:
    """Checked parameters, defaults filled in. Raises UsageError for a bad name or value."""
    return checked(model(name), PARAMETERS, values)


def potentials(name: str, evidence: CliqueEvidence, settings: Mapping[str, float | str]) -> Potentials:
    """What the readings in `settings` take from the evidence; its weights are not looked at.

    `evidence` has the sets of MODELS[name], or all subsets: those serve every model.
    """
    wanted = MODELS[model(name)]
    if wanted and evidence.sets not in (wanted, "subsets"):
        raise ValueError(f"{name} looks at {wanted} sets, not at {evidence.sets} ones")
    taken = [clique for clique in evidence.cliques if wanted == "subsets" or (wanted and clique.size == 2)]
    syntactic, proximity, before = [], [], 0
    for cliques in taken:
        near, in_a_row = _near(cliques, settings), cliques.contiguous[cliques.sets]
        linked = cliques.connected
        if settings["sr_on_ud"] == "no":
            linked = linked & in_a_row
        if wanted == "adjacent":
            linked, near = linked & in_a_row, near & in_a_row
        syntactic.append(_part(len(evidence), cliques, linked, str(settings["h_SR"]), before))
        proximity.append(_part(len(evidence), cliques, near, str(settings["h_PR"]), before))
        before += len(cliques.sets)
    return Potentials(_joined(len(evidence), syntactic), _joined(len(evidence), proximity))


def scores(single: Array, potentials: Potentials, settings: Mapping[str, float | str]) -> Array:
    """(n): the sentences' scores, given the sum of f_I or any other score of single terms in its place."""
    alpha, beta, form = float(settings["alpha"]), float(settings["beta"]), str(settings["form"])
    return (
        float(settings["lambda_I"]) * single
        + float(settings["lambda_SR"]) * potentials.syntactic.total(alpha, beta, form)
        + float(settings["lambda_PR"]) * potentials.proximity.total(alpha, beta, form)
    )


def _near(cliques: Cliques, settings: Mapping[str, float | str]) -> Flags:
    """(R): which choices BoolSynP lets pass."""
    match settings["proximity"]:
        case "exclusive":
            return ~np.logical_or.reduceat(cliques.connected, cliques.firsts)[cliques.sets]
        case "threshold":
            return np.asarray(cliques.distances <= float(settings["max_dis"]), bool)
        case _:
            return np.ones(len(cliques.sets), bool)


def _part(n: int, cliques: Cliques, flags: Flags, height: str, before: int) -> Potential:
    """The choices that `flags` names. `before`: choices of smaller sets."""
    rows = np.flatnonzero(flags)
    sets = cliques.sets[rows]
    firsts = np.flatnonzero(np.diff(sets, prepend=-1))
    sentences, heights = cliques.sentences[sets[firsts]], cliques.heights(height)[rows]
    return Potential(n, sentences, firsts, cliques.distances[rows], heights, rows + before)


def _joined(n: int, parts: list[Potential]) -> Potential:
    none, no_number = np.empty(0, np.intp), np.empty(0)
    nothing = Potential(n, none, none, no_number, no_number, none)
    parts = [nothing, *parts]
    before = np.cumsum([0, *(len(part.choices) for part in parts)])
    return Potential(
        n,
        np.concatenate([part.sentences for part in parts]),
        np.concatenate([part.firsts + start for part, start in zip(parts, before[:-1], strict=True)]),
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.heights for part in parts]),
        np.concatenate([part.choices for part in parts]),
    )
