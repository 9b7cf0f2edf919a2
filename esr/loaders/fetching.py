"""Sources outside of the file system, which `esr sync` fetches into a folder of files: what all share.

The state of a source is in a hidden file of its folder, which is written after the other files: if the
program is killed before that, they are fetched again. `esr.sources` has mailboxes, buckets and feeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import DecodeError, Struct, field
from msgspec.json import decode, encode

from esr.errors import EsrError
from esr.registry import Registry

_STATE = ".state.json"
SETTLED_SECONDS = 3
"""Files get modification times at least this far in the past: `DeliveredFiles` reads younger ones again."""

State = TypeVar("State")


@dataclass
class FetchReport:
    """Counts of places and of their items. `failed` has places that failed, `problems` other messages."""

    places: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    left: int = 0
    failed: list[str] = data_field(default_factory=list)
    problems: list[str] = data_field(default_factory=list)

    def add(self, other: FetchReport) -> None:
        """Add the counts and the messages of another report."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Fetcher(Protocol):
    """A remote source, fetched before it is read."""

    folder: Path

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch new items into the folder of the source; for a dry run into `target`, without other changes.

        Items that cannot be fetched are reported, and the others are still fetched. Raises EsrError if
        nothing can be written, and UsageError if a package or a password is missing.
        """
        ...


class SyncSource(Struct, frozen=True):
    """A kind of sources that `esr sync` fetches. Its name is the key in a source that has their addresses.

    `items` is the word for their contents, `example` an example of an address. `open` gets the addresses, the
    folder for the files, and the values of the options. These are options of click, and keys of the file.
    `source_options` are the keys for reading files that apply to them, by default all but those in `fixed`.
    `is_complete`: whether documents that the source no longer has can be removed.
    """

    name: str
    items: str
    example: str
    open: Callable[[Sequence[str], Path, Mapping[str, Any]], Fetcher]
    options: Sequence[Callable[[Any], Any]] = ()
    source_options: Collection[str] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = False


SYNC_SOURCES: Registry[SyncSource] = Registry("source of esr sync", "sources", SyncSource)
"""The kinds of sources that `esr sync` fetches, by their key."""


def read_state(folder: Path, type: type[State]) -> State:
    """The state stored by the previous run, or an empty one. Raises EsrError."""
    path = folder / _STATE
    try:
        return decode(path.read_bytes(), type=type)
    except FileNotFoundError:
        return type()
    except (OSError, DecodeError) as error:
        raise EsrError(f"{path} cannot be read ({error}): delete it, and all is fetched again") from None


def write_state(folder: Path, state: object, modified: float) -> None:
    """Store the state for the next run. Raises OSError.

    `modified` is the modification time of its file, in seconds since 1970. The entries of the files that were
    fetched are made durable first. Otherwise a power failure could leave a state that knows of a file that is
    gone, which would not be fetched again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path, _, _ in os.walk(folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    write_file(folder / _STATE, [encode(state)], modified)


def write_file(path: Path, parts: Iterable[bytes], modified: float | None = None) -> None:
    """Write a file atomically. Raises OSError.

    `modified`: its modification time in seconds since 1970, by default now.
    """
    hidden = path.with_name(f".{path.name[:200]}.{os.getpid()}.new")
    try:
        with hidden.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        if modified is not None:
            os.utime(hidden, (modified, modified))
        os.replace(hidden, path)
    finally:
        hidden.unlink(missing_ok=True)
