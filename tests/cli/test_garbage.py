"""The garbage collector looks neither at imports nor at a process that ends."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.cli.garbage import pause_collections

# The last function to be registered is the first to be called at the end.
_PROGRAM = """
import atexit, gc
atexit.register(lambda: print(len(gc.get_objects())))
from esr.cli import run
run()
"""


@pytest.fixture
def enabled_collector() -> Iterator[None]:
    frozen, enabled = gc.get_freeze_count(), gc.isenabled()
    gc.unfreeze()
    gc.enable()
    yield
    if frozen:
        gc.freeze()
    if not enabled:
        gc.disable()


def is_old(known: object) -> bool:
    return any(other is known for other in gc.get_objects(generation=2))


@pytest.mark.usefixtures("enabled_collector")
def test_nothing_is_collected_inside_the_block_and_what_it_made_is_old_after_it() -> None:
    with pause_collections():
        assert not gc.isenabled()
        made: list[object] = [{}]
        assert not is_old(made)
    assert gc.isenabled()
    assert is_old(made)


@pytest.mark.usefixtures("enabled_collector")
def test_what_others_have_frozen_stays_so() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with pause_collections():
        pass
    assert gc.get_freeze_count() > frozen / 2


@pytest.mark.usefixtures("enabled_collector")
def test_a_collector_that_was_disabled_stays_so() -> None:
    gc.disable()
    with pause_collections():
        pass
    assert not gc.isenabled()


@pytest.mark.parametrize(("query", "is_skipped"), [("alpha", True), ("", False)])
def test_only_a_command_that_succeeds_ends_without_collections(
    index: Path, query: str, is_skipped: bool
) -> None:
    command = [sys.executable, "-c", _PROGRAM, "search", query, "--index", str(index)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode == 0) == is_skipped
    assert (int(run.stdout.splitlines()[-1]) < 1000) == is_skipped
