from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from esr.encoders import load_encoder, quantize
from esr.enrichment import sentence_vectors
from esr.enrichment.enricher import Enricher
from esr.enrichment.sentence_vectors import SentenceVectors, VectorSettings
from esr.errors import UsageError
from esr.text.document import Document, QuantizedVector, Sentence
from tests.support.tiny_encoder import write_tiny_encoder

TEXTS = ("storm rose", "bank fraud", "storm rose")
TITLED = Document("a", tuple(Sentence(f"a.s{n}", text) for n, text in enumerate(TEXTS)), title="flood")
UNTITLED = Document("b", (Sentence("b.s0", "storm rose"),))


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    return str(write_tiny_encoder(tmp_path / "tiny"))


def vectors_of(encoder: str, document: Document, title_weight: float) -> list[QuantizedVector]:
    return SentenceVectors(VectorSettings(encoder, title_weight)).encode(document)


def test_a_title_stands_before_the_sentence_or_beside_it_or_counts_in_part(encoder: str) -> None:
    encode = load_encoder(encoder).encode_passage
    bare, titled = encode("storm rose"), encode("flood. storm rose")
    assert vectors_of(encoder, TITLED, 0.0)[0] == quantize(bare)
    assert vectors_of(encoder, TITLED, 1.0)[0] == quantize(titled)
    (mixed, *_) = vectors_of(encoder, TITLED, 0.75)
    direction = 0.75 * titled + 0.25 * bare
    assert mixed.array * mixed.scale == pytest.approx(direction / np.linalg.norm(direction), abs=0.01)
    assert vectors_of(encoder, UNTITLED, 1.0) == vectors_of(encoder, UNTITLED, 0.0) == [quantize(bare)]


def test_equal_texts_are_encoded_once(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    loaded = load_encoder(encoder)
    encode = loaded.encode_passage

    def count(text: str) -> object:
        texts.append(text)
        return encode(text)

    monkeypatch.setattr(loaded, "encode_passage", count)
    vectors = SentenceVectors(VectorSettings(encoder, 0.0))
    first = vectors.encode(TITLED)
    assert first[0] == first[2] == vectors.encode(UNTITLED)[0] and texts == ["storm rose", "bank fraud"]
    monkeypatch.setattr(sentence_vectors, "_CACHED_TEXTS", 1)
    small = SentenceVectors(VectorSettings(encoder, 0.0))
    assert small.encode(TITLED) == first and len(texts) == 5, "what is forgotten is encoded again"


def test_the_enricher_gives_vectors_and_crosses_to_another_process(encoder: str) -> None:
    enricher = Enricher(["vectors"], vectors=VectorSettings(encoder, 0.5))
    again = pickle.loads(pickle.dumps(enricher))
    again.load()
    sentences = again.enrich(TITLED)
    assert [s.vector for s in sentences] == vectors_of(encoder, TITLED, 0.5)
    assert all(not s.features and s.entities is None and s.parse is None for s in sentences)
    assert pickle.loads(pickle.dumps(sentences)) == sentences
    assert again.recipe == enricher.recipe and again.describe_missing_models({None: 1}) == []


def test_vectors_are_made_again_for_another_encoder_or_weight_only(tmp_path: Path, encoder: str) -> None:
    def fingerprint(name: str, weight: float, *parts: str, analyzer: str = "english") -> str:
        settings = VectorSettings(name, weight)
        return Enricher(parts, analyzer=analyzer, vectors=settings).recipe.fingerprints["vectors"]

    other = str(write_tiny_encoder(tmp_path / "other", query_prefix="query: "))
    before = fingerprint(encoder, 1.0, "vectors")
    assert len({before, fingerprint(other, 1.0, "vectors"), fingerprint(encoder, 0.5, "vectors")}) == 3
    assert fingerprint(encoder, 1.0, "features", "parse", "vectors", analyzer="plain") == before
    parses = (["parse"], ["parse", "vectors"])
    enrichers = [Enricher(parts, vectors=VectorSettings(encoder)) for parts in parses]
    assert len({enricher.recipe.fingerprints["parse"] for enricher in enrichers}) == 1


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_title_weight_is_a_share(weight: float) -> None:
    with pytest.raises(UsageError, match="weight of titles must be from 0 to 1"):
        VectorSettings("tiny", weight)
