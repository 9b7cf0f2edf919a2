"""Term dependence as signals: TDSR and the Markov random fields, numbers that a second stage adds.

*TDSR* (Cai, Bu, Chen & Liu 2007, ACL posters, P07-2025; docs/formulas.md, section C): the score of a sentence
is the strength of its most strongly associated set of query terms. The paper's formula of the association
strength is lost, so there are several readings of it. Strength rises with the size of a set and falls with
the mean distance of its terms in the dependency tree. A single term has distance 0; a set not in one tree has
no strength. For all parameters, the best set of each size is thus the one with the least distance:
`nearest_distances` runs once, and `score_best_sets` is cheap.

The *Markov random field* of query terms and a sentence (FIDM, SDM and FDM; Cai, Chen, Liu, Bu & Huang 2007,
SIGIR poster; docs/formulas.md, section D): with I the cliques of one query term, CD those of several terms
contiguous in the query, and UD those of other terms (D.8):

    score = lambda_I  sum over I        of f_I
          + lambda_SR sum over CD       of f_SR      (and UD with `sr_on_ud`)
          + lambda_PR sum over CD or UD of f_PR

f_SR and f_PR are alpha^distance * beta^height (D.4-D.8): f_SR of sets connected by direct links, f_PR of sets
with other words in between. Potentials are computed once for all weights, so other weights are cheap to try.
The first sum is the score of the first stage. The signal of an MRF is the sum of the two others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from msgspec import Struct

from esr.dependency.cliques import HEIGHTS, Array, CliqueEvidence, Cliques, ParsedSentences, SetFamily
from esr.dependency.parses import Flags, Indices
from esr.registry import INNER_TENTHS, TENTHS, Parameter, Registry, Value, describe

# TDSR

STRENGTHS: dict[str, Callable[[float, float, Array, Array], Array]] = {
    "exp": lambda alpha, beta, size, distance: alpha ** (1.0 / size) * beta**distance,
    "power": lambda alpha, beta, size, distance: size**alpha * np.maximum(distance, 1.0) ** -beta,
    "linear": lambda alpha, beta, size, distance: alpha * size + beta / (1.0 + distance),
}
"""The readings of the association strength (docs/formulas.md, C.3).

In `power` a distance below 1 counts as 1.
"""

TDSR_PARAMETERS = (
    Parameter("alpha", "how much the size of a term set counts", 0.5, grid=INNER_TENTHS),
    Parameter("beta", "how much the distance of its terms counts", 0.9, grid=INNER_TENTHS),
    Parameter("form", "the reading of the association strength", "exp", choices=tuple(STRENGTHS)),
    Parameter("sets", "term sets: all, or runs of the query", "subsets", choices=("subsets", "contiguous")),
    Parameter("ties", "what orders equal scores", "order", choices=("order", "score")),
)


class BestSets(Struct, frozen=True):
    """The scores (n) and sizes (n) of the best term sets of n sentences, both 0 without a query term."""

    scores: Array
    sizes: Indices


def nearest_distances(evidence: CliqueEvidence, counts: Array | None = None) -> Array:
    """(K, n): the least distance of a sentence's term sets of 1, 2, .. K terms; inf if it has none.

    `counts` (T, n) has the occurrences of each term in the texts of sentences without a parse, or without a
    query term in it. Without `counts`, such sentences have no sets.
    """
    largest = evidence.cliques[-1].size if evidence.cliques else 1
    table = np.full((largest, len(evidence)), np.inf)
    has_term = evidence.has_query_term
    if counts is not None:
        has_term = has_term | (counts > 0).any(axis=0)
    table[0, has_term] = 0.0
    for cliques in evidence.cliques:
        sentences = cliques.sentences[cliques.sets]
        firsts = np.flatnonzero(np.diff(sentences, prepend=-1))
        table[cliques.size - 1, sentences[firsts]] = np.minimum.reduceat(cliques.distances, firsts)
    return table


def score_best_sets(nearest: Array, alpha: float, beta: float, form: str = "exp") -> BestSets:
    """The best strength of each sentence (docs/formulas.md, C.4), with the size of the smallest best set."""
    size = np.arange(1.0, len(nearest) + 1)[:, None]
    exists = np.isfinite(nearest)
    strength = np.where(exists, STRENGTHS[form](alpha, beta, size, np.where(exists, nearest, 0.0)), 0.0)
    best = strength.argmax(axis=0)
    return BestSets(strength[best, np.arange(nearest.shape[1])], np.where(exists[0], best + 1, 0))


# Markov random fields


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


# Signals

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
