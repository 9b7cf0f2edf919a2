"""Mails in an mbox file, as mailing lists and wire services by mail are kept: a document a message.

The standard library's mailbox needs a file to seek in and reads all of it first; here messages are cut at
their "From " lines as they come, and each is read by its `email`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime

from esr.loaders import page
from esr.loaders.base import Format, Malformed, Record, Source, id_of, one_line, register
from esr.loaders.utf8 import MAX_DOCUMENT_BYTES, too_long

_FROM = re.compile(rb"From \S+\s.*\b\d{4}\b")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.M)
_QUOTED = re.compile(r"^>.*\n?", re.M)
# One encoded word of RFC 2047, or several of which a letter may be cut in two.
_ENCODED = re.compile(r"=\?[^?\s]+\?[bq]\?[^?]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?]*\?=)*", re.I)
_SIGNATURE = re.compile(r"^-- ?\r?$", re.M)
_SCRUBBED = re.compile(r"^-{14} next part -{14}\r?$", re.M)


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each message; its id is the Message-ID, its text the part that is plain, or else HTML."""
    for where, raw in _messages(source):
        try:
            yield _record(where, raw)
        # The parser is lenient, but what headers hold makes it raise this and that.
        except Exception as error:
            yield Malformed(where, f"this message cannot be read ({one_line(error)}): mend or leave it out")


def _messages(source: Source) -> Iterator[tuple[str, bytes]]:
    """The messages and their places. A "From " line begins one only after a blank line."""
    parts: list[bytes] = []
    number = begin = size = 0
    blank = True
    while line := source.stream.readline(MAX_DOCUMENT_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if blank and _FROM.match(line):
            if begin:
                yield f"{source.name}:{begin}", b"".join(parts)
            parts, begin, size = [], number, 0
        elif begin:
            parts.append(line)
            size += len(line)
            if size > MAX_DOCUMENT_BYTES:
                raise too_long(source, begin)
        blank = not line.strip()
    if begin:
        yield f"{source.name}:{begin}", b"".join(parts)


def _record(where: str, raw: bytes) -> Record | Malformed:
    message = message_from_bytes(_QUOTED_FROM.sub(rb"\1", raw))
    id = id_of((message["Message-ID"] or "").strip("<> \t\r\n"))
    if not id:
        return Malformed(where, "this message has no Message-ID: give every message one")
    if message.is_multipart() and message.defects:
        return Malformed(
            where, f"its parts are broken ({type(message.defects[0]).__name__}): is it cut off?", id
        )
    sender = parseaddr(_header(message, "From"))
    fields = {
        "id": id,
        "title": " ".join(_header(message, "Subject").split()),
        "date": _date(message),
        "source": _header(message, "Newsgroups") or sender[0] or sender[1],
        "language": _header(message, "Content-Language") or None,
        "text": _text(message),
    }
    return Record(where, fields)


def _header(message: Message, name: str) -> str:
    """The header's text. Letters that it does not declare, or wrongly, are taken as those of a text are."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return _ENCODED.sub(_decoded_words, _lenient(raw.encode("utf-8", "surrogateescape"), "utf-8"))


def _decoded_words(words: re.Match[str]) -> str:
    pieces = decode_header(words[0])
    return "".join(p if isinstance(p, str) else _lenient(p, charset or "us-ascii") for p, charset in pieces)


def _lenient(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset)
    except (LookupError, UnicodeDecodeError):
        return data.decode("cp1252", "replace")


def _date(message: Message) -> str | None:
    try:
        date = parsedate_to_datetime(str(message["Date"]))
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _text(message: Message) -> str:
    parts = [part for part in message.walk() if not part.is_multipart() and not part.get_filename()]
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    if plain:
        return "\n\n".join(_own(_decoded(part)) for part in plain)
    pages = [part for part in parts if part.get_content_type() == "text/html"]
    return "\n\n".join(page.fragment_text(_decoded(part)) for part in pages)


def _own(text: str) -> str:
    """The text without lines of other mails, signature (RFC 3676, 4.3 and 4.5) and what Mailman took off."""
    return _QUOTED.sub("", _SIGNATURE.split(_SCRUBBED.split(text, maxsplit=1)[0], maxsplit=1)[0])


def _decoded(part: Message) -> str:
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    charset = part.get_content_charset() or "utf-8"
    try:
        return payload.decode(charset)
    except (LookupError, UnicodeDecodeError):
        if charset in ("utf-8", "us-ascii"):  # what says nothing or lies is of the years of ISO 8859-1
            return payload.decode("cp1252", "replace")
        raise ValueError(f"its text is not in {one_line(charset)}, as it says") from None


FORMAT = register(
    Format(
        name="mbox",
        description="mails in an mbox file: a document a message",
        suffixes=(".mbox", ".mbx"),
        sniff=lambda head: bool(_FROM.match(head)),
        read=read,
    )
)
