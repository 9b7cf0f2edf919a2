"""The group `esr`: what a command imports before it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SEARCH = "import sys; from esr.cli import main; main(standalone_mode=False); print(*sys.modules)"
_DATA_CLASSES = """
import sys
from esr.cli import main
main(standalone_mode=False)
modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "esr"]
values = [value for module in modules for value in vars(module).values()]
print(*{value.__qualname__ for value in values if hasattr(value, "__dataclass_fields__")})
"""
UNNEEDED = (
    "elasticsearch esr.cli.load esr.encoders esr.engines.access esr.enrichment esr.evaluation esr.learning "
    "esr.loaders flask importlib.resources numba numpy.ma requests scipy ssl"
)


def run_search(source: str, index: Path) -> list[str]:
    """The words of the last line that a process prints, after it has searched."""
    command = [sys.executable, "-c", source, "search", "alpha", "--index", str(index), "--literal"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()


def test_a_search_of_a_folder_imports_nothing_that_only_other_commands_need(index: Path) -> None:
    imported = run_search(_SEARCH, index)
    assert not {*imported} & {*UNNEEDED.split()}
    assert "esr.cli.search" in imported


def test_no_class_that_a_search_imports_is_a_dataclass(index: Path) -> None:
    """Each would take .6 ms, and a search imports 80 classes of data: see "Style" in CONTRIBUTING.md."""
    assert run_search(_DATA_CLASSES, index) == []
