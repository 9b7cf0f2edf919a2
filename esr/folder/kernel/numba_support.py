"""Compilation of the kernel, its cache on disk, and the numba types of its arguments.

numba's cache notices changes of a function's own file, but not of the files of functions that it calls. The
cached name therefore includes a digest of all files of the kernel.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import __version__ as numba_version
from numba import from_dtype, njit, types

from esr.folder.kernel import layout


def digest_sources(folder: Path) -> str:
    """Digest the Python files of a folder, and the version of numba."""
    digest = hashlib.sha256(f"numba {numba_version}\n".encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


SOURCES = digest_sources(Path(__file__).parent)
LOCK = "compiling.lock"
"""The file in the cache folder that is locked while a process compiles the kernel."""

inlined = njit(inline="always", error_model="numpy")
compiled = njit(error_model="numpy")
"""Compiled separately, for calls from other compiled functions."""
uncounted = njit(error_model="numpy", _nrt=False)  # type: ignore[call-overload]
"""Like `compiled`, for functions that create no arrays: reference counting would double their time."""


def eager_jit(*signature: types.Type, fastmath: Collection[str] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Compile for these argument types at import, or load the cached result.

    Calls release the interpreter's lock. `fastmath` names what LLVM may do with floats, such as `reassoc`.
    """

    def compile(function: Callable[..., Any]) -> Any:
        name = function.__qualname__
        function.__qualname__ = f"{name}_{SOURCES}"  # numba names its cache files after it
        dispatcher = njit([signature], cache=True, nogil=True, error_model="numpy", fastmath=set(fastmath))(
            function
        )
        if dispatcher.stats.cache_path is not None:
            module = Path(inspect.getfile(function)).stem
            _delete_outdated(Path(dispatcher.stats.cache_path), f"{module}.{name}_")
        return dispatcher

    return compile


def is_kept(module: str, name: str) -> bool:
    """Whether the cache has the compiled form of a function of this folder."""
    folder = _cache_folder()
    python = "py{}{}".format(*sys.version_info)
    return folder is not None and any(folder.glob(f"{module}.{name}_{SOURCES}*.{python}*.nbi"))


def compile_alone(module: str) -> None:
    """Import a module, compiling what is not cached, while no other process compiles.

    When several workers of a server start at once, the first compiles and the others load the result.
    """
    folder = _cache_folder()
    with ExitStack() as locked:
        if folder is not None:
            with suppress(ImportError, OSError):  # systems or file systems without such locks
                import fcntl

                folder.mkdir(parents=True, exist_ok=True)
                fcntl.flock(locked.enter_context((folder / LOCK).open("w")), fcntl.LOCK_EX)
        import_module(module)


def is_compiling() -> bool:
    """Whether a process is in `compile_alone`, as far as the system can tell."""
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
    """The cache folder of this folder's functions, None if no writable place exists."""
    path = njit(cache=True)(digest_sources).stats.cache_path  # compiles nothing
    return None if path is None else Path(path)


def _delete_outdated(folder: Path, prefix: str) -> None:
    """Delete cached functions compiled from other sources."""
    for path in folder.glob(f"{prefix}*.nb[ic]"):
        if not path.name.startswith(prefix + SOURCES):
            with suppress(OSError):
                path.unlink()


def array(of: types.Type, dimensions: int = 1) -> types.Type:
    return types.Array(of, dimensions, "C")


def group(*fields: types.Type) -> Any:
    """The type of a plain tuple with these fields.

    For a NamedTuple, numba takes 3 microseconds longer per search.
    """
    return types.BaseTuple.from_types(fields)  # type: ignore[no-untyped-call]


LONG, DOUBLE, FLAG = types.int64, types.float64, types.boolean
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
DOUBLE_TABLE = array(types.float64, 2)

BYTES, FILE = types.Array(types.uint8, 1, "C"), types.Array(types.uint8, 1, "C", readonly=True)
POSITION_LISTS = group(FILE, LONGS, LONGS, LONG, BYTES, INTS, LONGS, LONGS)
SENTENCE_POSITIONS = group(INTS, INTS, LONG)
VECTORS = types.Array(types.int8, 2, "C", readonly=True)

SEGMENTS, DOCUMENTS = array(from_dtype(layout.SEGMENT)), array(from_dtype(layout.DOCUMENT))
FORMULA = group(LONG, array(from_dtype(layout.MIXTURE_WEIGHTS)), array(from_dtype(layout.SATURATION_WEIGHTS)))
RULE = group(LONG, LONG, FLAG, DOUBLE)
TRANSFORM = group(FORMULA, DOUBLE_TABLE, FLOATS, FLOATS)
QUERY_TERMS = group(DOUBLES, LONGS, FLOATS, group(DOUBLE, DOUBLE, DOUBLE))
COMMIT = group(SEGMENTS, LONGS, DOCUMENTS, INTS, WORDS)
STATIC_SCORES = group(DOUBLES, FLOATS, FLAG)
FILTERS = group(MASK, MASK, WORDS)
SCRATCH = group(DOUBLES, MASK, DOUBLES, INTS, WORDS)
