"""The units of deploy/systemd are what systemd accepts, and run commands that there are."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_lines import check_command

FOLDER = Path(__file__).resolve().parent.parent / "deploy" / "systemd"
UNITS = sorted(path for path in FOLDER.iterdir() if path.suffix in (".service", ".timer"))
PROGRAM = "/usr/local/bin/esr"


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_run_commands_and_options_that_there_are(path: Path) -> None:
    lines = re.findall(rf"^#?ExecStart={PROGRAM} (.*)$", path.read_text("utf-8"), re.MULTILINE)
    assert lines or path.suffix == ".timer"
    for line in lines:
        check_command(line)


def test_each_timer_starts_a_service_that_ends() -> None:
    for timer in (path for path in UNITS if path.suffix == ".timer"):
        assert "\nType=oneshot\n" in timer.with_suffix(".service").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        text = path.read_text("utf-8").replace(PROGRAM, sys.executable)
        (tmp_path / path.name).write_text(text, "utf-8")
    command = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / path.name) for path in UNITS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
