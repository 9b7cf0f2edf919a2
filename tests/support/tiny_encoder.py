"""A real encoder of a few kilobytes: an ONNX model that looks each token up in a table, and its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY = [
    "storm",
    "hurricane",
    "gale",
    "flood",
    "water",
    "river",
    "rose",
    "city",
    "town",
    "bank",
    "money",
    "fraud",
    "court",
    "relief",
    "aid",
    "food",
    "north",
    "wind",
    "china",
    "earthquake",
    "quake",
    "team",
]
SYNONYMS = {"hurricane": "storm", "gale": "storm", "quake": "earthquake", "aid": "relief", "town": "city"}
"""Words with nearly the vector of another."""
_FLOAT, _INT64 = 1, 7


def write_tiny_encoder(folder: Path, dimensions: int = 16, **description: Any) -> Path:
    """Write an encoder. `description` replaces entries of its `encoder.json`. Returns the folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *VOCABULARY])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_lookup_model(_token_vectors(vocabulary, dimensions)))
    content = {"name": "tiny", "dimensions": dimensions, **description}
    (folder / "encoder.json").write_text(json.dumps(content))
    return folder


def _token_vectors(vocabulary: dict[str, int], dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(20).normal(size=(len(vocabulary), dimensions)).astype(np.float32)
    for word, other in SYNONYMS.items():
        vectors[vocabulary[word]] = vectors[vocabulary[other]] + 0.1 * vectors[vocabulary[word]]
    vectors[0] *= 0.2  # unknown words mean little
    return vectors


def _lookup_model(table: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    """An ONNX model, in the encoding of Protocol Buffers, by the numbers of the fields in onnx.proto."""
    tensor = (
        _numbers(1, table.shape) + _varint_field(2, _FLOAT) + _bytes(8, b"table") + _bytes(9, table.tobytes())
    )
    node = _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, b"tokens") + _bytes(4, b"Gather")
    graph = _bytes(1, node) + _bytes(2, b"tiny") + _bytes(5, tensor)
    graph += _bytes(11, _value("input_ids", _INT64)) + _bytes(12, _value("tokens", _FLOAT))
    return _varint_field(1, 8) + _bytes(7, graph) + _bytes(8, _varint_field(2, 13))


def _value(name: str, type: int) -> bytes:
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _varint_field(1, type)))


def _numbers(field: int, numbers: Sequence[int]) -> bytes:
    return b"".join(_varint_field(field, number) for number in numbers)


def _varint_field(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])
