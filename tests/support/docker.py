"""A node that is a container, for machines with a Docker engine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache

from tests.support.base import Node, NodeFailed, NoNode
from tests.support.folder import Folder

IMAGE = "elasticsearch:9.4.3"  # the default of docker-compose.yml


@cache
def docker_answers() -> bool:
    """Whether there is an engine behind the `docker` command. Asked once: a hanging engine costs 5 s."""
    if shutil.which("docker") is None:
        return False
    try:
        return subprocess.run(["docker", "info"], capture_output=True, timeout=5, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def docker(*arguments: str) -> str:
    """Run a docker command and return what it printed."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise NodeFailed(f"docker {arguments[0]} failed: {last}")
    return done.stdout


class DockerNode(Node):
    """A container of the official image. It is removed with the folder that notes it."""

    def __init__(
        self,
        folder: Folder,
        name: str,
        network: str | None,
        port: int,
        settings: Mapping[str, object],
        java_options: Sequence[str],
        password: str | None,
    ) -> None:
        super().__init__(name, f"http://127.0.0.1:{port}", "elastic" if password else None, password)
        # The prefix keeps names apart from those of another run on this machine.
        self.container = f"{folder.path.name}-{name}"
        variables = {"node.name": name, "ES_JAVA_OPTS": " ".join(java_options)}
        variables |= {key: as_variable(value) for key, value in settings.items()}
        if password is not None:
            variables |= {"ELASTIC_PASSWORD": password, "xpack.security.http.ssl.enabled": "false"}
        folder.note_command(name, ["docker", "rm", "--force", "--volumes", self.container])
        create = ["create", "--name", self.container, "--publish", f"127.0.0.1:{port}:9200"]
        if network is not None:
            create += ["--network", network, "--network-alias", name]
        for key, value in variables.items():
            create += ["--env", f"{key}={value}"]
        try:
            docker(*create, IMAGE)  # fetches the image if need be
        except NodeFailed as error:
            raise NoNode(f"no container of {IMAGE} could be made: {error}") from None

    def start(self) -> None:
        docker("start", self.container)

    def kill(self) -> None:
        if self.running():
            docker("kill", self.container)

    def pause(self) -> None:
        docker("pause", self.container)

    def resume(self) -> None:
        docker("unpause", self.container)

    def running(self) -> bool:
        try:
            return docker("inspect", "--format", "{{.State.Running}}", self.container).strip() == "true"
        except NodeFailed:
            return False

    def log_tail(self, lines: int = 25) -> str:
        command = ["docker", "logs", "--tail", str(lines), self.container]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


def as_variable(value: object) -> str:
    """A setting as the image takes it from an environment variable."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


def docker_network(folder: Folder) -> str:
    """A network in which the containers of one cluster find each other by name."""
    name = folder.path.name
    folder.note_command("~network", ["docker", "network", "rm", name])  # sorts last: after its containers
    docker("network", "create", name)
    return name
