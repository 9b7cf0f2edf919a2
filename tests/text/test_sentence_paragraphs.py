"""Lines and paragraphs."""

import pytest

from esr.text.sentences import split_numbered_sentences, split_sentences

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
