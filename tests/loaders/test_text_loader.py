"""The sample is written from RFC 4155 (mbox), RFC 5322 and the MIME of RFC 2045 to 2047."""

import mailbox
import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_LE
from io import BytesIO
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from esr.errors import InputError
from esr.loaders import ReadOptions, read_documents, text
from esr.loaders.document_ids import make_id
from esr.loaders.encoding import decode_source
from esr.loaders.format import Source
from esr.text.document import Document, Sentence
from tests.loaders.conftest import texts
from tests.support.samples import FOLDER, sample


def test_the_first_line_is_the_title_and_the_rest_the_text(load):
    assert load("Quake in the north\nIt was strong. Nobody\nwas hurt.\n\nMore soon\n", "text") == [
        Document(
            "stdin",
            (
                Sentence("stdin.s0", "It was strong.", paragraph=0),
                Sentence("stdin.s1", "Nobody was hurt.", paragraph=0),
                Sentence("stdin.s2", "More soon", paragraph=1),
            ),
            title="Quake in the north",
        )
    ]


@pytest.mark.parametrize("start", ["", "\ufeff", "\n \n", "\ufeff\r\n"])
def test_blank_lines_and_a_byte_order_mark_are_not_the_title(load, start):
    (document,) = load(start + "Title \r\nText.", "text")
    assert (document.title, [s.text for s in document.sentences]) == ("Title", ["Text."])


@pytest.mark.parametrize("end", ["", "\n", "\r\n \n\n"])
def test_the_only_line_of_a_file_is_its_text(load, end):
    sentences = (
        Sentence("stdin.s0", "The ferry sails.", paragraph=0),
        Sentence("stdin.s1", "It rains.", paragraph=0),
    )
    assert load("The ferry sails. It rains." + end, "text") == [Document("stdin", sentences)]


def test_a_first_line_that_is_too_long_for_a_title_is_text(load):
    paragraph = "The ferry sails again. " * 20
    (document,) = load(f"{paragraph}\nIt rains.", "text")
    assert document.title is None and len(document.sentences) == 21


@pytest.mark.parametrize(
    ("lines", "is_table"),
    [
        (["id\ttext", "a\tIt rained.", "b\tIt blew."], True),
        (["id\ttext", "", "a\tIt rained."], True),
        (["Ferry", "\tIt rained.", "\tIt blew."], False),
        (["id\ttext"], False),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_table_with_the_name_of_a_text_is_told(tmp_path, lines, is_table, encoding):
    remarks = []
    (tmp_path / "Book1.txt").write_bytes("\r\n".join(lines).encode(encoding))
    list(read_documents([str(tmp_path)], options=ReadOptions(on_remark=remarks.append)))
    expected = (
        ["have columns with tabs between them, read as prose (--format csv reads rows)"] if is_table else []
    )
    assert [remark.text for remark in remarks if "columns" in remark.text] == expected


def test_the_id_is_the_path_without_its_suffix(tmp_path):
    for name in ("2017/02/a story.txt", "2017/b.c.TXT", "z.txt"):
        path = tmp_path / "given folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("T\nOne.")
    folder = str(tmp_path / "given folder")
    names = ["2017/02/a_story", "2017/b.c", "z"]
    below = [document.id for _, document in read_documents([folder], options=ReadOptions(base=folder))]
    assert below == names
    full = [document.id for _, document in read_documents([folder])]
    assert full == [make_id(f"{os.path.realpath(folder)}/{name}")[1:] for name in names]


def test_a_line_that_is_not_utf8_is_named(load):
    data = b"Title\n" + b"x" * 70_000 + "é\n".encode() + b"caf\xe9\n"
    with pytest.raises(InputError, match=r"^standard input:3: this line is not UTF-8 \(byte 0xe9\)"):
        load(data, "text")


def test_a_truncated_character_at_the_end_is_an_error(load):
    with pytest.raises(InputError, match="standard input:2: this line is not UTF-8"):
        load("Title\né".encode()[:-1], "text")


def test_a_file_that_is_too_long_for_a_document_is_rejected(load, monkeypatch):
    monkeypatch.setattr(text, "MAX_DOCUMENT_BYTES", 1000)
    assert load("x" * 1000, "text")
    with pytest.raises(InputError, match="longer than 64 MiB"):
        load("x" * 1001, "text")


def encoding_of(data):
    """That of a mark, or else the one that the loader finds; UTF-8 without either."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # UTF-32 begins alike
        return "utf-32" if data.startswith(BOM_UTF32_LE) else "utf-16"
    found = []
    decode_source(Source("x", "x", BytesIO(data)), None, found.append).stream.read()
    return found[0] if found else "utf-8-sig"


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass")))
@example(b",\x92")
def test_any_bytes_are_a_document_or_an_input_error(load, data):
    try:
        (document,) = load(data, "text")
    except InputError as error:
        assert str(error).startswith("standard input")
    else:
        words = [document.title or "", *(s.text for s in document.sentences)]
        given_words = data.decode(encoding_of(data)).split()
        assert normalize("NFC", "".join("".join(words).split())) == normalize("NFC", "".join(given_words))


MBOX = sample("mbox")


def test_messages_give_their_headers_and_their_plain_text(load):
    first, second, third = load(MBOX, "mbox")
    assert (first.id, first.title, first.source) == ("1@news.example", "Ferry back à quai", "A Writer")
    assert first.date == "2024-01-15T08:00:00+00:00"
    assert texts(first) == ["The ferry sails again.", "From Bergen, two hundred people were aboard."]
    assert texts(second) == ["The harbour stays closed."]
    assert (third.source, third.date) == ("news.local", None)
    assert texts(third) == ["Nobody said why.", "It rained."]


def test_it_is_recognised_by_its_first_line(load):
    assert load(MBOX) == load(MBOX, "mbox")


@pytest.mark.parametrize("size", [2, 50, 2**20])
def test_lines_may_end_with_a_carriage_return_alone(load, monkeypatch, size):
    monkeypatch.setattr("esr.loaders.mail.BUFFER_BYTES", size)
    monkeypatch.setattr("esr.loaders.mail.MAX_DOCUMENT_BYTES", 1000)
    assert len(MBOX) > 1000
    mac = MBOX.replace(b"\n", b"\r")
    assert [(d.id, d.title, texts(d)) for d in load(mac, "mbox")] == [
        (d.id, d.title, texts(d)) for d in load(MBOX, "mbox")
    ]


def test_pythons_mailbox_splits_at_the_same_lines(load):
    box = mailbox.mbox(FOLDER / "list.mbox")
    ids = [message["Message-ID"].strip("<>") for message in box]
    box.close()
    assert [document.id for document in load(MBOX, "mbox")] == ids


def test_a_message_begins_without_a_blank_line_before_it(load):
    assert load(MBOX.replace(b"\n\nFrom w", b"\nFrom w"), "mbox") == load(MBOX, "mbox")


@pytest.mark.parametrize(
    "line", ["From here on 2024 will be dry.", "From a@b.c we have 2024 letters.", "From Mon to Sun 2024"]
)
def test_a_line_of_text_that_begins_with_from_begins_no_message(load, line):
    (message,) = load(f"From a@b Mon Jan  2 00:00:00 2017\nSubject: S\n\nIt sails.\n\n{line}\n", "mbox")
    assert texts(message) == ["It sails.", line]


@pytest.mark.parametrize(
    "line",
    [
        "From MAILER-DAEMON Mon Jan  2 00:00:00 2017",
        "From - Mon Jan 02 00:00:00 2017",
        "From jane at paper.example  Mon Jan  2 00:00:00 2017",
        "From 1512@xxx Mon Jan 02 00:00:00 +0000 2017",
        "From a@b Mon Jan  2 00:00 EST 2017 remote from host",
        "From a@b Mon, 2 Jan 2017 00:00:00 +0100",
        "From Mon Jan  2 00:00:00 2017",
    ],
)
def test_a_message_begins_as_mail_programs_write_it(load, line):
    message = f"{line}\nFrom: a@b\nSubject: S\n\nIt sails.\n\n"
    assert [texts(document) for document in load(message * 2)] == [["It sails."]] * 2


@pytest.mark.parametrize(
    ("text", "number"),
    [("VGhlIGZlcnJ5IHNhaWxzLg==", 0), ("!!!!", 1), ("VGhlIGZlcnJ5IHNhaW", 1), ("VGhlIGZlcnJ5I", 1)],
)
def test_a_text_in_broken_base64_is_reported(tmp_path, text, number):
    head = "From: a@b\nSubject: S\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
    (tmp_path / "a.eml").write_text(f"{head}{text}\n")
    remarks = []
    assert list(read_documents([str(tmp_path)], options=ReadOptions(on_remark=remarks.append)))
    assert [remark.text for remark in remarks] == number * [
        "have a text in broken base64, which may lack words"
    ]


def test_a_broken_message_is_malformed_and_its_neighbours_are_read(load):
    bad = []
    assert b"\n--b--\n" in MBOX
    documents = load(MBOX.replace(b"\n--b--\n", b""), "mbox", bad)
    assert [d.id for d in documents] == ["1@news.example", "3@news.example"]
    (broken,) = bad
    assert broken.where == "standard input:14" and "the parts of this message are broken" in broken.problem


def test_a_message_without_an_id_gets_one_made_of_its_content(load):
    without = MBOX.replace(b"Message-ID: <2@news.example>\n", b"")
    first, second, third = load(without, "mbox")
    assert (first.id, third.id) == ("1@news.example", "3@news.example")
    assert len(second.id) == 32 and load(b"\n" + without, "mbox")[1].id == second.id


@pytest.mark.parametrize(
    ("charset", "text", "encoding"),
    [
        ("gb2312", "镕基来了。", "gb18030"),  # whose first letter gb2312 lacks
        ("x-unknown", "Le café.", "cp1252"),
        ("no-such", "Le café.", "utf-8"),
        ("utf-8", "Le café.", "cp1252"),
    ],
)
def test_a_mail_in_a_larger_charset_than_it_declares_is_read(load, charset, text, encoding):
    head = f"From: a@b.example\nSubject: x\nContent-Type: text/plain; charset={charset}\n\n"
    (document,) = load(head.encode() + text.encode(encoding), "eml")
    assert texts(document) == [text]


def test_a_mail_in_no_charset_that_fits_is_malformed(load_error):
    mail = b"From: a@b.example\nSubject: x\nContent-Type: text/plain; charset=no-such\n\nLe caf\xe9."
    assert "not in the declared charset no-such" in load_error(mail, "eml")


def test_the_line_that_announces_a_quoted_mail_goes_with_it(load):
    mail = b"""From: a@b.example
Subject: Ferry

It sails.

On Mon, 15 Jan 2024 at 09:00,
Jane Doe <jane@b.example> wrote:

> Does it?
At 9 it said:
nothing.
"""
    (document,) = load(mail, "eml")
    assert texts(document) == ["It sails.", "At 9 it said: nothing."]


def test_an_encoding_declared_for_a_mail_of_parts_does_no_harm(load):
    mail = b"""From: a@b.example
Subject: Ferry
Content-Type: multipart/mixed; boundary=b
Content-Transfer-Encoding: quoted-printable

--b
Content-Type: text/plain

It sails.
--b--
"""
    assert texts(load(mail, "eml")[0]) == ["It sails."]


@pytest.mark.parametrize(("plain", "sentences"), [("\n \n", ["It sails."]), ("> Does it?\n", [])])
def test_the_html_of_a_mail_is_read_where_its_plain_text_is_blank(load, plain, sentences):
    head = "From: a@b.example\nSubject: Ferry\nContent-Type: multipart/alternative; boundary=b\n\n"
    parts = (
        f"--b\nContent-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n<p>It sails.</p>\n--b--\n"
    )
    assert texts(load(head + parts, "eml")[0]) == sentences


@pytest.mark.parametrize(
    ("kind", "types", "sentences"),
    [
        ("mixed", ("html", "plain"), ["Text 0.", "Text 1."]),
        ("mixed", ("plain", "html"), ["Text 0."]),
        ("mixed", ("html", "html"), ["Text 0.", "Text 1."]),
        ("alternative", ("html", "plain"), ["Text 1."]),
    ],
)
def test_the_html_above_the_footer_of_a_mailing_list_is_read(load, kind, types, sentences):
    head = f"From: a@b.example\nSubject: Ferry\nContent-Type: multipart/{kind}; boundary=b\n\n"
    parts = (f"--b\nContent-Type: text/{type}\n\nText {n}.\n" for n, type in enumerate(types))
    assert texts(load(f"{head}{''.join(parts)}--b--\n", "eml")[0]) == sentences


def test_a_message_whose_id_has_undeclared_letters_is_read(load):
    bad = []
    documents = load(MBOX.replace(b"<2@news.example>", b"<2-\xe0@news.example>"), "mbox", bad)
    assert [d.id for d in documents] == ["1@news.example", "2-à@news.example", "3@news.example"] and not bad


def test_a_text_wrongly_declared_as_utf8_is_read_as_windows_1252(load):
    data = MBOX.replace(b"The ferry sails=\n again.", b"Caf\xe9 open.")
    assert texts(load(data, "mbox")[0])[0] == "Café open."


def test_a_message_that_never_ends_is_rejected(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.mail.MAX_DOCUMENT_BYTES", 100)
    assert "standard input:1: the document that begins here is longer" in load_error(MBOX, "mbox")


def test_quoted_mails_signatures_and_mailman_notes_are_not_text(load):
    added = b"\nOn Monday B wrote:\n> It rains.\n>> So what?\nIt is dry.\n-- \nA Writer, Bergen\n"
    data = MBOX.replace(b"hundred people were aboard.\n", b"hundred people were aboard.\n" + added)
    assert texts(load(data, "mbox")[0])[2:] == ["On Monday B wrote: It is dry."]
    added = b"-------------- next part --------------\nAn HTML attachment was scrubbed...\n"
    data = MBOX.replace(b"The harbour stays closed.\n", b"The harbour stays closed.\n" + added)
    assert texts(load(data, "mbox")[1]) == ["The harbour stays closed."]


@pytest.mark.parametrize(
    "header",
    [
        "Ferry à quai".encode(),
        b"Ferry \xe0 quai",
        b"Ferry =?utf-8?q?=E0?= quai",
        b"Ferry =?x-none?q?=E0?= quai",
        b"Ferry \xe0 =?utf-8?q?qua?=\n =?utf-8?b?aQ==?=",
    ],
)
def test_undeclared_and_wrongly_declared_letters_in_headers_are_read(load, header):
    data = MBOX.replace(b"=?utf-8?q?Ferry_back_=C3=A0_quai?=", header)
    assert load(data, "mbox")[0].title == "Ferry à quai"


# Mails with a file each


def test_encoded_words_are_not_decoded_in_a_header_of_thousands(load, monkeypatch):
    def fail(words):
        raise AssertionError("the time of the library grows with the square of the words")

    subject = "=?utf-8?q?a?= " * 5_000
    monkeypatch.setattr("email.header.decode_header", fail)
    (message,) = load(f"From a@b Mon Jan  2 00:00:00 2017\nSubject: {subject}\n\nThe ferry sails.\n", "mbox")
    assert message.title == subject.strip()


def test_a_mail_in_its_own_file_is_read_without_its_attachments(load):
    (document,) = load(sample("eml"))
    assert (document.id, document.title, document.authors) == (
        *("77@news.example", "Ferry back in service"),
        ("Jane Döe",),
    )
    assert texts(document) == ["The ferry sails again.", "Two hundred people were aboard."]
    remarks = []
    options = ReadOptions(on_remark=lambda remark: remarks.append(remark.text))
    assert list(read_documents([str(FOLDER / "message.eml")], options=options))
    assert remarks == ["have attachments, which were not read"]


def test_a_mail_without_an_id_has_its_path(load):
    data = sample("eml").replace(b"Message-ID: <77@news.example>\n", b"").replace(b"\n", b"\r\n")
    assert load(data)[0].id == "stdin"


@pytest.mark.parametrize("host", ["news", "10.0.0.7", "7"])
def test_of_a_maildir_the_messages_are_read_and_keep_their_ids_as_they_move(tmp_path, monkeypatch, host):
    monkeypatch.setattr("mailbox.socket.gethostname", lambda: host)
    maildir = mailbox.Maildir(tmp_path / "desk")
    for message in (sample("eml"), sample("eml").replace(b"Message-ID: <77@news.example>\n", b"")):
        maildir.add(message)
    (tmp_path / "desk" / "tmp" / "1.2.host").write_bytes(sample("eml")[:400])  # is being delivered
    (tmp_path / "desk" / "dovecot-uidlist").write_text("3 V1 N3\n")

    def read():
        unknown = []
        options = ReadOptions(on_unknown_files=unknown.append)
        ids = [located.document.id for located in read_documents([str(tmp_path / "desk")], options=options)]
        return sorted(ids), unknown

    before, unknown = read()
    assert (len(before), unknown) == (2, []) and "77@news.example" in before
    for path in sorted((tmp_path / "desk" / "new").iterdir()):
        path.rename(tmp_path / "desk" / "cur" / f"{path.name}:2,S")
    assert read() == (before, [])


# Subtitles


def times(document):
    return [sentence.features.get("second") for sentence in document.sentences]


def test_sentences_of_subtitles_have_the_times_of_their_beginnings(load):
    (document,) = load(sample("srt"))
    assert texts(document) == [
        "The ferry sails again after two weeks.",
        "Who steered it?",
        "Jane Doe.",
        "Two hundred people were aboard.",
    ]
    assert times(document) == [1.0, 3.6, 3.6, 3765.0]
    assert document.metadata == {"seconds": 3768}


def test_speakers_title_and_language_of_webvtt_are_read(load):
    (document,) = load(sample("vtt"))
    assert (document.title, document.authors) == ("Evening news", ("Jane Doe", "John Roe"))
    assert texts(document) == [
        "The ferry sails again & the harbour is open.",
        "Two hundred people were aboard.",
    ]
    assert times(document) == [1.0, 750.2]
    (found,) = read_documents([str(FOLDER / "talk.en.vtt")])
    assert found.document.language == "en"


def test_captions_that_roll_up_are_read_once(load):
    cues = ["the ferry", "the ferry\n<00:00:02.000><c>sails</c>", "sails\n<00:00:03.000><c>again.</c>"]
    blocks = (f"00:00:0{n}.000 --> 00:00:0{n + 1}.000\n{cue}\n\n" for n, cue in enumerate(cues))
    assert texts(load("WEBVTT\n\n" + "".join(blocks))[0]) == ["the ferry sails again."]


def test_a_transcript_without_full_stops_has_paragraphs_anyhow(load):
    words = "the ferry sails again over the fjord"
    blocks = (f"{n}\n00:{n:02}:00,000 --> 00:{n:02}:59,500\n{words}\n\n" for n in range(1, 31))
    (document,) = load("".join(blocks), "srt")
    assert len(document.sentences) == 4 and times(document) == sorted(times(document))


@pytest.mark.parametrize("line", ["00:00:0x,000 --> 00:00:03,000", "--> 00:00:03,000"])
def test_a_time_that_cannot_be_read_is_an_error_with_its_line(load_error, line):
    data = sample("srt").replace(b"00:00:03,600 --> 00:00:06,000", line.encode())
    assert load_error(data, "srt").startswith(f"standard input:7: '{line}' are no times: write them as")


# Exports of press databases


ARTICLES = {
    "lexisnexis": ("2024-01-15", "The Northern Post", ("JANE DOE", "JOHN ROE"), ("FERRIES", "TRANSPORT")),
    "factiva": (
        "2024-01-15",
        "The Northern Post",
        ("Jane Doe",),
        ("gtrans : Transport", "gcat : Political/General News"),
    ),
    "proquest": ("2024-01-15", "The Northern Post", ("Doe, Jane",), ("Ferries", "Transport")),
}


@pytest.mark.parametrize("format", ARTICLES)
def test_an_export_is_split_into_its_articles(load, format):
    first, second = load(sample(format))
    assert (first.date, first.source, first.authors, first.keywords) == ARTICLES[format]
    assert first.title.lower() == "ferry back in service" and second.title == "Harbour closed"
    expected = ["The ferry across the fjord sails again after two weeks.", "Two hundred people were aboard."]
    assert texts(first)[:2] == expected and texts(first)[2:] in ([], ["IN the end it was easy."])
    assert (second.date, texts(second)) == ("2024-01-16", ["The harbour stays closed."])
    assert first.language == "en"


def test_what_databases_say_beside_an_article_is_metadata(load):
    (first, _) = load(sample("lexisnexis"))
    assert first.section == "Section A; Column 1; Metropolitan Desk; Pg. 1"
    assert first.url == "http://www.post.example/ferry"
    assert first.metadata == {
        "length": "23 words",
        "dateline": "BERGEN",
        "load-date": "January 15, 2024",
        "publication-type": "Newspaper",
    }


def test_the_newer_exports_of_lexisnexis_are_read(load):
    first, second = load((FOLDER / "nexis-uni.txt").read_bytes())
    assert (first.title, first.source, first.date) == (
        "Ferry back in service",
        "The Northern Post",
        "2024-01-15",
    )
    assert first.authors == ("Jane Doe",)
    assert texts(first) == [
        "The ferry across the fjord sails again after two weeks.",
        "Two hundred people were aboard.",
    ]
    assert texts(second) == ["The harbour stays closed."]


FACTIVA = """Ferry back in service
By Jane Doe
23 words
15 January 2024
08:45
The Northern Post
NPOST
4
English
(c) 2024 The Northern Post

The ferry sails again.

Document NPOST00020240115ek1f00005
"""


def test_exports_of_factiva_without_codes_are_read(load):
    (document,) = load(FACTIVA)
    assert (document.title, document.date, document.source) == (
        *("Ferry back in service", "2024-01-15", "The Northern Post"),
    )
    assert (document.id, document.authors) == ("NPOST00020240115ek1f00005", ("Jane Doe",))
    assert texts(document) == ["The ferry sails again."]


def test_an_article_without_a_date_or_an_end_is_malformed(load):
    bad = []
    data = (FOLDER / "nexis-uni.txt").read_text()
    assert len(load(data.removesuffix("End of Document\n"), "lexisnexis", bad)) == 1
    assert "this article has no end" in bad.pop().problem
    undated = data.replace("January 16, 2024 Tuesday", "soon")
    assert load(undated, "lexisnexis")[1].date == "2024-01-16"  # the day on which the database got it
    assert len(load(undated.replace("Load-Date: January 16, 2024", ""), "lexisnexis", bad)) == 1
    assert (
        bad[0].where == "standard input:30"
        and "no title and date where LexisNexis has them" in bad[0].problem
    )


def test_a_remark_in_place_of_the_date_is_neither_title_nor_source(load):
    data = (FOLDER / "nexis-uni.txt").read_text().replace("January 16, 2024 Tuesday", "Correction Appended")
    (_, second) = load(data, "lexisnexis")
    assert (second.title, second.source, second.date) == (
        "Harbour closed",
        "The Guardian of Bergen",
        "2024-01-16",
    )


CLASSIC = """<html><body><p>Download Request</p><div><p>1 of 2 DOCUMENTS</p></div><div><p>Le Journal</p></div>
<div><p>12 avril 2013</p></div><div><p><b>Le bac repart</b></p></div><p>RUBRIQUE: INTERNATIONAL; Pg. 35</p>
<p>LONGUEUR: 4 mots</p><p>Il repart demain.</p><p>SUJET: TRANSPORT (90%)</p><p>LANGUE: FRANÇAIS</p>
<div><p>Copyright 2013 Le Journal Tous droits</p></div><div><p>2 of 2 DOCUMENTS</p></div><p>The Post</p>
<p>Correction Appended</p><p>Harbour closed</p><p>LENGTH: 5 words</p><p>It stays closed.</p>
<p>LOAD-DATE: January 16, 2024</p></body></html>"""


def test_a_page_of_lexisnexis_is_split_into_its_articles(load):
    first, second = load(CLASSIC, "html")
    assert (first.title, first.date, first.source) == ("Le bac repart", "2013-04-12", "Le Journal")
    assert (first.section, first.keywords, texts(first)) == (
        *("INTERNATIONAL; Pg. 35", ("TRANSPORT",), ["Il repart demain."]),
    )
    assert (second.title, second.date, second.source) == ("Harbour closed", "2024-01-16", "The Post")


LICENSED = """ 1 of 4 DOCUMENTS


 Copyright 2015 The Bergen Newspapers, Inc.
 All Rights Reserved
 Bergen Post (Norway)

 May 10, 2015 Sunday
 FINAL EDITION

LENGTH: 4 words

HEADLINE: Ferries aren't always the answer;
Bridges rarely are

BODY:

The ferry sails again.

 2 of 4 DOCUMENTS

 Copyright 2015 Sandnes Independent
 Sandnes Independent (Rogaland)

 Distributed by Fjord Content Agency

 May 22, 2015 Friday

HEADLINE: Harbour closed

BODY:

It stays closed.

 3 of 4 DOCUMENTS

 Copyright 2015 Fjord Newspapers, Inc., doing business as
 Fjord Digital
 Provided by Syndicate Inc.
 All Rights Reserved

 The Fjord

 May 23, 2015 Saturday

HEADLINE: Quay open

BODY:

It is open.

 4 of 4 DOCUMENTS

 Copyright 2015 Press Media
 All rights reserved.

 May 24, 2015 Sunday

HEADLINE: Pier gone

BODY:

It is gone.
"""


def as_page(text):
    """The page that LexisNexis writes of the text: a paragraph for each of its paragraphs."""
    paragraphs = text.split("\n\n")
    lines = ("<br>".join(f"<span>{line}</span>" for line in block.split("\n")) for block in paragraphs)
    return f"<html><body>{''.join(f'<div><p>{line}</p></div>' for line in lines)}</body></html>"


@pytest.mark.parametrize("data", [LICENSED, as_page(LICENSED)])
def test_a_source_below_the_copyright_is_found_and_headlines_have_several_lines(load, data):
    documents = load(data)
    assert [document.source for document in documents] == [
        *("Bergen Post (Norway)", "Sandnes Independent (Rogaland)", "The Fjord", None)
    ]
    assert documents[0].title == "Ferries aren't always the answer; Bridges rarely are"
    assert [texts(document) for document in documents[:2]] == [
        *(["The ferry sails again."], ["It stays closed."]),
    ]


def factiva_page(number, words, date, last):
    return (
        f'<div class="article"><div class="article deArticle"><p><div>Lokales</div><div id="hd">'
        f"<span class='deHeadline'>Die Fähre {number}</span></div><div class=\"author\">JANE DOE </div>"
        f"<div>{words}</div><div>{date}</div><div>08:45</div><div>Der Bote</div><div>BOTE</div>"
        f"<div>Copyright 2018 Der Bote</div></p><p>Sie fährt wieder.</p><p>Bote GmbH</p>"
        f"<p>{last} BOTE{number:04}20180115ek1f00005</p></div></div>"
    )


def test_a_page_of_factiva_is_split_into_its_articles_in_any_language(load):
    articles = (
        factiva_page(1, "877 Wörter", "9 Januar 2018", "Dokument"),
        factiva_page(2, "6957 字", "2018 年 10 月 1 日", "文件"),
        factiva_page(3, "12 mots", "29 décembre 2011", "Document"),
    )
    documents = load(f"<html><title>Factiva</title><body>Dow Jones {''.join(articles)}</body></html>", "html")
    assert [document.date for document in documents] == ["2018-01-09", "2018-10-01", "2011-12-29"]
    for number, document in enumerate(documents, 1):
        assert (document.title, document.source) == (f"Die Fähre {number}", "Der Bote")
        assert (document.authors, document.section, document.language) == (("JANE DOE",), "Lokales", "de")
        assert texts(document) == ["Sie fährt wieder."] and document.metadata == {"pub": "Bote GmbH"}


def test_codes_in_another_order_and_in_cells_are_read(load):
    cells = (("HD", "Ferry"), ("PG", "26"), ("WC", "29 words"), ("PD", "15 January 2024"), ("SN", "Post"))
    rows = [*cells, ("LP", "It sails."), ("TD", "IN the end."), ("AN", "Document NPOST00020240115ek1f00005")]
    table = "".join(f"<tr><td><b>{code}</b></td><td>{text}</td></tr>" for code, text in rows)
    (document,) = load(f"<html><body>Factiva<table>{table}</table></body></html>", "html")
    assert (document.title, document.date, document.source) == ("Ferry", "2024-01-15", "Post")
    assert texts(document) == ["It sails.", "IN the end."]


def test_misspelt_dates_and_joined_lines_of_proquest_do_not_lose_an_article(load):
    data = (
        (FOLDER / "proquest.txt").read_text().replace("Publication date: Jan 15", "Publication date: Ja n 15")
    )
    data = data.replace("2912345671\n\nDocument URL", "2912345671 Document URL")
    first, _ = load(
        data.replace("Ferries; Transport\n", "Ferries; Transport\n\nBusiness indexing term: Ships\n")
    )
    assert (first.id, first.date) == ("proquest-2912345671", "2024-01-15")  # of the publication info
    assert first.keywords == ("Ferries", "Transport")
