"""How the parts of a score are drawn: the kinds of pieces in bars, which are classes of the style sheet."""

from __future__ import annotations

from esr.ranking import meaning
from esr.ranking.origin import Origin

SECOND_STAGE = "dependency"


def bar_kind(origin: Origin) -> str:
    """Fields and meaning are drawn by their names, and the rest of the second stage as one kind."""
    if origin.kind == "field" or (origin.kind == "signal" and origin.name == meaning.NAME):
        return origin.name
    return SECOND_STAGE if origin.kind in ("signal", "trees") else origin.kind
