"""The sample is written from RFC 4155 (mbox), RFC 5322 and the MIME of RFC 2045 to 2047."""

import mailbox

import pytest

from tests.loaders.conftest import texts
from tests.loaders.samples import FOLDER, sample

MBOX = sample("mbox")


def test_messages_give_their_headers_and_their_plain_text(loaded):
    first, second, third = loaded(MBOX, "mbox")
    assert (first.id, first.title, first.source) == ("1@news.example", "Ferry back à quai", "A Writer")
    assert first.date == "2024-01-15T08:00:00+00:00"
    assert texts(first) == ["The ferry sails again.", "From Bergen, two hundred people were aboard."]
    assert texts(second) == ["The harbour stays closed."]
    assert (third.source, third.date) == ("news.local", None)
    assert texts(third) == ["Nobody said why.", "It rained."]


def test_it_is_known_by_its_first_line(loaded):
    assert loaded(MBOX) == loaded(MBOX, "mbox")


def test_the_library_of_python_cuts_at_the_same_lines(loaded):
    box = mailbox.mbox(FOLDER / "list.mbox")
    ids = [message["Message-ID"].strip("<>") for message in box]
    box.close()
    assert [document.id for document in loaded(MBOX, "mbox")] == ids


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"Message-ID: <2@news.example>\n", b"", "no Message-ID"),
        (b"\n--b--\n", b"", "its parts are broken"),
        (b"charset=iso-8859-1", b"charset=no-such", "its text is not in no-such"),
    ],
)
def test_a_broken_message_is_set_aside_and_those_around_it_are_read(loaded, old, new, problem):
    bad = []
    assert old in MBOX
    found = loaded(MBOX.replace(old, new), "mbox", bad)
    assert [d.id for d in found] == ["1@news.example", "3@news.example"]
    assert [b.where for b in bad] == ["standard input:14"] and problem in bad[0].problem


def test_a_text_that_is_not_utf8_though_it_says_so_is_read_as_western(loaded):
    data = MBOX.replace(b"The ferry sails=\n again.", b"Caf\xe9 open.")
    assert texts(loaded(data, "mbox")[0])[0] == "Café open."


def test_a_message_that_never_ends_is_refused(refused, monkeypatch):
    monkeypatch.setattr("esr.loaders.mbox.MAX_DOCUMENT_BYTES", 100)
    assert "standard input:1: the document that begins here is longer" in refused(MBOX, "mbox")


def test_what_other_mails_said_signatures_and_what_mailman_took_off_is_no_text(loaded):
    added = b"\nOn Monday B wrote:\n> It rains.\n>> So what?\nIt is dry.\n-- \nA Writer, Bergen\n"
    data = MBOX.replace(b"hundred people were aboard.\n", b"hundred people were aboard.\n" + added)
    assert texts(loaded(data, "mbox")[0])[2:] == ["On Monday B wrote: It is dry."]
    added = b"-------------- next part --------------\nAn HTML attachment was scrubbed...\n"
    data = MBOX.replace(b"The harbour stays closed.\n", b"The harbour stays closed.\n" + added)
    assert texts(loaded(data, "mbox")[1]) == ["The harbour stays closed."]


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
def test_letters_that_a_header_does_not_declare_or_wrongly_are_read(loaded, header):
    data = MBOX.replace(b"=?utf-8?q?Ferry_back_=C3=A0_quai?=", header)
    assert loaded(data, "mbox")[0].title == "Ferry à quai"
