"""Runs the client of a package registry, which fetches an artifact."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from esr.errors import EsrError, to_one_line

_TIMEOUT_SECONDS = 600


class Unreachable(EsrError):
    """An artifact that cannot be fetched."""


def run_client(command: Sequence[str], client: str, artifact: str) -> None:
    """Run the command of a client. Raises Unreachable with the first line of what it says if it fails."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{client} could not fetch {artifact}: {to_one_line(error)}") from None
    if process.returncode:
        lines = [line for line in (process.stdout + process.stderr).splitlines() if line.strip()]
        problem = to_one_line((lines or ["no message"])[0])
        raise Unreachable(f"{client} could not fetch {artifact}: {problem}")
