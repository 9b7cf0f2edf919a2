"""docs/operating.md, "On a schedule": its file, commands, units and line of cron work as they stand."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from esr.cli import main
from esr.cli.sync import GONE
from tests.cli.conftest import call

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "operating.md").read_text("utf-8").split("## On a schedule\n")[1].split("\n## ")[0]
ITEM = (
    "<item><title>A storm</title><author>A. Writer</author><guid>g1</guid>"
    "<description>It rained.</description></item>"
)
FOLDERS = "etc/esr srv/esr srv/agency/drafts srv/feeds var/lib/esr var/log usr/local/bin"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


def unit(name: str) -> configparser.ConfigParser:
    (text,) = [block for block in blocks("ini") if block.startswith(f"# {name}\n")]
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with what the section says is on the machine."""
    for folder in FOLDERS.split():
        (tmp_path / folder).mkdir(parents=True)
    (config,) = blocks("toml")
    (tmp_path / "etc/esr/news.toml").write_text(on(config, tmp_path))
    (tmp_path / "srv/agency/a.jsonl").write_text('{"id": "a", "text": "A flood."}\n')
    (tmp_path / "srv/agency/drafts/b.jsonl").write_text('{"id": "b", "text": "A draft."}\n')
    (tmp_path / "srv/feeds/world.rss").write_text(f'<rss version="2.0"><channel>{ITEM}</channel></rss>')
    program = tmp_path / "usr/local/bin/esr"
    program.write_text(f'#!{sys.executable}\nfrom esr.cli import main\nmain(prog_name="esr")\n')
    program.chmod(0o755)
    for path in tmp_path.glob("srv/*/*.*"):
        os.utime(path, (time.time() - 60,) * 2)
    return tmp_path


def on(text: str, machine: Path) -> str:
    return re.sub(r"(?<![\w.])/(etc|srv|var|usr)/", rf"{machine}/\1/", text)


def texts(where: Path) -> list[str]:
    return [json.loads(line)["sentences"][0]["text"] for line in call("export", where).stdout.splitlines()]


def test_the_commands_do_what_the_section_says(machine: Path) -> None:
    (commands,) = blocks("sh")
    outputs = []
    for command in commands.splitlines():
        result = call(*shlex.split(on(command, machine))[1:])
        assert result.exit_code == 0, result.output
        outputs.append(result.stdout)
    assert "2 added; 2 of 2 files read; dry run, nothing was written" in outputs[0]
    assert "2 added; 2 of 2 files read; serves " in outputs[1]
    assert json.loads(outputs[2])["read"] == 0
    assert sorted(texts(machine / "srv/esr/news")) == ["A flood.", "It rained."]
    assert (machine / "var/lib/esr/news.state").exists()
    (shown,) = blocks("text")
    shape = re.compile(r"\S+Z \S+: [\d, a-z]+; [\d,]+ of [\d,]+ files read; serves \d{8}t\d{12}; [\d.]+ s")
    assert shape.fullmatch(shown.strip()) and shape.fullmatch(outputs[1].splitlines()[0])


@pytest.mark.slow
def test_the_service_and_the_line_of_cron_run_it(machine: Path) -> None:
    service = unit("esr-sync.service")["Service"]
    (cron,) = blocks("crontab")
    assert re.match(r"(\*/15|\*)( \*){4} /", cron)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    for command in (service["ExecStart"], cron.split(maxsplit=5)[5]):
        done = subprocess.run(
            ["sh", "-c", on(command, machine)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert "nothing new; 0 of 2 files read" in (machine / "var/log/esr-sync.log").read_text()
    assert service["SuccessExitStatus"] == "75" and service["Type"] == "oneshot"
    timer = unit("esr-sync.timer")
    assert timer["Timer"]["OnCalendar"] and timer["Install"]["WantedBy"] == "timers.target"


def test_the_section_names_every_key_that_is_no_option_and_every_exit_status() -> None:
    for key in ("paths", "name", "gone", "state", *GONE):
        assert f"`{key}`" in SECTION
    statuses = set(re.findall(r"^ *(\d+) ", main.commands["sync"].help or "", re.MULTILINE))
    assert statuses == set(re.findall(r"^\| (\d+) \|", SECTION, re.MULTILINE)) == {"0", "1", "2", "75"}
