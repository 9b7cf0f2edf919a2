from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency import cliques
from esr.dependency.cliques import (
    MAX_CHOICES,
    MAX_OCCURRENCES,
    MAX_TERMS,
    CliqueEvidence,
    SetFamily,
    clique_evidence,
    find_occurrences,
)
from tests.support import dependency_definition as definition
from tests.support.parses import Sentence, chain, forest, parses, plain

LETTERS = [chr(ord("a") + n) for n in range(26)]
QUERIES = st.lists(st.sampled_from(["a", "b", "c", "d", "x", "q"]), min_size=1, max_size=6)


def choices_of(evidence: CliqueEvidence) -> list[tuple]:
    """(sentence, terms, distance, heights, connected) of every choice."""
    return sorted(
        (
            int(cliques.sentences[cliques.sets[row]]),
            tuple(evidence.terms[t] for t in cliques.terms[:, cliques.sets[row]]),
            round(float(cliques.distances[row]), 9),
            *(round(float(cliques.heights(reading)[row]), 9) for reading in ("top", "lca", "mean", "max")),
            bool(cliques.is_connected[row]),
        )
        for cliques in evidence.cliques
        for row in range(len(cliques.sets))
    )


def defined_choices(sentences: list[Sentence | None], query: list[str], family: str) -> list[tuple]:
    expected = []
    for number, sentence in enumerate(sentences):
        parse = plain(sentence or [])
        for terms in definition.sets(query, "subsets" if family == "subsets" else "contiguous"):
            if len(terms) < 2 or (family == "adjacent" and len(terms) > 2):
                continue
            for nodes in definition.choices(parse, terms):
                heights = (definition.height(parse, nodes, r) for r in ("top", "lca", "mean", "max"))
                distance = definition.mean_distance(parse, nodes)
                connected = definition.connected(parse, nodes)
                expected.append(
                    (number, terms, round(distance, 9), *(round(float(h), 9) for h in heights), connected)
                )
    return sorted(expected)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(parses(), QUERIES, st.sampled_from(["subsets", "contiguous", "adjacent"]))
def test_every_choice_of_every_set_is_there(
    sentences: list[Sentence | None], query: list[str], family: SetFamily
) -> None:
    evidence = clique_evidence(forest(sentences), query, family)
    assert choices_of(evidence) == defined_choices(sentences, query, family)
    assert not evidence.truncated.any()
    for sets in evidence.cliques:
        assert sets.size == len(sets.terms) and (np.diff(sets.sets) >= 0).all()
        assert sets.sets[sets.first_choices].tolist() == list(range(len(sets.first_choices)))
        assert (np.diff(sets.sentences[sets.sets]) != 0).sum() == len(set(sets.sentences)) - 1


@settings(max_examples=50, deadline=None)
@given(parses(), QUERIES)
def test_measuring_in_small_chunks_changes_nothing(
    sentences: list[Sentence | None], query: list[str]
) -> None:
    expected = choices_of(clique_evidence(forest(sentences), query))
    with patch.object(cliques, "_CHUNK_CELLS", 20):
        assert choices_of(clique_evidence(forest(sentences), query)) == expected


def test_up_to_12_terms_give_all_subsets() -> None:
    query = LETTERS[:MAX_TERMS]
    evidence = clique_evidence(forest([chain(query), None, chain(["b", "c"])]), query)
    assert sum(len(cliques.sets) for cliques in evidence.cliques) == 2**12 - 1 - 12 + 1
    assert not evidence.truncated.any()


@pytest.mark.slow
def test_a_sentence_with_more_terms_gives_pairs_and_runs_and_says_so() -> None:
    query = LETTERS[: MAX_TERMS + 1]
    evidence = clique_evidence(forest([chain(query), chain(query[:12]), chain(["a", "c", "e"])]), query)
    assert evidence.truncated.tolist() == [True, False, False]
    of_first = {terms for sentence, terms, *_ in choices_of(evidence) if sentence == 0}
    runs = {tuple(query[i:j]) for i in range(13) for j in range(i + 2, 14)}
    assert of_first == runs | set(combinations(query, 2))
    assert sum(sentence == 1 for sentence, *_ in choices_of(evidence)) == 2**12 - 1 - 12
    assert sum(sentence == 2 for sentence, *_ in choices_of(evidence)) == 4


def test_runs_of_the_query_have_no_gap_where_the_sentence_lacks_the_term() -> None:
    query = [f"t{n}" for n in range(40)]
    words = [word for word in query if word != "t5"]
    for family in ("subsets", "contiguous"):
        choices = choices_of(clique_evidence(forest([chain(words)]), query, family))
        assert not [terms for _, terms, *_ in choices if len(terms) > 2 and {"t4", "t6"} <= set(terms)]
        assert tuple(query[6:]) in {terms for _, terms, *_ in choices}
    choices = choices_of(clique_evidence(forest([chain(words)]), query, "adjacent"))
    assert len(choices) == 37


def test_contiguous_sets_of_many_terms_are_not_limited() -> None:
    query = [f"t{n}" for n in range(40)]
    evidence = clique_evidence(forest([chain(query)]), query, "contiguous")
    assert sum(len(cliques.sets) for cliques in evidence.cliques) == 40 * 39 // 2
    assert not evidence.truncated.any()


def test_the_choices_of_a_sentence_are_limited_and_reported() -> None:
    # Four terms ten times each: 11 sets share 4096 choices, 372 each. 7^3 and 4^4 fit, 10^3 and 10^4 do not.
    evidence = clique_evidence(forest([chain(["a", "b", "c", "d"] * 10), chain(["a", "b"])]), list("abcd"))
    assert evidence.truncated.tolist() == [True, False]
    share = MAX_CHOICES // 11
    assert 7**3 <= share < 8**3 and 4**4 <= share < 5**4
    choices = [
        np.bincount(cliques.sets, minlength=len(cliques.first_choices)).tolist()
        for cliques in evidence.cliques
    ]
    assert choices == [[1] + [100] * 6, [7**3] * 4, [4**4]]
    # The first ones in the sentence are kept.
    last = evidence.cliques[-1]
    assert last.occurrences.nodes[last.members].max() == 15


def test_occurrences_of_a_sentence_are_limited_and_reported() -> None:
    words = ["a"] * 100 + ["b"] * 3
    sentences = [chain(words), None, chain(words[-60:])]
    occurrences = find_occurrences(forest(sentences), ["b", "a"])
    assert occurrences.truncated.tolist() == [True, False, False]
    assert np.diff(occurrences.starts).tolist() == [MAX_OCCURRENCES, 0, 60]
    assert occurrences.posting_counts.tolist() == [3, MAX_OCCURRENCES - 3, 3, 57]
    assert occurrences.nodes[:5].tolist() == [100, 101, 102, 0, 1]
    evidence = clique_evidence(forest(sentences), ["b", "a"])
    assert evidence.truncated.tolist() == [True, False, False]


def test_more_than_64_terms_in_a_sentence_are_all_used() -> None:
    query = [f"t{n}" for n in range(70)]
    evidence = clique_evidence(forest([chain([*query, "t0"])]), query, "contiguous")
    assert sum(len(cliques.first_choices) for cliques in evidence.cliques) == 70 * 69 // 2
    assert evidence.truncated.tolist() == [True]


@pytest.mark.parametrize("terms", [1, 2, 12, 40])
@pytest.mark.parametrize("words", [1, 400])
def test_queries_and_sentences_of_every_length_pass(terms: int, words: int) -> None:
    query = [f"t{n}" for n in range(terms)]
    sentences = [chain([f"t{n % 50}" for n in range(words)]), None, []]
    evidence = clique_evidence(forest(sentences), query)
    assert len(evidence) == 3
    assert evidence.has_query_term.tolist() == [True, False, False]
    assert max((cliques.size for cliques in evidence.cliques), default=1) == (terms if words > 1 else 1)


def test_no_sentences_and_no_terms_pass() -> None:
    assert clique_evidence(forest([]), ["a", "b"]).cliques == ()
    assert clique_evidence(forest([chain(["a", "b"])]), []).cliques == ()
