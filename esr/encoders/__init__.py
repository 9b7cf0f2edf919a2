"""Sentence encoders: from texts to vectors, which are the closer, the closer the meanings.

Cross-encoders read a query and a text together.
"""

from esr.encoders.cross_encoder import CrossEncoder
from esr.encoders.description import DEFAULT, HUB_MODELS, HUB_PREFIX, KNOWN, EncoderDescription
from esr.encoders.encoder import Encoder, quantize
from esr.encoders.loaded_models import AnyEncoder, load_cross_encoder, load_encoder

__all__ = [
    "DEFAULT",
    "HUB_MODELS",
    "HUB_PREFIX",
    "KNOWN",
    "AnyEncoder",
    "CrossEncoder",
    "Encoder",
    "EncoderDescription",
    "load_cross_encoder",
    "load_encoder",
    "quantize",
]
