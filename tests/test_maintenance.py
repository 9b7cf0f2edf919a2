"""CI and the checks before a commit run what the Makefile and pyproject.toml say, and repeat none of it."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
(HOOKS,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]


def steps(job: dict[str, Any], key: str) -> list[Any]:
    return [step[key] for step in job["steps"] if key in step]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_of_ci_runs_the_target_of_make_that_it_is_called_after(name: str) -> None:
    assert steps(JOBS[name], "run") == [f"make {name}"]
    assert re.search(rf"^{name}:", MAKEFILE, re.MULTILINE)
    assert JOBS[name]["timeout-minutes"]


def test_ci_tests_the_versions_of_python_that_the_package_says() -> None:
    of_package = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert JOBS["quick"]["strategy"]["matrix"]["python"] == of_package
    assert PROJECT["requires-python"] == f">={of_package[0]}"
    versions = [options.get("python-version") for job in JOBS.values() for options in steps(job, "with")]
    assert {version for version in versions if version} == {of_package[0], "${{ matrix.python }}"}


@pytest.mark.parametrize("hook", HOOKS["hooks"], ids=lambda hook: hook["id"])
def test_a_check_before_a_commit_is_a_program_of_the_development_environment(hook: dict[str, str]) -> None:
    assert HOOKS["repo"] == "local" and hook["language"] == "system"
    folder, _, program = hook["entry"].split()[0].rpartition("/")
    assert folder == ".venv/bin"
    scripts = {script.name for script in entry_points(group="console_scripts")}
    assert program in scripts | {"ruff"}  # which is no Python
