"""Analyzers: the terms of texts, the choice for a new index, and the survey of terms.

Terms are those that readers of a language expect. The survey finds terms that no analyzer should make.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from esr.errors import UsageError
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.text.analysis.term_survey import TermCounter, TermSurvey
from esr.text.analysis.token_filters import compile_pattern
from esr.text.analysis.word_splitters import CapitalWords
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import (
    WORDS_ANALYZER,
    all_definitions,
    choose_analyzer,
    find_misfits,
    get_definition,
    is_marked,
    language_group,
    language_of_term,
)
from esr.text.document import Located
from esr.text.term_spans import find_spans, words_by_term, words_of_terms
from tests.support.elasticsearch import document
from tests.support.runs import examples

NAMES = [*all_definitions(), WORDS_ANALYZER]
PATTERN = re.compile(get_definition("plain").tokenizer["pattern"])
LETTERS = "aAsSİıΣς'’-_. \n\t0٣²ǅ𝒜𐐀é́ßﬁ한\u200b\ufeff\U0001f600\x00,;:\"#*1\ufe0f\u20e3東ア京กเא٫\u202f\u00a0"


@pytest.mark.parametrize(
    ("text", "plain", "english"),
    [
        ("", "", ""),
        (" -- !", "", ""),
        ("The storm hit.", "the storm hit", "storm hit"),
        ("the of and THE", "the of and the", ""),
        ("It's Ali's", "it s ali s", "s ali s"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευσ", "οδυσσευσ"),
        ("İstanbul", "istanbul", "istanbul"),
        ("Straße ÉTÉ", "straße été", "straße été"),
        ("𝒜𝒷 𐐀𐐨s", "𝒜𝒷 𐐨𐐨s", "𝒜𝒷 𐐨𐐨s"),
        ("snake_case x²", "snake case x²", "snake case x²"),
        ("東京 2017年", "東京 2017年", "東京 2017年"),
        ("U.S. bond-yields rose 3.5%", "u s bond yields rose 3 5", "u s bond yields rose 3 5"),
    ],
)
def test_the_analyses_of_the_papers_split_at_all_that_is_no_letter_or_digit(
    text: str, plain: str, english: str
) -> None:
    assert get_analyzer("plain").terms(text) == plain.split()
    assert get_analyzer("english").terms(text) == english.split()


def test_terms_of_an_index_by_language_are_marked_with_the_language() -> None:
    german = get_analyzer("by-language:de")
    assert german.name == "by-language:de" and german.mark == "de|"
    assert german.terms("Die Fluten kamen") == ["de|flut", "de|kam"]
    assert [is_marked(term) for term in ("de|flut", "flut")] == [True, False]
    assert language_of_term("de|flut") == "de"
    assert get_analyzer("german").mark == ""


def test_an_analyzer_for_all_languages_has_no_terms_of_its_own() -> None:
    by_language = get_analyzer("by-language")
    assert by_language.for_language("nn").mark == "no|"
    with pytest.raises(UsageError, match="name one with --query-language"):
        by_language.terms("The floods")
    assert not hasattr(by_language, "nothing")


def test_languages_that_share_an_analyzer_are_one_group() -> None:
    languages = ("nb", "nn", "de-AT", "xx", None, "d1", "ää")
    assert [language_group(language) for language in languages] == ["no", "no", "de", "xx", *["und"] * 3]


@pytest.mark.parametrize(
    ("analyzer", "text", "terms"),
    [
        ("english-stem", "", ""),
        ("english-stem", "U.S. troops’ 3.5% of bond-yields", "us troop 3.5 bond yield"),
        ("english-stem", "US, U.S.A., U.N. and E.U. at 9 p.m.", "us usa un eu 9 pm"),
        ("english-stem", "the U.S.-led talks in the U.S", "us led talk us"),
        ("english-stem", "Trump's, Trump’s, TRUMP'S wall; Ali's", "trump trump trump wall ali"),
        ("english-stem", "It's what they don't, don’t say", "say"),
        ("english-stem", "Who in the WHO’s IT says “IS”—IT'S IT_x", "WHO IT say IS it_x"),
        ("english-stem", "AND, OR, NOT a", ""),
        ("english-stem", "O'Neill O’Neill", "o'neil o'neil"),
        ("english-stem", "Beyoncé Beyonce Beyonce\u0301 BEYONCÉ", "beyonc beyonc beyonc beyonc"),
        ("english-stem", "500,000 500000 1,234,567.89 3,5", "500000 500000 1234567.89 3,5"),
        ("english-stem", "She added: ebbing news generously", "add ebb news generous"),
        ("english-stem", "snake_case _this_ ___", "snake_cas"),
        ("english-stem", "ＦＵＬＬ ｗｉｄｔｈ １２３", "full width 123"),
        ("english-stem", "soft\u00adhyphen zero\u200dwidth", "softhyphen zerowidth"),
        ("english-stem", "being having doings", "do"),
        ("german", "Tuerkei, Türkei, TÜRKEI, Turkei", "turkei turkei turkei turkei"),
        ("german", "Straße Strassen STRASSE", "strass strass strass"),
        ("german", "500.000 Euro, 3,5 Prozent", "500000 euro 3,5 prozent"),
        ("french", "L’élection, l'election, d'Élections", "elect elect elect"),
        ("french", "500\u202f000 et 500\u00a0000", "500000 500000"),
        ("italian", "L'Italia dell’Unione", "ital union"),
        ("catalan", "l'alcalde d'Amposta", "alcald ampost"),
        ("turkish", "İSTANBUL'UN istanbul ISPARTA ısparta", "istanbul istanbul ispar ispar"),
        ("greek", "ΟΔΟΣ οδός Οδος", "οδ οδ οδ"),
        ("russian", "Ёлки елки", "елк елк"),
        ("arabic", "الحكومةُ الحكومة", "حكومه حكومه"),
        ("arabic", "عبدالرحم\u0670ن عبدالرحمن ه\u0670ذا \u0671لحكومة", "عبدالرحم عبدالرحم حكومه"),
        ("persian", "می\u200cخواهم كتاب ۱۲۳", "خواهم کتاب 123"),
        ("hebrew", "שָׁלוֹם שלום שׁלום \ufb2aלום", "שלום שלום שלום שלום"),
        ("hebrew", "צה״ל צה”ל צה\"ל צהל ג׳ורג׳ ג'ורג'", "צהל צהל צהל צהל גורג גורג"),
        ("hebrew", "“תל־אביב” O'Neill", "תל אביב o'neill"),
        ("hindi", "टेस्ला", "टेसल"),
        ("hindi", "क़ारें कारें", "कार कार"),
        ("romanian", "Preşedinţii Președinții", "presedint presedint"),
        ("serbian", "Београд Beograd", "beograd beograd"),
        ("danish", "Århus Aarhus", "århus århus"),
        ("swedish", "Göteborg Gøteborg éclair", "göteborg göteborg eclair"),
        ("swedish", "råd rad", "råd rad"),
        ("swedish", "utlöst avlösa höst", "utlös avlös höst"),
        ("multilingual", "東京都 ｱｼﾞｱ 한국어", "東京 京都 アジ ジア 한국 국어"),
        ("multilingual", "東 a京", "東 a 京"),
        ("multilingual", "ประเทศ ไทย", "ปร ระ ะเ เท ทศ ไท ทย"),
        ("multilingual", "Война й и\u0306", "война й й"),
    ],
)  # fmt: skip
def test_words_become_the_terms_that_readers_expect(analyzer: str, text: str, terms: str) -> None:
    assert get_analyzer(analyzer).terms(text) == terms.split()


def test_terms_come_in_order_and_with_repetitions() -> None:
    assert get_analyzer("english-stem").terms("Storms, storm; a storming") == ["storm"] * 3


@pytest.mark.parametrize("name", ["plain", "english"])
def test_a_word_of_over_255_units_is_no_term(name: str) -> None:
    terms = get_analyzer(name).terms
    assert terms("x" * 255) == ["x" * 255]
    assert terms(f"a1 {'x' * 256} {'y' * 300} b2") == ["a1", "b2"]
    # Outside the basic plane a letter is two units.
    assert terms("𐐨" * 127) == ["𐐨" * 127]
    assert terms("𐐨" * 128 + " b2") == ["b2"]


def test_a_word_of_over_255_units_is_cut() -> None:
    terms = get_analyzer("multilingual").terms
    assert terms("x" * 600) == ["x" * 255, "x" * 255, "x" * 90]
    assert terms("𐐨" * 128) == ["𐐨" * 127, "𐐨"]
    assert [len(term) for term in terms("x" * 1_000_000)] == [255] * 3921 + [145]


def test_a_written_word_is_cut_after_255_letters() -> None:
    words = get_analyzer(WORDS_ANALYZER).terms
    for letter in "xж𐐨":
        assert words(f"{letter * 255} {letter * 600} b") == [letter * 255, letter * 255, "b"]


def test_capital_words_need_two_letters_as_the_lookahead_of_their_pattern() -> None:
    settings = {"pattern": "^(?=[A-Z][A-Z])(IS|WHO)(?:'s)?$", "replacement": "$1§"}
    assert CapitalWords(settings).mark("WHO's") == "WHO§"
    for pattern in ("^(?=[A-Z][A-Z])(IS|A)(?:'s)?$", "^(IS|WHO)(?:'s)?$"):
        with pytest.raises(ValueError, match="is not supported"):
            CapitalWords({**settings, "pattern": pattern})


@pytest.mark.slow
def test_the_letters_of_plain_are_those_of_unicode_14() -> None:
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
        get_analyzer("english_stem")


texts = st.text() | st.text(st.sampled_from(LETTERS), max_size=40)


@pytest.mark.parametrize("name", NAMES)
@hypothesis_settings(max_examples=examples(50))
@given(text=texts)
def test_any_text_gives_terms_without_white_space(name: str, text: str) -> None:
    for term in get_analyzer(name).terms(text):
        assert term and not re.search(r"[ \t\n\r]", term)
        assert len(term) <= 4 * 255  # folding may lengthen a word


@pytest.mark.parametrize("name", NAMES)
@hypothesis_settings(max_examples=examples(50))
@given(text=texts)
def test_each_term_has_its_place_in_the_text(name: str, text: str) -> None:
    analyzer = get_analyzer(name)
    tokens = list(analyzer.tokens(text))
    assert [token.term for token in tokens] == analyzer.terms(text)
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)


@pytest.mark.parametrize(
    ("analyzer", "text", "words"),
    [
        ("english-stem", "“The U.S. troops’ cafés”", ["U.S.", "troops", "cafés"]),
        ("french", "Le prix\u202f: 500\u00a0000 euros", ["prix", "500\u00a0000", "euros"]),
        ("multilingual", "ｶﾞｽ 東京都", ["ｶﾞｽ", "東京", "京都"]),
        ("hindi", "टेस्ला ने", ["टेस्ला"]),
    ],
)
def test_the_place_of_a_term_is_that_of_its_word_in_the_original(
    analyzer: str, text: str, words: list[str]
) -> None:
    assert [text[start:end].rstrip(".") for start, end, _ in get_analyzer(analyzer).tokens(text)] == [
        word.rstrip(".") for word in words
    ]


@hypothesis_settings(max_examples=examples(200))
@given(text=texts, other=texts)
def test_terms_of_two_texts_are_those_of_both_one_after_the_other(text: str, other: str) -> None:
    for name in ("plain", "english-stem", "multilingual"):
        terms = get_analyzer(name).terms
        assert terms(f"{text} \n {other}") == terms(text) + terms(other)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_ascii_text_takes_a_short_way_to_the_same_terms(text: str) -> None:
    assert get_analyzer("plain").terms(text) == get_analyzer("plain").terms(text + " é")[:-1]


def test_what_is_no_text_in_utf_8_is_passed_over() -> None:
    """The command line hands over bytes that are no UTF-8 as lone surrogates."""
    assert get_analyzer("english-stem").terms("storm\udcff \ud800 flood") == ["storm", "flood"]


@pytest.mark.parametrize(
    ("languages", "analyzer"),
    [
        ([], "english-stem"),
        ([None, ""], "english-stem"),
        (["en"] * 3, "english-stem"),
        (["de"] * 9 + ["fr"], "german"),
        (["de"] * 8 + ["fr"] * 2, "by-language"),
        (["de"] * 2 + [None] * 90, "german"),
        (["de-AT", "DE", "de_CH"], "german"),
        (["nb", "nb", "nb"], "norwegian"),
        (["zh"] * 3, "multilingual"),
        (["xx"] * 3, "multilingual"),
    ],
)
def test_nine_in_ten_documents_of_one_language_choose_its_analyzer(
    languages: list[str | None], analyzer: str
) -> None:
    assert choose_analyzer(languages).analyzer == analyzer


def test_the_reason_says_what_was_seen() -> None:
    assert choose_analyzer(["de", "de"]).reason == "2 of the first 2 documents are in de"
    assert choose_analyzer(["de", "fr"]).reason == (
        "the first 2 documents are in several languages: de 1, fr 1"
    )
    assert choose_analyzer(["a", "b", "c", "d"]).reason.endswith("a 1, b 1, c 1, …")
    assert choose_analyzer([None]).reason == "no language of the document is known"
    assert choose_analyzer(["de"]).reason == "the document is in de"


def test_documents_in_other_languages_do_not_fit() -> None:
    languages = {"de": 5, "fr": 2, "": 1}
    assert find_misfits(languages, get_definition("german")) == {"fr": 2}
    assert find_misfits(languages, get_definition("multilingual")) == {}
    assert find_misfits(languages, get_definition("plain")) == {}


def test_no_language_has_two_analyzers() -> None:
    """But English, which the papers' analysis is for as well."""
    of_languages = (d for d in all_definitions().values() if d.name != "english")
    codes = [code for definition in of_languages for code in definition.languages]
    assert len(codes) == len(set(codes)) >= 25


TEXTS = ["storm the coast", "the storm", "…", "the flood " + "word " * 100, "the end", "end"]


def counted() -> TermSurvey:
    counter = TermCounter()
    for text in TEXTS:
        counter.add(text.replace("…", "").split())
    return counter.survey()


def test_long_sentences_empty_ones_and_frequent_terms_are_counted() -> None:
    assert counted() == TermSurvey(6, 1, 1, ["the"])
    assert TermCounter().survey() == TermSurvey(0, 0, 0, [])


def test_each_finding_is_a_line() -> None:
    assert TermSurvey(3, 0, 0, []).notes() == TermSurvey(3, 0, 0, ["storm"]).notes() == []
    lines = counted().notes()
    assert lines[0] == "1 sentence has no term: no words find them"
    assert lines[1].startswith("1 sentence has more than 100 terms")
    assert lines[2].startswith("terms in more than a third of all sentences: the:")


@pytest.mark.parametrize("append", [False, True])
def test_a_load_surveys_what_it_loaded(tmp_path: Path, append: bool) -> None:
    where = str(tmp_path / "index")
    old, new = Located("a", document("old", "the", "the")), Located("b", document("new", *TEXTS))
    if append:
        open_writer(where, LoadOptions(analyzer="plain", title=False)).load([old])
    report = open_writer(where, LoadOptions("append", "plain", False)).load([new])
    assert report.terms == counted()


# The patterns of token filters: the same in Java and in Python, and quick in both.


PATTERNS = sorted(
    {
        pattern
        for name in (*all_definitions(), WORDS_ANALYZER)
        for settings in get_definition(name).chain("filter")
        for pattern in (settings.get("pattern"), *settings.get("patterns", ()))
        if pattern
    }
)
LARGE_SET = 6
"""Ranges and characters beyond ASCII, which Java looks up one after another."""


def _largest_set(pattern: str) -> int:
    sets = re.findall(r"\[\^?([^\]]+)\]", pattern)
    return max((sum(not r.isascii() for r in re.findall(r".-.|.", found)) for found in sets), default=0)


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_a_large_set_is_not_tried_on_the_letters_of_most_words(pattern: str) -> None:
    """Java asks each range of a set in turn: without this, sets took half of the time of a load."""
    first = re.match(r"\(\?!\[[^\]]+\]\)", pattern)
    if _largest_set(pattern) >= LARGE_SET:
        assert first, "begin with (?![...]), a small set of what cannot match"
    if first:
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        assert not any(re.match(first[0], letter) for letter in letters)


@pytest.mark.parametrize("pattern", [r"\d+", "(?i)a", "[a[b]]", "[a&&b]", "(?<name>a)"])
def test_what_java_and_python_may_read_differently_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="may read differently"):
        compile_pattern(pattern)


ASCII = "abU.5, -_"
SCRIPTS = "abU.S'’ \u00a0\u2009\u202f5005,.-_中国。กาไ\u0301टेस्ال\u200d👩😀한ｶﾞ"
TEXTS_WITH_SPANS = st.text(max_size=20) | st.text(SCRIPTS, max_size=20) | st.text(ASCII, max_size=20)
"""Some analyzers have a way of their own for ASCII."""


@given(st.sampled_from(NAMES), TEXTS_WITH_SPANS)
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
    assert words_by_term(get_analyzer(name), text) == words


def test_a_period_belongs_to_an_acronym_and_to_no_other_word() -> None:
    assert "3.5" in words_by_term(get_analyzer("english-stem"), "It rose 3.5.").values()
    assert "storm" in words_by_term(get_analyzer("english-stem"), "A storm.").values()


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
    assert words_of_terms(get_analyzer("english-stem"), text, terms) == words


def test_bigrams_share_a_span_also_behind_another_word() -> None:
    analyzer, text = get_analyzer("english-stem"), "熊猫 中国经济"
    spans = find_spans(text, analyzer.tokens(text), {"熊猫", "中国", "国经", "经济"})
    assert [text[span.start : span.end] for span in spans] == ["熊猫", "中国经济"]


@given(st.sampled_from(NAMES), TEXTS_WITH_SPANS)
def test_spans_of_all_terms_cover_each_token_and_do_not_touch(name: str, text: str) -> None:
    analyzer = get_analyzer(name)
    tokens = list(analyzer.tokens(text))
    found = find_spans(text, tokens, {token.term for token in tokens})
    assert all(one.end < other.start for one, other in pairwise(found))
    for token in tokens:
        assert any(span.start <= token.start and token.end <= span.end for span in found)
