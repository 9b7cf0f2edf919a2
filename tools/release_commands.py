"""Run the commands of a release."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class ReleaseError(Exception):
    """What is wrong with the release, and what to do."""


def step(text: str) -> None:
    print(f"== {text}", flush=True)


def environment() -> dict[str, str]:
    """The user's, without what could lead to this tree or to an index of the user's."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("ESR_", "PYTHONPATH", "VIRTUAL_ENV"))}


def run(*command: str, folder: Path | None = None) -> None:
    """Run a command that prints for itself."""
    if subprocess.run(command, cwd=folder, env=environment(), check=False).returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")


def output(*command: str, folder: Path | None = None) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")
    return done.stdout
