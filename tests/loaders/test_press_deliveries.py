"""Articles of press databases in XML, and in mails that a database sends."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage

import pytest

from esr.text.document import Document
from tests.loaders.conftest import texts
from tests.support.samples import sample


def test_an_article_of_factivas_xml_has_its_fields(load: Callable[..., list[Document]]) -> None:
    first, second = load(sample("factivaxml"))
    assert (first.id, first.title) == ("NPOST00020240116ek1g00001", "Ferry back in service")
    assert (first.date, first.source, first.section) == ("2024-01-16T01:35:58Z", "Northern Post", "Coast")
    assert (list(first.authors), list(first.keywords)) == (["Jane Doe", "John Roe"], ["Travel"])
    assert texts(first) == [
        "The ferry sails again.",
        "Two hundred people were aboard.",
        "The harbour is open.",
    ]
    assert first.metadata == {
        "copyright": "(c) 2024 Northern Post",
        "pages": "4",
        "regions": "Norway",
        "words": "12",
    }
    assert (second.language, texts(second)) == ("fr", ["Le port reste ferm\u00e9 jusqu'en mai."])


def test_an_article_without_a_number_is_malformed(load: Callable[..., list[Document]]) -> None:
    data = sample("factivaxml").replace(b"NPOST00020240116ek1g00001", b"")
    bad: list[object] = []
    assert len(load(data, "auto", bad)) == 1 and "has no accessionNo" in str(bad[0])


def write_mail(text: str, subtype: str = "plain") -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "ProQuest <noreply@proquest.example>", "Your documents"
    message["Date"], message["Message-ID"] = "Tue, 16 Jan 2024 10:00:00 +0000", "<digest@proquest.example>"
    message.set_content(text, subtype=subtype)
    return bytes(message)


@pytest.mark.parametrize("greeting", ["", "Hello,\nhere are your documents:\n" + "1. A title\n" * 200])
def test_a_digest_of_proquest_is_split_into_its_articles(
    load: Callable[..., list[Document]], greeting: str
) -> None:
    alone = load(sample("proquest"), "proquest")
    mailed = load(write_mail(greeting + sample("proquest").decode()))
    assert len(alone) > 1
    assert [(d.id, d.title, texts(d)) for d in mailed] == [(d.id, d.title, texts(d)) for d in alone]


def test_a_digest_as_html_is_split_too(load: Callable[..., list[Document]]) -> None:
    lines = sample("proquest").decode().splitlines()
    html = "<html><body>" + "".join(f"<p>{line}</p>" for line in lines) + "</body></html>"
    assert len(load(write_mail(html, "html"))) == len(load(sample("proquest"), "proquest"))


PROQUEST_PAGE = """<html><body><p>Jane Doe sent you the following:</p><p>Documents</p>
<div><a name="DocID_MSTAR_11"></a><p></p><p>Ferry back in service</p>
<p><strong>Author:  </strong>Doe, Jane</p>
<p><strong>Publication info:  </strong>Northern Post ; Bergen [Bergen]08 May 2010: A2.</p>
<p><a href="https://proquest.example/11">ProQuest document link</a></p>
<p><strong>Full text: </strong><text wordcount="9"><title></title>
<p>The ferry sails again.</p><p>It rains.</p></text>
<p><strong>Subject: </strong>Ferries; Travel</p>
<p><strong>Publication title: </strong>Northern Post; Bergen</p>
<p><strong>Publication date: </strong>May 8, 2010</p><p><strong>ProQuest document ID: </strong>11</p>
<p><strong>Last updated: </strong>2017-11-07</p></div>
<div><a name="DocID_MSTAR_12"></a><p>Harbour open</p><p><strong>Full text: </strong><p>Boats came.</p>
<p><strong>Publication title: </strong>Southern Post</p><p><strong>Publication date: </strong>May 9, 2010</p>
<p><strong>ProQuest document ID: </strong>12</p></div></body></html>"""


@pytest.mark.parametrize("is_mailed", [False, True])
def test_a_page_of_proquest_is_split_at_the_anchors_of_its_articles(
    load: Callable[..., list[Document]], is_mailed: bool
) -> None:
    data = write_mail(PROQUEST_PAGE, "html") if is_mailed else PROQUEST_PAGE.encode()
    first, second = load(data)
    assert (first.id, first.title, texts(first)) == (
        "proquest-11",
        "Ferry back in service",
        ["The ferry sails again.", "It rains."],
    )
    assert (first.date, first.source, list(first.keywords)) == (
        "2010-05-08",
        "Northern Post",
        ["Ferries", "Travel"],
    )
    assert (second.id, second.title, second.source) == ("proquest-12", "Harbour open", "Southern Post")
    assert texts(second) == ["Boats came."]


def test_any_other_mail_is_one_document(load: Callable[..., list[Document]]) -> None:
    (mail,) = load(write_mail("The ferry sails.\n" + "_" * 40 + "\nIda Brand\n"))
    assert mail.id == "digest@proquest.example"
