"""Try a distribution in an empty environment: esr says its version, loads, searches and serves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.release_commands import ReleaseError, environment, output, run

QUERY, ANSWER = "earthquake relief China", "earthquake-relief.s0"
"""A query for the example articles, and the sentence that must come first."""
_START_SECONDS = 60


@contextmanager
def install(distribution: Path, extras: tuple[str, ...] = ()) -> Iterator[Path]:
    """An empty environment with a distribution and some of its extras: the folder of its programs."""
    with tempfile.TemporaryDirectory(prefix="esr-release-") as name:
        venv.create(Path(name) / "venv", with_pip=False)
        programs = Path(name) / "venv" / ("Scripts" if os.name == "nt" else "bin")
        what = f"{distribution}[{','.join(extras)}]" if extras else str(distribution)
        # Python compiles what is imported, which is little of it.
        run(*_pip(programs), "install", "--quiet", "--no-compile", what)
        yield programs


def _pip(programs: Path) -> tuple[str, ...]:
    """Our own pip, working on an environment: each of its own would have to be installed first."""
    return (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python"))


def try_installation(tree: Path, distribution: Path, version: str, extras: tuple[str, ...] = ()) -> None:
    """Raises ReleaseError for what does not work."""
    with install(distribution, extras) as programs, tempfile.TemporaryDirectory() as name:
        folder, esr, index = Path(name), str(programs / "esr"), str(Path(name) / "index")
        if (said := output(esr, "--version", folder=folder).strip()) != f"esr, version {version}":
            raise ReleaseError(f"esr --version of {distribution.name} says {said!r}")
        run(*_pip(programs), "check")
        run(esr, "load", str(tree / "examples" / "articles.jsonl"), "--index", index, folder=folder)
        check_answer(output(esr, "search", QUERY, "--index", index, "-k", "1", "--json", folder=folder))
        try_server(esr, index, folder)


def check_answer(answer: str) -> None:
    sentences = [hit["sentence_id"] for hit in json.loads(answer)["hits"]]
    if sentences[:1] != [ANSWER]:
        raise ReleaseError(f"a search for {QUERY!r} finds {sentences[:1]} first, and not {ANSWER}")


def try_server(esr: str, index: str, folder: Path) -> None:
    """The server starts, answers a search, and ends when it is told to."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [esr, "serve", "--index", index, "--port", str(port)],
        cwd=folder,
        env=environment(),
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            check_answer(_ask(f"http://127.0.0.1:{port}/api/v1/search?q={QUERY.replace(' ', '+')}", server))
        finally:
            server.terminate()
            status = server.wait(_START_SECONDS)
    if status:
        raise ReleaseError(f"esr serve ended with {status}")


def _ask(url: str, server: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=_START_SECONDS) as answer:
                text: str = answer.read().decode()
                return text
        except urllib.error.HTTPError as error:
            raise ReleaseError(f"{url} answers {error.code}: {error.read().decode()[:300]}") from error
        except OSError:
            time.sleep(0.2)
    raise ReleaseError(f"esr serve did not answer within {_START_SECONDS} s")
