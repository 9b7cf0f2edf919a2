"""Regular expressions that are compiled when they are first used.

A small delivery uses few of those of the loaders and the languages; to compile all took a tenth of its time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def compile_lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` returns, except that it cannot be given to functions of `re`.

    A faulty pattern raises re.error at its first use.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Has the attributes of a compiled pattern, each from its first use on."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._arguments: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of protocols that a compiled pattern has not either
            raise AttributeError(name)
        value = getattr(re.compile(*self._arguments), name)
        setattr(self, name, value)
        return value
