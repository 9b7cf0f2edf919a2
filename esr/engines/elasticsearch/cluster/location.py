"""The location of an index in Elasticsearch: `http(s)://[user:password@]host[:port][,host…]/alias`."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from esr.engines.redact import redact
from esr.errors import UsageError

_ALIAS = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_HOST = re.compile(r"([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?", re.ASCII)
_LONGEST_ALIAS = 150


class Location(NamedTuple):
    """A location in its parts: `login` is a user and a password, each of `hosts` has its port."""

    scheme: str
    login: tuple[str, str] | None
    hosts: list[str]
    alias: str


def parse_location(where: str) -> Location:
    """Raises UsageError, which shows no login."""
    form = "http(s)://host:port/alias, with an alias of lower-case letters, digits and _ . -"
    malformed = UsageError(f"{redact(where)!r} is not {form}")
    try:
        split = urlsplit(where)
    except ValueError:
        raise malformed from None
    login, _, netloc = split.netloc.rpartition("@")
    alias = split.path.strip("/")
    if not _ALIAS.fullmatch(alias) or len(alias) > _LONGEST_ALIAS:
        raise malformed
    hosts = []
    for host in netloc.split(","):
        match = _HOST.fullmatch(host)
        if match is None or not 0 < int(match[2] or 1) < 65536:
            raise malformed
        hosts.append(f"{match[1]}:{match[2] or (443 if split.scheme == 'https' else 9200)}")
    user, _, password = login.partition(":")
    return Location(split.scheme, (unquote(user), unquote(password)) if user else None, hosts, alias)


def parse_alias(text: str) -> str:
    """The alias of a location, or the alias itself. Raises UsageError."""
    return parse_location(text if "://" in text else f"http://localhost/{text}").alias
