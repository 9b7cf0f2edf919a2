"""How the parts of a score are drawn: the kinds of pieces in bars, which are classes of the style sheet."""

from __future__ import annotations

from esr.ranking.origin import Origin

SECOND_STAGE = "dependency"


def bar_kind(origin: Origin) -> str:
    """Fields are drawn by their names, and the second stage as one kind."""
    if origin.kind == "field":
        return origin.name
    return SECOND_STAGE if origin.kind in ("signal", "trees") else origin.kind
