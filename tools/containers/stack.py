"""The services of docker-compose.yml, under a separate project name, with separate ports and image."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tools.containers.daemon import PROJECT

_OF_ESR = ("image", "keys", "load", "esr")
_FEW_ARTICLES = 'sh -c "esr status 2>/dev/null || esr load examples/articles.jsonl"'
_RUN_ONCE = ("setup", "keys", "load")
_SMALL: dict[str, object] = {
    "mem_limit": "1g",
    "environment": {"ES_JAVA_OPTS": "-Xmx512m -Xms512m -XX:TieredStopAtLevel=1"},
}
"""Settings of a node for few articles: less memory, and less compilation at the start."""
_NODES = ("elasticsearch", "elasticsearch-2", "elasticsearch-3")
THREE_NODES = {
    "COMPOSE_PROFILES": "cluster",
    "ELASTICSEARCH_SEEDS": ",".join(_NODES),
    "ESR_HOSTS": ",".join(f"{node}:9200" for node in _NODES),
}
"""The settings of .env.example for three nodes."""


class Failed(Exception):
    """The containers failed. The message says how."""


class Stack:
    """`docker compose` for this project, independent of others that use the same file."""

    def __init__(self, folder: Path, name: str, has_few_articles: bool = False) -> None:
        """`folder` is for the file that overrides docker-compose.yml."""
        self.name = name
        self.image = f"{name}:latest"
        override = folder / "override.yml"
        changed: dict[str, dict[str, object]] = {service: {"image": self.image} for service in _OF_ESR}
        if has_few_articles:
            changed["load"]["command"] = _FEW_ARTICLES
            changed |= dict.fromkeys(_NODES, _SMALL)
        override.write_text(json.dumps({"services": changed}))  # JSON is YAML
        page, elasticsearch = _free_ports(2)
        self.url = f"http://127.0.0.1:{page}"
        self._environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ESR_")},
            "ESR_LISTEN": f"127.0.0.1:{page}",
            "ELASTICSEARCH_LISTEN": f"127.0.0.1:{elasticsearch}",
            "COMPOSE_PROFILES": "",
        }
        files = ["-f", str(PROJECT / "docker-compose.yml"), "-f", str(override)]
        self._program = [*compose_program(), *files, "--project-name", name]

    def use(self, settings: dict[str, str]) -> None:
        """Set variables, as in .env, for later commands."""
        self._environment |= settings

    def compose(self, *arguments: str, input: str | None = None) -> str:
        """The output of a command. Raises Failed with its last lines."""
        done = subprocess.run(
            [*self._program, *arguments],
            cwd=PROJECT,
            env=self._environment,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failed(f"compose {arguments[0]} ended with {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout

    def esr(self, *arguments: str, input: str | None = None) -> str:
        """Run esr with the loader's key."""
        return self.compose("run", "--rm", "-T", "load", "esr", *arguments, input=input)

    def containers(self) -> dict[str, str]:
        """The ids of the containers by service, including stopped ones."""
        label = f"label=com.docker.compose.project={self.name}"
        form = '{{.ID}} {{.Label "com.docker.compose.service"}}'
        lines = docker("ps", "--all", "--filter", label, "--format", form).splitlines()
        return {service: container for container, service in map(str.split, lines)}

    def logs(self, service: str) -> str:
        return docker("logs", self.containers()[service])

    def last_lines(self) -> str:
        """The last lines of each service's log, and its state."""
        form = "{{.State.Status}} {{.State.ExitCode}}, restarted {{.RestartCount}} times"
        return "\n".join(
            f"-- {service}: {docker('inspect', '--format', form, container)}\n"
            f"{docker('logs', '--tail', '12', container)}"
            for service, container in self.containers().items()
        )

    def seconds(self) -> dict[str, float]:
        """Seconds of each service: one-off services until their end, the first node until keys are made."""
        form = (
            '{{index .Config.Labels "com.docker.compose.service"}} {{.State.StartedAt}} {{.State.FinishedAt}}'
        )
        times = {}
        for line in docker("inspect", "--format", form, *self.containers().values()).splitlines():
            service, *began_and_ended = line.split()
            times[service] = [datetime.fromisoformat(time) for time in began_and_ended]
        ran = {
            service: (ended - began).total_seconds()
            for service, (began, ended) in times.items()
            if service in _RUN_ONCE
        }
        waited = times["keys"][0] - times["elasticsearch"][0]
        return {"elasticsearch": waited.total_seconds(), **ran}

    def kill(self, service: str) -> None:
        """Kill the first process of a container as the system would, so that the daemon restarts it."""
        process = docker("inspect", "--format", "{{.State.Pid}}", self.containers()[service])
        try:
            os.kill(int(process), signal.SIGKILL)
        except PermissionError:  # not root: the daemon does not restart a container killed this way
            docker("kill", self.containers()[service])
            docker("start", self.containers()[service])

    def memory(self) -> dict[str, str]:
        """The memory used by each running service, and its limit."""
        services = {container: service for service, container in self.containers().items()}
        lines = docker("stats", "--no-stream", "--format", "{{.ID}}\t{{.MemUsage}}").splitlines()
        used = dict(line.split("\t") for line in lines)
        return {services[container]: used[container] for container in used if container in services}

    def ask(self, path: str, timeout: float = 60.0) -> tuple[int, str]:
        """The status and the text of the page's answer; status 0 without an answer."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=timeout) as answer:  # nosec B310  # a server of this tool
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def search(self, query: str) -> list[dict[str, Any]]:
        """The hits of a query. Raises Failed if the answer is incomplete."""
        status, text = self.ask(f"/api/v1/search?q={quote(query)}")
        if status != 200:
            raise Failed(f"a search was answered {status}: {text[:500]}")
        answer = json.loads(text)
        if answer.get("incomplete"):
            raise Failed(f"a search was incomplete: {answer['incomplete']}")
        hits: list[dict[str, Any]] = answer["hits"]
        return hits

    def remains(self) -> dict[str, list[str]]:
        """The remaining objects of this project in the daemon, by kind."""
        label = f"label=com.docker.compose.project={self.name}"
        return {
            "containers": docker("ps", "--all", "--quiet", "--filter", label).split(),
            "volumes": docker("volume", "ls", "--quiet", "--filter", label).split(),
            "networks": docker("network", "ls", "--quiet", "--filter", label).split(),
        }


def docker(*arguments: str) -> str:
    """The output of a docker command, with errors. Raises Failed."""
    done = subprocess.run(
        ["docker", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise Failed(f"docker {' '.join(arguments[:2])} failed: {done.stdout[-1000:]}")
    return done.stdout.strip()


def compose_program() -> list[str]:
    """The command of Compose 2, or else of the older program. Raises Failed if neither exists."""
    for command in (["docker", "compose"], ["docker-compose"]):
        try:
            if subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0:
                return command
        except OSError:
            continue
    raise Failed("there is no docker compose: install it")


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
