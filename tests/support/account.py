"""The user that a node runs as. Elasticsearch refuses to run as root, and CI machines often are root."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

from tests.support.base import NoNode

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
