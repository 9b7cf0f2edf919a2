"""Raw figures: a line of JSON for each measurement, with its time, machine and commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Figure = dict[str, Any]


def commit() -> str:
    """The checked-out commit, with a plus if files differ from it."""
    try:
        name = _git("rev-parse", "--short=10", "HEAD")
        return name + ("+" if _git("status", "--porcelain", "--", "esr", "webui", "index_templates") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def tree_ids(*paths: str) -> str:
    """The git trees of folders, which identify their content; empty without git."""
    try:
        return _git("rev-parse", *(f"HEAD:{path}" for path in paths))
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def describe_environment() -> Figure:
    """Time, commit and machine. `load` is the load average of the last minute."""
    return {
        "commit": commit(),
        "at": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def append(path: Path, part: str, figure: Mapping[str, Any], environment: Mapping[str, Any]) -> None:
    """Append one measurement to the file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"part": part, **environment, **figure}, separators=(",", ":")) + "\n")


def read(path: Path) -> list[Figure]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


class Figures:
    """The last measurement of each part and key."""

    def __init__(self, lines: Iterable[Figure]) -> None:
        self._last: dict[tuple[str, str], Figure] = {}
        for line in lines:
            self._last[line["part"], str(line.get("key", ""))] = line

    def get(self, part: str, key: object = "") -> Figure | None:
        return self._last.get((part, str(key)))

    def all_of(self, part: str) -> list[Figure]:
        """All figures of a part, in the order in which their keys were first measured."""
        return [figure for (name, _), figure in self._last.items() if name == part]
