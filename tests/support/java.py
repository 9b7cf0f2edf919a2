"""Find a JDK that is new enough for Elasticsearch. The `java` on the PATH is often too old.

A JRE is not enough: Elasticsearch needs the module jdk.jlink, which JREs leave out.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.support.account import reachable

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
