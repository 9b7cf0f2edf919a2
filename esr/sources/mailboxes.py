"""IMAP mailboxes: a file for each new message. No message is marked as seen.

Messages are new if their number (UID) is above the last known one. Numbers are valid as long as the mailbox
has the same UIDVALIDITY.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from imaplib import IMAP4, IMAP4_SSL
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from esr.plugin import (
    MAX_DOCUMENT_BYTES,
    SETTLED_SECONDS,
    EsrError,
    FetchReport,
    UsageError,
    read_state,
    to_one_line,
    write_file,
    write_state,
)
from esr.plugin.provisional import hash64

_WINDOW = 50_000
"""Numbers per request: imaplib refuses lines of more than a million characters."""
_TEXT = re.compile(rb"\bBODY\[\]", re.I)
_MESSAGE_ID = re.compile(rb"^Message-ID:(?:[ \t]|\r?\n[ \t])*<?[^\s<>]", re.I | re.M)


@dataclass(frozen=True)
class MailOptions:
    """The password is in the file, or else in the environment variable. `max_messages` is a limit per run."""

    password_file: Path | None
    password_variable: str
    max_messages: int = 500
    max_seconds: float = 30.0


class _KnownMessages(Struct):
    """The last message of a mailbox that was read, its UIDVALIDITY, and the earlier ones that it refused."""

    validity: int = 0
    last: int = 0
    refused: list[int] = []


class Address:
    """A mailbox: `imaps://user@host[:port]/mailbox`, or `imap://…`, which begins TLS by STARTTLS."""

    def __init__(self, url: str) -> None:
        """Raises UsageError, whose message contains no password."""
        try:
            parts = urlsplit(url)
            self.port: int = parts.port or (993 if parts.scheme == "imaps" else 143)
        except ValueError:
            raise UsageError("a mailbox is imaps://user@host/mailbox, and its port a number") from None
        if parts.password is not None:
            raise UsageError(
                f"the address of a mailbox at {parts.hostname} has a password: put it into password-file"
            )
        if parts.scheme not in ("imaps", "imap") or not parts.username or not parts.hostname:
            raise UsageError(f"{url!r} is no mailbox: write imaps://user@host/mailbox")
        self.is_tls: bool = parts.scheme == "imaps"
        self.host: str = parts.hostname
        self.user: str = unquote(parts.username)
        self.mailbox: str = unquote(parts.path.strip("/")) or "INBOX"

    def connect(self, password: str, seconds: float) -> IMAP4:
        """Log in. Raises IMAP4.error or OSError."""
        context = ssl.create_default_context()
        if self.is_tls:
            connection: IMAP4 = IMAP4_SSL(self.host, self.port, ssl_context=context, timeout=seconds)
        else:
            connection = IMAP4(self.host, self.port, timeout=seconds)
        try:
            if not self.is_tls:
                connection.starttls(context)
            if (self.user + password).isascii():
                connection.login(_quote_text(self.user), password)  # imaplib quotes only the password
            else:  # the command LOGIN has no other letters; the mechanism PLAIN has UTF-8 (RFC 4616)
                connection.authenticate("PLAIN", lambda _: f"\0{self.user}\0{password}".encode())
        except BaseException:
            connection.shutdown()
            raise
        return connection


class _KnownMailboxes(Struct):
    mailboxes: dict[str, _KnownMessages] = {}


class Mailboxes:
    """The mailboxes of one source, with the folder of their messages."""

    def __init__(self, urls: Sequence[str], folder: Path, options: MailOptions) -> None:
        """Raises UsageError."""
        self.folder = folder
        self._addresses = {url: Address(url) for url in urls}
        self._options = options

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch new messages, as `Fetcher` says."""
        password = self._read_password()
        state = read_state(self.folder, _KnownMailboxes)
        folder, now = target or self.folder, time.time()
        report = FetchReport(len(self._addresses))
        known = {url: state.mailboxes.get(url, _KnownMessages()) for url in self._addresses}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                for url, address in self._addresses.items():
                    reading = _Reading(url, address, known[url], self._options, report)
                    for name, parts in reading.messages(password):
                        write_file(folder / name, parts, now - SETTLED_SECONDS)
            finally:  # what a stopped run has fetched is kept
                write_state(folder, _KnownMailboxes(known), now)
        except OSError as error:
            raise EsrError(f"cannot write the messages to {folder}: {error.strerror or error}") from None
        return report

    def _read_password(self) -> str:
        file, variable = self._options.password_file, self._options.password_variable
        try:
            password = file.read_text("utf-8").strip("\r\n") if file else os.environ.get(variable, "")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the password cannot be read from {file}: {to_one_line(error)}") from None
        if not password:
            where = file or f"the environment variable {variable}"
            raise UsageError(f"there is no password for the mailbox in {where}")
        return password


class _Reading:
    """Reads one mailbox in one run. Updates `known` and `report`."""

    def __init__(
        self, url: str, address: Address, known: _KnownMessages, options: MailOptions, report: FetchReport
    ) -> None:
        self._url = url
        self._address = address
        self._known = known
        self._options = options
        self._report = report

    def messages(self, password: str) -> Iterator[tuple[str, list[bytes]]]:
        """The new messages, each with the name of its file. A failure is reported and ends them.

        A message that the server refuses is reported and left for later runs.
        """
        try:
            with self._address.connect(password, self._options.max_seconds) as connection:
                for uid in self._find_new(connection):
                    refused = [other for other in self._known.refused if other != uid]
                    try:
                        message = _fetch(connection, uid)
                    except IMAP4.abort:  # the connection has ended
                        raise
                    except IMAP4.error as error:
                        refused.append(uid)
                        problem = f"message {uid} cannot be fetched: {_describe(error, password)}"
                        self._report.problems.append(f"{self._url}: {problem}")
                    else:
                        yield from self._accept(uid, message)
                    self._known.refused = refused
                    self._known.last = max(self._known.last, uid)
        except (IMAP4.error, OSError) as error:
            self._report.failed.append(f"{self._url}: {_describe(error, password)}")

    def _find_new(self, connection: IMAP4) -> list[int]:
        """The numbers of the messages to fetch, with refused ones last. Raises IMAP4.error."""
        _check(connection.select(quote(self._address.mailbox), readonly=True))
        validity, end = (_read_number(connection, name) for name in ("UIDVALIDITY", "UIDNEXT"))
        if validity != self._known.validity:  # the mailbox was created again with new numbers
            self._known.validity, self._known.last, self._known.refused = validity, 0, []
        new_numbers: list[int] = []
        for start in range(self._known.last + 1, end, _WINDOW):
            numbers = f"{start}:{min(start + _WINDOW, end) - 1}"
            (line, *_) = _check(connection.uid("SEARCH", "UID", numbers))
            new_numbers += sorted(map(int, (line or b"").split()))
        new_numbers += self._known.refused
        self._report.left += max(0, len(new_numbers) - self._options.max_messages)
        return new_numbers[: self._options.max_messages]

    def _accept(self, uid: int, message: bytes) -> Iterator[tuple[str, list[bytes]]]:
        name = f"{self._known.validity}-{uid}"
        if not message:  # deleted meanwhile
            return
        if len(message) > MAX_DOCUMENT_BYTES:
            limit = f"{MAX_DOCUMENT_BYTES // 2**20} MiB"
            self._report.problems.append(f"{self._url}: message {uid} is longer than {limit}: left out")
            return
        self._report.new += 1
        head = re.split(rb"\r?\n\r?\n", message, maxsplit=1)[0]
        added = b"" if _MESSAGE_ID.search(head) else self._make_message_id(message)
        yield f"{hash64(self._url):016x}-{name}.eml", [added, message]

    def _make_message_id(self, message: bytes) -> bytes:
        """The header of a message without an id: a digest, which stays when the server renumbers messages."""
        digest = sha256(message).hexdigest()[:32]
        return f"Message-ID: <{digest}@{self._address.host}>\r\n".encode()


def _fetch(connection: IMAP4, uid: int) -> bytes:
    """A message, cut at the limit, without marking it as seen; empty if it was deleted. Raises IMAP4.error.

    A server does not name a deleted message, but it names one whose text it cannot read, with NIL for the
    text.
    """
    parts = _check(connection.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MAX_DOCUMENT_BYTES + 1}>)"))
    pairs = [part if isinstance(part, tuple) else (part or b"", b"") for part in parts]
    message = next((text for _, text in pairs if text), b"")
    if not message and any(_TEXT.search(line) for line, _ in pairs):
        raise IMAP4.error("the server sends no text of it")
    return message


def _check(answer: tuple[str, list[Any]]) -> list[Any]:
    """The data of an answer. Raises IMAP4.error if it is a refusal."""
    if answer[0] != "OK":
        raise IMAP4.error(*answer[1])
    return answer[1]


def _describe(error: Exception, password: str) -> str:
    """The error in one line, without the password."""
    is_bytes = bool(error.args) and isinstance(error.args[0], bytes)
    problem = to_one_line(error.args[0].decode("utf-8", "replace") if is_bytes else error)
    return problem.replace(password, "…") or type(error).__name__


def _read_number(connection: IMAP4, name: str) -> int:
    """A number that the server sent when the mailbox was opened. Raises IMAP4.error."""
    (number, *_) = connection.response(name)[1]
    if not number:
        raise IMAP4.error(f"the server tells no {name}")
    return int(number)


def quote(name: str) -> str:
    """The name of a mailbox for IMAP: quoted, in modified UTF-7 (RFC 3501, 5.1.3)."""

    def encode(match: re.Match[str]) -> str:
        text = b64encode(match[0].encode("utf-16-be")).rstrip(b"=").replace(b"/", b",").decode()
        return f"&{text}-"

    text = re.sub(r"[^\x20-\x7e]+", encode, name.replace("&", "&-"))
    return _quote_text(text)


def _quote_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
