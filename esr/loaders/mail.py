"""Mails: messages in an mbox file, as mailing lists and mail wires archive them, or one per file.

The standard library's `mailbox` needs a seekable file and scans all of it first. The loader therefore splits
the stream at its "From " lines, and parses each message with the standard library's `email`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, cast

from esr.errors import to_one_line
from esr.loaders import html_tree
from esr.loaders.document_ids import make_id, make_id_from_content, make_id_from_path
from esr.loaders.encoding import MAX_DOCUMENT_BYTES, decode_declared, find_superset, too_long_error
from esr.loaders.fields import read_list
from esr.loaders.format import Malformed, ReadResult, Record, Remark, Source, loads
from esr.loaders.refinement import refine_lines, refine_page
from esr.stdlib import compile_lazily

if TYPE_CHECKING:  # slow to import
    from email.message import Message

BUFFER_BYTES = 2**20
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# The line before a message has an address, if any, and a date as asctime (RFC 4155) or as mails write it.
_FROM = compile_lazily(
    rb"From (?:\S.{0,320}?[ \t]+)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?[ \t]+"
    rb"(?:%b[ \t]+\d{1,2}|\d{1,2} %b \d{4})[ \t]+\d{1,2}:\d\d\b" % (_MONTH, _MONTH)
)
_HEADER = rb"(?:[A-Za-z][A-Za-z0-9-]{1,60}:[^\n]*\n(?:[ \t]+[^\n]*\n)*)"
# A message begins with headers, including the sender and the subject or date.
_HEADERS = compile_lazily(
    rb"(?=%b{0,100}?From:)(?=%b{0,100}?(?:Date|Subject|Message-ID):)" % (_HEADER, _HEADER), re.I
)
_QUOTED_FROM = compile_lazily(rb"^>(>*From )", re.M)
_QUOTED = compile_lazily(r"^>.*\n?", re.M)
# "On Monday, Jane Doe wrote:", on one or two lines before the quoted mail
_QUOTING = compile_lazily(
    r"^(?!>)(?=[^\n]*\d)[^\n]{10,200}(?:\n(?!>)[^\n]{1,100})??:[ \t]*\r?\n(?:[ \t]*\r?\n)?(?=>)", re.M
)
# One or more encoded words of RFC 2047: a letter may be split across two.
_ENCODED = compile_lazily(r"=\?[^?\s]+\?[bq]\?[^?]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?]*\?=)*", re.I)
_MAX_HEADER_CHARS = 2**16
"""Maximum length of a header whose encoded words are decoded. The time grows with the square of the words."""
_SIGNATURE = compile_lazily(r"^-- ?\r?$", re.M)
_SCRUBBED = compile_lazily(r"^-{14} next part -{14}\r?$", re.M)


# A mail program moves a message of a Maildir from `new` to `cur`, and adds flags to its name.
_MAILDIR_FLAGS = compile_lazily(r"(?<![^/])(cur/\d+\.[^/]+)[:;!]2,[A-Za-z]*\Z")
_MAILDIR_FOLDER = compile_lazily(r"(?<![^/])(?:new|cur)/(?=\d+\.[^/]+\Z)")


# A transfer encoding declared for parts that are not encoded loses nothing.
_HARMLESS = ("InvalidMultipartContentTransferEncodingDefect",)
_Result = ReadResult | Remark


@loads(
    "mbox",
    "mails in an mbox file: one document per message",
    suffixes=(".mbox", ".mbx"),
    sniff=lambda head: bool(_FROM.match(head)),
)
def read(source: Source) -> Iterator[_Result]:
    """A record per message: its Message-ID or digest is the id, its plain text or else its HTML the text."""
    for where, raw in _split_messages(source):
        yield from _read_message(where, _QUOTED_FROM.sub(rb"\1", raw))


@loads(
    "eml",
    "mails with a file each: one document per file, without its attachments",
    suffixes=(".eml",),
    sniff=lambda head: bool(_HEADERS.match(head.replace(b"\r\n", b"\n"))),
)
def read_file(source: Source) -> Iterator[_Result]:
    """The record of the only message in a file. Its path is the id if it has no Message-ID."""
    raw = source.stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise too_long_error(source, 1)
    # Without the flags, as in `new`: otherwise a number before them would be no number.
    named = source._replace(id_path=_MAILDIR_FLAGS.sub(r"\1", source.id_path))
    id = _MAILDIR_FOLDER.sub("", make_id_from_path(named))
    yield from _read_message(source.name, raw.lstrip(b"\xef\xbb\xbf\r\n"), id)


def _read_message(where: str, raw: bytes, id: str | None = None) -> Iterator[_Result]:
    """The record of a message. Without a Message-ID, the id is `id`, or else the digest of the message."""
    from email import message_from_bytes
    from email.errors import MessageError

    try:
        message = message_from_bytes(raw)
        if any(part.get_filename() for part in message.walk() if not part.is_multipart()):
            yield Remark(where, "have attachments, which were not read")
        if (articles := _refine(where, message)) is not None:
            yield from articles
        else:
            yield _build_record(where, message, id)
        if any(map(_is_broken_base64, message.walk())):
            yield Remark(where, "have a text in broken base64, which may lack words")
    # The parser is lenient, but fails on unusual headers and deeply nested parts.
    except (ValueError, LookupError, MessageError, RecursionError) as error:
        yield Malformed(
            where, f"this message cannot be read ({to_one_line(error)}): correct it or leave it out"
        )


def _read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a file. On old Macs, lines end with CR alone."""
    line = stream.readline(MAX_DOCUMENT_BYTES + 1)
    if b"\r" not in line.rstrip(b"\r\n"):
        while line:
            yield line
            line = stream.readline(MAX_DOCUMENT_BYTES + 1)
    while line:
        *lines, line = line.split(b"\r")
        yield from (text + b"\n" for text in lines)
        if len(line) > MAX_DOCUMENT_BYTES or not (more := stream.read(BUFFER_BYTES)):
            yield line
            return
        line += more


def _split_messages(source: Source) -> Iterator[tuple[str, bytes]]:
    """The messages with their locations. Some programs write no blank line before a "From " line."""
    lines: list[bytes] = []
    begin = size = 0
    for number, line in enumerate(_read_lines(source.stream), 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if _FROM.match(line):
            if begin:
                yield f"{source.name}:{begin}", b"".join(lines)
            lines, begin, size = [], number, 0
        elif begin:
            lines.append(line)
            size += len(line)
            if size > MAX_DOCUMENT_BYTES:
                raise too_long_error(source, begin)
    if begin:
        yield f"{source.name}:{begin}", b"".join(lines)


def _build_record(where: str, message: Message, id: str | None) -> Record | Malformed:
    from email.utils import parseaddr

    id = make_id(_decode_header(message, "Message-ID").strip("<> \t\r\n")) or id
    defects = [type(defect).__name__ for defect in message.defects]
    defects = [name for name in defects if name not in _HARMLESS]
    if message.is_multipart() and defects:
        defect = defects[0]
        return Malformed(where, f"the parts of this message are broken ({defect}): it may be truncated", id)
    name, address = parseaddr(_decode_header(message, "From"))
    fields = {
        "title": " ".join(_decode_header(message, "Subject").split()),
        "date": _parse_date(message),
        "source": _decode_header(message, "Newsgroups") or name or address,
        "authors": [name or address],
        "keywords": read_list("keywords", _decode_header(message, "Keywords")),
        "language": _decode_header(message, "Content-Language") or None,
        "text": _extract_text(message),
    }
    return Record(where, {"id": id or make_id_from_content(fields), **fields})


def _decode_header(message: Message, name: str) -> str:
    """The text of a header. Bytes in no declared charset are read as UTF-8, or else as Windows-1252."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    text = _decode_leniently(raw.encode("utf-8", "surrogateescape"), "utf-8")
    return _ENCODED.sub(_decode_words, text) if len(text) <= _MAX_HEADER_CHARS else text


def _decode_words(words: re.Match[str]) -> str:
    from email.header import decode_header

    return "".join(
        part if isinstance(part, str) else _decode_leniently(part, charset or "us-ascii")
        for part, charset in decode_header(words[0])
    )


def _decode_leniently(data: bytes, charset: str) -> str:
    try:
        return decode_declared(data, charset)
    except (LookupError, UnicodeDecodeError):
        return data.decode("cp1252", "replace")


def _parse_date(message: Message) -> str | None:
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(str(message["Date"]))
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _extract_text(message: Message) -> str:
    """The plain text, or else the HTML; both if HTML comes first, as lists add a plain footer below it."""
    parts = _find_texts(message)
    are_plain = [part.get_content_type() == "text/plain" for part in parts]
    chosen = [
        _strip_quotes(_decode_part(part)) if is_plain else html_tree.html_to_text(_decode_part(part))
        for n, (part, is_plain) in enumerate(zip(parts, are_plain, strict=True))
        if is_plain or not n or not any(are_plain)
    ]
    return "\n\n".join(chosen)


def _find_texts(part: Message) -> list[Message]:
    """The texts in a part of a message, of alternatives the plain ones. Blank plain texts are left out."""
    if part.is_multipart():
        parts = [text for inner in part.get_payload() for text in _find_texts(cast("Message", inner))]
        plain = [text for text in parts if text.get_content_type() == "text/plain"]
        return plain if plain and part.get_content_type() == "multipart/alternative" else parts
    is_text = part.get_content_type() in ("text/plain", "text/html") and not part.get_filename()
    is_blank = is_text and part.get_content_type() == "text/plain" and not _decode_part(part).strip()
    return [part] if is_text and not is_blank else []


def _refine(where: str, message: Message) -> Iterator[ReadResult] | None:
    """The articles in a mail that a refinement reads, such as a press database's; None for any other mail."""
    for part in message.walk():
        if part.is_multipart() or part.get_filename():
            continue
        results = None
        if part.get_content_type() == "text/plain":
            results = refine_lines(where, _decode_part(part).splitlines())
        elif part.get_content_type() == "text/html":
            html = _decode_part(part)  # the mail says how its text is encoded
            data = html.encode("utf-8", "surrogatepass")
            results = refine_page(where, data, partial(html_tree.parse_fragment, html))
        if results is not None:
            return results
    return None


def _is_broken_base64(part: Message) -> bool:
    """Whether a text that was decoded is not what an encoder writes. Attachments are not decoded."""
    return any(type(defect).__name__.startswith("InvalidBase64") for defect in part.defects)


def _strip_quotes(text: str) -> str:
    """The text without quoted mails, signature (RFC 3676, 4.3 and 4.5) and Mailman's attachment notes."""
    return _QUOTED.sub(
        "", _QUOTING.sub("", _SIGNATURE.split(_SCRUBBED.split(text, maxsplit=1)[0], maxsplit=1)[0])
    )


def _decode_part(part: Message) -> str:
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    charset = part.get_content_charset() or "utf-8"
    try:
        return decode_declared(payload, charset)
    except (LookupError, UnicodeDecodeError):
        return _decode_otherwise(payload, charset)


_UNKNOWN = ("unknown", "unknown-8bit", "x-unknown", "us-ascii", "utf-8", "utf8")
"""Declared charsets that say nothing about non-ASCII bytes, which are then often ISO 8859-1."""


def _decode_otherwise(payload: bytes, charset: str) -> str:
    """The text of bytes that are not in their declared charset. Raises ValueError if none fits."""
    with suppress(UnicodeDecodeError):
        return payload.decode("utf-8")
    superset = find_superset(charset)
    if superset or charset in _UNKNOWN:  # a few bytes are broken
        return payload.decode(superset or "cp1252", "replace")
    raise ValueError(f"its text is not in the declared charset {to_one_line(charset)}")
