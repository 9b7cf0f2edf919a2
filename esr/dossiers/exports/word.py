"""A dossier as a Word document: each sentence with its source above, what people added below, and a note that
cites it and has its permanent link."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from esr.dossiers.exports.extract import Entry, Extract, list_place, permalink_of
from esr.dossiers.exports.markup import LINK, facts_of
from esr.dossiers.exports.word_notes import Notes, Piece, append_link
from esr.extras import require
from esr.stdlib import compile_lazily, import_lazily
from esr.text.scripts import RIGHT_TO_LEFT, is_language_tag, text_direction
from esr.wording import LONG_TITLE_CHARS, shorten_title

if TYPE_CHECKING:
    import docx
    from docx import shared
    from docx.document import Document
    from docx.enum import style as styles
    from docx.oxml import ns, parser
    from docx.text.paragraph import Paragraph
else:
    docx = import_lazily("docx")
    shared = import_lazily("docx.shared")
    styles = import_lazily("docx.enum.style")
    ns = import_lazily("docx.oxml.ns")
    parser = import_lazily("docx.oxml.parser")

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SOURCE, SENTENCE, NOTE = "Source line", "Sentence", "Reader's note"
"""The names of the document's styles of paragraphs, which a reader can change in Word."""
_IDS = {SOURCE: "SourceLine", SENTENCE: "Sentence", NOTE: "ReadersNote"}
_ILLEGAL = compile_lazily("[^\\t\\n -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_INK, _QUIET, _ACCENT = "1B1916", "5F594F", "8C1D24"
_HIGHLIGHT = "FAE3A0"


def write_word(extract: Extract) -> bytes:
    """The document, whose citations are notes. Raises UsageError if python-docx is missing."""
    require("the format Word", "docx")
    document = docx.Document()
    _add_styles(document)
    document.core_properties.title = _clean(extract.title)
    document.core_properties.author = "esr"
    document.add_paragraph(_clean(extract.title), style="Title")
    document.add_paragraph(extract.summary, style="Subtitle")
    notes = Notes(document, extract.note_kind)
    for entry in extract.entries:
        _add_entry(document, notes, extract, entry)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _add_entry(document: Document, notes: Notes, extract: Extract, entry: Entry) -> None:
    record = entry.cited.record
    language = record.language if is_language_tag(record.language) else None
    title = shorten_title(_clean(record.title or record.document_id), LONG_TITLE_CHARS)
    head = _add_paragraph(document, SOURCE)
    if before := " · ".join(map(_clean, list_place(entry))):
        head.add_run(f"{before} · ")
    if url := entry.cited.address:
        append_link(document.part, head._p, title, url)
    else:
        head.add_run(title)
    line = _add_paragraph(document, SENTENCE)
    if text_direction(language) == RIGHT_TO_LEFT:
        line._p.get_or_add_pPr().append(parser.OxmlElement("w:bidi"))
    if entry.before:
        _add_neighbour(line, f"{_clean(entry.before)} ", language)
    for text, is_highlighted in entry.pieces():
        _mark(line.add_run(_legal(text)), is_highlighted, language)
    notes.add(line, _citation(extract, entry))
    if entry.after:
        _add_neighbour(line, f" {_clean(entry.after)}", language)
    if extract.has_notes:
        _add_note(document, entry)


def _add_neighbour(line: Paragraph, text: str, language: str | None) -> None:
    run = line.add_run(text)
    run.font.color.rgb = shared.RGBColor.from_string(_QUIET)
    _mark(run, False, language)


def _add_paragraph(document: Document, style: str, text: str = "") -> Paragraph:
    """Add a paragraph in a style of this module. python-docx would look among all styles for each of them."""
    paragraph = document.add_paragraph(text)
    paragraph._p.style = _IDS[style]
    return paragraph


def _citation(extract: Extract, entry: Entry) -> list[Piece]:
    citation, url, permalink = _clean(extract.cite(entry)), entry.cited.address, permalink_of(entry)
    before, at, after = citation.partition(url) if url else (citation, "", "")
    pieces = [Piece(before), Piece(at, at), Piece(after)]
    if permalink:
        pieces += [Piece(" "), Piece(LINK, permalink), Piece(".")]
    return [piece for piece in pieces if piece.text]


def _add_note(document: Document, entry: Entry) -> None:
    cited = entry.cited
    for text in filter(None, map(_clean, cited.note.splitlines())):
        _add_paragraph(document, NOTE, text)
    if facts := facts_of(entry):
        line = _add_paragraph(document, NOTE)
        run = line.add_run(_clean(" · ".join(f"{name}: {value}" for name, value in facts)))
        run.font.size, run.font.color.rgb = shared.Pt(9), shared.RGBColor.from_string(_QUIET)


def _mark(run: Any, is_highlighted: bool, language: str | None) -> None:
    properties = run._r.get_or_add_rPr()
    if is_highlighted:
        shading = parser.OxmlElement("w:shd", {ns.qn("w:val"): "clear", ns.qn("w:fill"): _HIGHLIGHT})
        properties.append(shading)
    if text_direction(language) == RIGHT_TO_LEFT:
        properties.append(parser.OxmlElement("w:rtl"))
    if language:
        side = "w:bidi" if text_direction(language) == RIGHT_TO_LEFT else "w:val"
        properties.append(parser.OxmlElement("w:lang", {ns.qn(side): language}))


def _add_styles(document: Document) -> None:
    """The document's styles. Of those that Word has too, the names and ids are Word's."""
    paragraph, character = styles.WD_STYLE_TYPE.PARAGRAPH, styles.WD_STYLE_TYPE.CHARACTER
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = "Cambria", shared.Pt(11)
    for name, size in (("Title", 20), ("Subtitle", 10.5)):
        style = document.styles[name]
        style.font.size, style.font.color.rgb = shared.Pt(size), shared.RGBColor.from_string(_INK)
        style.font.italic = False
        if (spacing := style.element.rPr.find(ns.qn("w:spacing"))) is not None:
            style.element.rPr.remove(spacing)
    rows: tuple[tuple[str, str, Any, float, str], ...] = (
        (SOURCE, _IDS[SOURCE], paragraph, 9.5, _QUIET),
        (SENTENCE, _IDS[SENTENCE], paragraph, 12, _INK),
        (NOTE, _IDS[NOTE], paragraph, 10.5, _INK),
        ("footnote text", "FootnoteText", paragraph, 9, _INK),
        ("endnote text", "EndnoteText", paragraph, 9, _INK),
        ("footnote reference", "FootnoteReference", character, 0, ""),
        ("endnote reference", "EndnoteReference", character, 0, ""),
        ("Hyperlink", "Hyperlink", character, 0, _ACCENT),
    )
    for name, id, kind, size, colour in rows:
        style = document.styles.add_style(name, kind)
        style.element.set(ns.qn("w:styleId"), id)
        style.base_style = normal if kind == paragraph else None
        if size:
            style.font.size = shared.Pt(size)
            style.paragraph_format.space_after = shared.Pt(3)
        if colour:
            style.font.color.rgb = shared.RGBColor.from_string(colour)
        style.font.superscript = True if id.endswith("Reference") else None
        style.font.underline = True if id == "Hyperlink" else None
    source = document.styles[SOURCE].paragraph_format
    source.keep_with_next, source.space_before = True, shared.Pt(14)
    note = document.styles[NOTE].paragraph_format
    note.left_indent = shared.Pt(14)


def _clean(text: str) -> str:
    """The text on one line."""
    return " ".join(_legal(text).split())


def _legal(text: str) -> str:
    """The text with blanks in place of what XML cannot hold."""
    return _ILLEGAL.sub(" ", text)
