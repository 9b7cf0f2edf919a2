"""Terms of many texts at once are those of each text alone."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text import term_encoder
from esr.text.analyzer import get_analyzer
from esr.text.term_encoder import EncodedTexts, TermEncoder
from tests.text.test_analyzer import texts

words = st.lists(
    st.sampled_from(
        [
            "the",
            "flood",
            "Floods",
            "WHO",
            "WHO's",
            "IS.",
            "éIT",
            "IT_",
            "THIS,",
            "a" * 9,
            "a" * 12,
            "a" * 16,
            "a" * 17,
            "ab" * 8,
            "é" * 8,
            "é" * 9,
        ]
    )
)


def decode(encoded: EncodedTexts) -> list[list[str]]:
    """The terms of each text."""
    terms = [encoded.terms[term_id] for term_id in encoded.term_ids.tolist()]
    ends = encoded.lengths.cumsum().tolist()
    return [terms[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("name", ["plain", "english-stem", "multilingual", "turkish", "hindi"])
@pytest.mark.parametrize("bits", [1, 18], ids=["words collide in the table", "they do not"])
@given(batches=st.lists(st.lists(texts | words.map(" ".join), max_size=6), max_size=3))
def test_terms_are_those_of_the_analyzer(name: str, bits: int, batches: list[list[str]]) -> None:
    analyzer = get_analyzer(name)
    with mock.patch.object(term_encoder, "_SLOT_BITS", bits):
        encoder = TermEncoder(analyzer)
        for batch in batches:
            batch = [text.encode("utf-8", "ignore").decode() for text in batch]
            assert decode(encoder.encode(batch)) == [analyzer.terms(text) for text in batch]


def test_an_answer_has_each_term_once_and_none_of_other_texts() -> None:
    encoder = TermEncoder(get_analyzer("plain"))
    encoder.encode(["storm over the sea"])
    encoded = encoder.encode(["a flood", "", "no flood a storm"])
    assert sorted(encoded.terms) == ["a", "flood", "no", "storm"]
    assert encoded.lengths.tolist() == [2, 0, 4]


def test_words_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_encoder, "_MAX_WORDS", 3)
    encoder = TermEncoder(get_analyzer("plain"))
    for n in range(10):
        text = f"storm {n} flood"
        assert decode(encoder.encode([text])) == [text.split()]
        assert len(encoder._vocabulary) <= 5
