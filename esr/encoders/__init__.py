"""Sentence encoders: from a text to a vector. The closer two vectors, the closer the meanings."""

from esr.encoders.description import DEFAULT, KNOWN, EncoderDescription
from esr.encoders.onnx_encoder import Encoder, load_encoder, quantize

__all__ = [
    "DEFAULT",
    "KNOWN",
    "Encoder",
    "EncoderDescription",
    "load_encoder",
    "quantize",
]
