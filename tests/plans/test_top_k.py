from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from esr.plans.top_k import top_k


@given(
    scores=st.lists(st.sampled_from([-3.5, -1.0, -0.0, 0.0, 0.5, 2.0]) | st.floats(-9, 9), max_size=60),
    k=st.integers(1, 70),
)
def test_the_best_are_those_of_a_full_sort_and_ties_keep_their_order(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert top_k(np.array(scores, float), k).tolist() == expected
