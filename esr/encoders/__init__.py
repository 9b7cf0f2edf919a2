"""Sentence encoders: from texts to vectors, which are the closer, the closer the meanings.

Cross-encoders read a query and a text together.
"""

from esr.encoders.description import DEFAULT, HUB_MODELS, HUB_PREFIX, KNOWN, EncoderDescription
from esr.encoders.encoder import AnyEncoder, CrossEncoder, Encoder, load_cross_encoder, load_encoder, quantize

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
