from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr import analysis, resources
from esr.analysis.analyzer import DEFINITION
from esr.errors import UsageError

SETTINGS = resources.load_json(DEFINITION)["template"]["settings"]["analysis"]
PATTERN = re.compile(SETTINGS["tokenizer"]["esr_words"]["pattern"])
NAMES = ["plain", "english", "english-stem"]


@pytest.mark.parametrize(
    ("text", "plain", "english", "stems"),
    [
        ("", "", "", ""),
        (" -- !", "", "", ""),
        ("The storm hit.", "the storm hit", "storm hit", "storm hit"),
        ("the of and THE", "the of and the", "", ""),
        (
            "U.S. bond-yields rose 3.5%",
            "u s bond yields rose 3 5",
            "u s bond yields rose 3 5",
            "u s bond yield rose 3 5",
        ),
        ("It's Ali's", "it s ali s", "s ali s", "s ali s"),
        ("She added: ebbing", "she added ebbing", "added ebbing", "add ebb"),
        ("news generously", "news generously", "news generously", "news generous"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευσ", "οδυσσευσ", "οδυσσευσ"),
        ("İstanbul", "istanbul", "istanbul", "istanbul"),
        ("Straße ÉTÉ", "straße été", "straße été", "straße été"),
        ("𝒜𝒷 𐐀𐐨s", "𝒜𝒷 𐐨𐐨s", "𝒜𝒷 𐐨𐐨s", "𝒜𝒷 𐐨𐐨s"),
        ("snake_case x²", "snake case x²", "snake case x²", "snake case x²"),
        ("東京 2017年", "東京 2017年", "東京 2017年", "東京 2017年"),
    ],
)
def test_each_analyzer_does_what_it_says(text: str, plain: str, english: str, stems: str) -> None:
    for name, expected in zip(NAMES, (plain, english, stems), strict=True):
        assert analysis.get(name).terms(text) == expected.split()


def test_terms_come_in_order_and_with_repetitions() -> None:
    assert analysis.get("english-stem").terms("Storms, storm; a storming") == ["storm"] * 3


@pytest.mark.parametrize("name", NAMES)
def test_a_word_of_over_255_units_is_no_term(name: str) -> None:
    terms = analysis.get(name).terms
    assert terms("x" * 255) == ["x" * 255]
    assert terms(f"a1 {'x' * 256} {'y' * 300} b2") == ["a1", "b2"]
    # Outside the basic plane a letter is two units.
    assert terms("𐐨" * 127) == ["𐐨" * 127]
    assert terms("𐐨" * 128 + " b2") == ["b2"]


def test_stop_words_go_before_they_are_stemmed() -> None:
    assert analysis.get("english-stem").terms("being having doings") == ["do"]


def test_the_letters_are_those_of_unicode_14() -> None:
    """Letters (L), decimals (Nd) and numbers (Nl, No): those of the definition, no more and no less."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    ours = {c for c in characters if not PATTERN.match(c)}
    alphanumeric = {c for c in characters if unicodedata.category(c)[0] in "LN"}
    if unicodedata.unidata_version == "14.0.0":
        assert ours == alphanumeric
    else:
        assert ours <= alphanumeric


def test_an_unknown_analyzer_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown analyzer 'english_stem': did you mean 'english-stem'"):
        analysis.get("english_stem")


def test_every_analyzer_of_the_definition_is_offered() -> None:
    assert list(analysis.ANALYZERS) == NAMES == [n for n in SETTINGS["analyzer"] if n != "default"]
    assert all(analysis.ANALYZERS.values())


texts = st.text() | st.text(
    st.sampled_from("aAsSİıΣς'’-_. \n\t0٣²ǅ𝒜𐐀é́ßﬁ한\u200b\ufeff\U0001f600\x00"), max_size=40
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=200)
@given(text=texts)
def test_any_text_gives_terms_without_separators(name: str, text: str) -> None:
    for term in analysis.get(name).terms(text):
        assert term
        assert PATTERN.search(term) is None
        assert len(term.encode("utf-16-le")) // 2 <= 255


@settings(max_examples=200)
@given(text=texts, other=texts)
def test_terms_of_two_texts_are_those_of_both_one_after_the_other(text: str, other: str) -> None:
    for name in NAMES:
        terms = analysis.get(name).terms
        assert terms(f"{text} {other}") == terms(text) + terms(other)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_ascii_text_takes_a_short_way_to_the_same_terms(text: str) -> None:
    assert analysis.get("plain").terms(text) == analysis.get("plain").terms(text + " é")[:-1]


def test_what_is_no_text_in_utf_8_is_passed_over() -> None:
    """The command line hands over bytes that are no UTF-8 as lone surrogates."""
    assert analysis.get("english-stem").terms("storm\udcff \ud800 flood") == ["storm", "flood"]
