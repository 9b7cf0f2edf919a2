"""Fetches an artifact with Maven, which keeps it in the user's local repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from esr.errors import EsrError, to_one_line

_TIMEOUT_SECONDS = 600


class Unreachable(EsrError):
    """An artifact that cannot be fetched."""


def fetch(coordinate: str, packaging: str = "jar") -> Path:
    """The file of an artifact, named as group:artifact:version. Raises Unreachable."""
    group, artifact, version = coordinate.split(":")
    repository = Path.home() / ".m2" / "repository"
    folder = repository.joinpath(*group.split("."), artifact, version)
    file = folder / f"{artifact}-{version}.{packaging}"
    if file.is_file():  # Maven writes to another name first, so what has this name is whole
        return file
    program = shutil.which("mvn")
    if program is None:
        raise Unreachable(f"there is no mvn to fetch {coordinate} with: install Maven")
    command = [program, "-q", "-B", "dependency:get", f"-Dartifact={coordinate}:{packaging}"]
    command += ["-Dtransitive=false", f"-Dmaven.repo.local={repository}"]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"mvn could not fetch {coordinate}: {to_one_line(error)}") from None
    if process.returncode or not file.is_file():
        lines = [line for line in (process.stdout + process.stderr).splitlines() if line.strip()]
        raise Unreachable(f"mvn could not fetch {coordinate}: {to_one_line((lines or ['no message'])[0])}")
    return file
