"""The encoders that esr knows by name, with their real files."""

from __future__ import annotations

import numpy as np
import pytest

from esr.encoders import DEFAULT, KNOWN, load_encoder
from esr.encoders.onnx_encoder import quantize
from tests.support.distribution import find_maven

QUERY = "How many people died in the earthquake?"
SENTENCES = [
    "The tremor killed some 2,000 villagers.",
    "The bank was fined for fraud.",
    "People in the city voted on Sunday.",
]


def test_each_known_encoder_says_where_it_comes_from() -> None:
    assert DEFAULT in KNOWN
    for name, description in KNOWN.items():
        assert description.name == name and description.licence and description.description
        assert set(description.files) == set(description.members) == set(description.file_names)
        assert len(description.artifact.split(":")) == 3 or len(description.artifact.split("==")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_encoder_finds_what_is_said_in_other_words(name: str) -> None:
    find_maven()
    encoder = load_encoder(name)
    vectors = np.array([encoder.encode_passage(text) for text in SENTENCES])
    query = encoder.encode_query(QUERY)
    cosines = vectors @ (query.array * np.float32(query.scale))
    assert cosines.argmax() == 0 and cosines[0] > cosines[1:].max() + 0.1
    for text, vector in zip(SENTENCES, vectors, strict=True):
        assert quantize(encoder.encode_passage(text)) == quantize(vector), "not the same twice"


@pytest.mark.slow
def test_the_multilingual_encoder_finds_it_in_other_languages() -> None:
    encoder = load_encoder("use-multilingual-v3")
    query = encoder.encode_query("Wie viele Menschen starben bei dem Erdbeben?")
    others = ["При землетрясении погибли две тысячи человек.", "Суд оштрафовал банк.", "市议会星期日投票。"]
    cosines = np.array([encoder.encode_passage(text) for text in others]) @ query.array
    assert cosines.argmax() == 0
