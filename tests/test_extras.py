"""esr works without its extras, and they are what pyproject.toml says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import tomllib
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from esr.downloads import Unreachable, fetch_wheel
from esr.errors import UsageError
from esr.extras import MODULES, find_extra, install_command, require

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
distributions = cache(packages_distributions)
EXTRAS = {
    name: {canonicalize_name(Requirement(line).name): Requirement(line) for line in lines}
    for name, lines in PROJECT["optional-dependencies"].items()
}
OPTIONAL = [*(module for modules in MODULES.values() for module in modules), "numba"]

NEEDS = {
    "matplotlib": r"esr\.lab\.report\.\w+",
    "numba": r"esr\.(folder\.(search|kernel)\.\w+|lab\.setting_ranks)",
    "mcp": r"esr\.bridges\.mcp_\w+",
    "sqlalchemy": r"esr\.(alerts|dossiers)\.tables",
    "pydantic": r"esr\.bridges\.mcp_schemas",  # comes with mcp
    "pyterrier": r"esr\.bridges\.pyterrier",
    "langchain_core": r"esr\.bridges\.langchain",
    "llama_index": r"esr\.bridges\.llama_index",
}
"""The modules that cannot be imported without an optional one."""
IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
missing = dict.fromkeys({optional!r})
sys.modules |= missing
import esr, webui
failed = {{}}
for package in (esr, webui):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                failed[module.name] = error.name.split(".")[0]
print(json.dumps(failed))
"""
LOAD_AND_SEARCH = """
import sys
sys.modules |= dict.fromkeys({optional!r})
from esr.cli import main
main(["load", "examples/articles.jsonl", "--index", {index!r}], standalone_mode=False)
main(["search", "earthquake relief China", "--index", {index!r}, "-k", "3"])
"""


def python(source: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_without_optional_packages_only_pictures_bridges_and_the_compiled_kernel_cannot_be_imported() -> None:
    failed = json.loads(python(IMPORT_EVERYTHING.format(optional=OPTIONAL)))
    assert set(failed.values()) == {*NEEDS}
    for module, lacking in failed.items():
        assert re.fullmatch(NEEDS[lacking], module), (module, lacking)


@pytest.mark.parametrize(
    ("bridge", "module", "extra"),
    [
        ("pyterrier", "pyterrier", "pyterrier"),
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
    ],
)
def test_a_bridge_without_its_package_says_what_to_install(bridge: str, module: str, extra: str) -> None:
    program = f"import sys; sys.modules['{module}'] = None; import esr.bridges.{bridge}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    needs = f"needs {module}, which is not installed: pip install 'esr[{extra}]'"
    assert done.stderr.splitlines()[-1] == f"ImportError: esr.bridges.{bridge} {needs}"


@pytest.mark.slow
def test_without_optional_packages_news_are_loaded_and_found(tmp_path: Path) -> None:
    printed = python(LOAD_AND_SEARCH.format(optional=OPTIONAL, index=str(tmp_path / "index")))
    assert "earthquake-relief.s0" in printed


@pytest.mark.parametrize("extra", MODULES)
def test_the_modules_of_an_extra_are_of_packages_that_it_requires(extra: str) -> None:
    for module in MODULES[extra]:
        names = {canonicalize_name(name) for name in distributions().get(module.split(".")[0], ())}
        assert names & EXTRAS[extra].keys(), f"pyproject.toml: {extra} lacks the package of {module}"
        assert not names & {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}


def test_the_extra_for_development_brings_all_others() -> None:
    assert EXTRAS["dev"]["esr"].extras == EXTRAS.keys() - {"dev"}


def test_numba_is_required_where_it_has_wheels_and_nowhere_else() -> None:
    (line,) = (line for line in PROJECT["dependencies"] if line.startswith("numba"))
    marker = Requirement(line).marker
    assert marker is not None

    def is_required(system: str, machine: str, python: str = "3.13", implementation: str = "CPython") -> bool:
        return marker.evaluate(
            {
                "sys_platform": system,
                "platform_machine": machine,
                "python_version": python,
                "platform_python_implementation": implementation,
            }
        )

    wheels = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]
    for python in ("3.11", "3.13", "3.15"):
        assert all(is_required(*platform, python) for platform in wheels)
    for platform in [("linux", "riscv64"), ("linux", "armv7l"), ("darwin", "x86_64"), ("win32", "AMD64")]:
        assert not is_required(*platform)
    assert not is_required("linux", "x86_64", "3.16")
    assert not is_required("linux", "x86_64", implementation="PyPy")


def test_a_module_that_is_installed_is_no_error() -> None:
    require("this", "json")


@pytest.mark.parametrize(("extra", "module"), [(extra, m) for extra in MODULES for m in MODULES[extra]])
def test_a_missing_module_is_named_with_the_command_that_installs_it(
    extra: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError) as raised:
        require("the thing", module)
    first = find_extra(module)  # of several extras that have the module
    assert module in MODULES[first]
    for fact in ("the thing", module, install_command(first)):
        assert fact in str(raised.value)
    monkeypatch.setitem(sys.modules, f"{module}.part", None)
    with pytest.raises(UsageError, match=re.escape(install_command(first))):
        require("the thing", f"{module}.part")


def test_a_module_that_needs_a_library_of_the_system_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lightgbm.py").write_text("import ctypes\nctypes.CDLL('libmissing.so.1')\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    with pytest.raises(
        UsageError, match=r"lightgbm, which cannot be loaded: libmissing\.so\.1: .* of the system"
    ):
        require("LambdaMART", "lightgbm")


def test_a_registry_that_does_not_answer_is_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Refuse(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(503)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Refuse) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        with pytest.raises(Unreachable, match="pip could not fetch news==1"):
            fetch_wheel("news==1", tmp_path)
        server.shutdown()
    assert len(asked) == 2
