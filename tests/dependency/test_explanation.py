from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency import mrf, tdsr
from esr.dependency.cliques import clique_evidence
from esr.dependency.explanation import find_best_set, find_relations
from tests.dependency.test_mrf import OPTIONS, QUERIES
from tests.support import dependency_definition as definition
from tests.support import worked_examples as worked
from tests.support.parses import Sentence, forest, parses, plain

pytestmark = pytest.mark.slow

PARSES = {s.id: list(s.parse or ()) for located in worked.documents() for s in located.document.sentences}
QUERY = ["china", "earthquake", "relief"]
WEIGHTS = {"alpha": 0.5, "beta": 0.5, "lambda_SR": 0.5, "lambda_PR": 0.5}


def worked_example(sentence: str) -> tuple:
    number = list(PARSES).index(sentence)
    evidence = clique_evidence(forest(list(PARSES.values())), QUERY)
    parameters = mrf.settings("fdm", WEIGHTS)
    return evidence, tdsr.score_best_sets(tdsr.nearest_distances(evidence), 0.5, 0.9), parameters, number


@pytest.mark.parametrize(
    ("sentence", "terms", "words", "distance"),
    [
        ("D1.1", ("china", "earthquake"), (4, 1), 2.0),
        ("D1.2", ("earthquake",), (4,), 0.0),
        ("D2.2", ("china",), (4,), 0.0),
        ("D3.1", ("china", "earthquake", "relief"), (1, 2, 3), 4 / 3),
    ],
)
def test_the_term_set_of_the_worked_example_is_named(
    sentence: str, terms: tuple[str, ...], words: tuple[int, ...], distance: float
) -> None:
    evidence, best_sets, _, number = worked_example(sentence)
    best = find_best_set(evidence, best_sets, number)
    assert best is not None
    assert (best.terms, best.words) == (terms, words)
    assert best.distance == pytest.approx(distance)
    assert best.strength == best_sets.scores[number]
    json.dumps(best.as_dict())


def test_a_sentence_without_a_query_term_has_no_term_set() -> None:
    evidence, best_sets, _, number = worked_example("D3.2")
    assert find_best_set(evidence, best_sets, number) is None


def test_a_term_of_a_sentence_without_a_parse_has_no_words() -> None:
    evidence = clique_evidence(forest([None]), ["a", "b", "c"])
    counts = np.array([[0.0], [0.0], [2.0]])
    best_sets = tdsr.score_best_sets(tdsr.nearest_distances(evidence, counts), 0.5, 0.9)
    best = find_best_set(evidence, best_sets, 0, counts)
    assert best is not None
    assert (best.terms, best.words) == (("c",), ())


def test_the_cliques_of_the_worked_example_are_named() -> None:
    evidence, _, parameters, number = worked_example("D3.1")
    relations = find_relations(
        evidence, mrf.compute_potentials("fdm", evidence, parameters), parameters, number
    )
    assert [(r.terms, r.potential, r.in_a_row, r.words, r.ancestor, r.height) for r in relations] == [
        (("earthquake", "relief"), "syntactic", True, (2, 3), 3, 1.0),
        (tuple(QUERY), "syntactic", True, (1, 2, 3), 3, 1.0),
        (("china", "earthquake"), "syntactic", True, (1, 2), 2, 2.0),
        (("china", "relief"), "proximity", False, (1, 3), 3, 1.0),
    ]
    assert [r.value for r in relations] == pytest.approx([0.25, 0.5 ** (4 / 3) * 0.5, 0.125, 0.125])
    assert [r.adds for r in relations] == pytest.approx([r.value / 2 for r in relations])
    json.dumps([r.as_dict() for r in relations])


def test_an_ancestor_between_the_terms_is_named() -> None:
    evidence, _, parameters, number = worked_example("D1.1")
    (only,) = find_relations(
        evidence, mrf.compute_potentials("fdm", evidence, parameters), parameters, number
    )
    assert (only.potential, only.terms, only.ancestor, only.distance) == (
        "proximity",
        ("china", "earthquake"),
        2,
        2.0,
    )


@settings(max_examples=150, deadline=None)
@given(parses(), QUERIES, st.sampled_from(list(mrf.MODELS)), OPTIONS)
def test_the_relations_add_up_to_the_score(
    sentences: list[Sentence | None], query: list[str], name: str, options: dict
) -> None:
    parameters = mrf.settings(name, options)
    evidence = clique_evidence(forest(sentences), query)
    potentials = mrf.compute_potentials(name, evidence, parameters)
    scores = mrf.score_sentences(np.zeros(len(sentences)), potentials, parameters)
    for number, parse in enumerate(sentences):
        relations = find_relations(evidence, potentials, parameters, number)
        assert sum(r.adds for r in relations) == pytest.approx(scores[number], abs=1e-12)
        for r in relations:
            nodes, tree = list(r.words), plain(parse or [])
            assert all(term in tree[word].terms for term, word in zip(r.terms, nodes, strict=True))
            assert r.ancestor == definition.ancestor(tree, nodes)
            assert r.distance == pytest.approx(definition.mean_distance(tree, nodes))
            assert (r.potential == "proximity") or definition.connected(tree, nodes)


@settings(max_examples=100, deadline=None)
@given(parses(), QUERIES)
def test_the_named_set_has_the_strength_that_is_the_score(
    sentences: list[Sentence | None], query: list[str]
) -> None:
    evidence = clique_evidence(forest(sentences), query)
    best_sets = tdsr.score_best_sets(tdsr.nearest_distances(evidence), 0.4, 0.8)
    for number, parse in enumerate(sentences):
        best = find_best_set(evidence, best_sets, number)
        if best is None:
            assert best_sets.scores[number] == 0
            continue
        tree = plain(parse or [])
        assert all(term in tree[word].terms for term, word in zip(best.terms, best.words, strict=True))
        assert best.distance == pytest.approx(definition.mean_distance(tree, list(best.words)))
        strength = definition.strength(len(best.terms), best.distance, 0.4, 0.8, "exp")
        assert strength == pytest.approx(best_sets.scores[number])
