"""The first hour of each kind of reader: the commands of the four pages run in their order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.support.process import free_ports
from tests.support.runs import need
from tests.test_readme import ESR, folder, installed, served  # noqa: F401

ROOT = Path(__file__).resolve().parent.parent
READERS = ("newsroom", "operator", "researcher", "developer")


def commands_of(reader: str) -> list[str]:
    """The lines of the blocks below *The first hour*."""
    page = (ROOT / "docs" / f"{reader}.md").read_text("utf-8")
    text = page.partition("\n## The first hour\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_the_commands_of_the_first_hour_work(reader: str, folder: Path, tmp_path: Path) -> None:  # noqa: F811
    if reader == "researcher":
        need("ir_measures")
    commands = commands_of(reader)
    assert len(commands) >= 6
    programs = installed(tmp_path / "programs") / "bin"
    variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for command in commands:
        if command.startswith("esr serve"):
            serve = [*ESR, *shlex.split(command)[1:], "--port", str(free_ports(1)[0])]
            with (
                served(serve, folder) as (_, address),
                urllib.request.urlopen(f"{address}/healthz") as answer,
            ):
                assert answer.status == 200
            continue
        done = subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True, env=os.environ | variables
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
