"""Numbers in columns are found as numpy finds them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.needed import need

numba = need("numba")


@pytest.mark.slow
def test_the_first_number_that_is_not_below_another() -> None:
    from esr.folder.kernel.columns import lower_bound
    from esr.folder.kernel.layout import COLUMN

    @numba.njit
    def find(columns: np.ndarray, low: int, high: int, wanted: int) -> int:
        return lower_bound(columns[0], low, high, wanted)

    rng = np.random.default_rng(1)
    for kind in (np.uint8, np.uint16, np.int32, np.int64):
        for size in range(20):
            column = np.sort(rng.integers(0, 40, size)).astype(kind)
            columns = np.array([(column.ctypes.data, column.itemsize)], COLUMN)
            for low, high in ((0, size), (size // 3, size), (0, size // 2), (size, size)):
                for wanted in range(-1, 42):
                    expected = low + np.searchsorted(column[low:high], wanted)
                    assert find(columns, low, high, wanted) == expected, (kind, size, low, high, wanted)
