"""The commands and the Python of docs/following.md, run as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from esr.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "following.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_what_the_page_shows_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command in (line for block in blocks("sh") for line in block.splitlines()):
        result = CliRunner().invoke(main, shlex.split(command)[1:], catch_exceptions=False)
        assert result.exit_code == 0 and result.output, f"{command}: {result.output}"
    for block in blocks("python"):
        exec(block, {})
        assert capsys.readouterr().out
