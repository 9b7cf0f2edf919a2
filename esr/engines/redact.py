"""Places of indexes as they may be shown to anybody."""

from __future__ import annotations

import re


def redacted(where: str) -> str:
    """A place, or several, without the logins in them, however badly they are written."""
    return re.sub(r"//[^\s]*@", "//…@", where)
