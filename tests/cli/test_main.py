"""The group `esr`: what a command imports before it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SEARCH = "import sys; from esr.cli import main; main(standalone_mode=False); print(*sys.modules)"
UNNEEDED = (
    "elasticsearch esr.cli.load esr.encoders esr.enrichment esr.learning esr.loaders flask numba numpy.ma "
    "requests scipy ssl"
)


def test_a_search_of_a_folder_imports_nothing_that_only_other_commands_need(index: Path) -> None:
    command = [sys.executable, "-c", _SEARCH, "search", "alpha", "--index", str(index), "--literal"]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    assert not {*imported.split()} & {*UNNEEDED.split()}
    assert "esr.cli.search" in imported.split()
