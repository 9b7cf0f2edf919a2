"""Clients of the API, generated from its OpenAPI document as users of the API generate theirs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.distribution import cache_folder, fill_and_rename, locked
from tests.support.needed import end_test

PACKAGES = ("openapi-python-client==0.29.1", "typer==0.27.3")
"""The generator, and the release of typer that it asks for, which is older than spaCy's."""


def generate_client(document: dict[str, Any], folder: Path) -> None:
    """Write the client's package into a folder. Fails where the generator leaves anything out."""
    folder.mkdir()
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "config.yml").write_text("post_hooks: []\n")
    paths = [f"--path={folder / 'openapi.json'}", f"--config={folder / 'config.yml'}"]
    output = [f"--output-path={folder / 'esr_client'}", "--meta=none", "--fail-on-warning"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", *paths, *output],
        env={**os.environ, "PYTHONPATH": str(_install())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _install() -> Path:
    """The folder with the generator, apart from the environment: installed once per user."""
    final = cache_folder() / PACKAGES[0].replace("==", "-")
    with locked(final.parent):
        if not final.is_dir():
            try:
                fill_and_rename(final, _fetch)
            except subprocess.CalledProcessError as error:
                end_test(f"needs {PACKAGES[0]} of a package registry: {error.stderr.strip()}")
    return final


def _fetch(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--target", str(folder), *PACKAGES]
    subprocess.run(command, check=True, capture_output=True, text=True)


NODE_PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")


def generate_types(document: dict[str, Any], folder: Path) -> None:
    """Write the types of the API into a folder, for programs in TypeScript that import `./schema.js`."""
    modules = _install_node_packages() / "node_modules"
    folder.mkdir()
    (folder / "node_modules").symlink_to(modules)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "openapi.json").write_text(json.dumps(document))
    _run(folder, str(modules / ".bin" / "openapi-typescript"), "openapi.json", "-o", "schema.ts")


def run_typescript(folder: Path, program: str) -> str:
    """What a program prints, compiled with strict checks. Raises AssertionError if it does not compile."""
    (folder / "program.ts").write_text(program)
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"]
    _run(folder, "node_modules/.bin/tsc", *options, "--exactOptionalPropertyTypes", "program.ts")
    return _run(folder, "node", "program.js")


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _install_node_packages() -> Path:
    """The folder with the packages of node, installed once per user."""
    if not (shutil.which("node") and shutil.which("npm")):
        end_test("needs node and npm")
    final = cache_folder() / NODE_PACKAGES[0].replace("@", "-")
    with locked(final.parent):
        if not final.is_dir():
            try:
                fill_and_rename(final, _fetch_node_packages)
            except subprocess.CalledProcessError as error:
                end_test(f"needs {NODE_PACKAGES[0]} of the registry of npm: {error.stderr.strip()}")
    return final


def _fetch_node_packages(folder: Path) -> None:
    command = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--prefix",
        str(folder),
        *NODE_PACKAGES,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
