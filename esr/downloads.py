"""Files of package registries, fetched by the registries' clients and not installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from esr.errors import EsrError, to_one_line
from esr.processes import run_program

_TIMEOUT_SECONDS = 600


class Unreachable(EsrError):
    """A package cannot be fetched."""


def cache_folder() -> Path:
    """The folder for fetched files: `esr` in XDG_CACHE_HOME, or in `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "esr"


def fetch_wheel(requirement: str, folder: Path) -> Path:
    """Download the wheel of a package (package==version) to a folder.

    Raises Unreachable, after one retry: without a network, pip's usual five take ten seconds.
    """
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1"]
    command = [sys.executable, "-m", "pip", "download", *quiet, "--no-deps", "--only-binary", ":all:"]
    command += [requirement, "--dest", str(folder)]
    _run_client(command, "pip", requirement)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        raise Unreachable(f"pip could not fetch {requirement}: it has no wheel")
    return wheels[0]


def fetch_from_maven(coordinate: str, packaging: str = "jar") -> Path:
    """The file of an artifact, group:artifact:version, in the user's local Maven repository.

    It is fetched if it is missing. Raises Unreachable.
    """
    group, artifact, version = coordinate.split(":")
    repository = Path.home() / ".m2" / "repository"
    folder = repository.joinpath(*group.split("."), artifact, version)
    file = folder / f"{artifact}-{version}.{packaging}"
    if file.is_file():  # complete, since Maven first writes under another name
        return file
    program = which("mvn")
    if program is None:
        raise Unreachable(f"there is no mvn to fetch {coordinate} with: install Maven")
    command = [program, "-q", "-B", "dependency:get", f"-Dartifact={coordinate}:{packaging}"]
    command += ["-Dtransitive=false", f"-Dmaven.repo.local={repository}"]
    _run_client(command, "mvn", coordinate)
    if not file.is_file():
        raise Unreachable(f"mvn could not fetch {coordinate}: there is no {file}")
    return file


def _run_client(command: Sequence[str], client: str, artifact: str) -> None:
    """Run a client's command. Raises Unreachable with its first error or line."""
    try:
        process = run_program(command, _TIMEOUT_SECONDS)
    except OSError as error:
        raise Unreachable(f"{client} could not fetch {artifact}: {to_one_line(error)}") from None
    if process.returncode:
        lines = [line for line in (process.stdout + process.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if "ERROR" in line]
        problem = to_one_line((errors or lines or ["no message"])[0])
        raise Unreachable(f"{client} could not fetch {artifact}: {problem}")
