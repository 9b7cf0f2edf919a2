"""Checks of drafts, on both engines: evidence for each sentence, numbers beside numbers, names and files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import esr
from esr.evidence.draft_check import split_draft
from esr.evidence.draft_files import read_draft, strip_markdown
from esr.evidence.quotation_marks import find_quotations
from tests.support.elasticsearch import document, load
from tests.support.processes import check_linear

DRAFT = """# Brexit

Prime Minister Teresa May said “we will leave a single market”.  The Taoiseach answered
on the same day. Prices rose 3 percent in Russia. Nobody sang."""


def test_a_draft_has_evidence_for_its_sentences_and_numbers_and_quotations(index: esr.Index) -> None:
    found = index.check_draft(DRAFT)
    assert [found.text[each.start : each.end] for each in found.sentences] == [
        each.text for each in found.sentences
    ]
    heading, said, answered, prices, sang = found.sentences
    assert answered.text.endswith("answered\non the same day.")
    assert (answered.evidence[0].sentence_id, answered.evidence[0].share) == ("rte.s1", 1.0)
    assert prices.evidence[0].sentence_id == "dw.s1"
    assert [(n.text, n.verdict, [o.text for o in n.beside]) for n in prices.numbers] == [
        ("3 percent", "other", ["5 percent"])
    ]
    assert (heading.evidence, sang.evidence, said.numbers) == ((), (), ())
    (quotation,) = found.quotations
    assert (quotation.verdict, [(d.text, d.original) for d in quotation.differences]) == (
        "near",
        [("a", "the")],
    )
    assert DRAFT[quotation.start : quotation.end] == quotation.text


def test_a_misspelt_name_has_the_form_that_the_sentences_have(index: esr.Index) -> None:
    found = index.check_draft(
        "The aides of Teresa May flew, as I did. Theresa May flew, and Theresa May’s aides flew to Russia."
    )
    assert [(name.text, name.sentences) for name in found.names] == [
        ("Teresa May", 0),
        ("Theresa May", 3),
        ("Russia", 1),
    ]
    assert [(near.name, near.sentences) for near in found.names[0].nearest] == [("Theresa May", 3)]
    assert all(name.nearest == () for name in found.names[1:])
    assert found.text[found.names[0].start : found.names[0].end] == "Teresa May"
    hyphened = index.check_draft("Turning-back is hard for Theresa May.").names
    assert [name.text for name in hyphened] == ["Theresa May"]


def test_a_common_noun_and_a_title_alone_are_no_names(index: esr.Index) -> None:
    names = index.check_draft("They met the CEO of a Country, and then a Market in Russia.").names
    assert [name.text for name in names] == ["Russia"]


def test_a_name_has_five_words_at_most(index: esr.Index) -> None:
    names = index.check_draft("They met Ann Bay Cole Dunn Eden, and Bo Bay Cole Dunn Eden Falk.").names
    assert [name.text for name in names] == ["Ann Bay Cole Dunn Eden"]


def test_a_word_of_eight_letters_may_have_two_wrong_ones(tmp_path: Path) -> None:
    text = "They met Johannes Fink and Hellmut Wolf."
    load(str(tmp_path / "index"), [document(f"d{number}", text) for number in range(5)])
    with esr.open(tmp_path / "index") as index:
        names = index.check_draft("They met Johanmas Fink and Hallmat Wolf.").names
    assert [(name.text, [near.name for near in name.nearest]) for name in names] == [
        ("Johanmas Fink", ["Johannes Fink"]),
        ("Hallmat Wolf", []),
    ]


def test_names_that_are_equally_frequent_come_by_the_alphabet(tmp_path: Path) -> None:
    texts = ["They met Tim Cruz."] * 5 + ["They met Tam Cruze."] * 5
    load(str(tmp_path / "index"), [document(f"d{number}", text) for number, text in enumerate(texts)])
    with esr.open(tmp_path / "index") as index:
        (name,) = index.check_draft("They met Tam Cruz and left.").names
    assert [near.name for near in name.nearest] == ["Tam Cruze", "Tim Cruz"]


def test_equal_numbers_are_the_same_whatever_their_form(index: esr.Index) -> None:
    (sentence,) = index.check_draft("Prices rose five percent in Russia.").sentences
    assert [(number.text, number.verdict) for number in sentence.numbers] == [("five percent", "same")]


def test_a_number_without_a_unit_is_compared_with_equal_numbers_of_any_unit(index: esr.Index) -> None:
    for number, verdict in (("5", "same"), ("4", "none")):
        (sentence,) = index.check_draft(f"In Russia, prices rose by {number}.").sentences
        assert [(each.text, each.verdict) for each in sentence.numbers] == [(number, verdict)]


def test_three_words_are_enough_for_evidence_and_two_are_not(index: esr.Index) -> None:
    three, two = index.check_draft("Parliament was full. Parliament full.").sentences
    assert [found.sentence_id for found in three.evidence] == ["bbc.s0"] and two.evidence == ()


def test_a_short_draft_without_marks_is_one_quotation_too(index: esr.Index) -> None:
    (quotation,) = index.check_draft("  This is an historic moment\n").quotations
    assert (quotation.verdict, quotation.text) == ("exact", "This is an historic moment")
    assert index.check_draft("Nobody sang. " * 4).quotations == ()


def test_a_draft_that_cannot_be_checked_is_refused(index: esr.Index) -> None:
    for text, message in (
        (" ", "no text"),
        ("He left. " * 600, "600 sentences"),
        ("x" * 300_000, "characters"),
    ):
        with pytest.raises(esr.UsageError, match=message):
            index.check_draft(text)


def test_sentences_keep_their_places_in_a_text_of_any_spaces() -> None:
    text = "\n One  two.\tThree\n four. \n\n Five."
    assert [text[start:end] for start, end in split_draft(text)] == ["One  two.", "Three\n four.", "Five."]
    assert split_draft(" ") == []


def test_drafts_are_read_from_text_markdown_and_docx(tmp_path: Path) -> None:
    markdown = tmp_path / "draft.md"
    markdown.write_text('# A *title*\n\n> **He** [left](https://x.example "X"), he “[said]” it.\n\n1. One')
    assert read_draft(markdown) == "A title\n\nHe left, he “[said]” it.\n\nOne"
    (tmp_path / "draft.txt").write_text("\ufeff# as it is")
    assert read_draft(tmp_path / "draft.txt") == "# as it is"
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    paragraphs = "".join(
        f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in ("He left. She sang.", "It rained.")
    )
    with zipfile.ZipFile(tmp_path / "draft.docx", "w") as packed:
        packed.writestr("word/document.xml", f"<w:document {word}><w:body>{paragraphs}</w:body></w:document>")
    assert read_draft(tmp_path / "draft.docx") == "He left. She sang.\n\nIt rained."
    (tmp_path / "latin.txt").write_bytes("Café".encode("latin-1"))
    for name, message in (("latin.txt", "not UTF-8"), ("none.md", "cannot read")):
        with pytest.raises(esr.UsageError, match=message):
            read_draft(tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("run", [" 'a'a", "[a", "[", "“", "*a"])
def test_marks_take_no_time_that_grows_faster_than_the_text(run: str) -> None:
    check_linear(lambda length: find_quotations(run * (length // len(run))), 20_000)
    check_linear(lambda length: strip_markdown(run * (length // len(run))), 20_000)
