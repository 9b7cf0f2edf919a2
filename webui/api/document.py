"""`document`: a whole document with its sentences."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from esr.errors import UsageError
from webui.api.operation import Call
from webui.arguments import NotThere


def document(call: Call) -> dict[str, Any]:
    name = call.one("id") or ""
    try:
        found = asdict(call.searcher.index.document(name))
    except UsageError as error:
        raise NotThere(f"there is no document {name!r}", "id") from error
    for sentence in found["sentences"]:
        del sentence["parse"]
    return found
