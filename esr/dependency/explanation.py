"""Explains which sets of query terms gave a sentence its score, and where its words are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from esr.dependency.cliques import Array, CliqueEvidence, Cliques
from esr.dependency.mrf import Decay, Potential, Potentials
from esr.dependency.tdsr import BestSets

PotentialName = Literal["syntactic", "proximity"]


@dataclass(frozen=True, slots=True)
class TermSet:
    """The best set of TDSR. `words` are positions in the sentence, none if the parse lacks the term."""

    terms: tuple[str, ...]
    words: tuple[int, ...]
    distance: float
    strength: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Relation:
    """A set of terms that adds to an MRF's score, with its best choice of words.

    `in_a_row`: whether the terms are contiguous in the query. `words` are positions in the sentence, and
    `ancestor` that of their lowest common ancestor. `value` is the potential, `adds` the potential times its
    weight.
    """

    potential: PotentialName
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


def find_best_set(
    evidence: CliqueEvidence, best_sets: BestSets, sentence: int, counts: Array | None = None
) -> TermSet | None:
    """Find the first of the best sets of a sentence; None if it has no query term.

    `counts` is as in `tdsr.nearest_distances`.
    """
    size, strength = int(best_sets.sizes[sentence]), float(best_sets.scores[sentence])
    if size == 0:
        return None
    if size == 1:
        occurrences = evidence.occurrences
        posting = occurrences.posting_starts[sentence]
        if posting < occurrences.posting_starts[sentence + 1]:
            node = occurrences.nodes[occurrences.posting_firsts[posting]]
            word = int(node - occurrences.forest.starts[sentence])
            return TermSet((evidence.terms[occurrences.posting_terms[posting]],), (word,), 0.0, strength)
        assert counts is not None, "a term that is not in the parse is in the text"
        term = evidence.terms[int((counts[:, sentence] > 0).argmax())]
        return TermSet((term,), (), 0.0, strength)
    cliques = next(cliques for cliques in evidence.cliques if cliques.size == size)
    choices = np.flatnonzero(cliques.sentences[cliques.sets] == sentence)
    best = int(choices[cliques.distances[choices].argmin()])
    return TermSet(
        _terms(evidence, cliques, best), _words(cliques, best), float(cliques.distances[best]), strength
    )


def find_relations(
    evidence: CliqueEvidence, potentials: Potentials, settings: Mapping[str, float | str], sentence: int
) -> list[Relation]:
    """Find the sets that add to a sentence's score, greatest addition first."""
    decay = Decay.from_settings(settings)
    parts: tuple[tuple[PotentialName, Potential, str], ...] = (
        ("syntactic", potentials.syntactic, "lambda_SR"),
        ("proximity", potentials.proximity, "lambda_PR"),
    )
    relations = [
        _relation(evidence, name, potential, best, value, float(settings[weight]))
        for name, potential, weight in parts
        for best, value in _best_choices(potential, decay, sentence)
    ]
    return sorted(relations, key=lambda relation: -relation.adds)


def _best_choices(potential: Potential, decay: Decay, sentence: int) -> list[tuple[int, float]]:
    """The best choice of each set of a sentence: its row in the potential, and its value."""
    values = potential.values(decay)
    ends = np.append(potential.first_choices[1:], len(values))
    best_choices = []
    for number in np.flatnonzero(potential.sentences == sentence):
        first = potential.first_choices[number]
        best = int(first + values[first : ends[number]].argmax())
        best_choices.append((best, float(values[best])))
    return best_choices


def _relation(
    evidence: CliqueEvidence,
    name: PotentialName,
    potential: Potential,
    best: int,
    value: float,
    weight: float,
) -> Relation:
    cliques, row = _find_choice(evidence, int(potential.choices[best]))
    occurrences = cliques.occurrences
    start = occurrences.forest.starts[cliques.sentences[cliques.sets[row]]]
    ancestor = occurrences.paths.ancestors(cliques.members[:1, row], cliques.lca_depths[[row]])[0] - start
    return Relation(
        name,
        _terms(evidence, cliques, row),
        bool(cliques.is_contiguous[cliques.sets[row]]),
        _words(cliques, row),
        int(ancestor),
        float(cliques.distances[row]),
        float(potential.heights[best]),
        value,
        weight * value,
    )


def _find_choice(evidence: CliqueEvidence, number: int) -> tuple[Cliques, int]:
    """Find a choice, numbered through all cliques: its cliques, and its row there."""
    for cliques in evidence.cliques:
        if number < len(cliques.sets):
            return cliques, number
        number -= len(cliques.sets)
    raise IndexError(number)


def _terms(evidence: CliqueEvidence, cliques: Cliques, choice: int) -> tuple[str, ...]:
    return tuple(evidence.terms[term] for term in cliques.terms[:, cliques.sets[choice]])


def _words(cliques: Cliques, choice: int) -> tuple[int, ...]:
    occurrences = cliques.occurrences
    start = occurrences.forest.starts[cliques.sentences[cliques.sets[choice]]]
    return tuple((occurrences.nodes[cliques.members[:, choice]] - start).tolist())
