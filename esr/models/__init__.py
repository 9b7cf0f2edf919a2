"""Ranking models. Importing this package registers them, in the order of all lists."""

from esr.models.language_models import DIR, JM, KLD, THREE_MIXTURE, TWO_STAGE, TWO_STAGE_INVERTED
from esr.models.model import CONTEXTS, MODELS, Context, Model, Query, Settings, get, register
from esr.models.term_dependence import MRF_FDM, MRF_FIDM, MRF_SDM, TDSR
from esr.models.tfidf_models import BM25, BM25F, TFISF, TFMIX
from esr.registry import Parameter

for _model in (
    *(BM25, BM25F, DIR, JM, KLD, TFISF, TDSR, MRF_FIDM, MRF_SDM, MRF_FDM, TFMIX),
    *(THREE_MIXTURE, TWO_STAGE, TWO_STAGE_INVERTED),
):
    register(_model)

DEFAULT = TWO_STAGE_INVERTED

__all__ = ["CONTEXTS", "DEFAULT", "MODELS", "Context", "Model", "Parameter", "Query", "Settings", "get"]
