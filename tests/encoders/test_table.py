"""A table of vectors of word pieces: what it encodes, how it is fitted, and its stored form."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from esr.encoders.encoder import Floats, normalize, quantize
from esr.encoders.table import (
    PieceCounter,
    TableSettings,
    TitledSentence,
    VectorTable,
    fit_table,
    learn_tokenizer,
)
from esr.errors import EsrError
from esr.text.sentence_enrichment import QuantizedVector
from tests.support.fake_enricher import VOCABULARY, write_tiny_encoder
from tests.support.runs import need

need("tokenizers")
need("scipy")

DIMENSIONS = 16
WORDS = VOCABULARY[:12]
ALONE = np.random.default_rng(2).normal(size=(len(VOCABULARY) + 1, DIMENSIONS)).astype(np.float32)
"""Vectors of single pieces: of [UNK] and the vocabulary."""
SENTENCES = [TitledSentence("", " ".join(words)) for words in combinations(WORDS, 3)]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> TableSettings:
    folder: Path = write_tiny_encoder(tmp_path_factory.mktemp("encoder"))
    tokenizer = (folder / "tokenizer.json").read_text("utf-8")
    return TableSettings(tokenizer, {"encoder": "tiny 0123456789ab"}, 0.5)


@pytest.fixture(scope="module")
def vectors() -> Floats:
    """Vectors of SENTENCES that are the normalized sums of vectors of their words."""
    of_word = dict(zip(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), DIMENSIONS)), strict=True))
    sums = [sum(of_word[word] for word in sentence.text.split()) for sentence in SENTENCES]
    return np.array([normalize(np.asarray(vector, np.float32)) for vector in sums], np.float32)


@pytest.fixture(scope="module")
def table(settings: TableSettings, vectors: Floats) -> VectorTable:
    return fit_table(settings, SENTENCES, vectors, ALONE)


def numbers(vector: QuantizedVector) -> Floats:
    return np.asarray(vector.array * np.float32(vector.scale), np.float32)


def test_a_fitted_table_comes_near_the_encoders_vectors(table: VectorTable, vectors: Floats) -> None:
    cosines = [
        float(numbers(v) @ expected) for v, expected in zip(table.encode(SENTENCES), vectors, strict=True)
    ]
    assert min(cosines) > 0.95


def test_a_vector_does_not_depend_on_what_is_encoded_with_it(table: VectorTable) -> None:
    sentences = [TitledSentence("storm relief", "river bank"), *SENTENCES, TitledSentence("", "")]
    alone = [table.encode([sentence])[0] for sentence in sentences]
    assert table.encode(sentences) == alone
    assert table.encode(sentences * 60)[-len(sentences) :] == alone  # over the border of a batch


def test_the_same_sentences_give_the_same_bytes(
    table: VectorTable, settings: TableSettings, vectors: Floats
) -> None:
    again = fit_table(settings, SENTENCES, vectors.copy(), ALONE)
    assert again.to_bytes() == table.to_bytes() and again.digest == table.digest
    assert fit_table(settings, SENTENCES[1:], vectors[1:], ALONE).digest != table.digest


def test_a_stored_table_is_the_same(table: VectorTable) -> None:
    stored = VectorTable.from_bytes(table.to_bytes())
    assert stored.settings == table.settings and stored.digest == table.digest
    assert stored.encode(SENTENCES) == table.encode(SENTENCES)
    assert stored.unknown_share(["storm china"]) == table.unknown_share(["storm china"]) == 0.5


@pytest.mark.parametrize(
    "change", [lambda b: b[:-1], lambda b: b"x" + b[1:], lambda b: b[:20], lambda b: b""]
)
def test_a_damaged_table_says_how_to_fit_it_anew(table: VectorTable, change: object) -> None:
    with pytest.raises(EsrError, match="esr enrich --only table"):
        VectorTable.from_bytes(change(table.to_bytes()))  # type: ignore[operator]


def test_a_title_counts_by_its_weight(settings: TableSettings, vectors: Floats) -> None:
    alone, titled = TitledSentence("", "river bank"), TitledSentence("storm city", "river bank")
    joined = TitledSentence("", "storm city river bank")
    tables = {
        weight: fit_table(replace(settings, title_weight=weight), SENTENCES, vectors, ALONE)
        for weight in (0.0, 0.5, 1.0)
    }
    for weight, table in tables.items():
        of_alone, of_titled, of_joined = table.encode([alone, titled, joined])
        assert (of_titled == of_alone) == (weight == 0.0)
        assert (of_titled == of_joined) == (weight == 1.0)


def test_a_piece_in_no_sentence_gets_a_vector_by_its_likeness(
    settings: TableSettings, vectors: Floats
) -> None:
    storm, court = (1 + VOCABULARY.index(word) for word in ("storm", "court"))
    alone = ALONE.copy()
    alone[court] = alone[storm]
    table = fit_table(settings, SENTENCES, vectors, alone)
    assert table.unknown_share(["court"]) == 1
    known, unknown, other = (
        numbers(v) for v in table.encode([TitledSentence("", text) for text in ("storm", "court", "river")])
    )
    assert float(known @ unknown) > 0.5 + float(other @ unknown)


def test_from_few_sentences_other_pieces_keep_nearly_the_encoders_vectors(settings: TableSettings) -> None:
    few = SENTENCES[::37]
    own = {word: ALONE[1 + VOCABULARY.index(word)] for word in VOCABULARY}
    sums = [np.sum([own[word] for word in sentence.text.split()], axis=0) for sentence in few]
    table = fit_table(settings, few, np.array([normalize(vector) for vector in sums]), ALONE)
    others = [word for word in VOCABULARY if table.unknown_share([word]) == 1]
    cosines = [float(numbers(table.encode_query(word)) @ normalize(own[word])) for word in others]
    assert len(others) > 10 and np.mean(cosines) > 0.6


def test_the_same_texts_give_the_same_pieces() -> None:
    texts = ["Der Sturm über der Stadt", "Stürme und Städte", "наводнение в городе", "наводнения"] * 3
    learned = learn_tokenizer(texts)
    assert learn_tokenizer(iter(texts)) == learned
    pieces = PieceCounter(learned)
    assert {"stadt", "наводнени", "der"} <= {*pieces.texts}
    assert [pieces.texts[number] for number in pieces.split(["STADT der"])[0]] == ["stadt", "der"]


def test_it_knows_how_many_pieces_its_sentences_lack(settings: TableSettings, vectors: Floats) -> None:
    table = fit_table(settings, SENTENCES, vectors, ALONE, ["storm court", "china", ""])
    assert table.expected_unknown == pytest.approx(2 / 3)
    assert VectorTable.from_bytes(table.to_bytes()).expected_unknown == table.expected_unknown


def test_queries_without_text_have_no_vector(table: VectorTable) -> None:
    assert not any(table.encode_query(" ").values)
    assert table.encode_query("storm") == table.encode([TitledSentence("", "storm")])[0]


def test_rows_are_quantized_as_vectors_are(table: VectorTable) -> None:
    vector = table.encode([SENTENCES[0]])[0]
    assert quantize(numbers(vector)) == vector


def test_a_fit_needs_sentences(settings: TableSettings) -> None:
    with pytest.raises(EsrError, match="without encoded sentences"):
        fit_table(settings, [], np.zeros((0, DIMENSIONS), np.float32), ALONE)
