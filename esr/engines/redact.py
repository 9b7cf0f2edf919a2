"""Removes logins from index locations before anybody sees them."""

from __future__ import annotations

import re


def redact(text: str) -> str:
    """One or several locations without the logins in them, even malformed ones."""
    return re.sub(r"//[^\s]*@", "//…@", text)
