"""Ranking models, one file each. Importing this package registers them, in this order."""

from esr.models import (  # noqa: F401
    two_stage_inverted,  # noqa: I001  the default first
    two_stage,
    three_mixture,
    dir,
    jm,
    kld,
    tfisf,
    tfmix,
    bm25,
    bm25f,
)
from esr.models.model import CONTEXTS, MODELS, Context, Model, Query, Settings, get

DEFAULT = two_stage_inverted.TWO_STAGE_INVERTED

__all__ = ["CONTEXTS", "DEFAULT", "MODELS", "Context", "Model", "Query", "Settings", "get"]
