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


def test_any_other_mail_is_one_document(load: Callable[..., list[Document]]) -> None:
    (mail,) = load(write_mail("The ferry sails.\n" + "_" * 40 + "\nIda Brand\n"))
    assert mail.id == "digest@proquest.example"
