"""Encoders make vectors of texts, by the ONNX runtime on the CPU.

Vectors are quantized to 8-bit numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from esr.encoders.description import (
    MODEL,
    TOKENIZER,
    EncoderDescription,
)
from esr.errors import EsrError, InputError, UsageError, to_one_line
from esr.extras import require
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import QuantizedVector

if TYPE_CHECKING:
    import onnxruntime
    import onnxruntime_extensions
    import tokenizers
else:
    onnxruntime = import_lazily("onnxruntime")
    onnxruntime_extensions = import_lazily("onnxruntime_extensions")
    tokenizers = import_lazily("tokenizers")

Floats = npt.NDArray[np.float32]
LARGEST = 127


def quantize(vector: Floats) -> QuantizedVector:
    """The nearest vector of 8-bit numbers, scaled so that the largest absolute value is 127."""
    scale = np.float32(np.abs(vector).max(initial=0.0) / LARGEST)
    if not scale > 0:
        return QuantizedVector(bytes(len(vector)), 0.0)
    values = np.clip(np.rint(vector / scale), -LARGEST, LARGEST).astype(np.int8)
    return QuantizedVector(values.tobytes(), float(scale))


CACHED_QUERIES = 1024
_PIECES = 32
"""Number of pieces in a batch, which takes a seventh of the time of as many runs."""
_Item = TypeVar("_Item", int, str)


class Encoder:
    """A loaded model. Threads may share it.

    It encodes one text at a time: an 8-bit model scales by the largest number in a batch, so the vector of a
    text would depend on the other texts of its batch. Only single pieces of words are encoded in batches,
    which are always the same.
    """

    def __init__(self, folder: Path, description: EncoderDescription, model: str = MODEL) -> None:
        """`model` is a file in the folder.

        Raises UsageError if the extra is not installed, and InputError for a file that is not a model.
        """
        require_runtime(description)
        self.description = description
        self._tokenizer = (
            None if description.takes_text else open_tokenizer(folder / TOKENIZER, description.max_tokens)
        )
        self._session = open_session(folder / model, description.takes_text)
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._output = self._session.get_outputs()[0].name
        self.encode_query: Callable[[str], QuantizedVector] = lru_cache(CACHED_QUERIES)(self._encode_query)
        """The quantized vector of a query."""
        dimensions = len(self.encode_passage("vector"))
        if dimensions != description.dimensions:
            raise InputError(
                str(folder),
                f"the model makes {dimensions} dimensions, its description says {description.dimensions}",
            )

    def encode_passage(self, text: str) -> Floats:
        """The vector of a sentence, of shape (dimensions,)."""
        return self._encode(self.description.passage_prefix + text)

    def encode_passages(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of sentences, each of shape (dimensions,)."""
        return [self.encode_passage(text) for text in texts]

    def encode_pieces(self, on_progress: Callable[[int], object] = lambda pieces: None) -> Floats:
        """The vectors of all pieces of the tokenizer, each by itself, of shape (pieces, dimensions).

        `on_progress` is called with the number of pieces done since its last call. Raises UsageError for a
        model without a tokenizer.
        """
        if self._tokenizer is None:
            raise UsageError(f"the encoder {self.description.name} has no {TOKENIZER}")
        of_text = self._tokenizer.encode("a")
        specials = np.array(of_text.special_tokens_mask, bool)
        ids = np.array(of_text.ids, np.int64)
        first = int(np.argmin(specials)) if not specials.all() else len(ids)
        before, after = ids[:first], ids[first:][specials[first:]]

        def encode(pieces: Sequence[int]) -> Sequence[Floats]:
            return self._run(np.array([[*before, piece, *after] for piece in pieces], np.int64))

        return _encode_batches(encode, range(self._tokenizer.get_vocab_size()), on_progress)

    def encode_alone(
        self, texts: Sequence[str], on_progress: Callable[[int], object] = lambda texts: None
    ) -> Floats:
        """The vectors of texts in batches, of shape (texts, dimensions), with progress as above.

        Raises UsageError for a model that does not take text.
        """
        if not self.description.takes_text:
            raise UsageError(f"the encoder {self.description.name} does not take text")

        def encode(some: Sequence[str]) -> Sequence[Floats]:
            return self._compute({self._inputs[0]: [self.description.passage_prefix + text for text in some]})

        return _encode_batches(encode, texts, on_progress)

    def _encode_query(self, text: str) -> QuantizedVector:
        return quantize(self._encode(self.description.query_prefix + text))

    def _encode(self, text: str) -> Floats:
        if self._tokenizer is None:
            return self._compute({self._inputs[0]: [text]})[0]
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        return self._run(ids)[0] if ids.size else np.zeros(self.description.dimensions, np.float32)

    def _run(self, ids: npt.NDArray[np.int64]) -> list[Floats]:
        """The vectors of texts, given as numbers of tokens of shape (texts, tokens)."""
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return self._compute({name: feed[name] for name in self._inputs})

    def _compute(self, feed: Mapping[str, Any]) -> list[Floats]:
        try:
            (outputs,) = self._session.run([self._output], feed)
        except Exception as error:  # the runtime raises errors without a common class
            raise EsrError(f"encoder {self.description.name}: {to_one_line(error)}") from error
        vectors = [_pool(output, self.description.pooling) for output in np.asarray(outputs, np.float32)]
        return [normalize(vector) for vector in vectors] if self.description.normalize else vectors


def _encode_batches(
    encode: Callable[[Sequence[_Item]], Sequence[Floats]],
    items: Sequence[_Item],
    on_progress: Callable[[int], object],
) -> Floats:
    """The vectors of items, in batches, by a thread for each processor."""
    batches = (items[start : start + _PIECES] for start in range(0, len(items), _PIECES))
    vectors: list[Floats] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for some in pool.map(encode, batches):
            vectors += some
            on_progress(len(some))
    return np.array(vectors, np.float32)


def require_runtime(description: EncoderDescription | None) -> None:
    """Raise UsageError if a package that an encoder needs is missing. None means one with a tokenizer."""
    splitter = "onnxruntime_extensions" if description and description.takes_text else "tokenizers"
    require("an encoder", "onnxruntime", splitter)


def _pool(output: Floats, pooling: str) -> Floats:
    """The vector of a text, of shape (dimensions,), from its tokens' vectors, of shape (n, dimensions).

    If the model itself pools, `output` is already the vector of the text.
    """
    if pooling == "none" or output.ndim == 1:
        return output.reshape(-1)
    if not len(output):
        return np.zeros(output.shape[1], np.float32)
    return output[0] if pooling == "first" else np.asarray(output.mean(axis=0), np.float32)


def normalize(vector: Floats) -> Floats:
    """The vector of length 1 in the same direction; zeros stay zeros."""
    length = np.linalg.norm(vector)
    return np.asarray(vector / length, np.float32) if length > 0 else vector


def open_tokenizer(path: Path, max_tokens: int) -> tokenizers.Tokenizer:
    """Open a tokenizer that does not pad. Raises InputError."""
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise InputError(str(path), f"not a tokenizer: {to_one_line(error)}") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def open_session(path: Path, takes_text: bool = False, threads: int = 1) -> onnxruntime.InferenceSession:
    """Open a model, whose inputs must be those of a tokenizer or a text. Raises InputError."""
    options = onnxruntime.SessionOptions()
    # For a single sentence, several threads would wait longer than they compute.
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors are raised; warnings do not help users
    if takes_text:
        options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime raises errors without a common class
        raise InputError(str(path), f"not an ONNX model: {to_one_line(error)}") from None
    inputs = session.get_inputs()
    if takes_text:
        if [node.type for node in inputs] != ["tensor(string)"]:
            raise InputError(str(path), "the model does not take text, as its description says")
        return session
    unknown_inputs = {node.name for node in inputs} - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown_inputs:
        raise InputError(
            str(path), f"the model wants {', '.join(sorted(unknown_inputs))}, which no tokenizer gives"
        )
    return session
