"""The recipes of other package managers, and the compose file with TLS, agree with the project."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import esr
from tests.support.runs import need

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RECIPE = ROOT / "deploy" / "conda" / "recipe.yaml"
FORMULA = (ROOT / "deploy" / "homebrew" / "esr.rb").read_text("utf-8")
NAMES_IN_CONDA = {"isal": "python-isal", "prometheus-client": "prometheus_client"}


def split(requirement: str) -> tuple[str, str]:
    """The name and the versions of a requirement of pip or conda, without its marker."""
    match = re.match(r"([\w.-]+)\s*([^;\s]*)", requirement)
    assert match, requirement
    return match[1].lower(), match[2]


def test_the_recipe_of_conda_renders_with_the_requirements_of_the_project() -> None:
    rendered = need("rattler_build").Stage0Recipe.from_file(str(RECIPE)).render()
    (recipe,) = (variant.recipe.to_dict() for variant in rendered)
    assert recipe["package"] == {"name": "esr", "version": esr.__version__}
    requirements = recipe["requirements"]
    (python,) = (text for text in requirements["run"] if text.startswith("python "))
    assert python == f"python {PROJECT['project']['requires-python']}"
    expected = {split(text) for text in PROJECT["project"]["dependencies"]}
    expected = {(NAMES_IN_CONDA.get(name, name), versions) for name, versions in expected}
    assert {split(text) for text in requirements["run"] if text not in ("__unix", python)} == expected
    assert {split(text) for text in PROJECT["build-system"]["requires"]} <= set(
        map(split, requirements["host"])
    )


def test_the_recipe_of_conda_has_the_program_and_licences_of_the_project() -> None:
    recipe = yaml.safe_load(RECIPE.read_text("utf-8"))
    scripts = [f"{name} = {target}" for name, target in PROJECT["project"]["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    about = recipe["about"]
    project = PROJECT["project"]
    assert (about["license"], about["license_file"]) == (project["license"], project["license-files"])
    assert about["summary"] == project["description"]


def test_the_formula_is_that_of_this_version() -> None:
    assert re.search(r"^class Esr < Formula$", FORMULA, re.MULTILINE)
    assert f'/esr-{esr.__version__}.tar.gz"' in FORMULA
    assert f'license "{PROJECT["project"]["license"]}"' in FORMULA
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert re.findall(r'depends_on "python@(.*)"', FORMULA) == versions[-1:]
    opened = re.findall(r"^ *(?:class|def|test do)\b", FORMULA, re.MULTILINE)
    assert len(re.findall(r"^ *end$", FORMULA, re.MULTILINE)) == len(opened)
    if program := shutil.which("ruby"):
        subprocess.run([program, "-c", "-"], input=FORMULA, text=True, check=True)


@pytest.mark.slow
def test_the_test_of_the_formula_passes(tmp_path: Path) -> None:
    (text,) = re.findall(r"<<~JSON\n\s*(.*)\n\s*JSON", FORMULA)
    (tmp_path / "news.jsonl").write_text(text)
    (load,) = re.findall(r'system bin/"esr", (.*)', FORMULA)
    ((search,),) = [re.findall(r"#\{bin\}/esr ([^\"]*)", FORMULA)]
    (expected,) = re.findall(r'assert_match "(.*?)"', FORMULA)
    for arguments in (re.findall(r'"(.*?)"', load), search.split()):
        command = [sys.executable, "-c", "from esr.cli import main; main()", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert expected in done.stdout


def test_the_proxy_of_compose_is_all_that_the_network_reaches() -> None:
    def read(name: str) -> dict[str, Any]:
        contents: dict[str, Any] = yaml.safe_load((ROOT / name).read_text("utf-8"))
        return contents

    base, override = read("docker-compose.yml"), read("deploy/compose-tls.yml")
    assert override["services"]["esr"] == {"environment": {"ESR_PROXIES": "1"}}
    assert "127.0.0.1" in base["services"]["esr"]["ports"][0]
    assert {*override["services"]} - {*base["services"]} == {"proxy"}
    proxy = override["services"]["proxy"]
    assert [port.rpartition(":")[2] for port in proxy["ports"]] == ["80", "443"]
    listens = base["services"]["esr"]["ports"][0].rpartition(":")[2]
    assert proxy["command"].endswith(f"--to esr:{listens}")
    assert proxy["read_only"] and proxy["cap_drop"] == ["ALL"]
    assert not re.search(r":latest$|^[^:]+$", proxy["image"])
    assert {volume.partition(":")[0] for volume in proxy["volumes"]} == {*override["volumes"]}
    assert [*proxy["depends_on"]] == ["esr"] and base["services"]["esr"]["healthcheck"]
