"""Ranking models, one file each. Importing this package registers them."""

from esr.models import (  # noqa: F401
    bm25,
    bm25f,
    dir,
    jm,
    kld,
    term_dependence,
    tfisf,
    tfmix,
    three_mixture,
    two_stage,
    two_stage_inverted,
)
from esr.models.model import CONTEXTS, MODELS, Context, Model, Query, Settings, get
from esr.parameter import Parameter

DEFAULT = two_stage_inverted.TWO_STAGE_INVERTED

__all__ = ["CONTEXTS", "DEFAULT", "MODELS", "Context", "Model", "Parameter", "Query", "Settings", "get"]
