"""Fetches an artifact with Maven, which keeps it in the user's local repository."""

from __future__ import annotations

import shutil
from pathlib import Path

from esr.encoders.download import Unreachable, run_client


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
    run_client(command, "mvn", coordinate)
    if not file.is_file():
        raise Unreachable(f"mvn could not fetch {coordinate}: there is no {file}")
    return file
