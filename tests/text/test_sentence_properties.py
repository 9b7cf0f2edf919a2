"""What holds for every text in every language."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.text.languages import LANGUAGE_NAMES
from esr.text.sentences import split_numbered_sentences, split_sentences
from tests.support.processes import check_linear
from tests.support.runs import IS_LONG

LANGUAGES = [None, *LANGUAGE_NAMES]
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


@given(TEXTS, TEXTS, st.sampled_from([*LANGUAGE_NAMES]))
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
@pytest.mark.parametrize("language", ["en", "de", "zh", "th"] if IS_LONG else ["en", "th"])
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


# Lines and paragraphs.


WRAPPED = """\
The teams set out at dawn to look for the men, said President Donald
Trump. They had been missing since Friday when their boat, which was
old, went down in the storm. Nobody knows where Lt.
Matt Harris is."""


def test_wrapped_lines_are_one_paragraph_whatever_they_end_and_begin_with():
    assert split_sentences(WRAPPED) == [
        "The teams set out at dawn to look for the men, said President Donald Trump.",
        "They had been missing since Friday when their boat, which was old, went down in the storm.",
        "Nobody knows where Lt. Matt Harris is.",
    ]


def test_a_heading_and_a_byline_are_sentences_of_their_own():
    text = f"STORM IN THE NORTH\nBy Jane Doe\n{WRAPPED}"
    assert split_sentences(text)[:3] == ["STORM IN THE NORTH", "By Jane Doe", split_sentences(WRAPPED)[0]]


def test_a_dateline_on_a_line_of_its_own_stays_with_its_sentence():
    assert split_sentences(f"BERLIN (Reuters) -\n{WRAPPED}")[0].startswith("BERLIN (Reuters) - The teams")


def test_where_lines_are_not_wrapped_each_is_a_paragraph():
    long = "The teams set out at dawn to look for the men, and " * 4 + "found them in the U.S."
    assert split_numbered_sentences(f"Storm\n{long}\nPolice in the north said so. They left.\nand so on") == [
        (0, "Storm"),
        (1, long),
        (2, "Police in the north said so."),
        (2, "They left."),
        (2, "and so on"),
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Items:\n- apples\n- pears", ["Items:", "- apples", "- pears"]),
        ("Items:\n• apples\n• pears", ["Items:", "• apples", "• pears"]),
        ("Do this:\n1. come\n2. go", ["Do this:", "1. come", "2. go"]),
        (
            "Results\nBayern 3\nBerlin 1\nThe season is over.",
            ["Results", "Bayern 3", "Berlin 1", "The season is over."],
        ),
        ("The boat\n- an old one -\nwent down.", ["The boat - an old one - went down."]),
        ("It came in\n1995. It went.", ["It came in 1995.", "It went."]),
        ("He met Lt.\nMatt Harris.", ["He met Lt. Matt Harris."]),
        ("Roses,\nViolets,\nand so on", ["Roses, Violets, and so on"]),
    ],
)
def test_lines_of_lists_are_sentences_and_wrapped_lines_are_joined(text, sentences):
    assert split_sentences(text, "en") == sentences


def test_sentences_are_numbered_by_their_paragraphs():
    text = "Storm\n\n \nThe boat sank. Nobody died.\n\n\nIt was old."
    assert split_numbered_sentences(text) == [
        (0, "Storm"),
        (1, "The boat sank."),
        (1, "Nobody died."),
        (2, "It was old."),
    ]


def test_lines_of_chinese_are_wrapped_anywhere_and_headings_are_short():
    text = "颱風來襲\n" + "昨天晚上颱風侵襲了北部地區造成很大的損失許多人\n無家可歸。" * 2
    assert split_sentences(text, "zh")[0] == "颱風來襲"
    assert len(split_sentences(text, "zh")) == 3


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\u00a0\u2003\n", "\r", "\x1c\x1d\x85"])
@pytest.mark.parametrize("language", [None, "en", "zh", "th"])
def test_text_of_blanks_has_no_sentence(text, language):
    assert split_sentences(text, language) == []


# Boundaries against those that people marked, in Universal Dependencies treebanks.
#
# The text is not part of the project: the tests look for it in a folder `shared` beside it, and are skipped
# without it. Documents and scores are those of the `boundaries.py` in that folder.


FOLDER = Path(__file__).resolve().parents[3] / "shared" / "collections" / "ud-sentences"
# English and German have headings and reviews without full stops.
FLOORS = {"ar": 0.99, "de": 0.98, "en": 0.945, "fr": 0.98, "hi": 0.99, "ja": 0.99, "ru": 0.975, "zh": 0.99}


def read_documents(path: Path) -> list[list[str]]:
    """The documents of a file, as lists of sentences: ten sentences each, or the treebank's own."""
    lines = path.read_text("utf-8").split("\n")
    if sum(not line for line in lines) > len(lines) / 3:  # each sentence is a document
        lines = [line for line in lines if line]
    documents: list[list[str]] = [[]]
    for line in lines:
        if not line or len(documents[-1]) == 10:
            documents.append([])
        if line:
            documents[-1].append(line)
    return [document for document in documents if document]


def boundaries(sentences: list[str]) -> set[int]:
    """Where sentences end within their document, in characters without blanks."""
    ends, position = set(), 0
    for sentence in sentences[:-1]:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends


@pytest.mark.parametrize("language", FLOORS)
@pytest.mark.parametrize("is_named", [True, False])
def test_boundaries_are_those_that_people_marked(language: str, is_named: bool) -> None:
    path = FOLDER / f"{language}.txt"
    if not path.exists():
        pytest.skip(
            "the collection ud-sentences is not there: it would be in shared/collections beside the project"
        )
    correct = predicted = marked = 0
    for sentences in read_documents(path):
        text = ("" if language in ("ja", "zh") else " ").join(sentences)
        split = boundaries(split_sentences(text, language if is_named else None))
        gold = boundaries(sentences)
        correct, predicted, marked = correct + len(split & gold), predicted + len(split), marked + len(gold)
    f1 = 2 * correct / (predicted + marked)
    assert f1 >= FLOORS[language] - (0 if is_named else 0.01), f"{language}: F1 {f1:.4f}"
