"""The file of grants: who may search, which indexes, how often, until when and which documents.

Secrets are stored hashed: the keys of programs, which are random, by SHA-256; passwords by argon2. The file
is replaced atomically. A server reads it again when it has changed, so a revoked grant ends with the next
request.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from esr.access.rates import parse_rate
from esr.access.restricted import parse_restriction
from esr.errors import EsrError, UsageError
from esr.extras import require
from esr.locks import take_lock
from esr.stdlib import import_lazily
from esr.text.dates import parse_date_end
from esr.threads import OnceByKey, take_turns

if TYPE_CHECKING:
    import argon2
    import zxcvbn
    from argon2 import exceptions as argon2_errors
else:
    argon2 = import_lazily("argon2")
    argon2_errors = import_lazily("argon2.exceptions")
    zxcvbn = import_lazily("zxcvbn")

Kind = Literal["key", "metrics", "password", "elsewhere", "anybody"]
KINDS: dict[Kind, str] = {
    "key": "a program, which sends the key that is printed",
    "metrics": "a program that reads /metrics and nothing else",
    "password": "somebody who logs in on the page with a password",  # nosec B105  # a description
    "elsewhere": "somebody whom a provider of OpenID Connect or a proxy names; '*' is everybody they name",
    "anybody": "requests without any login; its name must be 'anybody'",
}
"""The kinds of grants, and who holds each."""
ANYBODY, EVERYBODY = "anybody", "*"
SECRET_KINDS = frozenset({"key", "metrics", "password"})
KEY_PREFIX = "esr_"
"""The prefix of every key, by which secret scanners recognise one that was published."""
_KEY = re.compile(rf"{KEY_PREFIX}[A-Za-z0-9_-]{{43}}")
_NAME = re.compile(r"[\w.@+*:-]{1,200}")
LEAST_PASSWORD, MOST_PASSWORD = 10, 200
"""Minimum and maximum length of a password, in characters."""
_LEAST_NAME, _LEAST_PART = 3, 4
"""Minimum length of a name, and of the parts of one, that may not be in the password, in characters."""


class Grant(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A right to search. Empty `indexes` means all of them; `filter` is a query of document fields.

    `groups` are those with which dossiers are shared. `expires` is an ISO 8601 date or time in UTC; the grant
    holds until the end of it. `secret` is a hash.
    """

    name: str
    kind: Kind
    secret: str = ""
    indexes: tuple[str, ...] = ()
    rate: str = ""
    expires: str = ""
    filter: str = ""
    made: str = ""
    groups: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise UsageError for a value that cannot be used."""
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"cannot name a grant {self.name!r}: use letters, digits and . @ + - : _")
        if (self.kind == ANYBODY) != (self.name == ANYBODY):
            raise UsageError(f"the name {ANYBODY!r} and the kind {ANYBODY!r} go together")
        if self.name == EVERYBODY and self.kind != "elsewhere":
            raise UsageError(f"the name {EVERYBODY!r} needs the kind 'elsewhere'")
        if bool(self.secret) != (self.kind in SECRET_KINDS):
            raise UsageError(f"the grant {self.name!r} of the kind {self.kind!r} has no valid secret")
        for group in self.groups:
            if not _NAME.fullmatch(group) or group == EVERYBODY:
                raise UsageError(f"cannot name a group {group!r}: use letters, digits and . @ + - : _")
        parse_rate(self.rate, "the rate")
        if self.filter:
            parse_restriction(self.filter)
        if self.expires:
            self._end()

    def _end(self) -> int:
        try:
            return parse_date_end(self.expires)
        except ValueError:
            raise UsageError(f"cannot read the date {self.expires!r}: give one such as 2027-01-31") from None

    def is_valid(self, now: datetime) -> bool:
        """Whether the grant has not expired."""
        return not self.expires or now.timestamp() * 1000 <= self._end()

    @property
    def mark(self) -> str:
        """A digest of the secret, stored in sessions: a new password ends the sessions of the old one."""
        return hashlib.sha256(self.secret.encode()).hexdigest()[:16]


class _Stored(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    grants: tuple[Grant, ...]


class Grants:
    """The grants of a file, by name and by hash."""

    def __init__(self, grants: tuple[Grant, ...]) -> None:
        self.by_name: dict[str, Grant] = {grant.name: grant for grant in grants}
        self._by_hash = {g.secret: g for g in grants if g.kind in ("key", "metrics")}

    def find_by_key(self, key: str) -> Grant | None:
        """The grant of a key in clear text, as programs send it; None if there is none."""
        return self._by_hash.get(hash_key(key)) if _KEY.fullmatch(key) else None

    def find_person(self, name: str, kind: str) -> Grant | None:
        """The grant of a person by name: one with a password, or one named by a provider or a proxy."""
        grant = self.by_name.get(name)
        if grant is None and kind == "elsewhere" and name != ANYBODY:
            grant = self.by_name.get(EVERYBODY)
        return grant if grant is not None and grant.kind == kind else None

    def is_known(self, name: str, *, is_group: bool = False) -> bool | None:
        """Whether a person or a group has this name; None if a provider or a proxy may know it."""
        if name == EVERYBODY:
            return True
        if is_group:
            is_listed = any(name in grant.groups for grant in self.by_name.values())
            others = any(grant.kind == "elsewhere" for grant in self.by_name.values())
        else:
            grant = self.by_name.get(name)
            is_listed = grant is not None and grant.kind in ("key", "password", "elsewhere")
            others = EVERYBODY in self.by_name
        return is_listed or (None if others else False)

    @property
    def needs_login(self) -> bool:
        """Whether any grant is for people who log in on the page."""
        return any(grant.kind == "password" for grant in self.by_name.values())


def read_grants(path: Path) -> Grants:
    """The grants in a file. Raises EsrError if it cannot be read."""
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
    except OSError as error:
        raise EsrError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EsrError(f"cannot read {path}: it is not a file of esr keys ({error})") from None
    names = [grant.name for grant in stored.grants]
    if len(names) > len(set(names)):
        raise EsrError(f"cannot read {path}: a name is in it twice")
    for grant in stored.grants:
        grant.check()
    return Grants(stored.grants)


class GrantFile:
    """The grants of a file, read again whenever the file has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_state: OnceByKey[tuple[int, ...], Grants] = OnceByKey(limit=1)

    def read(self) -> Grants:
        """The current grants. Raises EsrError: a file that cannot be read grants nothing."""
        try:
            status = self._path.stat()
        except OSError as error:
            raise EsrError(f"cannot read {self._path}: {(error.strerror or str(error)).lower()}") from None
        state = (status.st_ino, status.st_size, status.st_mtime_ns)
        return self._by_state.make(state, lambda: read_grants(self._path))

    def replace_secret(self, grant: Grant, secret: str) -> Grant:
        """Give a grant another secret, a hash, and return it.

        Raises EsrError if the file cannot be written, or if the grant has changed meanwhile.
        """
        with changing(self._path) as grants:
            if grants.get(grant.name) != grant:
                raise EsrError(f"the grant {grant.name!r} in {self._path} has changed: try again")
            changed = grants[grant.name] = replace(grant, secret=secret)
        return changed


@contextmanager
def changing(path: Path) -> Iterator[dict[str, Grant]]:
    """The grants of a file by name, to be changed in place; the file is replaced, or created, on exit.

    Other commands that change the file wait. Raises EsrError.
    """
    try:
        folder = os.open(path.resolve().parent, os.O_RDONLY)
    except OSError as error:
        raise EsrError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
    try:
        take_lock(folder, wait=True)
        grants = read_grants(path).by_name if path.exists() else {}
        yield grants
        for grant in grants.values():
            grant.check()
        content = msgspec.json.format(msgspec.json.encode(_Stored(1, tuple(grants.values()))), indent=1)
        _replace(path.resolve(), content + b"\n")
        os.fsync(folder)
    except OSError as error:
        raise EsrError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
    finally:
        os.close(folder)


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically. Only its owner may read it."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


# Secrets


def make_key() -> str:
    """A new key of 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    """The hash of a key. Keys are random, so a fast hash is as safe as a slow one."""
    return hashlib.sha256(key.encode()).hexdigest()


def _hasher() -> Any:
    require("a login with a password", "argon2")
    return argon2.PasswordHasher()


def hash_password(password: str, name: str) -> str:
    """The hash of a password of somebody by argon2id.

    Raises UsageError for one that is too short or too long, that has their name, a part of it or *password*
    in it, or that is common.
    """
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise UsageError(f"give a password of {LEAST_PASSWORD} to {MOST_PASSWORD} characters")
    parts = {name, "password", *(part for part in re.split(r"[\W_]+", name) if len(part) >= _LEAST_PART)}
    for part in parts:
        if len(part) >= _LEAST_NAME and part.casefold() in password.casefold():
            raise UsageError("the password has the name of the person, a part of it or 'password' in it")
    if _is_common(password):
        raise UsageError("the password is common or easy to guess: give a longer one, such as some words")
    hashed: str = _hasher().hash(password)
    return hashed


LEAST_GUESSES = 10**6
"""Guesses that a password must withstand. The 30,000 most common passwords of known breaches take fewer."""
_MOST_GUESSED = 72
"""Characters of a password that are judged: more take long, and would only make it better."""


def _is_common(password: str) -> bool:
    """Whether a password takes fewer than LEAST_GUESSES guesses by Wheeler's estimate (2016, "zxcvbn")."""
    require("a password", "zxcvbn")
    return int(zxcvbn.zxcvbn(password[:_MOST_GUESSED])["guesses"]) < LEAST_GUESSES


class Passwords:
    """Compares passwords with hashes, one at a time, since each comparison takes 64 MB of memory.

    An unknown name takes as long as a wrong password.
    """

    def __init__(self) -> None:
        self._hasher = _hasher()
        self._decoy: str = self._hasher.hash(secrets.token_urlsafe())

    @take_turns
    def is_right(self, grant: Grant | None, password: str) -> bool:
        """Whether this is the password of the grant."""
        try:
            self._hasher.verify(self._decoy if grant is None else grant.secret, password)
        except (argon2_errors.InvalidHashError, argon2_errors.VerificationError):
            return False
        return grant is not None


def describe(grant: Grant, now: datetime | None = None) -> Mapping[str, Any]:
    """A grant as JSON data for display, without its secret."""
    now = now or datetime.now(UTC)
    return {
        "name": grant.name,
        "kind": grant.kind,
        "indexes": list(grant.indexes),
        "rate": grant.rate or None,
        "expires": grant.expires or None,
        "filter": grant.filter or None,
        "groups": list(grant.groups),
        "made": grant.made or None,
        "expired": not grant.is_valid(now),
    }


assert tuple(KINDS) == get_args(Kind)
