"""Which process writes a load, so that what a killed loader left can be told from what another one writes.

An owner is `host:process id:token`.
"""

from __future__ import annotations

import os
import secrets
import socket

_TOKEN = secrets.token_hex(4)
"""Tells this process from an earlier one with the same id, as in a container that was started again."""


def this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{_TOKEN}"


def host(owner: str) -> str:
    return owner.rsplit(":", 2)[0]


def is_dead(owner: str) -> bool:
    """Whether the loader was a process of this machine that has ended."""
    machine, process_id, token = owner.rsplit(":", 2)
    if machine != socket.gethostname():
        return False
    if int(process_id) == os.getpid():
        return token != _TOKEN
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def is_remote(owner: str) -> bool:
    """Whether the loader ran or runs on another machine: nothing here can tell whether it is alive."""
    return host(owner) != socket.gethostname()
