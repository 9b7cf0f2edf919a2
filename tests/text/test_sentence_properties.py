"""What holds for every text in every language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text.sentences import _NAMES, split_numbered_sentences, split_sentences
from tests.support.growth import check_linear

LANGUAGES = [None, *_NAMES]
PIECES = [
    *(
        ".",
        "!",
        "?",
        "…",
        "...",
        '."',
        "?”",
        ".)",
        "»",
        "«",
        '"',
        "''",
        "„",
        "“",
        ",",
        ":",
        ";",
        "-",
        "—",
        "–",
        "(",
        ")",
    ),
    *(
        "[1]",
        "*",
        "•",
        "1",
        "12.",
        "7.",
        "3.5",
        "a",
        "A",
        "b.",
        "U.S.",
        "U.S",
        "Lt.",
        "Dr.",
        "No.",
        "Rs.",
        "etc.",
        "e.g.",
    ),
    *(
        "z.",
        "B.",
        "Mrd.",
        "XIV.",
        "am",
        "Juli",
        "The",
        "He",
        "It",
        "However",
        "Ich",
        "said",
        "word",
        "Word",
        "wörter",
    ),
    *(
        "Слово",
        "слово",
        "г.",
        "т.",
        "д.",
        "।",
        "॥",
        "है",
        "के",
        "क.",
        "؟",
        "۔",
        "د.",
        "ذهب",
        "。",
        "！",
        "？",
        "「",
        "」",
    ),
    *(
        "（",
        "）",
        "彼は",
        "Yahoo!",
        "と",
        "ก",
        "ว่า",
        "”",
        "한국",
        "다.",
        "։",
        "።",
        "။",
        "។",
        "🙂",
        "👩‍👩‍👧",
        "\u0301",
        "\u200d",
    ),
    *(
        "\u200f",
        "\u2028",
        "\ud800",
        "\x00",
        "&quot;",
        "&#39;",
        "http://a.b",
        "a@b.c",
        "/TASS/.",
        "İ",
        "ǅ",
        "ß.",
    ),
]
TEXTS = (
    st.text()
    | st.text(alphabet="ab.!?\"' \n\r\tDr1")
    | st.lists(st.sampled_from([*PIECES, "\n", "\n\n", " ", ""])).map(" ".join)
    | st.lists(st.sampled_from([*PIECES, "\n", " "])).map("".join)
)


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_no_character_but_whitespace_is_lost_or_moved_and_no_sentence_is_blank(text, language):
    sentences = split_sentences(text, language)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == " ".join(sentence.split()) != "" for sentence in sentences)


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_paragraphs_are_numbered_in_order_and_without_gaps(text, language):
    numbered = split_numbered_sentences(text, language)
    assert [sentence.text for sentence in numbered] == split_sentences(text, language)
    numbers = [sentence.paragraph for sentence in numbered]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(len(set(numbers))))


@given(TEXTS, TEXTS, st.sampled_from([*_NAMES]))
def test_a_sentence_never_crosses_a_blank_line(first, second, language):
    together = split_sentences(f"{first}\n\n{second}", language)
    assert "".join(first.split()) in {
        "".join("".join(together[:n]).split()) for n in range(len(together) + 1)
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        *(
            "!",
            "?!",
            '."',
            "! ",
            "a",
            ". ",
            "\n ",
            "Dr. ",
            '. " ',
            ". (",
            ". [12] ",
            "''",
            "U.S. ",
            "A. ",
            "1. \n",
            "• a\n",
        ),
        *(
            "。",
            "「",
            "。」",
            "（",
            "... ",
            "ก ",
            "๑",
            "1a",
            "It ",
            "etc. ",
            "12. ",
            "г. ",
            '?" Aa ',
            "a-",
            "&#39;",
            "7. Juli ",
        ),
    ],
)
@pytest.mark.parametrize("language", ["en", "de", "zh", "th"])
def test_no_text_takes_long(run, language):
    check_linear(
        lambda length: split_sentences("Before. " + run * (length // len(run)) + " After.", language), 100_000
    )


@pytest.mark.slow
@pytest.mark.parametrize("language", [None, "en", "de", "ru", "zh", "th"])
@pytest.mark.parametrize("letter", ["a", "ж", "漢", "ก", "क", "🙂", "!"])
def test_a_word_of_a_megabyte_is_no_obstacle(letter, language):
    sentences = split_sentences(f"It was so. {letter * (2**20 // len(letter.encode()))} They left.", language)
    assert sentences[0].startswith("It was so.")
    assert sentences[-1].endswith("They left.")
