"""How much memory a process gives to what searches of a folder keep for later ones: a setting."""

from __future__ import annotations

import os

from esr.errors import UsageError

VARIABLE = "ESR_CACHE_BYTES"
DEFAULT, LEAST = 512_000_000, 1_000_000
VARIABLES = {
    VARIABLE: "maximum number of bytes that a process keeps of searches of a folder for later searches"
}


def read_cache_limit() -> int:
    """The limit that the environment sets. Raises UsageError where it is no number, or too small."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return DEFAULT
    try:
        limit = int(text)
    except ValueError:
        limit = -1
    if limit < LEAST:
        raise UsageError(f"{VARIABLE} must be a whole number of bytes, at least {LEAST:,}, not {text!r}")
    return limit
