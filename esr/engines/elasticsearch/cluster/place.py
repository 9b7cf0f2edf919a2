"""The place of an index of Elasticsearch, taken apart."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from esr.engines.redact import redacted
from esr.errors import UsageError

_ALIAS = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_HOST = re.compile(r"([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?", re.ASCII)


def parts(where: str) -> tuple[str, tuple[str, str] | None, list[str], str]:
    """Scheme, login, hosts with their ports, and alias of a place. Raises UsageError."""
    form = "http(s)://host:port/alias, with an alias of lower-case letters, digits and _ . -"
    wrong = UsageError(f"{redacted(where)!r} is not {form}")
    try:
        split = urlsplit(where)
    except ValueError:
        raise wrong from None
    login, _, hosts = split.netloc.rpartition("@")
    alias = split.path.strip("/")
    if not _ALIAS.fullmatch(alias) or len(alias) > 150:
        raise wrong
    found = []
    for host in hosts.split(","):
        match = _HOST.fullmatch(host)
        if match is None or not 0 < int(match[2] or 1) < 65536:
            raise wrong
        found.append(f"{match[1]}:{match[2] or (443 if split.scheme == 'https' else 9200)}")
    user, _, password = login.partition(":")
    return split.scheme, (unquote(user), unquote(password)) if user else None, found, alias


def alias_of(text: str) -> str:
    """The alias of a place, or that is given alone. Raises UsageError."""
    return parts(text if "://" in text else f"http://localhost/{text}")[3]
