"""Terms of many texts at once are those of each text alone."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr import analysis
from esr.analysis import numbering
from esr.analysis.analyzer import ANALYZERS
from esr.analysis.numbering import Numbered, Numbering
from tests.analysis.test_analyzer import texts

words = st.lists(
    st.sampled_from(
        ["the", "flood", "Floods", "a" * 9, "a" * 12, "a" * 16, "a" * 17, "ab" * 8, "é" * 8, "é" * 9]
    )
)


def unnumbered(found: Numbered) -> list[list[str]]:
    """The terms of each text."""
    terms = [found.terms[number] for number in found.numbers.tolist()]
    ends = found.lengths.cumsum().tolist()
    return [terms[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("name", ANALYZERS)
@pytest.mark.parametrize("bits", [1, 18], ids=["words meet in the table", "they do not"])
@given(batches=st.lists(st.lists(texts | words.map(" ".join), max_size=6), max_size=3))
def test_terms_are_those_of_the_analyzer(name: str, bits: int, batches: list[list[str]]) -> None:
    analyzer = analysis.get(name)
    with mock.patch.object(numbering, "_BITS", bits):
        numbers = Numbering(analyzer)
        for batch in batches:
            batch = [text.encode("utf-8", "ignore").decode() for text in batch]
            assert unnumbered(numbers.numbered(batch)) == [analyzer.terms(text) for text in batch]


def test_an_answer_has_each_term_once_and_none_of_other_texts() -> None:
    numbers = Numbering(analysis.get("plain"))
    numbers.numbered(["storm over the sea"])
    found = numbers.numbered(["a flood", "", "no flood a storm"])
    assert sorted(found.terms) == ["a", "flood", "no", "storm"]
    assert found.lengths.tolist() == [2, 0, 4]


def test_words_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "_REMEMBERED_WORDS", 3)
    numbers = Numbering(analysis.get("plain"))
    for n in range(10):
        text = f"storm {n} flood"
        assert unnumbered(numbers.numbered([text])) == [text.split()]
        assert len(numbers._known) <= 5
