"""Encodings of mails and pages: declared by them, stated by their response, or found by their letters."""

import pytest

from esr.loaders.html_page import extract_article
from tests.loaders.conftest import texts

SPANISH = "El niño corrió por la señal de España, y la canción del otoño sonó en la montaña."
POLISH = "Burmistrz powiedział, że prom popłynie wiosną. Łódź będzie źródłem hałasu."
JAPANESE = "川の水位が上がり、町は避難を呼びかけた。市長は橋の建設を約束した。"
KOREAN = "강의 수위가 올라가자 마을은 대피를 요청했다. 시장은 다리 건설을 약속했다."
QUOTED = "“We don’t know,” said the mayor – it costs € 5."


@pytest.mark.parametrize("charset", ["iso-8859-1", "ISO8859-1", "latin1", "windows-1252"])
def test_a_mail_in_iso_8859_1_has_the_quotation_marks_of_windows(load, charset):
    head = f"From: a@b.example\nSubject: =?{charset}?Q?=93Ferry=94_sails?=\nContent-Type: text/plain; "
    (mail,) = load(f"{head}charset={charset}\n\n".encode() + QUOTED.encode("windows-1252"), "eml")
    assert (mail.title, texts(mail)) == ("“Ferry” sails", [QUOTED])


def test_a_mail_in_iso_8859_1_with_bytes_that_windows_lacks_is_read_as_declared(load):
    head = "From: a@b.example\nSubject: x\nContent-Type: text/plain; charset=iso-8859-1\n\n"
    (mail,) = load(head.encode() + b"Caf\xe9 \x81.", "eml")
    assert texts(mail)[0].startswith("Café")


def page(text: str, encoding: str, head: str = "") -> bytes:
    """A page with a text in an encoding. `head` is its markup before the title."""
    article = f"<article><p>{text} {text}</p><p>{text}</p></article>"
    return f"<html><head>{head}<title>x</title></head><body>{article}</body></html>".encode(encoding)


def read(data: bytes, content_type: str = "text/html") -> str:
    text: str = extract_article(data, None, content_type)["text"]
    return text


@pytest.mark.parametrize(("text", "encoding"), [(SPANISH, "windows-1252"), (POLISH, "iso-8859-2")])
def test_a_page_that_declares_no_encoding_is_read_by_its_letters(text, encoding):
    assert read(page(text, encoding)).startswith(text)


@pytest.mark.parametrize(
    "header", ["text/html; charset=iso-8859-2", 'text/html;x=y; Charset="ISO-8859-2"', "a;charset=latin2"]
)
@pytest.mark.parametrize("head", ["", "<meta charset=koi8-r>"])
def test_the_encoding_that_a_response_states_takes_precedence(header, head):
    short = "Łódź płynie."  # too few letters to find an encoding by
    assert read(page(short, "iso-8859-2", head), header).startswith(short)


@pytest.mark.parametrize("header", ["text/html; charset=utf-8", "text/html; charset=none", "text/html"])
def test_an_encoding_that_does_not_fit_is_no_encoding_of_a_page(header):
    for head in ("", "<meta charset=windows-1252>"):
        assert read(page(SPANISH, "windows-1252", head), header).startswith(SPANISH)
    assert read(page(SPANISH, "utf-8"), "text/html; charset=koi8-r").startswith(SPANISH)


@pytest.mark.parametrize("encoding", ["iso-2022-jp", "iso-2022-kr"])
@pytest.mark.parametrize("is_stated", [True, False])
@pytest.mark.parametrize("is_declared", [True, False])
def test_a_page_in_an_encoding_of_ascii_bytes_alone_is_read(encoding, is_stated, is_declared):
    text = JAPANESE if encoding == "iso-2022-jp" else KOREAN
    data = page(text, encoding, f"<meta charset={encoding}>" if is_declared else "")
    assert data.isascii()
    assert read(data, f"text/html; charset={encoding}" if is_stated else "text/html").startswith(text)


def test_a_page_in_a_web_archive_has_the_encoding_that_its_response_states(load):
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-2\r\n\r\n"
    response += page("Łódź płynie.", "iso-8859-2")
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x>\r\nWARC-Target-URI: http://a.example/\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(response)}\r\n\r\n"
    )
    (document,) = load(head.encode() + response + b"\r\n\r\n", "warc")
    assert texts(document)[0] == "Łódź płynie."
