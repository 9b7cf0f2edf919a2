"""Sentence encoders: from a text to a vector. The closer two vectors, the closer the meanings."""

from esr.encoders.description import EncoderDescription
from esr.encoders.known import DEFAULT, KNOWN
from esr.encoders.loading import load_encoder
from esr.encoders.onnx_encoder import Encoder
from esr.encoders.quantization import quantize

__all__ = [
    "DEFAULT",
    "KNOWN",
    "Encoder",
    "EncoderDescription",
    "load_encoder",
    "quantize",
]
