"""What every kind of test node has in common: a URL, a health check and the means to break it."""

from __future__ import annotations

import atexit
import base64
import http.client
import json
import os
import pwd
import shlex
import shutil
import ssl
import stat
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.support import watch


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


# The user that a node runs as. Elasticsearch refuses to run as root, and CI machines often are root.


USER = "esr-node"


def is_root() -> bool:
    """Whether this process is root, so that another user is needed for the node."""
    return os.geteuid() == 0


def node_user() -> pwd.struct_passwd | None:
    """The user to start the node as, made when missing. None means: as the present user."""
    if not is_root():
        return None
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        pass
    if shutil.which("useradd") is None:
        raise NoNode(f"Elasticsearch does not run as root, and there is no useradd to make the user {USER}")
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:  # Another process may have made the user meanwhile, so what counts is that it is there.
        return pwd.getpwnam(USER)
    except KeyError:
        raise NoNode(f"useradd could not make the user {USER}: {done.stderr.strip()}") from None


def as_node_user() -> dict[str, Any]:
    """The arguments that make `subprocess` start a process as the node's user, without root's groups.

    This does what `runuser -u` does, without a process of root between the test and the node.
    """
    user = node_user()
    if user is None:
        return {}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def give(folder: Path) -> None:
    """Make the node's user the owner of a folder and all that is in it."""
    user = node_user()
    if user is not None:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid)


def reachable(path: Path) -> bool:
    """Whether the node's user can get at the path.

    Root's home is closed to others on most systems. A program or a cache in it is of no use to the node.
    """
    if not is_root():
        return True
    path = path.resolve()
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in [path, *path.parents] if parent.exists())


# The temporary folder of a cluster, which does not outlive the test run, however that run ends.


class Folder:
    """A temporary folder with notes of what must end before it is removed.

    Three things can end a test run: it closes the folder itself, it exits without doing so (`atexit`),
    or it is killed. The last is the task of a watching process: see `watch`.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="esr-node-"))
        # Nodes run as another user below it: that user may pass through, but not look around.
        self.path.chmod(0o711)
        self._owner = os.getpid()
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", watch.__file__, str(self._owner), str(self.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.close)

    def note_group(self, name: str, group: int) -> None:
        """Note a process group that must be killed."""
        (self.path / f"{name}.group").write_text(str(group))

    def note_command(self, name: str, command: Sequence[str]) -> None:
        """Note a command that must be run, for what is no process of ours (a container)."""
        (self.path / f"{name}.command").write_text(shlex.join(command))

    def forget(self, name: str) -> None:
        """Drop the note of a group that has ended, since its number may be given to another process."""
        (self.path / f"{name}.group").unlink(missing_ok=True)

    def close(self) -> None:
        """End everything and remove the folder. May be called twice.

        A process forked from the test run shares this object but not the nodes: it changes nothing.
        """
        if os.getpid() != self._owner:
            return
        atexit.unregister(self.close)
        watch.clean(self.path)
        self._watcher.kill()
        self._watcher.wait()
