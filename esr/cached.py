"""Attributes that are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class cached_property(Generic[T_co]):  # as functools'
    """`functools.cached_property` as of Python 3.12, without a lock.

    In Python 3.11, all instances share a lock that is held while the value is computed. A fork meanwhile
    copies it, and then nothing releases it in the child. Two threads may both compute a value.
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
