from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency import mrf
from esr.dependency.cliques import HEIGHTS, clique_evidence
from esr.dependency.mrf import Decay
from esr.errors import UsageError
from esr.text.document import ParseWord
from tests.support import dependency_definition as definition
from tests.support.parses import Sentence, chain, forest, parses, plain
from tests.support.single_terms import TermCounts, single

QUERIES = st.lists(st.sampled_from(["a", "b", "c", "d", "x", "q"]), min_size=1, max_size=6)
SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
OPTIONS = st.fixed_dictionaries(
    {
        **dict.fromkeys(("alpha", "beta", "lambda_I", "lambda_SR", "lambda_PR"), SHARES),
        "form": st.sampled_from(mrf.FORMS),
        "proximity": st.sampled_from(mrf.PROXIMITIES),
        "max_dis": st.sampled_from([1.0, 1.5, 2.0, 4.0]),
        "h_SR": st.sampled_from(list(HEIGHTS)),
        "h_PR": st.sampled_from(list(HEIGHTS)),
        "sr_on_ud": st.sampled_from(["no", "yes"]),
    }
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(parses(), QUERIES, st.sampled_from([*mrf.MODELS, *mrf.ALIASES]), OPTIONS, st.booleans())
def test_every_score_is_as_defined(
    sentences: list[Sentence | None], query: list[str], name: str, options: dict, shared: bool
) -> None:
    full_name = mrf.full_name(name)
    family = "subsets" if shared else mrf.MODELS[full_name] or "contiguous"
    parameters = mrf.settings(name, options)
    potentials = mrf.compute_potentials(name, clique_evidence(forest(sentences), query, family), parameters)
    single = np.arange(len(sentences)) * -1.5
    expected = []
    for number, parse in enumerate(sentences):
        syntactic, near = definition.dependence(query, plain(parse) if parse else None, full_name, options)
        expected.append(
            options["lambda_I"] * single[number]
            + options["lambda_SR"] * syntactic
            + options["lambda_PR"] * near
        )
    assert mrf.score_sentences(single, potentials, parameters).tolist() == pytest.approx(expected, abs=1e-12)


def test_a_clique_that_a_repeated_word_connects_is_not_near() -> None:
    # b is linked to the second a only. Exclusive: no choice may be connected.
    sentences = [chain(["a", "x", "a", "b"])]
    for proximity, near in (("exclusive", 0.0), ("inclusive", 0.5)):
        parameters = mrf.settings("sdm", {"proximity": proximity, "alpha": 0.5, "beta": 1.0})
        potentials = mrf.compute_potentials(
            "sdm", clique_evidence(forest(sentences), ["a", "b"], "adjacent"), parameters
        )
        assert potentials.syntactic.total(Decay(0.5, 1.0, "product")).tolist() == [0.5]
        assert potentials.proximity.total(Decay(0.5, 1.0, "product")).tolist() == [near]


def test_the_best_choice_depends_on_the_weights() -> None:
    # a and b: near each other far below the root, or far from each other with the root between.
    heads = [-1, 0, 1, 0, 3, 4, 5, 5]
    words = ["x", "x", "a", "x", "x", "x", "a", "b"]
    sentences = [[ParseWord(word, head) for word, head in zip(words, heads, strict=True)]]
    parameters = mrf.settings("sdm", {})
    near = mrf.compute_potentials("sdm", clique_evidence(forest(sentences), ["a", "b"]), parameters).proximity
    assert sorted(zip(near.distances, near.heights, strict=True)) == [(2.0, 3.0), (6.0, 0.0)]
    assert near.total(Decay(0.5, 0.9, "product")).tolist() == [0.5**2 * 0.9**3]
    assert near.total(Decay(0.9, 0.5, "product")).tolist() == [0.9**6]


def test_sets_that_a_model_does_not_look_at_are_refused() -> None:
    evidence = clique_evidence(forest([]), ["a"], "adjacent")
    with pytest.raises(ValueError, match="subsets"):
        mrf.compute_potentials("fdm", evidence, mrf.settings("fdm", {}))


def test_names_and_parameters_are_checked() -> None:
    assert [mrf.full_name(name) for name in ("fdm", "mrf_fdm")] == ["mrf_fdm"] * 2
    with pytest.raises(UsageError, match="unknown model 'mrf_sdn': did you mean 'mrf_sdm'"):
        mrf.settings("mrf_sdn", {})
    with pytest.raises(UsageError, match="did you mean 'lambda_SR'"):
        mrf.settings("sdm", {"lambda_RS": 0.5})
    with pytest.raises(UsageError, match=r"exclusive \| inclusive \| threshold"):
        mrf.settings("sdm", {"proximity": "any"})


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
