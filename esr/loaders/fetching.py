"""What sources outside of the file system share: a report, and the folder of the files that they fetch.

What is known of a source is in a hidden file of its folder that is written after the others: if the program
is killed between the two, they are fetched again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec import DecodeError
from msgspec.json import decode, encode

from esr.errors import EsrError

_STATE = ".state.json"
SETTLED_SECONDS = 3
"""Files get times at least this far in the past, since `DeliveredFiles` takes younger ones for unfinished."""

State = TypeVar("State")


@dataclass
class FetchReport:
    """Numbers of places that were asked and of what they have. `failed` has places, `problems` the rest."""

    places: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    left: int = 0
    failed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, other: FetchReport) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Fetcher(Protocol):
    """A source that is fetched before it is read."""

    folder: Path

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch what is new into the folder, or, for a dry run, into another, which leaves all as it is.

        What cannot be fetched is reported and does not stop the rest. Raises EsrError if nothing can be
        written, and UsageError if a package or a password is missing.
        """
        ...


def read_state(folder: Path, type: type[State]) -> State:
    """What an earlier run knew, or an empty one. Raises EsrError."""
    path = folder / _STATE
    try:
        return decode(path.read_bytes(), type=type)
    except FileNotFoundError:
        return type()
    except (OSError, DecodeError) as error:
        raise EsrError(f"{path} cannot be read ({error}): delete it, and all is fetched again") from None


def write_state(folder: Path, state: object, modified: float) -> None:
    """Keep what is known for the next run. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / _STATE, [encode(state)], modified)


def write_file(path: Path, parts: Iterable[bytes], modified: float) -> None:
    """Write a file with this time of modification, at once for whoever reads the folder. Raises OSError."""
    hidden = path.with_name(f".{path.name[:200]}.new")
    with hidden.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    os.utime(hidden, (modified, modified))
    os.replace(hidden, path)
