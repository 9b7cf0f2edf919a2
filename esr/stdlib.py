"""What esr uses in place of parts of the standard library, which are slower or need a later Python."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any, AnyStr, Generic, Self, TypeVar, cast, overload

import msgspec

try:
    # Equal to hashlib's, without loading OpenSSL, which takes 3 ms of each search from the command line.
    from _blake2 import blake2b
except ImportError:  # other implementations than CPython
    from hashlib import blake2b

__all__ = [
    "batched",
    "blake2b",
    "cached_property",
    "compile_lazily",
    "hash64",
    "import_lazily",
    "read_json",
    "replace_nonfinite",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items; the last may be shorter. (itertools.batched requires Python 3.12.)"""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


class cached_property(Generic[T_co]):  # as functools'
    """`functools.cached_property` as of Python 3.12, without a lock.

    In Python 3.11, all instances share a lock that is held while the value is computed. A fork would copy the
    held lock, which the child could never release. Without it, two threads may both compute a value.
    """

    def __init__(self, function: Callable[[Any], T_co]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T_co: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T_co:
        if instance is None:
            return self
        known = instance.__dict__
        if self._name not in known:
            known[self._name] = self._function(instance)
        value: T_co = known[self._name]
        return value


def compile_lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The same as `re.compile`, but the result cannot be passed to functions of `re`.

    A small delivery uses few patterns of loaders and languages; compiling all takes a tenth of its time. An
    invalid pattern raises re.error at its first use.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """A proxy of a pattern that is compiled when an attribute is first read."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._arguments: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # special methods, which a compiled pattern does not have either
            raise AttributeError(name)
        value = getattr(re.compile(*self._arguments), name)
        setattr(self, name, value)
        return value


def import_lazily(name: str) -> ModuleType:
    """A module that is imported when one of its attributes is first read, as by `lazy import` in Python 3.15.

    For optional packages, and for modules that a search from the command line would load without needing
    them. The first read raises ImportError if the module is not installed. Assign it at the top of a file,
    beside an import that only type checkers see:

        if TYPE_CHECKING:
            import pandas
        else:
            pandas = import_lazily("pandas")
    """
    return _LazyModule(name)


class _LazyModule(ModuleType):
    """A proxy of a module. It keeps no values, so that it always has those of the module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what inspection of modules asks for must not import anything
            raise AttributeError(name)
        module = self.__dict__.get("_module")
        if module is None:
            module = self._module = import_module(self.__name__)
        return getattr(module, name)


def hash64(string: str) -> int:
    """A 64-bit hash that is stable across machines and processes."""
    # Surrogates may stand for bytes of the command line that are not UTF-8.
    code = string.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(code, digest_size=8).digest(), "little")


def read_json(data: bytes | str) -> Any:
    """Parse JSON like json.loads, in less than half the time. Raises ValueError for invalid JSON.

    Python parses input that msgspec rejects: infinities, NaN, and escapes of half a surrogate pair.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return json.loads(data)


def replace_nonfinite(data: Any) -> Any:
    """The same data, with null in place of infinities and NaN."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: replace_nonfinite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [replace_nonfinite(value) for value in data]
    return data
