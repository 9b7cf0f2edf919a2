"""A small good file of each source format, with two or more documents where the format allows it.

Each is written for these tests from the format's specification; WARC by warcio 1.8, and Parquet, PDF and
those of office programs by tools that write such files. The news in them is made up.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from esr.loaders import FORMATS

FOLDER = Path(__file__).resolve().parent.parent / "data" / "loaders"
# The file in tests/data/loaders for each format; those in WRITTEN are written here.
FILES = {
    "alto": "page2.alto.xml",
    "csv": "table.csv",
    "eml": "message.eml",
    "factiva": "factiva.txt",
    "factivaxml": "factiva.xml",
    "feed": "rss.xml",
    "html": "page.html",
    "json": "news.json",
    "jsonl": "news.jsonl",
    "lexisnexis": "lexisnexis.txt",
    "mbox": "list.mbox",
    "mediawiki": "wiki.xml",
    "mets": "issue-mets.xml",
    "newsml": "newsml-g2.xml",
    "newsml1": "newsml-1.xml",
    "nitf": "nitf.xml",
    "proquest": "proquest.txt",
    "reuters": "reuters.sgm",
    "srt": "talk.srt",
    "tei": "debate.xml",
    "text": "article.txt",
    "trec": "trec.sgml",
    "vtt": "talk.en.vtt",
    "warc": "crawl.warc",
}
# Tokens that the fuzzer inserts: those of a format do more harm than noise.
_ZIP_TOKENS = [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\xff\xff\xff\xff", b"\x00" * 8]
TOKENS = {
    "alto": [b"<TextBlock>", b"</TextBlock>", b"<TextLine>", b'WC="nan"', b'SUBS_TYPE="HypPart1"', b"<HYP/>",
             b"&x;"],
    "csv": [b'"', b",", b"\r\n", b'""', b"\t", b";"],
    "docx": _ZIP_TOKENS,
    "epub": _ZIP_TOKENS,
    "factivaxml": [b"<article>", b"</article>", b"<paragraph>", b"<accessionNo/>", b"<date>x</date>", b"&x;"],
    "eml": [b"Content-Type: multipart/mixed\n", b"=?x?q?=80?=", b"--cut--\n", b"charset=utf-7", b"\n\n",
            b"From: \n"],
    "factiva": [b"HD  x\n", b"PD  x\n", b"TD\n", b"LP\n", b"AN  Document NPOST00020240116ek1g00001\n",
                b"5 words\n"],
    "feed": [b"<item>", b"</item>", b"<guid>", b"<![CDATA[", b"&lt;p", b"<feed>", b"</rss>"],
    "html": [b"<article>", b"</p>", b"<script>", b"<!--", b"<table><tr><td>", b"&#0;", b"<title>"],
    "json": [b"{", b"}", b"[", b"]", b",", b'"', b'{"data": [', b"\\ud83d\\u", b"-", b"Infinity", b"[" * 99],
    "jsonl": [b"{", b"}", b'"', b'"id": 1', b"\\ud800", b"[" * 99, b"NaN", b'"sentences": ', b"1e999"],
    "mbox": [b"\n\nFrom a@b Thu Jan  1 00:00:00 2024\n", b"Content-Type: multipart/mixed\n", b"=?x?q?=80?=",
             b"charset=utf-7", b"Content-Transfer-Encoding: base64\n", b"Message-ID: <>\n"],
    "lexisnexis": [b"1 of 2 DOCUMENTS\n", b"Body\n", b"End of Document\n", b"BYLINE: \n", b"\n\n",
                   b"LOAD-DATE: x\n"],
    "mediawiki": [b"<page>", b"</page>", b"<ns>1</ns>", b"[[", b"]]", b"{{", b"{|", b"'" * 5, b"&lt;ref&gt;",
                  b"<id/>"],
    "mets": [b"<div>", b"</structMap>", b'TYPE="ARTICLE"', b"<file>", b"../../etc/passwd", b"<area/>",
             b"&x;"],
    "newsml": [b"<newsItem>", b"</newsItem>", b"<inlineXML>", b"&eacute;", b"<!DOCTYPE a>", b"]]>"],
    "newsml1": [b"<NewsItem>", b"</NewsItem>", b"<NewsComponent EquivalentsList='yes'>", b"</NewsComponent>",
                b"<DataContent>", b"<NewsLines><HeadLine>x</HeadLine></NewsLines>", b"<NewsML>", b"&x;"],
    "nitf": [b"<nitf>", b"</nitf>", b"<body.content>", b"<block>", b"&x;", b"<doc-id/>", b"<?xml?>"],
    "odt": _ZIP_TOKENS,
    "parquet": [b"PAR1", b"\x15\x00", b"\xff\xff\xff\x7f", b"\x19\xfc"],
    "pdf": [b"endobj", b"stream", b"endstream", b"xref", b"%%EOF", b"/Kids [1 0 R]", b"/Length 99999999",
            b"<<", b">>"],
    "proquest": [b"_" * 60 + b"\n", b"Full text: ", b"ProQuest document ID: \n", b"Title: \n",
                 b"Publication date: x\n"],
    "reuters": [b"<REUTERS NEWID=", b"</REUTERS>", b"<BODY>", b"&#3;", b"<DATE>", b"\x1f", b'NEWID="">'],
    "sqlite": [b"SQLite format 3\x00", b"CREATE TABLE", b"\xff\xff\xff\xff", b"\x00" * 8, b"\x0d\x00"],
    "srt": [b"-->", b"\n\n", b"1\n00:00:01,000 --> 00:00:03,000\n", b"<v x>", b"{\\an8}", b"99999:99:99,999"],
    "tei": [b"<u>", b"</u>", b"<teiHeader>", b"<p>", b"<note>", b'<lb break="no"/>', b"<w>", b"&x;",
            b"<TEI>"],
    "text": [b"\n\n", b"\x00", b"\xff"],
    "trec": [b"<DOC>", b"</DOC>", b"<DOCNO>", b'<s docid="x" num="1">', b"</s>", b"<TEXT>", b"&#x;"],
    "vtt": [b"-->", b"\n\n", b"NOTE x\n", b"00:01.000 --> 00:03.500\n", b"<v Jane>", b"<00:01.000>",
            b"WEBVTT"],
    "warc": [b"WARC/1.0\r\n", b"Content-Length: 99999999999\r\n", b"\r\n\r\n", b"Content-Length: -1\r\n",
             b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: br\r\n", b"HTTP/1.1 200 OK\r\n"],
    "xlsx": _ZIP_TOKENS,
}  # fmt: skip
# Documents in these formats have an explicit end, so truncation is detected.
ENDING = (
    *(
        "alto",
        "docx",
        "epub",
        "factiva",
        "factivaxml",
        "feed",
        "json",
        "jsonl",
        "mediawiki",
        "newsml",
        "newsml1",
        "nitf",
        "odt",
        "parquet",
    ),
    *("pdf", "reuters", "sqlite", "trec", "warc", "xlsx"),
)


@cache
def sample(format: str) -> bytes:
    """The bytes of a good file of this format."""
    if format in WRITTEN:
        return WRITTEN[format]()
    return (FOLDER / FILES[format]).read_bytes()


def packed(kind: str) -> bytes:
    """The JSON Lines sample in a file of this kind: gz, zst, zip, tar or tgz."""
    data = sample("jsonl")
    if kind == "gz":
        return gzip.compress(data, mtime=0)
    if kind == "zst":
        from backports import zstd

        return zstd.compress(data)
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a/news.jsonl", data)
            archive.writestr("b/trec.sgml", sample("trec"))
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz" if kind == "tgz" else "w") as tar:
        for name, member in (("a/news.jsonl", data), ("b/trec.sgml", sample("trec"))):
            info = tarfile.TarInfo(name)
            info.size = len(member)
            tar.addfile(info, io.BytesIO(member))
    return out.getvalue()


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "id": ["p1", "p2"],
            "title": ["Ferry back in service", None],
            "date": pa.array([1_705_312_800_000, None], pa.timestamp("ms")),
            "text": ["The ferry sails again. Two hundred people were aboard.", "The harbour stays closed."],
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


LEAD = (
    "The ferry across the fjord sails again after repairs of two weeks, said its owner. "
    "More than two hundred people were aboard. The well-known skipper Jane Doe steered it herself. "
    "She had said that the reconstruction of the engine would take until the end of the month."
)
"""A paragraph in which the PDF cuts two words."""
DAY = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)


def _pdf() -> bytes:
    """Two pages of three columns below a headline, with headers, page numbers and hyphens."""
    from fpdf import FPDF

    class Newspaper(FPDF):
        def header(self) -> None:
            self.set_font("helvetica", size=8)
            self.cell(0, 5, "Harbour Courier, 15 January 2024", new_x="LMARGIN", new_y="NEXT")
            self.ln(4)

        def footer(self) -> None:
            self.set_y(-15)
            self.set_font("helvetica", size=8)
            self.cell(0, 10, f"Page {self.page_no()}", align="C")

    pdf = Newspaper()
    pdf.set_creation_date(DAY)
    pdf.set_author("Jane Doe and John Roe")
    pdf.add_page()
    pdf.set_font("helvetica", "B", 20)
    pdf.cell(0, 12, "Ferry back in service", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(4)
    pdf.set_font("times", size=11)
    with pdf.text_columns(ncols=3, gutter=8, text_align="L") as columns:
        for number in range(1, 31):
            cut = LEAD.replace("reconstruction", "recon-\nstruction").replace("people were", "peo-\nple were")
            columns.write(f"Item {number} of thirty. {cut}\n\n")
    return bytes(pdf.output())


def _docx() -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.author, document.core_properties.created = "Jane Doe", DAY
    document.add_heading("Ferry back in service", 0)
    document.add_paragraph("The ferry sails again. ").add_run("Two hundred people were aboard.").bold = True
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Departure", "nine o'clock"
    document.add_paragraph("The harbour is open.")
    return _saved(document.save)


def _odt() -> bytes:
    from odfdo import Document, Header, Paragraph, Table

    document = Document("text")
    document.meta.title, document.meta.initial_creator = "Ferry back in service", "Jane Doe"
    document.meta.creation_date = DAY.replace(tzinfo=None)
    document.body.clear()
    document.body.append(Header(1, "The fjord"))
    paragraph = Paragraph("The ferry sails again. Two hundred people were aboard.")
    paragraph.insert_note(after="again.", note_id="n1", citation="1", body="After two weeks.")
    document.body.append(paragraph)
    table = Table("times", width=2, height=1)
    table.set_values([["Departure", "nine o'clock"]])
    document.body.append(table)
    return _saved(document.save)


def _xlsx() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "News"
    sheet.append(["id", "title", "date", "text", "pages"])
    sheet.append(
        ["x1", "Ferry back in service", DAY.replace(tzinfo=None), "The ferry sails again. It was full.", 4]
    )
    sheet.append([])
    sheet.append(["x2", None, date(2024, 1, 16), "The harbour stays closed."])
    return _saved(book.save)


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def _epub() -> bytes:
    """A book in the layout of EPUB 3: a page of contents and two chapters."""
    chapters = {
        "one": (
            "Ferry back in service",
            "<p>The ferry sails again.</p><p>Two hundred people were aboard.</p>",
        ),
        "two": ("The harbour", "<p>It stays closed&nbsp;until May.</p><p>So says the town.</p>"),
    }
    page = (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        "<head><title>{title}</title></head><body><h1>{title}</h1>{text}</body></html>"
    )
    items = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in chapters
    )
    package = (
        '<?xml version="1.0"?>'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="u">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="u">urn:x</dc:identifier>'
        "<dc:title>Northern Wire</dc:title><dc:creator>Jane Doe</dc:creator><dc:date>2024-01-15</dc:date>"
        '<dc:language>en</dc:language></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/>{items}</manifest><spine><itemref idref="nav"/>'
        '<itemref idref="two"/><itemref idref="one"/></spine></package>'
    )
    container = (
        '<?xml version="1.0"?>'
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        book.writestr("META-INF/container.xml", container)
        book.writestr("OEBPS/content.opf", package)
        book.writestr("OEBPS/nav.xhtml", page.format(title="Contents", text="<nav><p>One, two.</p></nav>"))
        for name, (title, text) in chapters.items():
            book.writestr(f"OEBPS/text/{name}.xhtml", page.format(title=title, text=text))
    return out.getvalue()


def _sqlite() -> bytes:
    """A database as a news reader keeps one, with a table of texts and one without."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE articles (id TEXT PRIMARY KEY, headline TEXT, date TEXT, body TEXT)")
        database.execute("CREATE TABLE settings (name TEXT, value TEXT)")
        database.executemany(
            "INSERT INTO articles VALUES (?, ?, ?, ?)",
            [
                ("s1", "Ferry back in service", "2024-01-15", "The ferry sails again. It was full."),
                ("s2", None, None, "The harbour stays closed."),
            ],
        )
        database.execute("INSERT INTO settings VALUES ('theme', 'dark')")
        database.commit()
        return database.serialize()


WRITTEN = {"docx": _docx, "odt": _odt, "parquet": _parquet, "pdf": _pdf, "xlsx": _xlsx}
WRITTEN |= {"epub": _epub, "sqlite": _sqlite}
assert set(TOKENS) == set(FORMATS) == {*FILES, *WRITTEN}, "a format has no sample"


# A synthetic collection with queries, small enough for a benchmark of seconds.


WORDS = [f"{first}{second}" for first in "bdfgklmnprstvz" for second in ("ako", "emi", "oru", "uda", "iba")]


def write_toy_collection(folder: Path, documents: int = 80) -> tuple[Path, Path]:
    """Paths of the documents and of the queries."""
    chance = random.Random(5)
    source, queries = folder / "documents.jsonl", folder / "queries.tsv"
    with source.open("w", encoding="utf-8") as file:
        for number in range(documents):
            texts = [_sentence(chance) for _ in range(chance.randint(1, 9))]
            fields = {"id": f"d{number}", "title": _sentence(chance), "date": "2026-01-02", "source": "toy"}
            file.write(json.dumps({**fields, "sentences": [{"text": text} for text in texts]}) + "\n")
    lines = (f"q{number}\t{' '.join(chance.sample(WORDS, 3))}\n" for number in range(60))
    queries.write_text("".join(lines), "utf-8")
    return source, queries


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 12)))
