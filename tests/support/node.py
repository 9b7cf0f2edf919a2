"""A real Elasticsearch for the tests: one node or a cluster, on any machine that can have one.

    with Cluster.start(nodes=3) as cluster:
        cluster.nodes[0].kill()

Where it comes from, in this order: the URL in ESR_TEST_ELASTICSEARCH (if the caller allows a shared node),
Docker, a distribution fetched by Maven. As a program, `python -m tests.support.node` runs one until Ctrl-C.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.base import Folder, GivenNode, Node, NodeFailed, NoNode
from tests.support.distribution import get_distribution
from tests.support.process import (
    DockerNode,
    ProcessNode,
    docker_answers,
    docker_network,
    free_ports,
    port_is_free,
)

# An authority and a certificate for nodes of this machine, made by openssl.


def make_certificate(folder: Path) -> Path:
    """Write `ca.crt`, `node.crt` and `node.key` into a folder. Returns the authority's file."""
    if shutil.which("openssl") is None:
        raise NoNode("there is no openssl to make certificates with")
    key = ["-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    _openssl(folder, "req", "-x509", *key, "-subj", "/CN=esr-test-ca", "-keyout", "ca.key", "-out", "ca.crt")
    signed = ["-CA", "ca.crt", "-CAkey", "ca.key"]
    _openssl(
        folder, "req", "-x509", *key, *signed, "-subj", "/CN=node", "-addext", names,
        "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "node.key", "-out", "node.crt",
    )  # fmt: skip
    return folder / "ca.crt"


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNode(f"openssl made no certificate: {done.stderr.strip()}")


__all__ = ["HOW_TO", "URL_VARIABLE", "Cluster", "NoNode", "Node", "NodeFailed"]

URL_VARIABLE = "ESR_TEST_ELASTICSEARCH"
HOW_TO = f"set {URL_VARIABLE} to the URL of a node, or start Docker, or install Maven (mvn) and a JDK"
# Small tests on a full disk are no reason for an index that turns read-only.
SETTINGS: Mapping[str, object] = {"cluster.routing.allocation.disk.threshold_enabled": False}
# What a full distribution starts and these tests do not use. A smaller one refuses unknown settings.
DOCKER_SETTINGS: Mapping[str, object] = {
    "ingest.geoip.downloader.enabled": False,
    "xpack.ml.enabled": False,
    "node.store.allow_mmap": False,  # several nodes would need a kernel setting for it
}

# The optimising compiler takes half the processor time of a node that lives for minutes, and its start twice.
QUICK_JAVA = ("-XX:TieredStopAtLevel=1",)


class Cluster:
    """One or more nodes that belong together. Stop it, or use it in a `with` statement."""

    def __init__(self, nodes: list[Node], folder: Folder | None) -> None:
        self.nodes = nodes
        self._folder = folder

    @classmethod
    def start(
        cls,
        nodes: int = 1,
        security: bool = False,
        tls: bool = False,
        heap: str = "512m",
        port: int | None = None,
        settings: Mapping[str, object] | None = None,
        own: bool = True,
        deadline: float = 120.0,
        is_measured: bool = False,
    ) -> Cluster:
        """Start a cluster and wait until it is healthy.

        `own=False` allows the node that ESR_TEST_ELASTICSEARCH names. Such a node is shared and cannot
        be broken, so it is only taken when nothing special is asked for.
        `is_measured` lets Java optimise its code as in production. Tests do without: see `QUICK_JAVA`.
        `tls` is for a cluster with security: its URLs are https, and `ca_file` is what to trust.
        Raises `NoNode` if there is no way to get one, `NodeFailed` if one does not start.
        """
        url = os.environ.get(URL_VARIABLE)
        if url and not own:
            return cls._join(url)
        folder = Folder()
        cluster = cls([], folder)
        try:
            ca_file = make_certificate(folder.path) if tls else None
            java_options = [f"-Xms{heap}", f"-Xmx{heap}", *(() if is_measured else QUICK_JAVA)]
            cluster._make(folder, nodes, security, java_options, port, dict(settings or {}), ca_file)
            for node in cluster.nodes:
                node.start()
            cluster.wait(deadline=deadline)
        except BaseException:
            cluster.stop()
            raise
        return cluster

    @classmethod
    def _join(cls, url: str) -> Cluster:
        node = GivenNode("given", url.rstrip("/"))
        try:
            node.wait(deadline=10)
        except NodeFailed as error:
            raise NoNode(f"{URL_VARIABLE} is set, but {str(error).strip()}") from None
        return cls([node], None)

    def _make(
        self,
        folder: Folder,
        count: int,
        security: bool,
        java_options: Sequence[str],
        port: int | None,
        more: dict[str, object],
        ca_file: Path | None,
    ) -> None:
        """Make the nodes, not started yet, of the first source that there is."""
        wanted = [] if port is None else [port + i for i in range(count)]
        free = [number for number in free_ports(3 * count) if number not in wanted]
        ports = wanted or free[-count:]
        inner = free[:count]  # for the nodes to talk to each other
        taken = [number for number in ports if not port_is_free(number)]
        if taken:
            raise NodeFailed(f"port {taken[0]} is in use")
        password = secrets.token_urlsafe(12) if security else None
        names = [f"esr-{i}" for i in range(count)]
        common = {**SETTINGS, "cluster.name": folder.path.name, "xpack.security.enabled": security}
        # In containers, several nodes with security would need certificates, and so would TLS.
        if docker_answers() and not (security and count > 1) and not ca_file:
            settings = {**common, **DOCKER_SETTINGS, **discovery(names, names), **more}
            try:
                network = docker_network(folder) if count > 1 else None
                for name, number in zip(names, ports, strict=True):
                    self.nodes.append(
                        DockerNode(folder, name, network, number, settings, java_options, password)
                    )
                return
            except NoNode as error:  # for example an image that cannot be fetched
                print(f"{error}; trying Maven", file=sys.stderr)
                self.nodes.clear()
        distribution = get_distribution()
        found = discovery(names, [f"127.0.0.1:{number}" for number in inner])
        settings = {**common, "network.host": "127.0.0.1", **found, **more}
        for name, number, transport in zip(names, ports, inner, strict=True):
            own = {**settings, "transport.port": transport}
            self.nodes.append(
                ProcessNode(distribution, folder, name, number, own, java_options, password, ca_file)
            )

    @property
    def url(self) -> str:
        """The URL of the first node."""
        return self.nodes[0].url

    @property
    def urls(self) -> list[str]:
        """The URLs of all nodes, for a client that changes over when one is gone."""
        return [node.url for node in self.nodes]

    @property
    def ca_file(self) -> Path | None:
        """The certificate of the authority behind https URLs."""
        return self.nodes[0].ca_file

    @property
    def auth(self) -> tuple[str, str] | None:
        """User and password of the superuser, or None without security."""
        node = self.nodes[0]
        return (node.user, node.password) if node.user and node.password else None

    def wait(self, deadline: float = 120.0) -> None:
        """Wait until every running node is in a cluster that is at least yellow."""
        end = time.monotonic() + deadline
        for node in self.nodes:
            node.wait(len(self.nodes), max(1.0, end - time.monotonic()))

    def stop(self) -> None:
        """End all nodes and remove their data. May be called twice."""
        if self._folder is None:
            return
        for node in self.nodes:
            node.stop()
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def discovery(names: Sequence[str], addresses: Sequence[str]) -> dict[str, object]:
    """The settings by which the nodes find each other."""
    if len(names) == 1:
        return {"discovery.type": "single-node"}
    return {"discovery.seed_hosts": list(addresses), "cluster.initial_master_nodes": list(names)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a node or a cluster until Ctrl-C, or until a node ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.node", description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=1, help="how many nodes (default 1)")
    parser.add_argument("--security", action="store_true", help="with users and API keys")
    parser.add_argument("--tls", action="store_true", help="by https, with a certificate of its own")
    parser.add_argument("--port", type=int, help="HTTP port of the first node (default: any free one)")
    parser.add_argument("--heap", default="512m", help="heap of each node (default 512m)")
    options = parser.parse_args(arguments)
    if options.nodes < 1:
        parser.error("--nodes must be at least 1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as on Ctrl-C
    try:
        with Cluster.start(
            options.nodes,
            options.security or options.tls,
            options.tls,
            options.heap,
            options.port,
            is_measured=True,
        ) as cluster:
            for url in cluster.urls:
                print(url, flush=True)
            if cluster.auth:
                if cluster.ca_file:
                    print(f"certificate {cluster.ca_file}")
                print("user {} password {}".format(*cluster.auth), flush=True)
            while all(node.running() for node in cluster.nodes):
                time.sleep(0.5)
            print("a node ended", file=sys.stderr)
            return 1
    except NoNode as error:
        print(f"no Elasticsearch node: {error}", file=sys.stderr)
    except NodeFailed as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())


# One node for all the processes of a test run: starting and warming one up takes longer than most tests.


HEAP = "1g"
_PATIENCE = 600.0
"""Seconds for which the process that started the node waits for the others to finish with it."""


@contextmanager
def shared_node(folder: Path | None) -> Iterator[str]:
    """The URL of the node. `folder` is one that the processes share; without it the node is this one's own.

    The first process that needs it starts it, and stops it when the others have finished. Raises NoNode.
    """
    if folder is None or os.environ.get(URL_VARIABLE):
        with Cluster.start(own=False, heap=HEAP) as cluster:
            yield cluster.url
        return
    with _locked(folder) as state:
        cluster = None if state.exists() else Cluster.start(own=False, heap=HEAP)
        if cluster:
            state.write_text(json.dumps({"url": cluster.url, "users": 0}), "utf-8")
        url = _change_users(state, 1)
    try:
        yield url
    finally:
        with _locked(folder) as state:
            _change_users(state, -1)
        if cluster:
            _wait_for_others(folder)
            cluster.stop()


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """The file that tells of the node, while no other process reads or writes it."""
    with (folder / "elasticsearch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "elasticsearch.json"


def _change_users(state: Path, by: int) -> str:
    node = json.loads(state.read_text("utf-8"))
    state.write_text(json.dumps({**node, "users": node["users"] + by}), "utf-8")
    return str(node["url"])


def _wait_for_others(folder: Path) -> None:
    """Whoever comes later starts a node of its own."""
    end = time.monotonic() + _PATIENCE
    while True:
        with _locked(folder) as state:
            if json.loads(state.read_text("utf-8"))["users"] == 0 or time.monotonic() > end:
                state.unlink()
                return
        time.sleep(0.5)
