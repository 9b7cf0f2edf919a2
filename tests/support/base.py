"""What every kind of test node has in common: a URL, a health check and the means to break it."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class NoNode(Exception):
    """There is no way to get a node here. The text says why, in one line."""


class NodeFailed(Exception):
    """A node did not start or cannot do what was asked. The text holds its last log lines, if any."""


class Node(ABC):
    """One Elasticsearch node of a test."""

    ca_file: Path | None = None
    """The certificate of the authority behind an https URL."""

    def __init__(self, name: str, url: str, user: str | None = None, password: str | None = None) -> None:
        self.name = name
        self.url = url
        self.user = user
        self.password = password

    @abstractmethod
    def start(self) -> None:
        """Start the node, also again after `kill`: with the same data and port. Does not wait: see `wait`."""

    @abstractmethod
    def kill(self) -> None:
        """End the node as a crash would (SIGKILL). Its data stay, so that `start` shows what survives."""

    @abstractmethod
    def pause(self) -> None:
        """Freeze the node (SIGSTOP): connections stay open and nothing answers, as with a hanging machine."""

    @abstractmethod
    def resume(self) -> None:
        """Let a paused node go on (SIGCONT)."""

    @abstractmethod
    def running(self) -> bool:
        """Whether the process is there. A paused node counts as running."""

    @abstractmethod
    def log_tail(self, lines: int = 25) -> str:
        """The last lines that the node printed, for error messages."""

    def stop(self) -> None:
        """End the node for good. Its data are thrown away with the cluster, so a kill is good enough."""
        self.kill()

    def get(self, path: str, timeout: float = 5.0) -> tuple[int, Any]:
        """GET a path and return the status and the decoded JSON.

        The standard library is used and not the client of the project, so that a fault of the
        client, or of the settings the project gives it, cannot keep a good node from being found.
        """
        parts = urlsplit(self.url)
        if parts.hostname is None:
            raise NodeFailed(f"{self.url!r} is no URL of a node")
        user = self.user or (unquote(parts.username) if parts.username else None)
        password = self.password or unquote(parts.password or "")
        headers = {}
        if user is not None:
            headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=self.ca_file)
            connection = http.client.HTTPSConnection(
                parts.hostname, parts.port or 443, timeout=timeout, context=context
            )
        else:
            connection = http.client.HTTPConnection(parts.hostname, parts.port or 9200, timeout=timeout)
        try:
            connection.request("GET", parts.path.rstrip("/") + path, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def wait(self, nodes: int = 1, deadline: float = 120.0) -> None:
        """Wait until the cluster of this node is at least yellow and has that many nodes.

        Raises `NodeFailed` with the last log lines if the node ends or the deadline passes.
        """
        end = time.monotonic() + deadline
        said = "it never answered"
        while time.monotonic() < end:
            if not self.running():
                raise NodeFailed(f"node {self.name} ended while it started\n{self.log_tail()}")
            try:
                query = f"wait_for_status=yellow&wait_for_nodes=%3E%3D{nodes}&timeout=1s"
                status, body = self.get(f"/_cluster/health?{query}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                said = f"its last answer was {error!r}"
            else:
                if status == 200:
                    return
                said = f"its last answer was {status} {json.dumps(body)[:300]}"
            time.sleep(0.2)
        failure = f"node {self.name} was not healthy after {deadline:.0f} s: {said}"
        raise NodeFailed(f"{failure}\n{self.log_tail()}")


class GivenNode(Node):
    """A node that somebody else runs, named by a URL. It is used as it is and never broken or stopped."""

    def start(self) -> None:
        """Nothing to do: the node runs already."""

    def kill(self) -> None:
        raise NodeFailed(f"{self.url} was given to the tests: they do not kill it")

    def pause(self) -> None:
        raise NodeFailed(f"{self.url} was given to the tests: they do not pause it")

    def resume(self) -> None:
        raise NodeFailed(f"{self.url} was given to the tests: they do not pause it")

    def stop(self) -> None:
        """Nothing to do: who started it stops it."""

    def running(self) -> bool:
        return True

    def log_tail(self, lines: int = 25) -> str:
        return ""
