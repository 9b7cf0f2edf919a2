"""Sources outside of the file system, fetched into a folder of files: IMAP mailboxes and S3 buckets.

The state of a source is in a hidden file of its folder, which is written after the other files: if the
program is killed before that, they are fetched again. `esr.loaders.web` fetches feeds and sitemaps likewise.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field as data_field
from imaplib import IMAP4, IMAP4_SSL
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import DecodeError, Struct, field
from msgspec.json import decode, encode

from esr.errors import EsrError, UsageError, to_one_line
from esr.extras import require
from esr.loaders.encoding import MAX_DOCUMENT_BYTES
from esr.loaders.files import FileFilter, is_hidden
from esr.registry import Registry
from esr.stdlib import hash64

_STATE = ".state.json"
SETTLED_SECONDS = 3
"""Files get modification times at least this far in the past: `DeliveredFiles` reads younger ones again."""

State = TypeVar("State")


@dataclass
class FetchReport:
    """Counts of places and of their items. `failed` has places that failed, `problems` other messages."""

    places: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    left: int = 0
    failed: list[str] = data_field(default_factory=list)
    problems: list[str] = data_field(default_factory=list)

    def add(self, other: FetchReport) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Fetcher(Protocol):
    """A remote source, fetched before it is read."""

    folder: Path

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch new items into the folder of the source; for a dry run into `target`, without other changes.

        Items that cannot be fetched are reported, and the others are still fetched. Raises EsrError if
        nothing can be written, and UsageError if a package or a password is missing.
        """
        ...


class SyncSource(Struct, frozen=True):
    """A kind of sources that `esr sync` fetches. Its name is the key in a source that has their addresses.

    `items` is the word for their contents, `example` an example of an address. `open` gets the addresses, the
    folder for the files, and the values of the options. These are options of click, and keys of the file.
    `source_options` are the keys for reading files that apply to them, by default all but those in `fixed`.
    `is_complete`: whether documents that the source no longer has can be removed.
    """

    name: str
    items: str
    example: str
    open: Callable[[Sequence[str], Path, Mapping[str, Any]], Fetcher]
    options: Sequence[Callable[[Any], Any]] = ()
    source_options: Collection[str] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = False


SYNC_SOURCES: Registry[SyncSource] = Registry("source of esr sync", "sources", SyncSource)
"""The kinds of sources that `esr sync` fetches, by their key."""


def read_state(folder: Path, type: type[State]) -> State:
    """The state stored by the previous run, or an empty one. Raises EsrError."""
    path = folder / _STATE
    try:
        return decode(path.read_bytes(), type=type)
    except FileNotFoundError:
        return type()
    except (OSError, DecodeError) as error:
        raise EsrError(f"{path} cannot be read ({error}): delete it, and all is fetched again") from None


def write_state(folder: Path, state: object, modified: float) -> None:
    """Store the state for the next run. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / _STATE, [encode(state)], modified)


def write_file(path: Path, parts: Iterable[bytes], modified: float | None = None) -> None:
    """Write a file atomically. Raises OSError.

    `modified`: its modification time in seconds since 1970, by default now.
    """
    hidden = path.with_name(f".{path.name[:200]}.{os.getpid()}.new")
    try:
        with hidden.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        if modified is not None:
            os.utime(hidden, (modified, modified))
        os.replace(hidden, path)
    finally:
        hidden.unlink(missing_ok=True)


# IMAP mailboxes: a file for each new message. No message is marked as seen. Messages are new if their number
# (UID) is above the last known one. Numbers are valid as long as the mailbox has the same UIDVALIDITY.

_WINDOW = 50_000
"""Numbers per request: imaplib refuses lines of more than a million characters."""
_MESSAGE_ID = re.compile(rb"^Message-ID:", re.I | re.M)


@dataclass(frozen=True)
class MailOptions:
    """The password is in the file, or else in the environment variable. `max_messages` is a limit per run."""

    password_file: Path | None
    password_variable: str
    max_messages: int = 500
    max_seconds: float = 30.0


class _KnownMessages(Struct):
    """The last message of a mailbox that was read, and its UIDVALIDITY."""

    validity: int = 0
    last: int = 0


class Address:
    """A mailbox: `imaps://user@host[:port]/mailbox`, or `imap://…`, which begins TLS by STARTTLS."""

    def __init__(self, url: str) -> None:
        """Raises UsageError, whose message contains no password."""
        try:
            parts = urlsplit(url)
            self.port = parts.port or (993 if parts.scheme == "imaps" else 143)
        except ValueError:
            raise UsageError("a mailbox is imaps://user@host/mailbox, and its port a number") from None
        if parts.password is not None:
            raise UsageError(
                f"the address of a mailbox at {parts.hostname} has a password: put it into password-file"
            )
        if parts.scheme not in ("imaps", "imap") or not parts.username or not parts.hostname:
            raise UsageError(f"{url!r} is no mailbox: write imaps://user@host/mailbox")
        self.is_tls = parts.scheme == "imaps"
        self.host, self.user = parts.hostname, unquote(parts.username)
        self.mailbox = unquote(parts.path.strip("/")) or "INBOX"

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
            connection.login(self.user, password)
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
        """The new messages, each with the name of its file. A failure is reported and ends them."""
        try:
            with self._address.connect(password, self._options.max_seconds) as connection:
                for uid in self._find_new(connection):
                    message = _fetch(connection, uid)
                    yield from self._accept(uid, message)
                    self._known.last = uid
        except (IMAP4.error, OSError) as error:
            problem = to_one_line(error.args[0].decode("utf-8", "replace") if _is_bytes(error) else error)
            self._report.failed.append(
                f"{self._url}: {problem.replace(password, '…') or type(error).__name__}"
            )

    def _find_new(self, connection: IMAP4) -> list[int]:
        """The numbers of the messages to fetch. Raises IMAP4.error."""
        _check(connection.select(_quote(self._address.mailbox), readonly=True))
        validity, end = (_read_number(connection, name) for name in ("UIDVALIDITY", "UIDNEXT"))
        if validity != self._known.validity:  # the mailbox was created again with new numbers
            self._known.validity, self._known.last = validity, 0
        found: list[int] = []
        for start in range(self._known.last + 1, end, _WINDOW):
            numbers = f"{start}:{min(start + _WINDOW, end) - 1}"
            (line, *_) = _check(connection.uid("SEARCH", "UID", numbers))
            found += sorted(map(int, (line or b"").split()))
        self._report.left += max(0, len(found) - self._options.max_messages)
        return found[: self._options.max_messages]

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
        added = b"" if _MESSAGE_ID.search(head) else f"Message-ID: <{name}@{self._address.host}>\r\n".encode()
        yield f"{hash64(self._url):016x}-{name}.eml", [added, message]


def _fetch(connection: IMAP4, uid: int) -> bytes:
    """A message, cut at the limit, without marking it as seen. Raises IMAP4.error."""
    parts = _check(connection.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MAX_DOCUMENT_BYTES + 1}>)"))
    return next((part[1] for part in parts if isinstance(part, tuple)), b"")


def _check(answer: tuple[str, list[Any]]) -> list[Any]:
    """The data of an answer. Raises IMAP4.error if it is a refusal."""
    if answer[0] != "OK":
        raise IMAP4.error(*answer[1])
    return answer[1]


def _is_bytes(error: Exception) -> bool:
    return bool(error.args) and isinstance(error.args[0], bytes)


def _read_number(connection: IMAP4, name: str) -> int:
    """A number that the server sent when the mailbox was opened. Raises IMAP4.error."""
    (number, *_) = connection.response(name)[1]
    if not number:
        raise IMAP4.error(f"the server tells no {name}")
    return int(number)


def _quote(name: str) -> str:
    """The name of a mailbox for IMAP: quoted, in modified UTF-7 (RFC 3501, 5.1.3)."""

    def encode(match: re.Match[str]) -> str:
        text = b64encode(match[0].encode("utf-16-be")).rstrip(b"=").replace(b"/", b",").decode()
        return f"&{text}-"

    text = re.sub(r"[^\x20-\x7e]+", encode, name.replace("&", "&-"))
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# S3 buckets: a file for each object. An object has changed if its ETag or its size has changed. Files of
# deleted objects are deleted.

_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
_CHUNK_BYTES = 2**20
_BOTH_FILE_AND_FOLDER = (FileExistsError, NotADirectoryError, IsADirectoryError)
"""The errors for a key that is also the folder of another key."""


@dataclass(frozen=True)
class BucketOptions:
    """`max_files` is a limit per run. Only files that the filter accepts are fetched."""

    files: FileFilter
    max_files: int = 1000
    max_seconds: float = 30.0


class _KnownObjects(Struct):
    """The ETag and the size in bytes of each object in the folder, by bucket and key."""

    objects: dict[str, tuple[str, int]] = {}


class Buckets:
    """The buckets of one source, or parts of them, with the folder of their objects."""

    def __init__(self, urls: Sequence[str], folder: Path, options: BucketOptions) -> None:
        """Raises UsageError."""
        self.folder = folder
        self._options = options
        self._places = {url: _parse_url(url) for url in urls}

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch new and changed objects, as `Fetcher` says. A dry run only counts them."""
        require("a bucket of S3", "boto3")
        state = read_state(self.folder, _KnownObjects)
        report = FetchReport(len(self._places))
        client = self._connect()
        listed, silent = self._list(client, report)
        for name in [*state.objects]:
            if name not in listed and not name.startswith(silent):
                del state.objects[name]
                if target is None:
                    (self.folder / name).unlink(missing_ok=True)
        due = {name: found for name, found in listed.items() if found.version != state.objects.get(name)}
        oldest_first = sorted(due, key=lambda name: due[name].modified)
        report.unchanged += len(listed) - len(due)
        report.left += max(0, len(due) - self._options.max_files)
        chosen = {name: due[name] for name in oldest_first[: self._options.max_files]}
        if target is not None:
            report.changed += sum(name in state.objects for name in chosen)
            report.new += sum(name not in state.objects for name in chosen)
            return report
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._download(client, chosen, state, report)
            finally:  # what a stopped run has fetched is kept
                write_state(self.folder, state, time.time())
        except OSError as error:
            raise EsrError(f"cannot write to {self.folder}: {error.strerror or error}") from None
        return report

    def _list(self, client: Any, report: FetchReport) -> tuple[dict[str, _Object], tuple[str, ...]]:
        """The objects by bucket and key, and the prefixes that could not be listed."""
        from botocore.exceptions import BotoCoreError, ClientError

        listed: dict[str, _Object] = {}
        silent = []
        for url, (bucket, prefix) in self._places.items():
            try:
                pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
                for entry in (entry for page in pages for entry in page.get("Contents", ())):
                    found = _Object(bucket, entry["Key"], entry["ETag"], entry["Size"], entry["LastModified"])
                    if not found.is_below(prefix) or not self._options.files.accepts(found.key):
                        continue
                    if found.is_file_name():
                        listed[found.name] = found
                    else:
                        key = to_one_line(found.key)
                        report.problems.append(f"s3://{bucket}/{key}: is no name of a file")
            except (BotoCoreError, ClientError) as error:
                report.failed.append(f"{url}: {to_one_line(error)}")
                silent.append(f"{bucket}/{prefix}")
        return listed, tuple(silent)

    def _download(
        self, client: Any, chosen: Mapping[str, _Object], state: _KnownObjects, report: FetchReport
    ) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        for name, found in chosen.items():
            path = self.folder / name
            try:
                answer = client.get_object(Bucket=found.bucket, Key=found.key, IfMatch=found.etag)
                with closing(answer["Body"]) as body:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_file(path, _read(body), found.modified)
            except (BotoCoreError, ClientError, *_BOTH_FILE_AND_FOLDER) as error:
                report.problems.append(f"s3://{name}: {to_one_line(error)}")
                continue
            if name in state.objects:
                report.changed += 1
            else:
                report.new += 1
            state.objects[name] = found.version

    def _connect(self) -> Any:
        """A client with the credentials, region and endpoint that boto3 finds. Raises UsageError."""
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        seconds = self._options.max_seconds
        try:
            return boto3.client(
                "s3",
                config=Config(connect_timeout=seconds, read_timeout=seconds, retries={"mode": "standard"}),
            )
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"the settings of AWS are wrong: {to_one_line(error)}") from None


@dataclass(frozen=True)
class _Object:
    bucket: str
    key: str
    etag: str
    size: int
    last_modified: Any

    @property
    def name(self) -> str:
        """Its path in the folder."""
        return f"{self.bucket}/{self.key}"

    @property
    def version(self) -> tuple[str, int]:
        return self.etag, self.size

    @property
    def modified(self) -> float:
        """The modification time of its file. S3 gives seconds; the ETag separates versions of one second."""
        part = hash64(self.etag) % 10**6 / 10**6
        return min(float(self.last_modified.timestamp()), time.time() - SETTLED_SECONDS - 1) + part

    def is_below(self, prefix: str) -> bool:
        """Whether it is in this folder of the bucket, and neither hidden nor a folder."""
        inside = not prefix or self.key == prefix or self.key.startswith(f"{prefix.rstrip('/')}/")
        return inside and not self.key.endswith("/") and not any(map(is_hidden, self.key.split("/")))

    def is_file_name(self) -> bool:
        """Whether the key is a path inside the folder: one with `..` is not."""
        parts = self.key.split("/")
        return not any(part in ("", ".", "..") or len(part.encode()) > 200 for part in parts) and (
            "\\" not in self.key and "\0" not in self.key
        )


def _parse_url(url: str) -> tuple[str, str]:
    """Bucket and prefix. Raises UsageError."""
    match = _URL.fullmatch(url)
    if not match:
        raise UsageError(f"{url!r} is no bucket: write s3://bucket/prefix")
    return match[1], match[2] or ""


def _read(body: Any) -> Iterator[bytes]:
    while chunk := body.read(_CHUNK_BYTES):
        yield chunk
