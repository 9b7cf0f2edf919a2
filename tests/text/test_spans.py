from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text import spans
from esr.text.analyzer import WORDS_ANALYZER, all_definitions, get_analyzer

NAMES = [*all_definitions(), WORDS_ANALYZER]
ASCII = "abU.5, -_"
SCRIPTS = "abU.S'’ \u00a0\u2009\u202f5005,.-_中国。กาไ\u0301टेस्ال\u200d👩😀한ｶﾞ"
TEXTS = st.text(max_size=20) | st.text(SCRIPTS, max_size=20) | st.text(ASCII, max_size=20)
"""Some analyzers have a way of their own for ASCII."""


@given(st.sampled_from(NAMES), TEXTS)
def test_tokens_have_the_terms_of_the_text_in_the_order_of_their_places(name: str, text: str) -> None:
    analyzer = get_analyzer(name)
    tokens = list(analyzer.tokens(text))
    assert [token.term for token in tokens] == analyzer.terms(text)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)
    assert all(one.start <= other.start for one, other in pairwise(tokens))


def test_plain_words_are_placed_after_several_separators() -> None:
    text = "U.S. cafe, -- (中国)"
    words = [text[start:end] for start, end, _ in get_analyzer("plain").tokens(text)]
    assert words == ["U", "S", "cafe", "中国"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("english-stem", "The U.S. troops of Trump's", {"us": "U.S.", "troop": "troops", "trump": "Trump's"}),
        ("english-stem", "Beyonce\u0301's $500,000.", {"beyonc": "Beyonce\u0301's", "500000": "500,000"}),
        ("hindi", "टेस्ला के आविष्कार", {"टेसल": "टेस्ला", "अविषकार": "आविष्कार"}),
        ("multilingual", "中国经济", {"中国": "中国", "国经": "国经", "经济": "经济"}),
        ("plain", "टेस्ला", {"ट": "टे", "स": "स्ला", "ल": "स्ला"}),
        ("multilingual", "ស្ត្រី", {"ស្ត្": "ស្ត្រី", "ត្រី": "ស្ត្រី"}),
        ("plain", "cafe\u0301 x", {"cafe": "cafe\u0301", "x": "x"}),
    ],
)
def test_terms_lead_to_words_as_they_are_written(name: str, text: str, words: dict[str, str]) -> None:
    assert spans.words_by_term(get_analyzer(name), text) == words


def test_a_period_belongs_to_an_acronym_and_to_no_other_word() -> None:
    assert "3.5" in spans.words_by_term(get_analyzer("english-stem"), "It rose 3.5.").values()
    assert "storm" in spans.words_by_term(get_analyzer("english-stem"), "A storm.").values()


@pytest.mark.parametrize(
    ("text", "terms", "words"),
    [
        ("The storm of storms in the U.S.", {"storm", "us"}, ("storm", "storms", "U.S.")),
        ("中国熊猫", {"国熊", "熊猫"}, ("熊猫",)),
        ("中国熊", {"国熊"}, ()),
        ("中国经济", {"国经"}, ()),
        ("中国经济", {"中国", "国经", "经济"}, ("中国经济",)),
        ("熊猫 中国 熊猫", {"熊猫"}, ("熊猫",)),
    ],
)
def test_words_of_terms_are_whole_and_distinct(text: str, terms: set[str], words: tuple[str, ...]) -> None:
    assert spans.words_of_terms(get_analyzer("english-stem"), text, terms) == words


@given(st.sampled_from(NAMES), TEXTS)
def test_spans_of_all_terms_cover_each_token_and_do_not_touch(name: str, text: str) -> None:
    analyzer = get_analyzer(name)
    tokens = list(analyzer.tokens(text))
    found = spans.find_spans(text, tokens, {token.term for token in tokens})
    assert all(one.end < other.start for one, other in pairwise(found))
    for token in tokens:
        assert any(span.start <= token.start and token.end <= span.end for span in found)
