"""The group `esr`: what a command imports before it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    "elasticsearch esr.cli.load esr.encoders esr.engines.access esr.engines.elasticsearch esr.enrichment "
    "esr.evaluation esr.learning esr.loaders esr.plans.bounds flask numba numpy.ma requests scipy webui "
    # The kernel is not loaded in a search from the command line.
    "esr.engines.embedded.search.impacts esr.engines.embedded.search.kernel.layout "
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
