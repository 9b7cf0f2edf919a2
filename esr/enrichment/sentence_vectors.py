"""The vectors of a document's sentences, encoded alone, with the document's title, or as a mean of both."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from esr.encoders import DEFAULT, Encoder, load_encoder, quantize
from esr.encoders.folder import find_folder
from esr.encoders.onnx_encoder import Floats, normalize
from esr.errors import UsageError
from esr.text.document import VECTORS, Document, QuantizedVector

# Increment it when a document's vectors change.
VERSION = 1
DEFAULT_TITLE_WEIGHT = 1.0
_CACHED_TEXTS = 50_000
"""How many texts' vectors are kept, 1.5 KB each with 384 dimensions. News repeats headings and last lines."""


@dataclass(frozen=True)
class VectorSettings:
    """How sentences are encoded. Raises UsageError.

    `encoder` is a known name or a folder. `title_weight` is from 0 (each sentence alone) to 1 (each after its
    title); between them, the vector is the weighted mean of both.
    """

    encoder: str = DEFAULT
    title_weight: float = DEFAULT_TITLE_WEIGHT

    def __post_init__(self) -> None:
        if not 0.0 <= self.title_weight <= 1.0:
            raise UsageError(f"the weight of titles must be from 0 to 1, not {self.title_weight:g}")


DEFAULT_SETTINGS = VectorSettings()


class SentenceVectors:
    """Encodes the sentences of documents, equal texts only once while their vectors are cached."""

    def __init__(self, settings: VectorSettings) -> None:
        """Find the encoder, which is loaded with the first sentence. Raises EsrError if this fails."""
        self._settings = settings
        self._texts: OrderedDict[str, Floats] = OrderedDict()
        self.versions: Mapping[str, str] = {
            "encoder": find_folder(settings.encoder).description.id,
            "title weight": f"{settings.title_weight:g}",
            VECTORS: str(VERSION),
        }

    def load(self) -> None:
        """Load the encoder before the first sentence."""
        _ = self._encoder

    def encode(self, document: Document) -> list[QuantizedVector]:
        """The vector of each sentence, in order."""
        return [quantize(self._vector(document.title, sentence.text)) for sentence in document.sentences]

    def _vector(self, title: str | None, text: str) -> Floats:
        weight = self._settings.title_weight if title else 0.0
        if weight == 0.0:
            return self._encode(text)
        titled = self._encode(f"{title}. {text}")
        if weight == 1.0:
            return titled
        return normalize(np.asarray(weight * titled + (1.0 - weight) * self._encode(text), np.float32))

    def _encode(self, text: str) -> Floats:
        vector = self._texts.get(text)
        if vector is None:
            vector = self._texts[text] = self._encoder.encode_passage(text)
            if len(self._texts) > _CACHED_TEXTS:
                self._texts.popitem(last=False)
        return vector

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder(self._settings.encoder)
