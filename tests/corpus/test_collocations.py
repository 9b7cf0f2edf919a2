"""Measures of the association of words, computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esr.corpus.collocations import Contrast, log_likelihood


def test_measures_of_a_contrast_are_those_computed_by_hand() -> None:
    contrast = Contrast(np.array([20.0, 10.0, 8.0]), 1000, np.array([10.0, 0.0, 16.0]), 2000)
    assert contrast.log_ratio.tolist() == pytest.approx([2.0, math.log2(0.01 / 0.00025), 0.0])
    assert contrast.percent_difference.tolist() == pytest.approx([300.0, math.nan, 0.0], nan_ok=True)
    cells = [(20, 10), (10, 20), (980, 990), (1990, 1980)]
    expected = 2 * sum(observed * math.log(observed / by_chance) for observed, by_chance in cells)
    assert contrast.log_likelihood.tolist() == pytest.approx([expected, contrast.log_likelihood[1], 0.0])


def test_a_word_below_its_expectation_has_a_negative_log_likelihood() -> None:
    likelihood = log_likelihood(np.array([1.0, 9.0]), 100.0, np.array([50.0, 50.0]), 1000.0)
    cells = [(1, 5), (99, 95), (49, 45), (851, 855)]
    by_hand = 2 * sum(observed * math.log(observed / by_chance) for observed, by_chance in cells)
    assert likelihood[0] == pytest.approx(-by_hand) and likelihood[1] > 0
