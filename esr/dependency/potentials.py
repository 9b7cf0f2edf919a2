"""The potentials of term sets in a Markov random field, f_SR and f_PR (docs/formulas.md, D.4-D.8).

What depends on no weight is computed once; other weights are then cheap to try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from esr.dependency.cliques import Array, Cliques
from esr.dependency.forest import Flags, Indices


class Decay(NamedTuple):
    """How a potential falls with distance and height. `form` is one of mrf.FORMS."""

    alpha: float
    beta: float
    form: str

    @staticmethod
    def from_settings(settings: Mapping[str, float | str]) -> Decay:
        return Decay(float(settings["alpha"]), float(settings["beta"]), str(settings["form"]))


class Potential(Struct, frozen=True):
    """f_SR or f_PR of n sentences: C sets and the R choices of nodes that it uses.

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
        """(n): the sum over a sentence's sets, each with its best choice."""
        values = self.values(decay)
        if len(self.first_choices) < len(values):
            values = np.maximum.reduceat(values, self.first_choices)
        return np.bincount(self.sentences, values, self.n).astype(np.float64, copy=False)


class Potentials(Struct, frozen=True):
    """Both potentials of term sets."""

    syntactic: Potential
    proximity: Potential


def select_choices(n: int, cliques: Cliques, flags: Flags, height: str, choices_before: int) -> Potential:
    """The potential of the choices with a flag. `choices_before`: the number of choices of smaller sets."""
    rows = np.flatnonzero(flags)
    sets = cliques.sets[rows]
    first_choices = np.flatnonzero(np.diff(sets, prepend=-1))
    sentences, heights = cliques.sentences[sets[first_choices]], cliques.heights(height)[rows]
    return Potential(n, sentences, first_choices, cliques.distances[rows], heights, rows + choices_before)


def concatenate(n: int, parts: Sequence[Potential]) -> Potential:
    """One potential from those of sets of different sizes."""
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
