"""The worked examples of docs/formulas.md, E.7-E.9, E.11, from `tests/data/worked_dependence.json`."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency import clique_search
from esr.dependency.clique_search import MAX_CHOICES, MAX_TERMS, clique_evidence
from esr.dependency.cliques import HEIGHTS, CliqueEvidence, SetFamily
from esr.dependency.occurrences import MAX_OCCURRENCES, find_occurrences
from esr.dependency.random_fields import (
    DECAY_FORMS,
    MRF_FAMILIES,
    MRF_PARAMETERS,
    PROXIMITIES,
    Decay,
    compute_potentials,
    sum_potentials,
)
from esr.dependency.tdsr import STRENGTHS, TDSR_PARAMETERS, nearest_distances, score_best_sets
from esr.errors import UsageError
from esr.registry import check_parameters
from esr.text.document import ParseWord
from tests.support import dependency_definition as definition
from tests.support import worked_examples as worked
from tests.support.dependency_definition import Sentence, TermCounts, chain, forest, parses, plain, single
from tests.support.runs import examples

LETTERS = [chr(ord("a") + n) for n in range(26)]
QUERIES = st.lists(st.sampled_from(["a", "b", "c", "d", "x", "q"]), min_size=1, max_size=6)


def mrf_settings(values: dict[str, Any]) -> dict[str, float | str]:
    return check_parameters("mrf", MRF_PARAMETERS, values)


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
@settings(max_examples=examples(300), deadline=None)
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


@settings(max_examples=examples(50), deadline=None)
@given(parses(), QUERIES)
def test_measuring_in_small_chunks_changes_nothing(
    sentences: list[Sentence | None], query: list[str]
) -> None:
    expected = choices_of(clique_evidence(forest(sentences), query))
    with patch.object(clique_search, "CHUNK_CELLS", 20):
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


SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
OPTIONS = st.fixed_dictionaries(
    {
        **dict.fromkeys(("alpha", "beta", "lambda_I", "lambda_SR", "lambda_PR"), SHARES),
        "form": st.sampled_from(DECAY_FORMS),
        "proximity": st.sampled_from(PROXIMITIES),
        "max_dis": st.sampled_from([1.0, 1.5, 2.0, 4.0]),
        "h_SR": st.sampled_from(list(HEIGHTS)),
        "h_PR": st.sampled_from(list(HEIGHTS)),
        "sr_on_ud": st.sampled_from(["no", "yes"]),
    }
)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(parses(), QUERIES, st.sampled_from(list(MRF_FAMILIES)), OPTIONS, st.booleans())
def test_every_score_is_as_defined(
    sentences: list[Sentence | None], query: list[str], name: str, options: dict, shared: bool
) -> None:
    family = "subsets" if shared else MRF_FAMILIES[name] or "contiguous"
    parameters = mrf_settings(options)
    potentials = compute_potentials(name, clique_evidence(forest(sentences), query, family), parameters)
    expected = []
    for parse in sentences:
        syntactic, near = definition.dependence(query, plain(parse) if parse else None, name, options)
        expected.append(options["lambda_SR"] * syntactic + options["lambda_PR"] * near)
    assert sum_potentials(potentials, parameters).tolist() == pytest.approx(expected, abs=1e-12)


def test_a_clique_that_a_repeated_word_connects_is_not_near() -> None:
    # b is linked to the second a only. Exclusive: no choice may be connected.
    sentences = [chain(["a", "x", "a", "b"])]
    for proximity, near in (("exclusive", 0.0), ("inclusive", 0.5)):
        parameters = mrf_settings({"proximity": proximity, "alpha": 0.5, "beta": 1.0})
        potentials = compute_potentials(
            "mrf_sdm", clique_evidence(forest(sentences), ["a", "b"], "adjacent"), parameters
        )
        assert potentials.syntactic.total(Decay(0.5, 1.0, "product")).tolist() == [0.5]
        assert potentials.proximity.total(Decay(0.5, 1.0, "product")).tolist() == [near]


def test_the_best_choice_depends_on_the_weights() -> None:
    # a and b: near each other far below the root, or far from each other with the root between.
    heads = [-1, 0, 1, 0, 3, 4, 5, 5]
    words = ["x", "x", "a", "x", "x", "x", "a", "b"]
    sentences = [[ParseWord(word, head) for word, head in zip(words, heads, strict=True)]]
    parameters = mrf_settings({})
    near = compute_potentials("mrf_sdm", clique_evidence(forest(sentences), ["a", "b"]), parameters).proximity
    assert sorted(zip(near.distances, near.heights, strict=True)) == [(2.0, 3.0), (6.0, 0.0)]
    assert near.total(Decay(0.5, 0.9, "product")).tolist() == [0.5**2 * 0.9**3]
    assert near.total(Decay(0.9, 0.5, "product")).tolist() == [0.9**6]


def test_sets_that_a_model_does_not_look_at_are_refused() -> None:
    evidence = clique_evidence(forest([]), ["a"], "adjacent")
    with pytest.raises(ValueError, match="subsets"):
        compute_potentials("mrf_fdm", evidence, mrf_settings({}))


def test_the_parameters_of_an_mrf_are_checked() -> None:
    with pytest.raises(UsageError, match="did you mean 'lambda_SR'"):
        mrf_settings({"lambda_RS": 0.5})
    with pytest.raises(UsageError, match=r"exclusive \| inclusive \| threshold"):
        mrf_settings({"proximity": "any"})


COUNTS = TermCounts(
    counts=np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    lengths=np.array([6.0, 3.0, 0.0]),
    in_query=np.array([1.0, 2.0, 1.0]),
    probabilities=np.array([0.1, 0.05, 0.0]),
    sentence_frequencies=np.array([4.0, 2.0, 0.0]),
    sentences=10,
)


@pytest.mark.parametrize(
    ("reading", "first", "empty"),
    [
        ("dir", math.log(3 / 16) + 2 * math.log(1.5 / 16), math.log(0.1) + 2 * math.log(0.05)),
        (
            "jm",
            math.log(0.8 * 2 / 6 + 0.2 * 0.1) + 2 * math.log(0.8 / 6 + 0.2 * 0.05),
            math.log(0.02) + 2 * math.log(0.01),
        ),
        ("tfisf", math.log(3) * math.log(11 / 4.5) + 2 * math.log(2) * math.log(11 / 2.5), 0.0),
        ("binary", 3.0, 0.0),
    ],
)
def test_single_terms_count_as_often_as_the_query_has_them(reading: str, first: float, empty: float) -> None:
    potentials = single(COUNTS, reading, 10.0, 0.2)
    assert potentials[0] == pytest.approx(first, abs=1e-12)
    assert potentials[2] == pytest.approx(empty, abs=1e-12)
    assert np.isfinite(potentials).all()


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(
    parses(),
    QUERIES,
    SHARES,
    SHARES,
    st.sampled_from(list(STRENGTHS)),
    st.sampled_from(["subsets", "contiguous"]),
    st.lists(st.sampled_from("abq"), max_size=2),
)
def test_every_score_of_tdsr_is_as_defined(
    sentences: list[Sentence | None],
    query: list[str],
    alpha: float,
    beta: float,
    form: str,
    family: SetFamily,
    extra_terms: list[str],
) -> None:
    texts = [[t for word in plain(parse or []) for t in word.terms] + extra_terms for parse in sentences]
    terms = list(dict.fromkeys(query))
    counts = np.array([[text.count(term) for text in texts] for term in terms], float)
    evidence = clique_evidence(forest(sentences), query, family)
    best_sets = score_best_sets(nearest_distances(evidence, counts), alpha, beta, form)
    expected = [
        definition.tdsr(query, text, plain(parse) if parse else None, alpha, beta, form, family)
        for text, parse in zip(texts, sentences, strict=True)
    ]
    assert best_sets.scores.tolist() == pytest.approx(expected, abs=1e-12)
    assert [size > 0 for size in best_sets.sizes] == [bool(set(query) & set(text)) for text in texts]


def test_without_counts_only_the_parse_has_the_terms_of_a_sentence() -> None:
    evidence = clique_evidence(forest([chain(["a"]), None, chain(["x"])]), ["a", "b"])
    assert nearest_distances(evidence).tolist() == [[0.0, np.inf, np.inf]]
    assert score_best_sets(nearest_distances(evidence), 0.5, 0.9).scores.tolist() == [0.5, 0.0, 0.0]


def test_the_best_size_is_returned() -> None:
    sentences = [chain(["a", "b", "c"]), chain(["a", "x", "x", "x", "x", "x", "x", "x", "b"])]
    best_sets = score_best_sets(
        nearest_distances(clique_evidence(forest(sentences), ["a", "b", "c"])), 0.5, 0.9
    )
    assert best_sets.sizes.tolist() == [3, 1]


def test_equal_sentences_have_equal_scores_wherever_they_stand() -> None:
    # A power function that works on eight numbers at once may round the last ones in another way.
    sentences = [chain(["a", "x", "b", "c"]) for _ in range(37)]
    for form in STRENGTHS:
        nearest = nearest_distances(clique_evidence(forest(sentences), ["a", "b", "c"]))
        assert len(set(score_best_sets(nearest, 0.3, 0.7, form).scores)) == 1


def test_parameters_are_checked() -> None:
    assert check_parameters("tdsr", TDSR_PARAMETERS, {"alpha": "0.3"}) == {
        "alpha": 0.3,
        "beta": 0.9,
        "form": "exp",
        "sets": "subsets",
        "ties": "order",
    }
    with pytest.raises(UsageError, match="did you mean 'alpha'"):
        check_parameters("tdsr", TDSR_PARAMETERS, {"alpa": 1})
    with pytest.raises(UsageError, match=r"exp \| power \| linear"):
        check_parameters("tdsr", TDSR_PARAMETERS, {"form": "cubic"})
    with pytest.raises(UsageError, match=r"\[0, 1\]"):
        check_parameters("tdsr", TDSR_PARAMETERS, {"beta": 1.5})


RUNS = json.loads((worked.FILE.parent / "worked_dependence.json").read_text("utf-8"))["runs"]
SENTENCES = [sentence for located in worked.documents() for sentence in located.document.sentences]
PARSES = [list(sentence.parse or ()) for sentence in SENTENCES]
TEXTS = [sentence.text.split() for sentence in SENTENCES]


def term_counts(query: list[str]) -> TermCounts:
    terms = list(dict.fromkeys(query))
    counts = np.array([[text.count(term) for text in TEXTS] for term in terms], float)
    return TermCounts(
        counts=counts,
        lengths=np.array([len(text) for text in TEXTS], float),
        in_query=np.array([query.count(term) for term in terms], float),
        probabilities=counts.sum(axis=1) / sum(map(len, TEXTS)),
        sentence_frequencies=(counts > 0).sum(axis=1).astype(float),
        sentences=len(TEXTS),
    )


def scores_of(run: dict[str, Any], query: list[str]) -> list[float]:
    counts = term_counts(query)
    if run["model"] == "tdsr":
        parameters = check_parameters("tdsr", TDSR_PARAMETERS, run["params"])
        evidence = clique_evidence(forest(PARSES), query, parameters["sets"])
        nearest = nearest_distances(evidence, counts.counts)
        return score_best_sets(
            nearest, parameters["alpha"], parameters["beta"], parameters["form"]
        ).scores.tolist()
    parameters = mrf_settings(run["params"])
    potentials = compute_potentials(run["model"], clique_evidence(forest(PARSES), query), parameters)
    own = single(counts, parameters["f_I"], parameters["mu"], parameters["lambda"])
    return (parameters["lambda_I"] * own + sum_potentials(potentials, parameters)).tolist()


def test_there_are_176_worked_scores() -> None:
    assert sum(len(scores) for run in RUNS for scores in run["scores"].values()) == 176
    assert Counter(run["model"] for run in RUNS) == {"tdsr": 4, "mrf_fidm": 2, "mrf_sdm": 2, "mrf_fdm": 3}


@pytest.mark.parametrize("query", ["Q1", "Q2"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_every_worked_score_is_met(run: dict[str, Any], query: str) -> None:
    expected = [run["scores"][query][sentence.id] for sentence in SENTENCES]
    assert scores_of(run, worked.queries()[query].split()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("query", ["Q1", "Q2"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_the_definition_meets_every_worked_score(run: dict[str, Any], query: str) -> None:
    terms, expected = worked.queries()[query].split(), run["scores"][query]
    scores = []
    own = [0.0] * len(SENTENCES)
    if run["model"] != "tdsr":
        own = single(term_counts(terms), run["params"]["f_I"], run["params"]["mu"], 0.5).tolist()
    for text, parse, first in zip(TEXTS, map(plain, PARSES), own, strict=True):
        p = dict(run["params"])
        if run["model"] == "tdsr":
            sets = p.get("sets", "subsets")
            scores.append(
                definition.tdsr(terms, text, parse, p["alpha"], p["beta"], p.get("form", "exp"), sets)
            )
        else:
            parameters = mrf_settings(p)
            syntactic, near = definition.dependence(terms, parse, run["model"], parameters)
            scores.append(p["lambda_I"] * first + p["lambda_SR"] * syntactic + p["lambda_PR"] * near)
    assert scores == pytest.approx([expected[sentence.id] for sentence in SENTENCES], abs=1e-9)
