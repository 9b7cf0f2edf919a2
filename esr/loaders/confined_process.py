"""Reads files of a format in a child process with limits, so that a hostile file cannot exhaust the machine.

A PDF of a few hundred bytes can make its library take all memory, or crash. The child has a limit of address
space, and one of processor time for each file. If it dies, its file is refused, and the next file gets
another child. A child is reused until the outermost `hold_process` ends, since starting one takes a third of
a second.

The child gets the path of a file, or its bytes if it is compressed or in an archive. Its answer may hold
instances of a few classes only, so even a child that a file has taken over cannot run code in the parent.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from math import ceil
from pathlib import Path
from threading import RLock, Thread
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from esr.errors import InputError
from esr.processes import after_fork
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import resource
else:
    resource = import_lazily("resource")  # Windows has none
from esr.loaders.files import raise_input_errors
from esr.loaders.format import (
    Format,
    Malformed,
    ReadResult,
    Record,
    Remark,
    Skipped,
    Source,
    get,
    open_stream,
)
from esr.processes import can_start_python, start_python
from esr.text.placed_text import PlacedText

MEMORY_BYTES = 2 * 2**30
"""Address space of the child, beyond what it has when it starts."""
SECONDS = 300
"""Processor time for one file: enough for some 10,000 pages of text."""
_LENGTH_BYTES = 8
_CHUNK_BYTES = 2**18
_EXIT_SECONDS = 10.0
_PARENT_CHECK_SECONDS = 1.0
_PROGRAM = "import sys; from esr.loaders import confined_process as p; p.run_child(*map(int, sys.argv[1:]))"
"""The program of the child. Its arguments are the process id of the parent, and the limits."""

_RESULTS = (Record, Malformed, Skipped, Remark)
_Results = list[ReadResult | Remark]


def read_confined(format: Format, source: Source) -> Iterator[ReadResult | Remark]:
    """What the format reads in a source, read by the child.

    Raises InputError as the format does, and also if the child exceeds a limit or crashes.
    """
    if not can_start_python():
        yield from format.read(source)
        return
    with hold_process() as child:
        results, error = child.read(format, source)
    yield from results
    if error:
        raise error


@contextmanager
def hold_process() -> Iterator[Child]:
    """Reuse one child for all files that are read in the block, and end it after the block."""
    child = CHILD
    with child.lock:
        child.holders += 1
    try:
        yield child
    finally:
        with child.lock:
            child.holders = max(0, child.holders - 1)  # it is 0 in a fork
            if not child.holders:
                child.end()


class _ChildDied(Exception):
    """The process has ended amid an exchange."""


class Child:
    """The parent's side of the process, which is started at first use. Threads take turns."""

    def __init__(self) -> None:
        self.lock: RLock = RLock()
        self.holders = 0
        self.process: subprocess.Popen[bytes] | None = None

    def read(self, format: Format, source: Source) -> tuple[_Results, InputError | None]:
        """The results of a source, and the error that they end with. Raises InputError if the child dies."""
        with self.lock:
            try:
                self._send(format, source)
                results, failure = AnswerDecoder(BytesIO(self._receive())).load()
            except _ChildDied:
                raise InputError(source.name, _describe_death(self._wait())) from None
            except BaseException:  # such as an interrupt, or a truncated archive: the exchange is incomplete
                self.end()
                raise
        if isinstance(failure, str):
            raise RuntimeError(failure)
        return results, failure

    def end(self) -> None:
        """Kill the process, which keeps no state."""
        if self.process:
            self.process.kill()
            self._wait()

    def renew(self) -> None:
        """Forget the process in a fork: it belongs to the parent."""
        if self.process:
            self.process.returncode = 0  # it is not waited for
            _close_pipes(self.process)
        self.__dict__.update(Child().__dict__)

    def _wait(self) -> int:
        """Wait until the process has ended. Returns its exit status, negative for a signal."""
        assert self.process
        process, self.process = self.process, None
        try:
            process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close_pipes(process)
        return process.returncode

    def _send(self, format: Format, source: Source) -> None:
        if self.process and self.process.poll() is not None:  # it was killed between two files
            self._wait()
        if self.process is None:
            self.process = start_python(_PROGRAM, *map(str, (os.getpid(), MEMORY_BYTES, SECONDS)))
        path = source.path and os.path.abspath(source.path)
        self._write(pickle.dumps((format.name, source.name, source.id_path, path)))
        while path is None and (data := source.stream.read(_CHUNK_BYTES)):
            self._write(data)
        self._write(b"")

    def _write(self, message: bytes) -> None:
        assert self.process and self.process.stdin
        unsent = memoryview(_encode_message(message))
        try:
            while unsent:
                unsent = unsent[self.process.stdin.write(unsent) :]
        except BrokenPipeError:
            raise _ChildDied from None

    def _receive(self) -> bytes:
        assert self.process and self.process.stdout
        try:
            return _read_message(self.process.stdout)
        except EOFError:
            raise _ChildDied from None


CHILD = Child()
after_fork(CHILD.renew)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe
        pipe.close()


def _describe_death(status: int) -> str:
    if status == -getattr(signal, "SIGXCPU", 0):
        reason = f"takes more than {SECONDS} seconds of processor time to read"
    else:
        reason = f"takes more than {MEMORY_BYTES / 2**30:g} GiB of memory to read, or crashes its library"
    return f"{reason}, like a file made to do so: leave it out"


def _encode_message(content: bytes) -> bytes:
    return len(content).to_bytes(_LENGTH_BYTES) + content


def _read_message(stream: BinaryIO | IO[bytes]) -> bytes:
    """Raises EOFError at the end of the stream."""
    return _read_bytes(stream, int.from_bytes(_read_bytes(stream, _LENGTH_BYTES)))


def _read_bytes(stream: BinaryIO | IO[bytes], size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        data = stream.read(size - len(content))
        if not data:
            raise EOFError
        content += data
    return bytes(content)


_CLASSES = {(kind.__module__, kind.__name__): kind for kind in (InputError, PlacedText, *_RESULTS)}
"""The classes that an answer may have instances of, besides those of JSON."""


class AnswerDecoder(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _CLASSES[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"an answer may not hold {module}.{name}") from None


# The child


def run_child(parent: int, memory: int, seconds: int) -> None:
    """The program of the child. It ends with its input, and soon after the process `parent`.

    A request is a format and a source, followed by the bytes of the source unless it has a path. The answer
    is a pair of the results and what they end with: None, InputError, or the text of any other exception.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal too, and ends this process
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries may print
    _limit_memory(memory)
    with suppress(EOFError):
        while True:
            format, name, id_path, path = pickle.loads(_read_message(sys.stdin.buffer))  # nosec B301  # from the parent
            stream = open_stream(_Chunks().take)
            _limit_time(seconds)
            answer = _read(get(format), Source(name, id_path, stream, path))
            while stream.read(_CHUNK_BYTES):  # the parent may still be writing
                pass
            answers.write(_encode_message(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)))
            answers.flush()


def _read(format: Format, source: Source) -> tuple[_Results, InputError | str | None]:
    results: _Results = []
    try:
        with raise_input_errors(source.name):
            results += format.read(source)
    except InputError as error:
        return results, error
    except MemoryError:
        raise
    except Exception:  # of any library that reads a format: the parent process raises it
        return results, traceback.format_exc()
    return results, None


class _Chunks:
    """The bytes of a source, sent in messages. An empty message ends them."""

    def __init__(self) -> None:
        self._pending = b""
        self._is_complete = False

    def take(self, size: int) -> bytes:
        if not self._pending and not self._is_complete:
            self._pending = _read_message(sys.stdin.buffer)
            self._is_complete = not self._pending
        data, self._pending = self._pending[:size], self._pending[size:]
        return data


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even while a library is working."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)


def _limit_memory(size: int) -> None:
    """Limit the address space to `size` more bytes than now, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _set_limit(resource.RLIMIT_AS, now + size)


def _limit_time(seconds: int) -> None:
    """Limit the processor time to `seconds` more than now, where the system can. Beyond, it sends SIGXCPU."""
    with suppress(ImportError, OSError, ValueError):
        _set_limit(resource.RLIMIT_CPU, ceil(time.process_time()) + seconds)


def _set_limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
