"""Products of vectors, by the kernel and without it."""

from __future__ import annotations

import numpy as np
import pytest

from esr.folder.search import similarity
from esr.folder.search.kernel_loader import LOADER

LARGEST = 127


@pytest.fixture(params=["kernel", "numpy"], autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    LOADER.load()
    assert LOADER.kernel is not None, LOADER.reason
    if request.param == "numpy":
        monkeypatch.setattr(LOADER, "kernel", None)


@pytest.mark.parametrize("dimensions", [1, 24, 384, 1041, 4095])
def test_products_are_exact(dimensions: int) -> None:
    draw = np.random.default_rng(dimensions)
    vectors = draw.integers(-LARGEST, LARGEST + 1, (50, dimensions)).astype(np.int8)
    vectors[7:9] = [[LARGEST], [-LARGEST]]  # the greatest and the least sum that there are
    vectors.flags.writeable = False  # as those of a file are
    rows = draw.permutation(50)[:40]
    rows[:2] = 7, 8
    for query in (vectors[3], vectors[7], np.zeros(dimensions, np.int8)):
        expected = vectors[rows].astype(np.int64) @ query.astype(np.int64)
        assert similarity.multiply_rows(vectors, rows, query).tolist() == expected.tolist()


def test_there_may_be_no_rows() -> None:
    nothing = similarity.multiply_rows(np.zeros((3, 4), np.int8), np.zeros(0, np.int64), np.ones(4, np.int8))
    assert nothing.shape == (0,)
