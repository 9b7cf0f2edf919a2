from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency import cliques as module
from esr.dependency.cliques import MOST_CHOICES, MOST_TERMS, CliqueEvidence, clique_evidence
from esr.dependency.occurrences import MOST_OCCURRENCES, find
from tests.dependency import definition
from tests.dependency.making import Sentence, chain, forest, parses, plain

LETTERS = [chr(ord("a") + n) for n in range(26)]
QUERIES = st.lists(st.sampled_from(["a", "b", "c", "d", "x", "q"]), min_size=1, max_size=6)


def rows(evidence: CliqueEvidence) -> list[tuple]:
    """(sentence, terms, distance, heights, connected) of every choice."""
    return sorted(
        (
            int(of.sentences[of.sets[row]]),
            tuple(evidence.terms[t] for t in of.terms[:, of.sets[row]]),
            round(float(of.distances[row]), 9),
            *(round(float(of.heights(reading)[row]), 9) for reading in ("top", "lca", "mean", "max")),
            bool(of.connected[row]),
        )
        for of in evidence.cliques
        for row in range(len(of.sets))
    )


def defined(parses: list[Sentence | None], query: list[str], kind: str) -> list[tuple]:
    found = []
    for number, each in enumerate(parses):
        parse = plain(each or [])
        for chosen in definition.sets(query, "subsets" if kind == "subsets" else "contiguous"):
            if len(chosen) < 2 or (kind == "adjacent" and len(chosen) > 2):
                continue
            for nodes in definition.choices(parse, chosen):
                heights = (definition.height(parse, nodes, r) for r in ("top", "lca", "mean", "max"))
                distance = definition.mean_distance(parse, nodes)
                linked = definition.connected(parse, nodes)
                found.append(
                    (number, chosen, round(distance, 9), *(round(float(h), 9) for h in heights), linked)
                )
    return sorted(found)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(parses(), QUERIES, st.sampled_from(["subsets", "contiguous", "adjacent"]))
def test_every_choice_of_every_set_is_there(
    given: list[Sentence | None], query: list[str], kind: module.Sets
) -> None:
    evidence = clique_evidence(forest(given), query, kind)
    assert rows(evidence) == defined(given, query, kind)
    assert not evidence.bounded.any()
    for of in evidence.cliques:
        assert of.size == len(of.terms) and (np.diff(of.sets) >= 0).all()
        assert of.sets[of.firsts].tolist() == list(range(len(of.firsts)))
        assert (np.diff(of.sentences[of.sets]) != 0).sum() == len(set(of.sentences)) - 1


@settings(max_examples=50, deadline=None)
@given(parses(), QUERIES)
def test_measuring_in_small_portions_changes_nothing(given: list[Sentence | None], query: list[str]) -> None:
    whole = rows(clique_evidence(forest(given), query))
    with patch.object(module, "_AT_ONCE", 20):
        assert rows(clique_evidence(forest(given), query)) == whole


def test_up_to_12_terms_give_all_subsets() -> None:
    query = LETTERS[:MOST_TERMS]
    evidence = clique_evidence(forest([chain(query), None, chain(["b", "c"])]), query)
    assert sum(len(of.sets) for of in evidence.cliques) == 2**12 - 1 - 12 + 1
    assert not evidence.bounded.any()


def test_a_sentence_with_more_terms_gives_pairs_and_runs_and_says_so() -> None:
    query = LETTERS[: MOST_TERMS + 1]
    evidence = clique_evidence(forest([chain(query), chain(query[:12]), chain(["a", "c", "e"])]), query)
    assert evidence.bounded.tolist() == [True, False, False]
    of_first = {terms for sentence, terms, *_ in rows(evidence) if sentence == 0}
    runs = {tuple(query[i:j]) for i in range(13) for j in range(i + 2, 14)}
    assert of_first == runs | set(combinations(query, 2))
    assert sum(sentence == 1 for sentence, *_ in rows(evidence)) == 2**12 - 1 - 12
    assert sum(sentence == 2 for sentence, *_ in rows(evidence)) == 4


def test_runs_of_the_query_have_no_gap_where_the_sentence_has_not_the_term() -> None:
    query = [f"t{n}" for n in range(40)]
    words = [word for word in query if word != "t5"]
    for kind in ("subsets", "contiguous"):
        found = rows(clique_evidence(forest([chain(words)]), query, kind))
        assert not [terms for _, terms, *_ in found if len(terms) > 2 and {"t4", "t6"} <= set(terms)]
        assert tuple(query[6:]) in {terms for _, terms, *_ in found}
    found = rows(clique_evidence(forest([chain(words)]), query, "adjacent"))
    assert len(found) == 37


def test_contiguous_sets_of_many_terms_are_not_bounded() -> None:
    query = [f"t{n}" for n in range(40)]
    evidence = clique_evidence(forest([chain(query)]), query, "contiguous")
    assert sum(len(of.sets) for of in evidence.cliques) == 40 * 39 // 2
    assert not evidence.bounded.any()


def test_the_choices_of_a_sentence_are_bounded_and_that_is_said() -> None:
    # Four terms ten times each: 11 sets share 4096 choices, 372 each. 7^3 and 4^4 fit, 10^3 and 10^4 do not.
    evidence = clique_evidence(forest([chain(["a", "b", "c", "d"] * 10), chain(["a", "b"])]), list("abcd"))
    assert evidence.bounded.tolist() == [True, False]
    share = MOST_CHOICES // 11
    assert 7**3 <= share < 8**3 and 4**4 <= share < 5**4
    choices = [np.bincount(of.sets, minlength=len(of.firsts)).tolist() for of in evidence.cliques]
    assert choices == [[1] + [100] * 6, [7**3] * 4, [4**4]]
    # The first ones in the sentence are kept.
    last = evidence.cliques[-1]
    assert last.occurrences.nodes[last.chosen].max() == 15


def test_occurrences_of_a_sentence_are_bounded_and_that_is_said() -> None:
    words = ["a"] * 100 + ["b"] * 3
    given = [chain(words), None, chain(words[-60:])]
    places = find(forest(given), ["b", "a"])
    assert places.left_out.tolist() == [True, False, False]
    assert np.diff(places.starts).tolist() == [MOST_OCCURRENCES, 0, 60]
    assert places.counts.tolist() == [3, MOST_OCCURRENCES - 3, 3, 57]
    assert places.nodes[:5].tolist() == [100, 101, 102, 0, 1]
    evidence = clique_evidence(forest(given), ["b", "a"])
    assert evidence.bounded.tolist() == [True, False, False]


def test_more_than_64_terms_in_a_sentence_are_all_looked_at() -> None:
    query = [f"t{n}" for n in range(70)]
    evidence = clique_evidence(forest([chain([*query, "t0"])]), query, "contiguous")
    assert sum(len(of.firsts) for of in evidence.cliques) == 70 * 69 // 2
    assert evidence.bounded.tolist() == [True]


@pytest.mark.parametrize("terms", [1, 2, 12, 40])
@pytest.mark.parametrize("words", [1, 400])
def test_queries_and_sentences_of_every_length_pass(terms: int, words: int) -> None:
    query = [f"t{n}" for n in range(terms)]
    given = [chain([f"t{n % 50}" for n in range(words)]), None, []]
    evidence = clique_evidence(forest(given), query)
    assert len(evidence) == 3
    assert evidence.in_parse.tolist() == [True, False, False]
    assert max((of.size for of in evidence.cliques), default=1) == (terms if words > 1 else 1)


def test_no_sentences_and_no_terms_pass() -> None:
    assert clique_evidence(forest([]), ["a", "b"]).cliques == ()
    assert clique_evidence(forest([chain(["a", "b"])]), []).cliques == ()
