"""The README's commands are run as they stand."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SERVER = "http://localhost:9200"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands(*, elasticsearch: bool) -> list[list[str]]:
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("esr ")]
    return [shlex.split(line) for line in lines if (SERVER in line) is elasticsearch]


def run(command: list[str], folder: Path) -> str:
    program = [sys.executable, "-c", "from esr.cli import main; main(prog_name='esr')"]
    done = subprocess.run(
        [*program, *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.mark.slow
def test_the_commands_of_the_readme_work_in_their_order(folder: Path) -> None:
    outputs = {shlex.join(command): run(command, folder) for command in commands(elasticsearch=False)}
    assert len(outputs) >= 8
    assert all(output and "Nothing matched" not in output for output in outputs.values())
    assert (folder / "my.run").stat().st_size
    for block in blocks("python"):
        done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "earthquake" in done.stdout.lower()


def test_the_elasticsearch_commands_of_the_readme_work(elasticsearch_url: str, folder: Path) -> None:
    alias = f"readme-{os.getpid()}"
    for command in commands(elasticsearch=True):
        there = [part.replace(f"{SERVER}/news", f"{elasticsearch_url}/{alias}") for part in command]
        assert run(there, folder)


@pytest.mark.slow
def test_the_json_of_the_readme_is_what_esr_reads(folder: Path) -> None:
    document, ranking = blocks("json")
    (folder / "one.jsonl").write_text(document, "utf-8")
    (folder / "ranking.json").write_text(ranking, "utf-8")
    run(["esr", "load", "one.jsonl", "--index", "one"], folder)
    shown = run(["esr", "search", "towns", "--index", "one", "--ranking", "ranking.json", "--json"], folder)
    assert json.loads(shown)["hits"][0]["sentence_id"] == "a1.s1"


def test_every_target_that_the_readme_names_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        line.split()[1] for block in blocks("sh") for line in block.splitlines() if line.startswith("make ")
    }
    assert named and named <= targets


def test_the_pages_that_the_readme_links_to_exist() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links and all((ROOT / link.partition("#")[0]).exists() for link in links)
