"""What comes along when people install esr: a bill of materials, and the licences of all dependencies."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.release_commands import ReleaseError, output, run

_REFUSED = re.compile(r"\b(?:A?GPL|GNU (?:Affero )?General Public)\b", re.IGNORECASE)
_LESSER = re.compile(r"\b(?:LGPL|Lesser)", re.IGNORECASE)
"""An Apache-licensed program can ask for libraries under the LGPL, and for none under the GPL."""
_OWN = ("esr", "pip", "setuptools")


def write_inventory(python: Path, file: Path) -> list[str]:
    """Write what an environment has as CycloneDX (JSON), and return lines of package, version and licences.

    Raises ReleaseError for a package without a licence, or with one that esr's does not go with.
    """
    command = ("-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON", "-o", str(file))
    run(sys.executable, *command, str(python))
    components = json.loads(file.read_text("utf-8"))["components"]
    licences = {component["name"]: list(read_licences(component)) for component in components}
    # Packages of an older style name theirs in a text that the program above does not take for one.
    metadata = json.loads(output(str(python), "-c", _METADATA))
    for name, found in licences.items():
        found += [] if found else metadata.get(name.lower(), [])
    check_licences(licences)
    versions = {component["name"]: component.get("version", "") for component in components}
    return [f"{name} {versions[name]}: {', '.join(found)}" for name, found in sorted(licences.items())]


def read_licences(component: Mapping[str, Any]) -> Iterator[str]:
    for entry in component.get("licenses", ()):
        if "expression" in entry:
            yield entry["expression"]
        elif name := entry["license"].get("id") or entry["license"].get("name"):
            yield name


def check_licences(licences: Mapping[str, list[str]]) -> None:
    dependencies = {name: found for name, found in licences.items() if name not in _OWN}
    if nameless := sorted(name for name, found in dependencies.items() if not found):
        raise ReleaseError(f"these dependencies name no licence: {', '.join(nameless)}")
    refused = [
        f"{name} ({', '.join(found)})"
        for name, found in dependencies.items()
        if all(_REFUSED.search(each) and not _LESSER.search(each) for each in found)
    ]
    if refused:
        raise ReleaseError(
            f"these dependencies have licences that esr's does not go with: {'; '.join(refused)}"
        )


_METADATA = """
import importlib.metadata as metadata, json
found = {}
for each in metadata.distributions():
    about = each.metadata
    texts = [about.get("License-Expression"), about.get("License")]
    found[about["Name"].lower()] = [text.splitlines()[0][:80] for text in texts if text and text != "UNKNOWN"]
print(json.dumps(found))
"""
