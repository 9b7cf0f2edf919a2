"""The compiled kernel is kept on disk, until any of its files changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from esr.folder import kernel as folder_kernel
from esr.folder.search import similarity
from esr.folder.search.kernel_loader import LOADER
from tests.support.needed import need

need("numba")

CALLED = """
from numba_support import {decorator}

@{decorator}
def called(x):
    return x + {number}
"""
KEPT = """
from numba import types
from called import called
from numba_support import eager_jit

@eager_jit(types.int64)
def kept(x):
    return called(x)
"""
RUN = """
import json
from kept import kept
print(json.dumps([kept(1), sum(kept.stats.cache_hits.values())]))
"""


def run(folder: Path) -> list[int]:
    """What the kept function gives, and how often it came from disk: in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", RUN]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    values: list[int] = json.loads(process.stdout)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("decorator", [pytest.param("inlined", marks=pytest.mark.endurance), "compiled"])
def test_a_change_in_the_file_of_a_called_function_compiles_again(tmp_path: Path, decorator: str) -> None:
    support = Path(folder_kernel.__path__[0], "numba_support.py").read_text("utf-8")
    (tmp_path / "numba_support.py").write_text(support)
    (tmp_path / "kept.py").write_text(KEPT)
    (tmp_path / "called.py").write_text(CALLED.format(decorator=decorator, number=1))
    assert [run(tmp_path), run(tmp_path)] == [[2, 0], [2, 1]]
    (tmp_path / "called.py").write_text(CALLED.format(decorator=decorator, number=7))
    assert run(tmp_path) == [8, 0]
    assert len(list((tmp_path / "cache").rglob("*.nbi"))) == 1, "what is outdated is deleted"


def test_all_files_of_the_kernel_are_in_its_name() -> None:
    from esr.folder.kernel.numba_support import SOURCES, digest_sources
    from esr.folder.kernel.search import search

    assert digest_sources(Path(folder_kernel.__path__[0])) == SOURCES
    assert search.py_func.__qualname__ == f"search_{SOURCES}"


def test_it_lets_other_threads_run() -> None:
    from esr.folder.kernel.search import search

    assert search.targetoptions["nogil"]


# Numbers in columns are found as numpy finds them.


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


# Products of vectors, by the kernel and without it.


LARGEST = 127


@pytest.fixture(params=["kernel", "numpy"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    LOADER.load()
    assert LOADER.kernel is not None, LOADER.reason
    if request.param == "numpy":
        monkeypatch.setattr(LOADER, "kernel", None)


@pytest.mark.usefixtures("kernel")
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


@pytest.mark.usefixtures("kernel")
def test_there_may_be_no_rows() -> None:
    nothing = similarity.multiply_rows(np.zeros((3, 4), np.int8), np.zeros(0, np.int64), np.ones(4, np.int8))
    assert nothing.shape == (0,)
