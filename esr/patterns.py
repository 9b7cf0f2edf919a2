"""Regular expressions that are compiled when they are first used.

A small delivery uses few patterns of loaders and languages; compiling all takes a tenth of its time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def compile_lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The same as `re.compile`, but the result cannot be passed to functions of `re`.

    An invalid pattern raises re.error at its first use.
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
