from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esr.encoders import Encoder
from esr.encoders.folder import find_folder
from esr.encoders.onnx_encoder import quantize
from esr.errors import InputError
from tests.support.tiny_encoder import write_tiny_encoder


def load(folder: Path) -> Encoder:
    return Encoder(*find_folder(str(folder)))


def cosine(encoder: Encoder, one: str, other: str) -> float:
    return float(encoder.encode_passage(one) @ encoder.encode_passage(other))


def test_vectors_have_length_1_and_words_of_one_meaning_are_close(folder: Path) -> None:
    encoder = load(folder)
    assert np.linalg.norm(encoder.encode_passage("the storm rose")) == pytest.approx(1.0)
    assert cosine(encoder, "storm", "hurricane") > 0.95 > 0.5 > cosine(encoder, "storm", "bank")


def test_a_text_without_tokens_has_a_vector_without_a_direction(folder: Path) -> None:
    assert load(folder).encode_query("  ") == (bytes(16), 0.0)


def test_pooling_takes_the_mean_of_the_tokens_or_the_first(tmp_path: Path) -> None:
    mean = load(write_tiny_encoder(tmp_path / "mean", pooling="mean", normalize=False))
    first = load(write_tiny_encoder(tmp_path / "first", pooling="first", normalize=False))
    storm, bank = (first.encode_passage(word) for word in ("storm", "bank"))
    assert first.encode_passage("storm bank") == pytest.approx(storm)
    assert mean.encode_passage("storm bank") == pytest.approx((storm + bank) / 2)


def test_queries_and_passages_have_prefixes_of_their_own(tmp_path: Path, folder: Path) -> None:
    plain = load(folder)
    prefixed = load(write_tiny_encoder(tmp_path / "other", query_prefix="storm ", passage_prefix="bank "))
    assert prefixed.encode_query("food") == plain.encode_query("storm food") != plain.encode_query("food")
    assert prefixed.encode_passage("food") == pytest.approx(plain.encode_passage("bank food"))


def test_tokens_after_the_most_are_ignored(tmp_path: Path) -> None:
    encoder = load(write_tiny_encoder(tmp_path / "short", max_tokens=2))
    assert encoder.encode_passage("storm bank food") == pytest.approx(encoder.encode_passage("storm bank"))


def test_a_model_of_other_dimensions_than_described_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_encoder(tmp_path / "wrong")
    text = (folder / "encoder.json").read_text()
    (folder / "encoder.json").write_text(text.replace("16", "384"))
    with pytest.raises(InputError, match="makes 16 dimensions, its description says 384"):
        load(folder)


@pytest.mark.parametrize(("name", "kind"), [("model.onnx", "ONNX model"), ("tokenizer.json", "tokenizer")])
def test_a_broken_file_is_one_message(folder: Path, name: str, kind: str) -> None:
    (folder / name).write_bytes(b"{}")
    with pytest.raises(InputError, match=f"{name}: not an? {kind}: "):
        load(folder)


def test_quantized_vectors_are_the_nearest_of_8_bits() -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    values, scale = quantize(vector)
    stored = np.frombuffer(values, np.int8)
    assert abs(stored).max() == 127 and np.float32(scale) == scale
    assert np.abs(stored * scale - vector).max() <= scale / 2 * (1 + 1e-5)
    assert quantize(np.zeros(3, np.float32)) == (b"\0\0\0", 0.0)
