"""Every public name of esr has a type that all checkers of types see alike."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.support.runs import need

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_types_of_all_public_names_are_complete(tmp_path: Path) -> None:
    """As `pyright --verifytypes` sees a package that is installed as users install it."""
    need("basedpyright")
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = tmp_path.glob("venv/lib/*/site-packages")
    shutil.copytree(ROOT / "esr", packages / "esr", ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    programs = tmp_path / "venv" / "bin"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "basedpyright", "--pythonpath", str(programs / "python")),
            *("--verifytypes", "esr", "--ignoreexternal", "--outputjson"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(done.stdout)["typeCompleteness"]
    assert answer["exportedSymbolCounts"]["withKnownType"] > 10_000, "esr was not found"
    incomplete = {
        symbol["name"]: [diagnostic["message"] for diagnostic in symbol["diagnostics"]]
        for symbol in answer["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"]
    }
    assert incomplete == {}
