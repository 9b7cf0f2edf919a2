"""Whose a load is, so that what a killed loader left can be told from what another one is writing."""

from __future__ import annotations

import os
import secrets
import socket

_PROCESS = secrets.token_hex(4)
"""Tells this process from an earlier one of the same number, as in a container that was started again."""


def me() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{_PROCESS}"


def is_dead(owner: str) -> bool:
    """Whether the loader was a process of this machine that is no more."""
    host, number, process = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    if int(number) == os.getpid():
        return process != _PROCESS
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def is_elsewhere(owner: str) -> bool:
    """Whether the loader is or was of another machine, so that nobody here knows whether it lives."""
    return owner.rsplit(":", 2)[0] != socket.gethostname()
