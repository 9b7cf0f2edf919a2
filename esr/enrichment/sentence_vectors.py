"""The vectors of a document's sentences, encoded alone, with the document's title, or as a mean of both."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from esr.encoders import DEFAULT, AnyEncoder, load_encoder, quantize
from esr.encoders.folder import find_folder
from esr.encoders.onnx_encoder import Floats, normalize
from esr.errors import UsageError
from esr.processes import cached_property
from esr.text.document import VECTORS, Document, QuantizedVector

# Increment it when a document's vectors change.
VERSION = 1
DEFAULT_TITLE_WEIGHT = 0.5
"""Before news, whose headlines are often about more than a sentence, better than 1."""
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
        weight = self._settings.title_weight if document.title else 0.0
        bare = [sentence.text for sentence in document.sentences] if weight < 1.0 else []
        titled = [f"{document.title}. {s.text}" for s in document.sentences] if weight > 0.0 else []
        vectors = self._encode([*bare, *titled])
        if not bare or not titled:
            return [quantize(vector) for vector in vectors]
        pairs = zip(vectors[: len(bare)], vectors[len(bare) :], strict=True)
        return [
            quantize(normalize(np.asarray(weight * with_title + (1.0 - weight) * alone, np.float32)))
            for alone, with_title in pairs
        ]

    def _encode(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of texts, those of new texts in one call, and those of a text before from the cache."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        made = dict(zip(new, self._encoder.encode_passages(new), strict=True)) if new else {}
        vectors = [made[text] if text in made else self._texts[text] for text in texts]
        self._texts |= made
        while len(self._texts) > _CACHED_TEXTS:
            self._texts.popitem(last=False)
        return vectors

    @cached_property
    def _encoder(self) -> AnyEncoder:
        return load_encoder(self._settings.encoder)
