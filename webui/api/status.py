"""`status`: what an index holds."""

from __future__ import annotations

from typing import Any

from webui.api.operation import Call

HIDDEN = frozenset({"where", "indices"})
"""Internal addresses and names, which clients need not know."""


def status(call: Call) -> dict[str, Any]:
    facts = call.searcher.index.status()
    return {name: value for name, value in facts.items() if name not in HIDDEN}
