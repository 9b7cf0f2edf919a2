"""How functions of the kernel are compiled, and how their compiled form is kept on disk.

numba's cache looks for changes in the file of the function that it keeps, and not in the files of the
functions that this one calls. So the name under which it is kept has a digest of all files of the kernel.

The types of what the kernel is given, for numba.

They are plain tuples: numba takes twice as long to find out the type of a NamedTuple, which is 3 microseconds
a search.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import __version__ as numba_version
from numba import njit, types


def digest_sources(folder: Path) -> str:
    """Changes with any Python file of the folder, and with numba."""
    digest = hashlib.sha256(f"numba {numba_version}\n".encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


SOURCES = digest_sources(Path(__file__).parent)
LOCK = "compiling.lock"
"""The file that whoever compiles the kernel holds locked, beside what is kept."""

inlined = njit(inline="always", error_model="numpy")
compiled = njit(error_model="numpy")
"""Compiled by itself, for other compiled functions."""
uncounted = njit(error_model="numpy", _nrt=False)  # type: ignore[call-overload]
"""The same, for functions that make no array: so numba counts no references, which took half of the time."""


def eager_jit(*signature: types.Type) -> Callable[[Callable[..., Any]], Any]:
    """Compile for these arguments now, or read what is kept of that. Does not hold the interpreter's lock."""

    def compile(function: Callable[..., Any]) -> Any:
        name = function.__qualname__
        function.__qualname__ = f"{name}_{SOURCES}"  # numba names its files after it
        dispatcher = njit([signature], cache=True, nogil=True, error_model="numpy")(function)
        if dispatcher.stats.cache_path is not None:
            module = Path(inspect.getfile(function)).stem
            _delete_outdated(Path(dispatcher.stats.cache_path), f"{module}.{name}_")
        return dispatcher

    return compile


def is_kept(module: str, name: str) -> bool:
    """Whether the compiled form of this function, of a module of this folder, is kept on disk."""
    folder = _cache_folder()
    python = "py{}{}".format(*sys.version_info)
    return folder is not None and any(folder.glob(f"{module}.{name}_{SOURCES}*.{python}*.nbi"))


def compile_alone(module: str) -> None:
    """Import a module, and so compile what is not kept of it, when no other process is doing that.

    Several workers of a server start at once: the first compiles, and the others read what it keeps.
    """
    folder = _cache_folder()
    with ExitStack() as locked:
        if folder is not None:
            with suppress(ImportError, OSError):  # a system or a file system without such locks
                import fcntl

                folder.mkdir(parents=True, exist_ok=True)
                fcntl.flock(locked.enter_context((folder / LOCK).open("w")), fcntl.LOCK_EX)
        import_module(module)


def is_compiling() -> bool:
    """Whether a process compiles alone now, as far as the system can tell."""
    folder = _cache_folder()
    if folder is None or not (folder / LOCK).exists():
        return False
    try:
        import fcntl

        with (folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        pass
    return False


def _cache_folder() -> Path | None:
    """Where compiled functions of this folder are kept. None if there is no place for them."""
    path = njit(cache=True)(digest_sources).stats.cache_path  # compiles nothing
    return None if path is None else Path(path)


def _delete_outdated(folder: Path, prefix: str) -> None:
    """Delete what was compiled from other sources."""
    for path in folder.glob(f"{prefix}*.nb[ic]"):
        if not path.name.startswith(prefix + SOURCES):
            with suppress(OSError):
                path.unlink()


def array(of: types.Type, dimensions: int = 1) -> types.Type:
    return types.Array(of, dimensions, "C")


def group(*fields: types.Type) -> Any:
    """The type of a tuple with these fields."""
    return types.BaseTuple.from_types(fields)  # type: ignore[no-untyped-call]


LONG, FLAG = types.int64, types.boolean
DOUBLES, FLOATS, LONGS, INTS, SHORTS, WORDS, MASK = (
    array(of)
    for of in (
        types.float64,
        types.float32,
        types.int64,
        types.int32,
        types.int16,
        types.uint64,
        types.boolean,
    )
)
DOUBLE_TABLE, LONG_TABLE, INT_TABLE = (array(of, 2) for of in (types.float64, types.int64, types.int32))
LONG_CUBE = array(types.int64, 3)

BYTES, FILE = types.Array(types.uint8, 1, "C"), types.Array(types.uint8, 1, "C", readonly=True)
PLACE_LISTS = group(FILE, LONGS, LONGS, LONG, BYTES, INTS, LONGS, LONGS)
SENTENCE_PLACES = group(INTS, INTS, LONG)
VECTORS = types.Array(types.int8, 2, "C", readonly=True)

TRANSFORM = group(LONG, DOUBLES, DOUBLE_TABLE, FLOATS, FLOATS)
COMMIT = group(LONG_TABLE, LONGS, INT_TABLE, INTS, WORDS)
STATICS = group(DOUBLES, FLOATS, FLAG)
FILTERS = group(MASK, MASK, WORDS)
SCRATCH = group(DOUBLES, MASK, DOUBLES, INTS, WORDS)
