"""Installed plug-ins, and a process that sees them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from esr.plugin import Plugin, register, unregister
from tests.cli.conftest import Esr, call

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Install = Callable[[str, str], Run]
_PROGRAM = "from esr.cli import run; run()"


@contextmanager
def using(plugin: Plugin) -> Iterator[None]:
    """Use a plug-in in this process inside the block."""
    register(plugin)
    try:
        yield
    finally:
        unregister(plugin)


@pytest.fixture
def esr() -> Esr:
    return call


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Installs a package of one module, whose `plugin` is an entry point. Gives a function that runs esr."""
    folder = tmp_path / "installed"

    def run(*args: object, program: str = _PROGRAM, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(folder), **variables}
        command = [sys.executable, "-c", program, *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)

    def install(name: str, source: str) -> Run:
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[esr.plugins]\n{name} = {name}:plugin\n")
        (folder / f"{name}.py").write_text(source)
        return run

    return install
