"""The sample is written from RFC 4155 (mbox), RFC 5322 and the MIME of RFC 2045 to 2047."""

import mailbox

import pytest

from tests.loaders.conftest import texts
from tests.support.samples import FOLDER, sample

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


def test_pythons_mailbox_splits_at_the_same_lines(load):
    box = mailbox.mbox(FOLDER / "list.mbox")
    ids = [message["Message-ID"].strip("<>") for message in box]
    box.close()
    assert [document.id for document in load(MBOX, "mbox")] == ids


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"Message-ID: <2@news.example>\n", b"", "no Message-ID"),
        (b"\n--b--\n", b"", "the parts of this message are broken"),
        (b"charset=iso-8859-1", b"charset=no-such", "its text is not in the declared charset no-such"),
    ],
)
def test_a_broken_message_is_malformed_and_its_neighbours_are_read(load, old, new, problem):
    bad = []
    assert old in MBOX
    documents = load(MBOX.replace(old, new), "mbox", bad)
    assert [d.id for d in documents] == ["1@news.example", "3@news.example"]
    assert [b.where for b in bad] == ["standard input:14"] and problem in bad[0].problem


def test_a_message_whose_id_has_undeclared_letters_is_read(load):
    bad = []
    documents = load(MBOX.replace(b"<2@news.example>", b"<2-\xe0@news.example>"), "mbox", bad)
    assert [d.id for d in documents] == ["1@news.example", "2-à@news.example", "3@news.example"] and not bad


def test_a_text_wrongly_declared_as_utf8_is_read_as_windows_1252(load):
    data = MBOX.replace(b"The ferry sails=\n again.", b"Caf\xe9 open.")
    assert texts(load(data, "mbox")[0])[0] == "Café open."


def test_a_message_that_never_ends_is_rejected(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.mbox.MAX_DOCUMENT_BYTES", 100)
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
