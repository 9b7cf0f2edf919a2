"""Names that were replaced: until when they work, and the warning that says so.

Former names of arguments are in the tables of arguments (`Alias`), those of Python here. docs/versions.md
lists both, held by a test.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any, NamedTuple

GRACE = 2
"""For how many minor versions a replaced name works after the one that replaced it."""


class MovedName(NamedTuple):
    """A public name of Python that has another one now. `now` is its module and its name."""

    module: str
    name: str
    now: str
    since: str


MOVED_NAMES = (
    MovedName("esr.lab.measures", "compare_systems", "esr.lab.significance.compare_systems", "0.3"),
    MovedName("esr.lab.measures", "read_qrels", "esr.lab.judgements.read_qrels", "0.3"),
)


def last_version(since: str) -> str:
    """The version with which a name may go that was replaced in the version `since`."""
    major, minor = since.split(".")[:2]
    return f"{major}.{int(minor) + GRACE}"


def deprecation(former: str, now: str, since: str, note: str = "") -> str:
    """What is said to users of a former name: the replacement, and the version with which the name goes."""
    return f"{former} is deprecated and goes with esr {last_version(since)}: use {now}{note and f' ({note})'}"


def warn_of_former_name(message: str) -> None:
    """A DeprecationWarning at the line outside of esr that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_of_esr(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DeprecationWarning, stacklevel=level)


def _is_of_esr(module: str) -> bool:
    return module.partition(".")[0] in ("esr", "webui")


def find_moved(module: str, name: str) -> Any:
    """What a module's former name stands for, with a warning: for `__getattr__` of the module.

    Raises AttributeError for any other name.
    """
    for moved in MOVED_NAMES:
        if (moved.module, moved.name) == (module, name):
            warn_of_former_name(deprecation(f"{module}.{name}", moved.now, moved.since))
            return getattr(import_module(moved.now.rpartition(".")[0]), moved.now.rpartition(".")[2])
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
