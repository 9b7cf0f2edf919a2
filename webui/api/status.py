"""`status`: what an index holds."""

from __future__ import annotations

from typing import Any

from webui.api.operation import Call

HIDDEN = frozenset({"where", "indices"})
"""Addresses and names inside: nobody's business outside."""


def status(call: Call) -> dict[str, Any]:
    found = call.searcher.index.status()
    return {name: value for name, value in found.items() if name not in HIDDEN}
