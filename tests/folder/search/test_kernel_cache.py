"""The compiled kernel is kept on disk, until any of its files changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from esr.folder import kernel
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
@pytest.mark.parametrize("decorator", ["inlined", "compiled"])
def test_a_change_in_the_file_of_a_called_function_compiles_again(tmp_path: Path, decorator: str) -> None:
    support = Path(kernel.__path__[0], "numba_support.py").read_text("utf-8")
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

    assert digest_sources(Path(kernel.__path__[0])) == SOURCES
    assert search.py_func.__qualname__ == f"search_{SOURCES}"


def test_it_lets_other_threads_run() -> None:
    from esr.folder.kernel.search import search

    assert search.targetoptions["nogil"]
