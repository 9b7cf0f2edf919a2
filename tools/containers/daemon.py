"""A Docker daemon: a running one, or one started temporarily."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROJECT = FOLDER.parents[1]
_START_SECONDS = 300  # includes the installation of packages


class NoDaemon(Exception):
    """There is no daemon and none can be started, or it cannot get images."""


def daemon_answers() -> bool:
    try:
        done = subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def check_daemon() -> bool:
    """Whether a daemon answers. Raises NoDaemon if none does and none can be started."""
    if daemon_answers():
        return True
    if os.geteuid() != 0:
        raise NoDaemon("no Docker daemon answers: start one, or run this as root")
    if shutil.which("dockerd") is None and shutil.which("apt-get") is None:
        raise NoDaemon("no Docker daemon answers, and there is none to start: install Docker")
    return False


@contextmanager
def hold_daemon() -> Iterator[str]:
    """The address of a daemon for DOCKER_HOST, "" for the default one. Raises NoDaemon."""
    if check_daemon():
        yield os.environ.get("DOCKER_HOST", "")
        return
    before = os.environ.get("DOCKER_HOST")
    with tempfile.TemporaryDirectory(prefix="esr-docker-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (folder / "log").open("w") as log:
            command = [str(FOLDER / "daemon.sh"), name]
            daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        os.environ["DOCKER_HOST"] = f"unix://{name}/docker.sock"
        try:
            _wait_for(daemon, folder / "log")
            yield os.environ["DOCKER_HOST"]
        finally:
            daemon.terminate()
            try:
                daemon.wait(60)
            except subprocess.TimeoutExpired:
                daemon.kill()
            if before is None:
                del os.environ["DOCKER_HOST"]
            else:
                os.environ["DOCKER_HOST"] = before


def _wait_for(daemon: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while not daemon_answers():
        if daemon.poll() is not None or time.monotonic() > end:
            raise NoDaemon(f"no Docker daemon could be started:\n{log.read_text()[-2000:]}")
        time.sleep(1)


def make_images() -> None:
    """Fetch the base images of the project, or build substitutes if no registry can be reached.

    Raises NoDaemon if neither is possible.
    """
    if subprocess.run([str(FOLDER / "images.sh"), str(PROJECT)], check=False).returncode:
        raise NoDaemon("the images that the project's start from can be neither fetched nor made")
