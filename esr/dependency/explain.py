"""Which sets of query terms gave a sentence its score, and where they stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from esr.dependency.cliques import Array, CliqueEvidence, Cliques
from esr.dependency.mrf import Potential, Potentials
from esr.dependency.tdsr import Tdsr


@dataclass(frozen=True, slots=True)
class TermSet:
    """The set that TDSR takes. `words`: positions in the sentence; none if the parse has not the term."""

    terms: tuple[str, ...]
    words: tuple[int, ...]
    distance: float
    strength: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Relation:
    """A set of terms that adds to an MRF's score, with its best choice of words.

    `in_a_row`: whether the terms stand so in the query. `words`: positions in the sentence, as is `ancestor`,
    their lowest common one. `value` is the potential, `adds` that times its weight.
    """

    potential: Literal["syntactic", "proximity"]
    terms: tuple[str, ...]
    in_a_row: bool
    words: tuple[int, ...]
    ancestor: int
    distance: float
    height: float
    value: float
    adds: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def best_set(
    evidence: CliqueEvidence, found: Tdsr, sentence: int, counts: Array | None = None
) -> TermSet | None:
    """The set that gave this sentence its score, the first of equal ones; None if it has no query term.

    `counts`: as `tdsr.nearest` was given them.
    """
    size, strength = int(found.sizes[sentence]), float(found.scores[sentence])
    if size == 0:
        return None
    if size == 1:
        places = evidence.places
        first = places.place_starts[sentence]
        if first < places.place_starts[sentence + 1]:
            word = int(places.nodes[places.firsts[first]] - places.forest.starts[sentence])
            return TermSet((evidence.terms[places.terms[first]],), (word,), 0.0, strength)
        assert counts is not None, "a term that is not in the parse is in the text"
        term = evidence.terms[int((counts[:, sentence] > 0).argmax())]
        return TermSet((term,), (), 0.0, strength)
    of = next(cliques for cliques in evidence.cliques if cliques.size == size)
    rows = np.flatnonzero(of.sentences[of.sets] == sentence)
    row = int(rows[of.distances[rows].argmin()])
    return TermSet(_terms(evidence, of, row), _words(of, row), float(of.distances[row]), strength)


def relations(
    evidence: CliqueEvidence, found: Potentials, settings: Mapping[str, float | str], sentence: int
) -> list[Relation]:
    """The sets that add to this sentence's score, the one that adds most first."""
    weights = float(settings["lambda_SR"]), float(settings["lambda_PR"])
    every = [
        *_of_potential(evidence, "syntactic", found.syntactic, weights[0], settings, sentence),
        *_of_potential(evidence, "proximity", found.proximity, weights[1], settings, sentence),
    ]
    return sorted(every, key=lambda relation: -relation.adds)


def _of_potential(
    evidence: CliqueEvidence,
    name: Literal["syntactic", "proximity"],
    potential: Potential,
    weight: float,
    settings: Mapping[str, float | str],
    sentence: int,
) -> list[Relation]:
    values = potential.values(float(settings["alpha"]), float(settings["beta"]), str(settings["form"]))
    ends = np.append(potential.firsts[1:], len(values))
    relations = []
    for number in np.flatnonzero(potential.sentences == sentence):
        first = potential.firsts[number]
        best = int(first + values[first : ends[number]].argmax())
        of, row = _choice(evidence, int(potential.choices[best]))
        start = of.occurrences.forest.starts[sentence]
        ancestor = of.occurrences.paths.ancestor(of.chosen[:1, row], of.meet[[row]])[0] - start
        relations.append(
            Relation(
                name,
                _terms(evidence, of, row),
                bool(of.contiguous[of.sets[row]]),
                _words(of, row),
                int(ancestor),
                float(of.distances[row]),
                float(potential.heights[best]),
                float(values[best]),
                weight * float(values[best]),
            )
        )
    return relations


def _choice(evidence: CliqueEvidence, number: int) -> tuple[Cliques, int]:
    """The cliques that have this choice, which is counted through all of them, and its row there."""
    for cliques in evidence.cliques:
        if number < len(cliques.sets):
            return cliques, number
        number -= len(cliques.sets)
    raise IndexError(number)


def _terms(evidence: CliqueEvidence, of: Cliques, row: int) -> tuple[str, ...]:
    return tuple(evidence.terms[term] for term in of.terms[:, of.sets[row]])


def _words(of: Cliques, row: int) -> tuple[int, ...]:
    places = of.occurrences
    start = places.forest.starts[of.sentences[of.sets[row]]]
    return tuple((places.nodes[of.chosen[:, row]] - start).tolist())
