"""Encodings that mails declare."""

import pytest

from tests.loaders.conftest import texts

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
