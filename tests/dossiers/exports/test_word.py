"""Documents of Word: read again by python-docx, with their footnotes and links."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from esr.dossiers.exports.word import NOTE, SENTENCE, SOURCE, write_word
from tests.dossiers.exports.test_formats import HOSTILE, LETTER, extract
from tests.support.runs import need

docx = need("docx")
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def read(content: bytes) -> Any:
    return docx.Document(io.BytesIO(content))


def notes_of(document: Any, kind: str) -> tuple[dict[str, Any], Any]:
    """The notes by id, without the lines above them, and their part."""
    (part,) = (rel.target_part for rel in document.part.rels.values() if rel.reltype.endswith(f"/{kind}s"))
    root = need("lxml.etree").fromstring(part.blob)
    assert root.tag == f"{W}{kind}s"
    notes = {note.get(f"{W}id"): note for note in root}
    assert [notes.pop(id).get(f"{W}type") for id in ("-1", "0")] == ["separator", "continuationSeparator"]
    return notes, part


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_each_sentence_has_a_note_that_cites_it_with_links(kind: Any) -> None:
    document = read(write_word(msgspec.structs.replace(extract(LETTER, HOSTILE), note_kind=kind)))
    assert next(p.text for p in document.paragraphs if p.style.name == SENTENCE) == LETTER.text
    (numerals,) = document.element.iter(f"{W}numFmt")
    assert numerals.get(f"{W}val") == "decimal", "endnotes are not i, ii, iii"
    references = [r.get(f"{W}id") for r in document.element.iter(f"{W}{kind}Reference")]
    notes, part = notes_of(document, kind)
    assert references == ["1", "2"] == list(notes)
    said = "".join(notes["1"].itertext())
    assert said.startswith(" Dewan, Angela. “May accused") and said.endswith("Link to the sentence.")
    links = [part.rels[link.get(f"{R}id")].target_ref for link in notes["1"].iter(f"{W}hyperlink")]
    assert links == [LETTER.url, LETTER.permalink]
    assert not list(notes["2"].iter(f"{W}hyperlink")), "its addresses are none of the web"


def test_the_styles_that_notes_and_links_name_are_in_the_document() -> None:
    document = read(write_word(extract(LETTER)))
    notes, _ = notes_of(document, "footnote")
    named = {
        style.get(f"{W}val") for note in notes.values() for style in note.iter(f"{W}pStyle", f"{W}rStyle")
    }
    assert named == {"FootnoteText", "FootnoteReference", "Hyperlink"}
    assert named <= {style.style_id for style in document.styles}
    kinds = [e.get(f"{W}id") for e in document.settings.element.iter(f"{W}footnote")]
    assert kinds == ["-1", "0"]


def test_a_sentence_has_its_source_above_and_what_people_added_below() -> None:
    document = read(write_word(extract(LETTER)))
    texts = [(p.style.name, p.text) for p in document.paragraphs]
    assert texts[2] == (SOURCE, "cnn.com · 29 March 2017 · May accused of ‘blatant threat’")
    assert [text for style, text in texts if style == NOTE] == [
        "Eleven or four?",
        "Count in the letter.",
        "Last changed by: ben · Tags: letter, check · Judgement: 2",
    ]
    (head,) = document.paragraphs[2].hyperlinks
    assert head.address == LETTER.url
    marked = [r.text for r in document.element.iter(f"{W}r") if r.find(f"{W}rPr/{W}shd") is not None]
    assert marked == ["11 times"]
    bare = read(write_word(extract(LETTER, has_notes=False)))
    assert all(p.style.name != NOTE for p in bare.paragraphs)


def test_a_sentence_of_a_script_from_right_to_left_is_written_so() -> None:
    arabic = msgspec.structs.replace(
        LETTER, text="قال الوزير إن الأمن\u200c ليس للمساومة.", language="ar", highlights=()
    )
    document = read(write_word(extract(arabic)))
    assert [p.text for p in document.paragraphs if p.style.name == SENTENCE] == [arabic.text]
    (line,) = (p for p in document.element.iter(f"{W}p") if p.find(f"{W}pPr/{W}bidi") is not None)
    (properties,) = (r.find(f"{W}rPr") for r in line.iter(f"{W}r") if r.find(f"{W}t") is not None)
    assert properties.find(f"{W}rtl") is not None
    assert properties.find(f"{W}lang").get(f"{W}bidi") == "ar"
