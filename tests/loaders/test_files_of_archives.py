"""PDF, office documents, debates, recognised pages and wikis.

The samples are written by other programs (fpdf2, python-docx, odfdo, openpyxl) or from the specifications of
TEI, ALTO 2, METS and the export format of MediaWiki 0.11.
"""

import io
import shutil
import zipfile
from html import escape

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, get, read_documents
from esr.loaders.archives import ocr
from esr.loaders.office import pdf_layout, pdf_lines
from esr.text.placed_text import PlacedText, describe_place, find_places, join_pieces
from esr.text.splitting.printed_lines import find_uncut_words, join_lines
from esr.text.validate import build_document
from tests.loaders.conftest import texts
from tests.support.processes import check_linear
from tests.support.samples import FOLDER, LEAD, sample

pytestmark = pytest.mark.slow


@pytest.fixture
def read(tmp_path):
    """A function from the bytes of a file and its name to its documents, and what was remarked on."""

    def read(data, name):
        (tmp_path / name).write_bytes(data)
        remarks = []
        options = ReadOptions(base=str(tmp_path), on_remark=lambda remark: remarks.append(remark.text))
        return [found.document for found in read_documents([str(tmp_path / name)], options=options)], remarks

    return read


# Places


def test_each_sentence_has_the_place_of_the_piece_that_it_begins_in():
    text = join_pieces([("One. Two goes", {"page": 1}), (" ", {"page": 2}), ("on. Three.", {"page": 3})], " ")
    sentences = build_document({"id": "a", "text": text}).sentences
    assert [(s.text, dict(s.features)) for s in sentences] == [
        ("One.", {"page": 1}),
        ("Two goes on.", {"page": 1}),
        ("Three.", {"page": 3}),
    ]


def test_letters_of_two_code_points_do_not_shift_places():
    text = join_pieces([("Cafe\u0301 e\u0301te\u0301. " * 9, {"page": 1}), ("Next.", {"page": 2})])
    sentences = build_document({"id": "a", "text": text}).sentences
    assert [s.features["page"] for s in sentences] == [1] * 9 + [2]


def test_a_text_without_places_gives_sentences_without_features():
    assert list(find_places("One. Two.", ["One.", "Two."])) == [{}, {}]
    assert list(find_places(PlacedText("One."), ["One."])) == [{}]


@pytest.mark.parametrize(
    ("features", "place"),
    [
        ({}, None),
        ({"confidence": 0.5}, None),
        ({"page": 3.0}, "page 3"),
        ({"second": 5.9}, "0:05"),
        ({"second": 754.2}, "12:34"),
        ({"second": 3765.0, "page": 1}, "1:02:45"),
    ],
)
def test_a_place_is_told_as_a_page_or_a_time(features, place):
    assert describe_place(features) == place


# Line ends


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["市政府昨天宣", "布关闭港口。"], "市政府昨天宣布关闭港口。"),
        (["The recon-", "struction ends."], "The reconstruction ends."),
        (["The recon\u00ac", "Struction ends."], "The reconStruction ends."),
        (["A well-", "known man, well-known."], "A well-known man, well-known."),
        (["Rhein-", "Main-Gebiet"], "Rhein-Main-Gebiet"),
        (["Bus-", "und Bahnfahrer"], "Bus- und Bahnfahrer"),
        (["2010-", "2012"], "2010-2012"),
        (["It ended -", "at last."], "It ended - at last."),
        (["soft\u00adware", "", "sails"], "software sails"),
    ],
)
def test_words_that_line_ends_cut_are_joined(lines, text):
    assert join_lines(lines, find_uncut_words(lines)) == text


def test_the_lines_of_a_long_paragraph_are_joined_in_linear_time() -> None:
    """A book in TEI may have a single paragraph."""
    check_linear(lambda size: join_lines(["the committee met " * 28] * size), 8_000)


@pytest.mark.parametrize("run", ["a", "a-", "a'"])
def test_the_words_of_a_long_line_are_found_in_linear_time(run: str) -> None:
    """A PDF may have data, or a text without blanks, in a line."""
    check_linear(lambda size: find_uncut_words([run * size + "."]), 4_000)


# PDF


def test_columns_are_read_one_after_the_other_and_cut_words_joined(read):
    (document,), remarks = read(sample("pdf"), "s.pdf")
    assert (document.id, document.title, document.date) == ("s", "Ferry back in service", "2024-01-15")
    assert document.authors == ("Jane Doe", "John Roe") and document.metadata == {"pages": 2}
    expected = [part for n in range(1, 31) for part in [f"Item {n} of thirty.", *_sentences(LEAD)]]
    assert texts(document) == expected
    assert remarks == ["have headers or footers that pages repeat, which were left out"]
    pages = [sentence.features["page"] for sentence in document.sentences]
    assert pages == sorted(pages) and set(pages) == {1, 2}


def _sentences(text):
    return [f"{sentence.rstrip('.')}." for sentence in text.split(". ")]


def test_the_sample_has_words_that_line_ends_cut():
    import pypdfium2

    with pypdfium2.PdfDocument(sample("pdf")) as document:
        text = document[0].get_textpage()
        lines = [line.text for line in pdf_lines.read_lines(document[0], text, text.count_chars())]
    assert any(line.endswith("recon-") for line in lines)


def test_a_placeholder_is_neither_title_nor_author(load):
    from fpdf import FPDF

    page = FPDF()
    page.set_title("(anonymous)")
    page.set_author("(anonymous)")
    page.add_page()
    page.set_font("Helvetica", size=12)
    page.multi_cell(0, 8, "The ferry sails again after two weeks.\nTwo hundred people were aboard.")
    (document,) = load(bytes(page.output()), "pdf")
    assert (document.title, document.authors) == (None, ())


def test_a_pdf_of_pictures_says_what_to_do(load_error):
    from fpdf import FPDF

    blank = FPDF()
    blank.add_page()
    assert load_error(bytes(blank.output())).startswith("standard input: has no text layer, only pictures")


def test_an_encrypted_or_truncated_pdf_is_refused(load_error):
    from fpdf import FPDF

    secret = FPDF()
    secret.set_encryption(owner_password="a", user_password="b")
    secret.add_page()
    assert "standard input: is encrypted" in load_error(bytes(secret.output()))
    assert "it has no end" in load_error(sample("pdf")[:-200])


@pytest.mark.parametrize(
    ("angle", "matrix"), [(0, "1 0 0 1"), (90, "0 1 -1 0"), (180, "-1 0 0 -1"), (270, "0 -1 1 0")]
)
def test_pages_that_are_turned_are_read_as_they_are_shown(load, angle, matrix):
    content = f"q {matrix} 300 300 cm BT /F 12 Tf 14 TL (The ferry sails) Tj T* (again today.) Tj ET Q"
    parts = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 600]/Rotate {angle}/Contents 4 0 R/Resources<</Font<</F "
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>> >> >> >>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
    )
    data, table = "%PDF-1.4\n", "0000000000 65535 f \n"
    for n, part in enumerate(parts, 1):
        table += f"{len(data):010} 00000 n \n"
        data += f"{n} 0 obj{part}endobj\n"
    data += f"xref\n0 5\n{table}trailer<</Size 5/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    assert texts(load(data.encode(), "pdf")[0]) == ["The ferry sails again today."]


def written_from_left(line):
    """A PDF with a line that is kept as it is printed; its font says that the letter a is Alef, and so on."""
    return one_page(f"BT /F 12 Tf 72 700 Td ({line}) Tj ET", letters_from("\u05d0"))


def letters_from(first):
    """The table of a font whose letters a to z are as many from this one on."""
    letters = "".join(f"<{0x61 + n:02x}><{ord(first) + n:04x}>" for n in range(26))
    return (
        f"begincmap 1 begincodespacerange<00><ff>endcodespacerange 26 beginbfchar{letters}endbfchar endcmap"
    )


def one_page(content, table):
    """A PDF of one page with this content, in a font whose letters the table names."""
    parts = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>> >> >>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Courier/ToUnicode 6 0 R>>",
        f"<</Length {len(table)}>>stream\n{table}\nendstream",
    )
    objects = "".join(f"{n} 0 obj\n{part}\nendobj\n" for n, part in enumerate(parts, 1))
    return f"%PDF-1.4\n{objects}trailer << /Root 1 0 R >>\n%%EOF\n".encode()


def drawn_by_glyphs(text):
    """A PDF of a browser: a syllable has its letters at its first glyph, and each blank is drawn alone.

    Where the text has a tab there is a gap.
    """
    drawn, at = [], 72
    for syllable in text.split("|"):
        if syllable == "\t":
            at += 7.2
            continue
        glyphs = ("\\001",) if syllable == " " else "MM" if len(syllable) == 2 else "MMM"[: len(syllable)]
        moved = " 7.2 0 Td ".join(f"({glyph}) Tj" for glyph in glyphs)
        letters = "" if syllable == " " else f"<FEFF{syllable.encode('utf-16-be').hex().upper()}>"
        span = f"/Span<</ActualText {letters}>> BDC {moved} EMC" if letters else moved
        drawn.append(f"BT /F 12 Tf 1 0 0 1 {at:.1f} 700 Tm {span} ET")
        at += 7.2 * len(glyphs)
    empty = "begincmap 1 begincodespacerange<00><ff>endcodespacerange endcmap"
    return one_page("\n".join(drawn), empty)


@pytest.mark.parametrize("text", ["भा|र|त| |ने| |रा|ह|त| |भे|जी|।", "நே|ற்|று| |மொ|ழி|யை| |அறி|வி|த்|தார்|."])
def test_syllables_of_several_glyphs_are_not_cut(load, text):
    (document,) = load(drawn_by_glyphs(text), "pdf")
    assert texts(document) == [text.replace("|", "")]


def test_entries_of_a_menu_of_a_browser_are_words(load):
    (document,) = load(drawn_by_glyphs("हो|म| |औ|र| |खे|ल|\t|रा|ज्य|\t|दे|श"), "pdf")
    assert texts(document) == ["होम और खेल राज्य देश"]


def test_words_of_a_line_that_is_drawn_as_a_whole_are_parted(load):
    line = "BT /F 12 Tf 72 700 Td [(a) -700 (bcdef) -700 (gh)] TJ ET"
    (document,) = load(one_page(line, letters_from("अ")), "pdf")
    assert texts(document) == ["अ आइईउऊ ऋऌ"]


def test_words_that_are_kept_as_they_are_printed_are_read_from_the_right(load):
    words = ["\u05d0\u05d1\u05d2\u05d3", "\u05d4\u05d5\u05d6", "52", "\u05d7\u05d8\u05d9\u05da\u05db"]
    (document,) = load(written_from_left("lkjih 52 gfe dcba"), "pdf")
    assert texts(document) == [" ".join(words)]


def test_digits_of_arabic_are_read_from_the_left():
    letters = list("\u0661\u0662 \u0628\u0627")  # as printed: a number, and a word from its left end
    spans = [(0.0, 5.0), (5.0, 10.0), (0.0, 0.0), (12.0, 17.0), (17.0, 22.0)]
    assert pdf_lines.join_letters(letters, spans) == "\u0627\u0628 \u0661\u0662"


def test_headlines_across_columns_stay_above_those_below_them():
    def column(left, top, name):
        return [
            pdf_lines.Line(
                f"line {n} of the column {name}", left, top - 12 * n, left + 200, top - 12 * n + 10
            )
            for n in range(4)
        ]

    wide = [pdf_lines.Line("A headline over both", 50, y, 460, y + 20) for y in (700, 500)]
    page = [
        *column(260, 660, "b"),
        *wide,
        *column(50, 460, "c"),
        *column(50, 660, "a"),
        *column(260, 460, "d"),
    ]
    order = [line.text.split()[-1] for part in pdf_layout.order_columns(page) for line in part]
    assert order == ["both", *"aaaabbbb", "both", *"ccccdddd"]


def test_cells_of_a_table_are_rows_and_no_columns():
    cells = [
        pdf_lines.Line(f"{c}{n}", 50 + 200 * c, 500 - 12 * n, 90 + 200 * c, 510 - 12 * n)
        for n in range(5)
        for c in (0, 1)
    ]
    (rows,) = pdf_layout.order_columns(cells)
    assert [row.text for row in rows] == [f"0{n} 1{n}" for n in range(5)]


# DOCX, ODT and XLSX


def test_documents_of_office_programs_have_their_text_and_properties(read):
    for kind in ("docx", "odt"):
        (document,), _ = read(sample(kind), f"s.{kind}")
        assert (document.id, document.title, document.authors) == (
            "s",
            "Ferry back in service",
            ("Jane Doe",),
        )
        assert document.date.startswith("2024-01-15T09:00:00")
        wanted = ["The ferry sails again.", "Two hundred people were aboard.", "Departure nine o'clock"]
        assert [text for text in texts(document) if text in wanted] == wanted
    assert "After two weeks." in texts(document)


WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="m" xmlns:mc="c"'


def zipped(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def word(body):
    return zipped({"word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>"})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<w:p><w:r><w:t>It </w:t></w:r><w:ins><w:r><w:t>sails.</w:t></w:r></w:ins></w:p>", ["It sails."]),
        (
            "<w:p><w:r><w:t>It sails.</w:t></w:r><w:del><w:r><w:delText>No.</w:delText></w:r></w:del></w:p>",
            ["It sails."],
        ),
        (
            "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a form.</w:t></w:r></w:p></w:sdtContent></w:sdt>",
            ["In a form."],
        ),
        ("<w:p><w:r><w:t>One</w:t><w:br/><w:t>two.</w:t></w:r></w:p>", ["One two."]),
        (
            "<w:p><w:r><mc:AlternateContent>"
            "<mc:Choice><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></mc:Choice>"
            "<mc:Fallback><w:t>In a box.</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>",
            ["In a box."],
        ),
    ],
)
def test_nothing_that_word_shows_is_lost_or_repeated(load, body, expected):
    assert texts(load(word(body), "docx")[0]) == expected


def test_the_part_with_the_text_may_have_another_name(load):
    relation = '<Relationship Type="http://x/officeDocument" Target="/word/document2.xml"/>'
    note = f"<w:footnotes {WORD}><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>"
    parts = {
        "_rels/.rels": f"<Relationships>{relation}</Relationships>",
        "word/document2.xml": f"<w:document {WORD}><w:p><w:r><w:t>It sails.</w:t></w:r></w:p></w:document>",
        "word/footnotes.xml": note,
    }
    assert texts(load(zipped(parts), "docx")[0]) == ["It sails.", "A note."]


def test_a_document_is_no_archive_of_xml(read, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a/one.docx", sample("docx"))
        archive.writestr("a/two", sample("odt"))
        archive.writestr("a/three", sample("xlsx"))
    documents, _ = read((tmp_path / "all.zip").read_bytes(), "all.zip")
    assert [document.id for document in documents] == ["all/a/one", "all/a/two", "x1", "x2"]


def test_a_document_that_unpacks_to_too_much_is_refused(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.files.FREE_BYTES", 1000)
    bomb = word("<w:p>" + "<w:r/>" * 10**6 + "</w:p>")
    assert "unpacks to more than 200 times its size" in load_error(bomb, "docx")
    sheet = zipped({"xl/workbook.xml": "", "xl/worksheets/sheet1.xml": "0" * 10**7})
    assert "unpacks to more than 200 times its size" in load_error(sheet, "xlsx")


def test_entities_of_office_documents_are_not_expanded(load_error):
    bomb = '<!DOCTYPE a [<!ENTITY a "' + "x" * 100 + '">]>'
    data = zipped(
        {"word/document.xml": f"{bomb}<w:document {WORD}><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:document>"}
    )
    assert "xxxx" not in load_error(data, "docx")


def test_encrypted_and_old_documents_say_what_to_do(load_error):
    assert "is encrypted, or in the format of an older program" in load_error(
        b"\xd0\xcf\x11\xe0" + b"0" * 600, "docx"
    )
    manifest = zipped({"content.xml": "0", "META-INF/manifest.xml": "<a><encryption-data/></a>"})
    assert "standard input: is encrypted" in load_error(manifest, "odt")


@pytest.mark.parametrize(
    ("head", "advice"),
    [
        (b"{\\rtf1\\ansi", "is RTF, which is not read: save it as DOCX"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "in the format of an older program: save it again as DOCX or XLSX"),
        (b"\xff\xd8\xff\xe0", "is a picture: recognise its text first"),
        (b"Rar!\x1a\x07", "is packed in a format that is not read: unpack it"),
        (b"\0\1\0\0Standard Jet DB", "unknown format: name it with --format"),
    ],
)
def test_files_that_are_not_read_say_what_to_do(load_error, head, advice):
    assert advice in load_error(head + bytes(600))


def test_rows_of_a_workbook_are_documents(load):
    first, second = load(sample("xlsx"), "xlsx")
    assert (first.id, first.title, first.date, first.metadata) == (
        *("x1", "Ferry back in service", "2024-01-15T09:00:00"),
        {"pages": "4"},
    )
    assert (second.id, second.title, second.date) == ("x2", None, "2024-01-16")


def workbook(*sheets):
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for n, rows in enumerate(sheets):
        sheet = book.create_sheet(f"S{n}")
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_sheets_with_the_same_columns_are_read_and_others_remarked_on(read):
    data = workbook([["id", "text"], ["a", "A."]], [["id", "text"], ["b", "B."]], [["city"], ["Bergen"]], [])
    documents, remarks = read(data, "s.xlsx")
    assert [document.id for document in documents] == ["a", "b"]
    assert remarks == ["have a sheet 'S2' with other columns, which was left out"]


def test_a_sheet_of_empty_cells_in_its_last_column_is_refused(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.office.xlsx.MAX_CELLS", 30_000)
    rows = [["id", "text"], ["a", "One."], *[[None] * 16_383 + [""]] * 2]
    assert "the sheet has more than 30,000 cells" in load_error(workbook(rows), "xlsx")


def test_titles_above_a_table_are_not_its_columns(load):
    rows = [["All articles of May"], [], ["id", "text"], ["a", "It sails."]]
    assert [document.id for document in load(workbook(rows), "xlsx")] == ["a"]
    assert [texts(document) for document in load(workbook([["text"], ["One."], ["Two."]]), "xlsx")] == [
        ["One."],
        ["Two."],
    ]


def test_a_row_with_more_cells_than_columns_is_malformed(load):
    bad = []
    assert [d.id for d in load(workbook([["id", "text"], ["a", "A.", "x"], ["b", "B."]]), "xlsx", bad)] == [
        "b"
    ]
    assert bad[0].where == "standard input:S0!2" and "3 cells, but there are 2 columns" in bad[0].problem


def test_an_export_of_a_database_in_a_document_is_split_into_its_articles(load):
    paragraphs = (FOLDER / "nexis-uni.txt").read_text().splitlines()
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in paragraphs)
    assert [document.title for document in load(word(body), "docx")] == [
        "Ferry back in service",
        "Harbour closed",
    ]


def test_the_sniffers_of_office_documents_do_not_take_other_archives():
    other = zipped({"password/a.txt": "x", "xl/readme.txt": "x", "word/a.txt": "x"})
    assert not any(get(name).sniff(other) for name in ("docx", "odt", "xlsx"))


# TEI


def test_speeches_are_documents_with_their_speakers_as_authors(load):
    first, second, third = load(sample("tei"), "tei")
    assert (first.id, first.authors, first.date) == ("u1", ("Jane Doe",), "2024-01-15")
    assert (first.title, first.section) == ("The ferry", "Session 5")
    assert (first.source, first.language) == ("Parliament of Northland", "en")
    assert texts(first) == ["The ferry sails again.", "It was repaired in two weeks."]
    sitting = "Minutes of Northland, 15 January 2024"
    assert first.metadata == {"speaker": "DoeJane", "role": "chair", "sitting": sitting}
    assert third.title == sitting
    assert (second.authors, texts(second)) == (("John Roe",), ["Two hundred people came."])


def test_speakers_are_named_by_the_list_of_the_corpus(read, tmp_path):
    name = "<persName><surname>Roe</surname><forename>Sir John</forename></persName>"
    persons = f'<listPerson><person xml:id="JohnRoe">{name}</person></listPerson>'
    (tmp_path / "ParlaMint-XX-listPerson.xml").write_text(persons)
    (_, second, _), _ = read(sample("tei"), "debate.xml")
    assert second.authors == ("Sir John Roe",)


def test_speakers_are_named_by_the_header_of_the_corpus(read, tmp_path):
    name = "<persName><surname>Roe</surname><forename>Sir John</forename></persName>"
    persons = f'<teiHeader><listPerson><person xml:id="JohnRoe">{name}</person></listPerson></teiHeader>'
    (tmp_path / "Debates-XX.xml").write_text(f"<teiCorpus>{persons}</teiCorpus>")
    (_, second, _), _ = read(sample("tei"), "Debates-XX_2024-01-15.xml")
    assert second.authors == ("Sir John Roe",)


def test_a_text_without_speeches_is_one_document(load):
    header = "<teiHeader><titleStmt><title>Letter</title><author>Jane Doe</author></titleStmt></teiHeader>"
    body = '<head>Letter</head><p>It sails.</p><p>Af-<lb break="no"/>ter.</p>'
    text = f"<TEI>{header}<text><front><p>No.</p></front><body>{body}</body></text></TEI>"
    (document,) = load(text)
    assert (document.title, document.authors, texts(document)) == (
        "Letter",
        ("Jane Doe",),
        ["It sails.", "After."],
    )
    corpus = f"<teiCorpus><teiHeader/>{text}{text}</teiCorpus>"
    assert [document.id for document in load(corpus)] == ["stdin", "stdin.1"]


# ALTO and METS


@pytest.fixture
def issue(tmp_path):
    for name in ("issue-mets.xml", "page1.alto.xml", "page2.alto.xml"):
        shutil.copy(FOLDER / name, tmp_path / name)
    return tmp_path


def test_articles_of_an_issue_are_documents_with_pages_and_confidence(issue):
    skipped = []
    options = ReadOptions(base=str(issue), on_skipped=skipped.append)
    article, rest = (found.document for found in read_documents([str(issue)], options=options))
    assert (article.id, article.title, article.date) == (
        "courier-1924-01-15.ART1",
        "Ferry back in service",
        "1924-01-15",
    )
    assert (article.source, article.language) == ("Harbour Courier", "en")
    assert texts(article) == ["The ferry sails after reconstruction.", "Two hundred came."]
    assert [dict(s.features) for s in article.sentences] == [{"page": 1, "confidence": 0.771}, {"page": 2}]
    assert (rest.title, texts(rest)) == ("Harbour Courier, page 1", ["Bread for sale."])
    assert rest.metadata == {"ocr_confidence": 0.5}
    assert [skip.reason for skip in skipped] == ["a page of issue-mets.xml, which has its articles"] * 2


def test_a_page_alone_is_a_document(load):
    (document,) = load((FOLDER / "page1.alto.xml").read_bytes())
    assert texts(document) == ["The ferry sails after reconstruction.", "Bread for sale."]
    assert [s.features["confidence"] for s in document.sentences] == [0.771, 0.5]


def test_a_missing_page_is_malformed_and_the_others_are_read(issue):
    (issue / "page2.alto.xml").unlink()
    bad = []
    options = ReadOptions(base=str(issue), on_malformed=bad.append)
    read = [found.document.id for found in read_documents([str(issue / "issue-mets.xml")], options=options)]
    assert read == ["courier-1924-01-15.ART1", "courier-1924-01-15.page1"]
    assert [problem.problem for problem in bad] == [
        "page2.alto.xml cannot be read: No such file or directory"
    ]


def test_advertisements_are_articles_and_cut_titles_are_completed(read, tmp_path):
    block = '<TextBlock ID="{}"><TextLine><String CONTENT="{}"/></TextLine></TextBlock>'
    blocks = block.format("a", "The ferry sails again") + block.format("b", "For sale: a boat.")
    (tmp_path / "alto.xml").write_text(f"<alto>{blocks}</alto>")
    file = '<fileGrp ID="ALTO"><file ID="f"><FLocat xlink:href="alto.xml"/></file></fileGrp>'
    area = '<div TYPE="{}" LABEL="{}"><area FILEID="f" BEGIN="{}"/></div>'
    divisions = area.format("Article", "The ferry sa...", "a") + area.format("Ad", "Sans Titre", "b")
    mets = f'<mets xmlns:xlink="http://www.w3.org/1999/xlink">{file}<structMap>{divisions}</structMap></mets>'
    (first, second), _ = read(mets.encode(), "mets.xml")
    assert (first.title, texts(second), second.title) == (
        "The ferry sails again",
        ["For sale: a boat."],
        None,
    )


def test_a_broken_page_or_issue_does_not_take_the_others_along(issue):
    def read():
        ocr.read_mets_files.cache_clear()
        bad = []
        options = ReadOptions(base=str(issue), on_malformed=bad.append)
        documents = [found.document.id for found in read_documents([str(issue)], options=options)]
        return documents, [problem.problem[:10] for problem in bad]

    page, mets = issue / "page2.alto.xml", issue / "issue-mets.xml"
    page.write_bytes(page.read_bytes()[:-20])
    documents, problems = read()
    assert documents == ["courier-1924-01-15.ART1", "courier-1924-01-15.page1"]
    assert problems == ["broken XML"]
    mets.write_bytes(mets.read_bytes()[:-20])
    documents, problems = read()
    assert documents == ["page1.alto"] and problems == ["broken XML"] * 2


def test_no_file_outside_the_folder_of_a_mets_file_is_read(issue):
    (issue / "issue").mkdir()
    mets = (
        (issue / "issue-mets.xml")
        .read_text()
        .replace('"page2', '"../page2')
        .replace("file://./page1", "../page1")
    )
    (issue / "issue" / "mets.xml").write_text(mets)
    with pytest.raises(InputError, match="no document"):
        list(read_documents([str(issue / "issue" / "mets.xml")]))


def test_a_packed_mets_file_says_what_to_do(load_error):
    assert load_error(sample("mets")).endswith(
        "METS names other files, which can be read from a folder only: unpack it"
    )


# MediaWiki


def test_articles_of_a_wiki_are_read_without_their_markup(read):
    (first, second), _ = read(sample("mediawiki"), "wiki.xml")
    assert (first.id, first.date, first.source) == ("northnews:7", "2024-01-15", "Northnews")
    assert first.url == "https://wiki.example/wiki/Ferry_back_in_service"
    assert (first.keywords, first.language) == (("Ferries", "Bergen"), "en")
    assert texts(first) == [
        "The ferry across the Northern fjord sails again.",
        "Two hundred people were aboard.",
        "Timetable",
        "It leaves at nine.",
    ]
    assert (second.id, second.date) == ("northnews:10", "2024-02-01T09:00:00Z")


def _wiki_page(wikitext):
    text = f"<text>{escape(wikitext)}</text>"
    return (
        f"<mediawiki><page><title>A</title><ns>0</ns><id>1</id><revision>{text}</revision></page></mediawiki>"
    )


@pytest.mark.parametrize("mark", ["{{a|", "[[a|", "[http://", "<ref>", "<!--"])
def test_an_article_with_too_many_open_marks_is_malformed_before_it_is_parsed(load_error, monkeypatch, mark):
    def fail(*_, **__):
        raise AssertionError("the library would take hours")

    monkeypatch.setattr("mwparserfromhell.parse", fail)
    wikitext = "}} ]] --> </ref>" * 2_000 + mark * 1_001  # ends before the beginnings close nothing
    message = "more than 1,000 of its templates, links or tags are open at once: leave it out"
    assert message in load_error(_wiki_page(wikitext), "mediawiki")


def test_an_article_may_have_many_marks_that_are_closed(load):
    marks = "{{a}} [[b]] [http://c.d e] <ref>f</ref> <ref name=g /> <!-- h -->\n"
    (document,) = load(_wiki_page("The ferry sails. " + marks * 1_100), "mediawiki")
    assert texts(document)[0] == "The ferry sails."


def test_line_ends_stay_and_what_no_reader_of_a_wiki_sees_is_left_out(load):
    wikitext = "__NOTOC__\nIt sails.<br />It lands at [[de:Kai]].\n[[de:Fähre]] [[zh-yue:渡輪]]\n[[fr:Bac]]\n"
    text = f"<text>{escape(wikitext)}</text>"
    page = f"<page><title>Ferry</title><revision>{text}</revision></page>"
    (document,) = load(f"<mediawiki>{page}</mediawiki>", "mediawiki")
    assert texts(document) == ["It sails.", "It lands at de:Kai."]


def test_dumps_that_number_neither_pages_nor_namespaces_are_read(load):
    page = "<page><title>{}</title><revision><text>It sails.</text></revision></page>"
    pages = "".join(
        map(page.format, ("Ferry", "Talk:Ferry", "Benutzer:Jane", "Image talk:Ferry", "2024: a year"))
    )
    spaces = '<namespaces><namespace key="2">Benutzer</namespace></namespaces>'
    documents = load(f"<mediawiki><siteinfo>{spaces}</siteinfo>{pages}</mediawiki>", "mediawiki")
    assert [document.title for document in documents] == ["Ferry", "2024: a year"]


def test_an_unfinished_address_of_a_wiki_or_of_a_page_of_an_issue_is_none(load, issue):
    site = "<siteinfo><base>https://[wiki.example/Main_Page</base></siteinfo>"
    page = "<page><title>Ferry</title><revision><text>It sails.</text></revision></page>"
    (document,) = load(f"<mediawiki>{site}{page}</mediawiki>", "mediawiki")
    assert document.url is None
    mets = (issue / "issue-mets.xml").read_text()
    for address in ("https://[page2", "a\0b"):
        (issue / "issue-mets.xml").write_text(mets.replace("file://./page1.alto.xml", address))
        ocr.read_mets_files.cache_clear()
        assert list(read_documents([str(issue)], options=ReadOptions(on_malformed=[].append)))


def test_dumps_that_bzip2_packed_are_read(read):
    import bz2

    documents, _ = read(bz2.compress(sample("mediawiki")), "wiki.xml.bz2")
    assert [document.id for document in documents] == ["northnews:7", "northnews:10"]
    with pytest.raises(InputError, match=r"may be truncated|cannot be read"):
        read(bz2.compress(sample("mediawiki"))[:-50], "cut.xml.bz2")
