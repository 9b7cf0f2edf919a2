"""The locations of the indexes that are served, from the command line."""

from __future__ import annotations

import re

from esr.engines.redact import redact
from esr.errors import UsageError

DEFAULT_NAME = "index"
"""The name of an index that was given none."""
_NAMED = re.compile(r"([a-z][a-z0-9_-]*)=(.+)")


def parse_locations(text: str) -> dict[str, str]:
    """Locations by name, from `where` or from `name=where name=where …`. Raises UsageError."""
    if not _NAMED.match(text.strip()):
        return {DEFAULT_NAME: text}
    locations: dict[str, str] = {}
    for part in text.split():
        match = _NAMED.fullmatch(part)
        if match is None:
            raise UsageError(f"cannot read {redact(part)!r}: give several indexes as name=where name=where")
        name, where = match.groups()
        if name in locations:
            raise UsageError(f"two indexes have the name {name!r}: give each its own name")
        locations[name] = where
    return locations
