"""Markov random fields of query terms and a sentence (Cai, Chen, Liu, Bu & Huang 2007, SIGIR poster).

With I the cliques of one query term, CD those of several terms contiguous in the query, and UD those of other
terms (docs/formulas.md, D.8), the models FIDM, SDM and FDM are

    score = lambda_I  sum over I        of f_I
          + lambda_SR sum over CD       of f_SR      (and UD with `sr_on_ud`)
          + lambda_PR sum over CD or UD of f_PR

f_SR and f_PR are alpha^distance * beta^height (D.4-D.8): f_SR of sets connected by direct links, f_PR of sets
with other words in between. Potentials are computed once for all weights, so other weights are cheap to try.
The first sum is the score of the first stage. The signal of an MRF is the sum of the two others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from esr.dependency.cliques import HEIGHTS, Array, CliqueEvidence, Cliques, SetFamily
from esr.dependency.parses import Flags, Indices
from esr.registry import TENTHS, Parameter


class Decay(NamedTuple):
    """How a potential decays with distance and height. `form` is one of DECAY_FORMS."""

    alpha: float
    beta: float
    form: str

    @staticmethod
    def from_settings(settings: Mapping[str, float | str]) -> Decay:
        return Decay(float(settings["alpha"]), float(settings["beta"]), str(settings["form"]))


class Potential(Struct, frozen=True):
    """f_SR or f_PR of n sentences, with C sets and the R choices of nodes it uses.

    `sentences` (C): the set's sentence. `first_choices` (C): its first choice. `distances`, `heights` (R).
    `choices` (R): the choice's number, counted through the evidence's cliques.
    """

    n: int
    sentences: Indices
    first_choices: Indices
    distances: Array
    heights: Array
    choices: Indices

    def values(self, decay: Decay) -> Array:
        """(R): the value of each choice."""
        alpha, beta, form = decay
        if form == "sum":
            return alpha / np.maximum(self.distances, 1.0) + beta / (1.0 + self.heights)
        return alpha**self.distances * beta**self.heights

    def total(self, decay: Decay) -> Array:
        """(n): the sum over a sentence's sets, each by its best choice."""
        values = self.values(decay)
        if len(self.first_choices) < len(values):
            values = np.maximum.reduceat(values, self.first_choices)
        return np.bincount(self.sentences, values, self.n).astype(np.float64, copy=False)


class Potentials(Struct, frozen=True):
    syntactic: Potential
    proximity: Potential


def select_choices(n: int, cliques: Cliques, flags: Flags, height: str, choices_before: int) -> Potential:
    """The potential of the flagged choices. `choices_before` is the number of choices of smaller sets."""
    rows = np.flatnonzero(flags)
    sets = cliques.sets[rows]
    first_choices = np.flatnonzero(np.diff(sets, prepend=-1))
    sentences, heights = cliques.sentences[sets[first_choices]], cliques.heights(height)[rows]
    return Potential(n, sentences, first_choices, cliques.distances[rows], heights, rows + choices_before)


def concatenate(n: int, parts: Sequence[Potential]) -> Potential:
    """Join the potentials of sets of different sizes."""
    no_indices, no_numbers = np.empty(0, np.intp), np.empty(0)
    parts = [Potential(n, no_indices, no_indices, no_numbers, no_numbers, no_indices), *parts]
    offsets = np.cumsum([0, *(len(part.choices) for part in parts)])
    return Potential(
        n,
        np.concatenate([part.sentences for part in parts]),
        np.concatenate(
            [part.first_choices + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        ),
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.heights for part in parts]),
        np.concatenate([part.choices for part in parts]),
    )


MRF_FAMILIES: dict[str, SetFamily | None] = {"mrf_fidm": None, "mrf_sdm": "adjacent", "mrf_fdm": "subsets"}
"""The models, and the sets of terms that each uses in addition to single terms (docs/formulas.md, D.9)."""

ALIASES = {name.removeprefix("mrf_"): name for name in MRF_FAMILIES}
"""Full names of models and signals by short name."""

DECAY_FORMS = ("product", "sum")
"""alpha^distance * beta^height, or alpha/distance + beta/(1 + height).

In the sum, a distance below 1 counts as 1 (docs/formulas.md, D.4).
"""

PROXIMITIES = ("exclusive", "inclusive", "threshold")
"""The sets of f_PR: those in one tree without a connected choice, all in one tree, or those within `max_dis`.

See docs/formulas.md, D.7.
"""

DECAYS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)

F_I = ("dir", "jm", "tfisf", "binary")
"""Scores of single terms (docs/formulas.md, D.3), computed by the first stage."""

MRF_PARAMETERS = (
    Parameter("lambda_I", "weight of single terms; the others are tuned against it", 0.8),
    Parameter("lambda_SR", "weight of connected term sets", 0.1, grid=TENTHS),
    Parameter("lambda_PR", "weight of term sets near each other", 0.1, grid=TENTHS),
    Parameter("alpha", "decay with the distance; 1 is none", 0.5, grid=DECAYS),
    Parameter("beta", "decay with the height; 1 is none", 0.5, grid=DECAYS),
    Parameter("form", "the reading of both potentials", "product", choices=DECAY_FORMS),
    Parameter("f_I", "the score of single terms", "dir", choices=F_I),
    Parameter("mu", "smoothing of f_I = dir", 30.0, high=math.inf, open_low=True),
    Parameter("lambda", "smoothing of f_I = jm: the collection's share", 0.5, open_low=True),
    Parameter("proximity", "which term sets are near each other", "exclusive", choices=PROXIMITIES),
    Parameter("max_dis", "the greatest distance for proximity = threshold", 3.0, high=math.inf),
    Parameter("h_SR", "the height of connected sets", "top", choices=tuple(HEIGHTS)),
    Parameter("h_PR", "the height of sets near each other", "lca", choices=tuple(HEIGHTS)),
    Parameter("sr_on_ud", "connected sets need not be contiguous in the query", "no", choices=("no", "yes")),
)


def compute_potentials(
    name: str, evidence: CliqueEvidence, settings: Mapping[str, float | str]
) -> Potentials:
    """Compute both potentials for the readings in `settings`, whose weights are not used.

    `evidence` has the sets of MRF_FAMILIES[name], or all subsets, which serve every model.
    """
    family = MRF_FAMILIES[name]
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


def sum_potentials(potentials: Potentials, settings: Mapping[str, float | str]) -> Array:
    """(n): the weighted sum of both potentials."""
    decay = Decay.from_settings(settings)
    syntactic, proximity = potentials.syntactic.total(decay), potentials.proximity.total(decay)
    return float(settings["lambda_SR"]) * syntactic + float(settings["lambda_PR"]) * proximity


def _is_near(cliques: Cliques, settings: Mapping[str, float | str]) -> Flags:
    """(R): whether each choice satisfies BoolSynP."""
    match settings["proximity"]:
        case "exclusive":
            return ~np.logical_or.reduceat(cliques.is_connected, cliques.first_choices)[cliques.sets]
        case "threshold":
            return np.asarray(cliques.distances <= float(settings["max_dis"]), bool)
        case _:
            return np.ones(len(cliques.sets), bool)
