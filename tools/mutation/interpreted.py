"""Runs the kernel (`esr/folder/kernel`) as Python: compiling it would take half a minute for each mutant.

`interpret_kernel` replaces what the kernel takes from numba before the kernel is imported. Numbers behave as
in numba: those of less than 64 bits are 64 bits wide once they are read, and a division by zero is infinite.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

KERNEL = "esr/folder/kernel"


def interpret_kernel() -> None:
    """Let this process interpret the kernel, which it has not imported yet."""
    import numba
    from numba import extending

    setattr(numba, "njit", _keep)  # noqa: B010
    setattr(extending, "intrinsic", _interpret_intrinsic)  # noqa: B010
    from esr.folder.kernel import layout

    for name, value in list(vars(layout).items()):
        if isinstance(value, np.dtype):
            setattr(layout, name, _as_records(value))


def _keep(*signature: Any, **_: object) -> Callable[[Callable[..., Any]], Any]:
    """Stands for `numba.njit`: functions with a signature are those that esr calls, with its arrays."""

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            with np.errstate(all="ignore"):
                return function(*map(_to_wide, arguments))

        kept: Any = call if signature else function
        kept.stats = SimpleNamespace(cache_path=None)
        return kept

    return decorate


def _interpret_intrinsic(function: Any) -> Callable[..., Any]:
    """Stands for `numba.extending.intrinsic`, by the function that makes the instruction."""
    instructions: dict[str, Callable[..., Any]] = {
        "_trailing_zeros": lambda word: np.uint64((int(word) & -int(word)).bit_length() - 1),
        "_bit_counter": lambda word: np.uint64(int(word).bit_count()),
        "_prefetcher": lambda address: None,
    }
    maker = function.__qualname__.partition(".")[0]
    if maker in instructions:
        return instructions[maker]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    kind = np.dtype(str({name: cell.cell_contents for name, cell in cells}["of"]))

    def read(address: Any, place: Any = 0) -> Any:
        at = int(address) + int(place) * kind.itemsize
        return np.frombuffer(ctypes.string_at(at, kind.itemsize), kind)[0]

    return read


class _Wide(np.ndarray[Any, Any]):
    """An array whose numbers are read as 64 bits."""

    def __getitem__(self, key: Any) -> Any:
        return _widen(super().__getitem__(key))


class _Record(np.record):  # type: ignore[misc]  # its stubs call it final, numpy does not
    """A record with its fields as attributes, also `size`, which is one of all numbers of numpy."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name in object.__getattribute__(self, "dtype").names:
            return _widen(np.void.__getitem__(self, name))
        return super().__getattribute__(name)


def _as_records(kind: np.dtype[Any]) -> np.dtype[Any]:
    if not kind.names:
        return kind
    return np.dtype((_Record, [(name, _as_records(kind[name])) for name in kind.names]))


def _to_wide(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_to_wide, value))
    return value.view(_Wide) if type(value) is np.ndarray else value


def _widen(value: Any) -> Any:
    if isinstance(value, np.integer) and value.dtype != np.uint64:
        return np.int64(value)
    return np.float64(value) if isinstance(value, np.float32) else value
