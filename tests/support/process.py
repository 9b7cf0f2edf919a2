"""A node that is a process of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.support.base import Folder, Node, NodeFailed, NoNode, as_node_user, give
from tests.support.distribution import Distribution
from tests.support.watch import alive

# Below the ports that a system gives to outgoing connections, which could take one during the boot.
PORTS = range(20_000, 32_000)
TLS: Mapping[str, object] = {"enabled": True, "certificate": "node.crt", "key": "node.key"}


def port_is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """That many different free ports, picked at random so that parallel runs seldom pick the same."""
    ports: list[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        if len(ports) == count:
            break
        if port_is_free(port):
            ports.append(port)
    return ports


class ProcessNode(Node):
    """A node started from a distribution, with its own configuration, data and logs.

    The distribution is shared: ES_PATH_CONF and the `path.*` settings point to the node's own folder.
    """

    def __init__(
        self,
        distribution: Distribution,
        folder: Folder,
        name: str,
        port: int,
        settings: Mapping[str, object],
        java_options: Sequence[str],
        password: str | None,
        ca_file: Path | None = None,
    ) -> None:
        scheme = "https" if ca_file else "http"
        super().__init__(name, f"{scheme}://127.0.0.1:{port}", "elastic" if password else None, password)
        self.folder = folder.path / name
        self.ca_file = ca_file
        self._distribution = distribution
        self._notes = folder
        self._process: subprocess.Popen[bytes] | None = None
        tls = {f"xpack.security.http.ssl.{key}": value for key, value in TLS.items()} if ca_file else {}
        self._configure({"node.name": name, "http.port": port, **tls, **settings}, java_options)

    def _configure(self, settings: Mapping[str, object], java_options: Sequence[str]) -> None:
        for name in ("data", "logs", "tmp"):
            (self.folder / name).mkdir(parents=True)
        config = self.folder / "config"
        shutil.copytree(self._distribution.home / "config", config)
        paths = {"path.data": str(self.folder / "data"), "path.logs": str(self.folder / "logs")}
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in {**paths, **settings}.items()]
        (config / "elasticsearch.yml").write_text("".join(lines))
        (config / "jvm.options.d").mkdir(exist_ok=True)
        (config / "jvm.options.d" / "esr.options").write_text("\n".join(java_options) + "\n")
        if self.ca_file is not None:
            for file in ("node.crt", "node.key"):
                shutil.copy(self.ca_file.parent / file, config)
        give(self.folder)
        if self.password is not None:
            self._keystore(self.password)

    def _environment(self) -> dict[str, str]:
        """Few variables, so that the Java options of the user's shell do not get into the node."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(self.folder),
            "ES_JAVA_HOME": str(self._distribution.java),
            "ES_PATH_CONF": str(self.folder / "config"),
            "ES_TMPDIR": str(self.folder / "tmp"),
        }

    def _keystore(self, password: str) -> None:
        """Write the password of the user `elastic` where the node looks for it at its first start."""
        program = str(self._distribution.home / "bin" / "elasticsearch-cli")
        done = subprocess.run(
            [program, "add", "--stdin", "--force", "bootstrap.password"],
            input=password + "\n",
            env={**self._environment(), "CLI_NAME": "keystore", "CLI_LIBS": "lib/tools/keystore-cli"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **as_node_user(),
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip()
            raise NodeFailed(f"the keystore of node {self.name} could not be made\n{said}")

    @property
    def log(self) -> Path:
        """The file that holds all the node printed, over all its starts."""
        return self.folder / "console.log"

    def _command(self) -> list[str]:
        return [str(self._distribution.home / "bin" / "elasticsearch")]

    def start(self) -> None:
        if self.running():
            return
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                cwd=self.folder,
                start_new_session=True,  # its own process group: Ctrl-C is for the tests, not for the node
                **as_node_user(),
            )
        self._notes.note_group(self.name, self._process.pid)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the launcher and the server it started."""
        if self._process is None or not self.running():
            raise NodeFailed(f"node {self.name} does not run")
        os.killpg(self._process.pid, number)

    def stop(self) -> None:
        """End the node for good. Closing the folder waits for its server, so that many nodes end at once."""
        if self._process is not None:
            # The whole group: when the launcher alone has died, its server may still be there.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def kill(self) -> None:
        if self._process is None:
            return
        self.stop()
        end = time.monotonic() + 60
        while alive(self._process.pid) and time.monotonic() < end:  # until the port and the data are free
            time.sleep(0.02)
        self._notes.forget(self.name)
        self._process = None

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines: int = 25) -> str:
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(line[:500] for line in text.splitlines()[-lines:])


# A node that is a container, for machines with a Docker engine.


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
