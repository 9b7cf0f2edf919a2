from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency import tdsr
from esr.dependency.cliques import SetFamily, clique_evidence
from esr.errors import UsageError
from esr.parameter import check_parameters
from tests.support import dependency_definition as definition
from tests.support.parses import Sentence, chain, forest, parses, plain

QUERIES = st.lists(st.sampled_from(["a", "b", "c", "d", "x", "q"]), min_size=1, max_size=6)
SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    parses(),
    QUERIES,
    SHARES,
    SHARES,
    st.sampled_from(list(tdsr.FORMS)),
    st.sampled_from(["subsets", "contiguous"]),
    st.lists(st.sampled_from("abq"), max_size=2),
)
def test_every_score_is_as_defined(
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
    best_sets = tdsr.score_best_sets(tdsr.nearest_distances(evidence, counts), alpha, beta, form)
    expected = [
        definition.tdsr(query, text, plain(parse) if parse else None, alpha, beta, form, family)
        for text, parse in zip(texts, sentences, strict=True)
    ]
    assert best_sets.scores.tolist() == pytest.approx(expected, abs=1e-12)
    assert [size > 0 for size in best_sets.sizes] == [bool(set(query) & set(text)) for text in texts]


def test_without_counts_only_the_parse_has_the_terms_of_a_sentence() -> None:
    evidence = clique_evidence(forest([chain(["a"]), None, chain(["x"])]), ["a", "b"])
    assert tdsr.nearest_distances(evidence).tolist() == [[0.0, np.inf, np.inf]]
    assert tdsr.score_best_sets(tdsr.nearest_distances(evidence), 0.5, 0.9).scores.tolist() == [0.5, 0.0, 0.0]


def test_the_best_size_is_returned() -> None:
    sentences = [chain(["a", "b", "c"]), chain(["a", "x", "x", "x", "x", "x", "x", "x", "b"])]
    best_sets = tdsr.score_best_sets(
        tdsr.nearest_distances(clique_evidence(forest(sentences), ["a", "b", "c"])), 0.5, 0.9
    )
    assert best_sets.sizes.tolist() == [3, 1]


def test_equal_sentences_have_equal_scores_wherever_they_stand() -> None:
    # A power function that works on eight numbers at once may round the last ones in another way.
    sentences = [chain(["a", "x", "b", "c"]) for _ in range(37)]
    for form in tdsr.FORMS:
        nearest = tdsr.nearest_distances(clique_evidence(forest(sentences), ["a", "b", "c"]))
        assert len(set(tdsr.score_best_sets(nearest, 0.3, 0.7, form).scores)) == 1


def test_ties_stay_in_order_or_go_by_another_score() -> None:
    scores = np.array([0.5, 0.7, 0.5, 0.0, 0.7, 0.5])
    assert tdsr.rank_sentences(scores).tolist() == [1, 4, 0, 2, 5, 3]
    assert tdsr.rank_sentences(scores, np.array([1.0, 1, 2, 9, 3, 1])).tolist() == [4, 1, 2, 0, 5, 3]


def test_parameters_are_checked() -> None:
    assert check_parameters("tdsr", tdsr.PARAMETERS, {"alpha": "0.3"}) == {
        "alpha": 0.3,
        "beta": 0.9,
        "form": "exp",
        "sets": "subsets",
        "ties": "order",
    }
    with pytest.raises(UsageError, match="did you mean 'alpha'"):
        check_parameters("tdsr", tdsr.PARAMETERS, {"alpa": 1})
    with pytest.raises(UsageError, match=r"exp \| power \| linear"):
        check_parameters("tdsr", tdsr.PARAMETERS, {"form": "cubic"})
    with pytest.raises(UsageError, match=r"\[0, 1\]"):
        check_parameters("tdsr", tdsr.PARAMETERS, {"beta": 1.5})
