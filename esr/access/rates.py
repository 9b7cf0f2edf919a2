"""Rates: how many requests a client may make within a time."""

from __future__ import annotations

import re
from typing import NamedTuple

from esr.errors import UsageError


class Rate(NamedTuple):
    """A number of requests within any `seconds`."""

    amount: int
    seconds: int


_RATE = re.compile(r"(\d{1,9})\s*(?:/|per)\s*([1-9]\d{0,5})?\s*(second|minute|hour|day)s?", re.IGNORECASE)
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}


def parse_rate(text: str, name: str = "ESR_RATE") -> Rate | None:
    """The rate in a setting of this name, or None if the setting is empty. Raises UsageError."""
    if not text:
        return None
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"cannot read {name} {text!r}: give a rate such as 60/minute")
    return Rate(int(match[1]), int(match[2] or 1) * _SECONDS[match[3].lower()])
