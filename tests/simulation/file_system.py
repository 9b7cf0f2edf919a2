"""A file system that records what a program does to a folder, and says what a crash may leave of it.

The program works on a real folder. Each call that changes something is recorded, so the product is unchanged:
`Recorder` stands between it and Python's functions of files. From the record, `after_crash` makes what may be
there after the power failed before any call. What POSIX promises holds, and nothing else:

- The content of a file is on disk once the file is synced, an entry of a folder once the folder is. A rename
  is one change of both of its folders.
- Of everything else, any part may be there, in any order: a `Loss` says which. A write may be torn, or leave
  a hole of zeros.
- No change undoes another: the last of those that are there determines what a name refers to.

A call may also fail, as on a full disk or one with errors, and another process may act before any call.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

# What is on disk


class File(NamedTuple):
    """A file's content, and its modification time in nanoseconds."""

    data: bytes
    modified: int


Image = dict[str, File | None]
"""The files of a folder by path, None for a folder; a folder precedes what is in it."""


def read_image(root: Path) -> Image:
    image: Image = {}
    for folder, folders, files in os.walk(root):
        folders.sort()
        if folder != str(root):
            image[os.path.relpath(folder, root)] = None
        for name in sorted(files):
            path = os.path.join(folder, name)
            with builtins.open(path, "rb", buffering=0) as file:
                image[os.path.relpath(path, root)] = File(file.read(), os.fstat(file.fileno()).st_mtime_ns)
    return image


# The record


class Call(NamedTuple):
    """A change. Files and folders are given by numbers.

    `kind` is link (also of a new file or folder), unlink, rename, write, cut, stamp or sync. `node` is the
    folder whose entry `name` changes, or the file. `other` is what the entry refers to. `source` is the
    folder and the entry that a rename takes away.
    """

    kind: str
    node: int
    name: str = ""
    other: int = -1
    source: tuple[int, str] = (-1, "")
    offset: int = 0
    data: bytes = b""
    modified: int = 0


class Loss(NamedTuple):
    """What of the changes that were not synced a crash leaves.

    `entries` and `content` are all, none, early (those before a random moment) or some (each with the chance
    `share`). What is left of content may also be torn (the last write that is left is incomplete) or zeros.
    """

    entries: str
    content: str
    seed: int
    share: float = 0.5


ENTRIES = ("all", "none", "early", "some")
CONTENT = ("all", "none", "early", "some", "torn", "zeros")


class Recorder:
    """Records the changes of a folder from an image on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[Call] = []
        self.attempts = 0
        """The number of calls begun in this step, also of those that failed or that another process made."""
        self.before_call: Callable[[int, str, str], None] = lambda number, kind, path: None
        """Called before each call with its number, its kind and its path. What it raises, the call raises."""
        self.forgets: Callable[[str], bool] = lambda path: False
        """Whether a sync of this path does nothing: a fault that is planted."""
        self.start({})

    def start(self, image: Image) -> None:
        """Make the folder what this image says, and record from here on."""
        _clear(self.root)
        self._content: dict[int, File] = {}
        self._entries: dict[int, dict[str, int]] = {0: {}}
        self._nodes = {self._inode(self.root): 0}
        self._paths = {0: ""}
        self._count = 1
        self.calls = []
        by_path = {"": 0}
        for path, file in image.items():
            full = self.root / path
            if file is None:
                full.mkdir()
            else:
                _write(full, file)
            folder, _, name = path.rpartition("/")
            number = by_path[path] = self._add(full)
            self._entries[by_path[folder]][name] = number
            if file is None:
                self._entries[number] = {}
            else:
                self._content[number] = file

    def _add(self, path: str | Path) -> int:
        number, self._count = self._count, self._count + 1
        self._nodes[self._inode(path)] = number
        return number

    @staticmethod
    def _inode(path: str | Path | int) -> int:
        return os.stat(path).st_ino

    def _place(self, path: str) -> tuple[int, str]:
        """The number of a path's folder, and its entry there."""
        folder, _, name = path.rpartition("/")
        return self._nodes[self._inode(folder)], name

    def _begin(self, kind: str, path: str) -> None:
        self.attempts += 1
        self.before_call(self.attempts, kind, os.path.relpath(path, self.root))

    def _path(self, path: Any, folder: int | None = None) -> str | None:
        """A path as a text if it is in the root, None otherwise."""
        if isinstance(path, int):
            return None
        text = os.fsdecode(path)
        if folder is not None:
            text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)
        text = os.path.abspath(text)
        return text if text.startswith(f"{self.root}/") else None

    # The calls

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls of the block."""
        with ExitStack() as stack:
            for owner, name, function in (
                (io, "open", self._open),
                (builtins, "open", self._open),
                (os, "open", self._os_open(os.open)),
                (os, "fsync", self._fsync(os.fsync)),
                (os, "rename", self._rename(os.rename)),
                (os, "replace", self._rename(os.replace)),
                (os, "link", self._link(os.link)),
                (os, "mkdir", self._mkdir(os.mkdir)),
                (os, "unlink", self._unlink(os.unlink)),
                (os, "remove", self._unlink(os.remove)),
                (os, "rmdir", self._unlink(os.rmdir)),
                (os, "utime", self._utime(os.utime)),
            ):
                stack.enter_context(mock.patch.object(owner, name, function))
            yield

    def _open(self, file: Any, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
        path = self._path(file)
        if path is None or not set(mode) & set("wxa+"):
            return _OPEN(file, mode, buffering, *args, **options)
        raw = _RecordedFile(self, path, mode.replace("b", "").replace("t", ""))
        if buffering == 0:
            return raw
        buffered = io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *args, **options)

    def _os_open(self, real: Callable[..., int]) -> Callable[..., int]:
        def open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            is_read = not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            assert is_read or self._path(path, dir_fd) is None, f"os.open writes {path}: record it too"
            return real(path, flags, mode, dir_fd=dir_fd)

        return open

    def _fsync(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def fsync(descriptor: int) -> None:
            path = os.readlink(f"/proc/self/fd/{descriptor}")
            if path != str(self.root) and self._path(path) is None:
                return real(descriptor)
            self._begin("sync", path)
            if not self.forgets(os.path.relpath(path, self.root)):
                self.calls.append(Call("sync", self._nodes[os.fstat(descriptor).st_ino]))
            return None

        return fsync

    def _rename(self, real: Callable[..., None]) -> Callable[..., None]:
        def rename(source: Any, target: Any) -> None:
            old, new = self._path(source), self._path(target)
            if old is None or new is None:
                return real(source, target)
            self._begin("rename", new)
            taken, (folder, name) = self._place(old), self._place(new)
            node = self._nodes[self._inode(old)]
            real(source, target)
            self.calls.append(Call("rename", folder, name, node, taken))
            return None

        return rename

    def _link(self, real: Callable[..., None]) -> Callable[..., None]:
        def link(source: Any, target: Any) -> None:
            new = self._path(target)
            if new is None:
                return real(source, target)
            self._begin("link", new)
            real(source, target)
            self.calls.append(Call("link", *self._place(new), self._nodes[self._inode(new)]))
            return None

        return link

    def _mkdir(self, real: Callable[..., None]) -> Callable[..., None]:
        def mkdir(target: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
            path = self._path(target, dir_fd)
            if path is None:
                return real(target, mode, dir_fd=dir_fd)
            self._begin("mkdir", path)
            real(target, mode, dir_fd=dir_fd)
            self.calls.append(Call("link", *self._place(path), self._add(path)))
            self._entries[self._count - 1] = {}
            return None

        return mkdir

    def _unlink(self, real: Callable[..., None]) -> Callable[..., None]:
        def unlink(target: Any, *, dir_fd: int | None = None) -> None:
            path = self._path(target, dir_fd)
            if path is None:
                return real(target, dir_fd=dir_fd)
            self._begin("unlink", path)
            real(target, dir_fd=dir_fd)
            self.calls.append(Call("unlink", *self._place(path)))
            return None

        return unlink

    def _utime(self, real: Callable[..., None]) -> Callable[..., None]:
        def utime(target: Any, *args: Any, **options: Any) -> None:
            real(target, *args, **options)
            path = self._path(target)
            if path is not None:
                modified = os.stat(path).st_mtime_ns
                self.calls.append(Call("stamp", self._nodes[self._inode(path)], modified=modified))

        return utime

    # What a crash leaves

    def after_crash(self, count: int, loss: Loss) -> Image:
        """What may be on disk if the power fails after `count` calls."""
        return self._walk(*self._left(count, loss))

    def _left(self, count: int, loss: Loss) -> tuple[dict[int, dict[str, int]], dict[int, File]]:
        """The entries of each folder and the content of each file."""
        chance = random.Random(loss.seed)
        durable = self._durable(count)
        moment = chance.randrange(count + 1)
        content = dict(self._content)
        entries = {node: dict(names) for node, names in self._entries.items()}
        for number, call in enumerate(self.calls[:count]):
            is_entry = call.kind in ("link", "unlink", "rename")
            way = loss.entries if is_entry else loss.content
            is_kept = durable[number] or _keeps(way, number < moment, chance, loss.share)
            if is_entry and is_kept:
                if call.kind == "rename":
                    entries.setdefault(call.source[0], {}).pop(call.source[1], None)
                if call.kind == "unlink":
                    entries.setdefault(call.node, {}).pop(call.name, None)
                else:
                    entries.setdefault(call.node, {})[call.name] = call.other
            elif call.kind in ("write", "cut", "stamp") and (is_kept or way in ("torn", "zeros")):
                data = call.data
                if not is_kept:
                    data = bytes(len(data)) if way == "zeros" else data[: chance.randrange(len(data) + 1)]
                content[call.node] = _apply(content.get(call.node, File(b"", 0)), call, data)
        return entries, content

    def settle(self) -> None:
        """The system writes everything to disk."""
        self._entries, self._content = self._left(len(self.calls), Loss("all", "all", 0))
        self.calls = []

    def image(self) -> Image:
        """What the record says is there, if nothing is lost."""
        return self.after_crash(len(self.calls), Loss("all", "all", 0))

    def _durable(self, count: int) -> list[bool]:
        """Whether each of the first calls was synced before the moment."""
        synced: set[int] = set()
        durable = [False] * count
        for number in range(count - 1, -1, -1):
            call = self.calls[number]
            if call.kind == "sync":
                synced.add(call.node)
            else:
                durable[number] = call.node in synced or call.source[0] in synced
        return durable

    def _walk(self, entries: dict[int, dict[str, int]], content: dict[int, File]) -> Image:
        image: Image = {}
        folders = [("", 0)]
        while folders:
            path, node = folders.pop()
            for name, other in sorted(entries.get(node, {}).items()):
                full = f"{path}/{name}" if path else name
                if other in entries:
                    image[full] = None
                    folders.append((full, other))
                else:
                    image[full] = content.get(other, File(b"", 0))
        return image


class _RecordedFile(io.FileIO):
    """A file that is written."""

    def __init__(self, recorder: Recorder, path: str, mode: str) -> None:
        self._recorder, self._path = recorder, path
        recorder._begin("open", path)
        is_new = not os.path.lexists(path)
        super().__init__(path, mode)
        if is_new:
            recorder.calls.append(Call("link", *recorder._place(path), recorder._add(path)))
        self._node = recorder._nodes[recorder._inode(self.fileno())]
        if not is_new and "w" in mode:
            recorder.calls.append(Call("cut", self._node, modified=self._modified))

    @property
    def _modified(self) -> int:
        return os.fstat(self.fileno()).st_mtime_ns

    def write(self, data: Any) -> int:
        self._recorder._begin("write", self._path)
        offset = self.tell()
        written = super().write(data)
        call = Call("write", self._node, offset=offset, data=bytes(data)[:written], modified=self._modified)
        self._recorder.calls.append(call)
        return written


_OPEN = io.open


def _keeps(way: str, is_early: bool, chance: random.Random, share: float) -> bool:
    if way in ("all", "none"):
        return way == "all"
    return is_early if way == "early" else chance.random() < share


def _apply(file: File, call: Call, data: bytes) -> File:
    if call.kind == "cut":
        return File(b"", call.modified)
    if call.kind == "stamp":
        return File(file.data, call.modified)
    before = file.data[: call.offset].ljust(call.offset, b"\0")
    return File(before + data + file.data[call.offset + len(data) :], call.modified)


def _write(path: Path, file: File) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        os.write(descriptor, file.data)
        os.utime(descriptor, ns=(file.modified, file.modified))
    finally:
        os.close(descriptor)


def _clear(root: Path) -> None:
    root.mkdir(exist_ok=True)
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


# Calls that fail


class Trouble:
    """Lets a call fail, and those after it of the same kinds if it persists."""

    def __init__(self, number: int, code: int, persists: bool) -> None:
        self._number, self._code, self._persists = number, code, persists
        self.failures = 0

    def __call__(self, number: int, kind: str, path: str) -> None:
        is_due = number >= self._number if self._persists else number == self._number
        if self._code == errno.ENOSPC and kind == "unlink":
            self._persists = False  # there is some space again
            return
        if is_due:
            self.failures += 1
            raise OSError(self._code, os.strerror(self._code), str(path))
