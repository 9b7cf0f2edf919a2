"""The group `esr`: what a command imports before it runs, and when garbage is collected.

Imports and the end of a process take less time without garbage collection.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.cli.main import pause_collections

_SEARCH = "import sys; from esr.cli import main; main(standalone_mode=False); print(*sys.modules)"
_DATA_CLASSES = """
import sys
from esr.cli import main
main(standalone_mode=False)
modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "esr"]
values = [value for module in modules for value in vars(module).values()]
print(*{value.__qualname__ for value in values if hasattr(value, "__dataclass_fields__")})
"""
_THREADS = """
import os
from esr.cli import main
main(standalone_mode=False)
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"))
"""
UNNEEDED = (
    "elasticsearch esr.cli.load esr.encoders esr.index.access esr.elastic esr.enrichment "
    "esr.lab esr.lab esr.loaders esr.plans.bounds flask numba numpy.ma requests scipy webui "
    # The kernel is not loaded in a search from the command line.
    "esr.folder.search.impacts esr.folder.kernel.layout "
    # Of the standard library, each takes a millisecond or more.
    "_hashlib asyncio calendar csv dataclasses email http importlib.resources logging ssl tempfile zipfile"
)


def run_search(source: str, index: Path) -> list[str]:
    """The words of the last line that a process prints, after it has searched."""
    command = [sys.executable, "-c", source, "search", "alpha", "--index", str(index), "--literal"]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return run.stdout.splitlines()[-1].split()


def test_a_search_of_a_folder_imports_nothing_that_only_other_commands_need(index: Path) -> None:
    imported = run_search(_SEARCH, index)
    assert not {*imported} & {*UNNEEDED.split()}
    assert "esr.cli.search" in imported


def test_no_class_that_a_search_imports_is_a_dataclass(index: Path) -> None:
    """Each would take .6 ms, and a search imports 80 classes of data: see "Style" in CONTRIBUTING.md."""
    assert run_search(_DATA_CLASSES, index) == []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it counts the threads of Linux")
def test_a_command_starts_no_threads_and_leaves_the_environment_as_it_is(index: Path) -> None:
    assert run_search(_THREADS, index) == ["1", "None"]


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
