"""Locations in Elasticsearch, and the names of the indices there.

A location is `http(s)://[user:password@]host[:port][,host…][/path]/alias`, where `path` is that of a proxy.
Each load has an index of sentences and one of documents. Their names consist of the alias, the start time of
the load, and the kind, which the index templates match. In a divided index, the first day of the period
stands before the kind, in the form of data streams.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import unquote

from esr.errors import UsageError
from esr.index.generations import new_generation_name
from esr.index.login_variables import redact
from esr.text.dates import parse_date_start
from esr.text.periods import UNDATED, period_of, period_range

_LOCATION = re.compile(r"([A-Za-z][\w+.-]*)://([^/?#\s]*)(/?[^?#\s]*)", re.ASCII)
"""urlsplit takes several hosts, one of them with brackets, for an error in some versions of Python."""
_ALIAS = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_HOST = re.compile(r"([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?", re.ASCII)
_PATH = re.compile(r"(/[\w.~-]+)*", re.ASCII)
_LONGEST_ALIAS = 150


class Location(NamedTuple):
    """The parts of a location: `login` is a user and a password, each of `hosts` includes its port.

    `path` is the path of a proxy, such as "/search", or "".
    """

    scheme: str
    login: tuple[str, str] | None
    hosts: list[str]
    path: str
    alias: str


def parse_location(where: str) -> Location:
    """Parse a location. Raises UsageError, whose message shows no login."""
    form = "http(s)://host:port/alias, with an alias of lower-case letters, digits and _ . -"
    malformed = UsageError(f"{redact(where)!r} is not {form}")
    parts = _LOCATION.fullmatch(where)
    if parts is None:
        raise malformed
    scheme, (login, _, netloc) = parts[1].lower(), parts[2].rpartition("@")
    path, _, alias = f"/{parts[3].strip('/')}".rpartition("/")
    if not _PATH.fullmatch(path):
        raise malformed
    if not _ALIAS.fullmatch(alias) or len(alias) > _LONGEST_ALIAS:
        raise malformed
    hosts = []
    for host in netloc.split(","):
        match = _HOST.fullmatch(host)
        if match is None or not 0 < int(match[2] or 1) < 65536:
            raise malformed
        hosts.append(f"{match[1]}:{match[2] or (443 if scheme == 'https' else 9200)}")
    user, _, password = login.partition(":")
    return Location(scheme, (unquote(user), unquote(password)) if user else None, hosts, path, alias)


def parse_alias(text: str) -> str:
    """The alias of a location, or the alias itself. Raises UsageError."""
    return parse_location(text if "://" in text else f"http://localhost/{text}").alias


SENTENCES, DOCUMENTS = "-esr-sentences", "-esr-documents"
_NO_DAY = UNDATED
_OF_PERIOD = rf"-(?:\d{{4}}\.\d\d\.\d\d|{_NO_DAY})"
_DAY = re.compile(rf"-(\d{{4}}\.\d\d\.\d\d|{_NO_DAY}){SENTENCES}$")
_STAMPED = re.compile(rf"-(\d{{8}}t\d{{12}}(?:-\d+)?)(?:{_OF_PERIOD})?{SENTENCES}")


def documents_index(index: str) -> str:
    """The index of documents of the load with this index of sentences."""
    return index.removesuffix(SENTENCES) + DOCUMENTS


def sentences_index(index: str) -> str:
    """The index of sentences of the load with this index of either kind."""
    return index.removesuffix(DOCUMENTS) + SENTENCES if index.endswith(DOCUMENTS) else index


def tables_index(alias: str) -> str:
    """The hidden index with the table of vectors of an alias."""
    return f"{alias}-esr-table"


def new_sentences_index(alias: str, newest: str, number: int = 0) -> str:
    """The name of an index of sentences for a load that begins now, later than the generation `newest`.

    `number` distinguishes indices of the same moment.
    """
    return f"{alias}-{new_generation_name(newest)}{f'-{number}' if number else ''}{SENTENCES}"


def index_of_period(index: str, period: str, number: int = 0) -> str:
    """The name for a period of the load whose index of sentences would have the name `index` if undivided.

    `number` distinguishes indices of one period. Those with a number sort before those without.
    """
    limits = period_range(period)
    first = None if limits is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=limits[0])
    day = _NO_DAY if first is None else f"{first.year:04}.{first:%m.%d}"
    return f"{index.removesuffix(SENTENCES)}{f'-0{number}' if number else ''}-{day}{SENTENCES}"


def period_of_index(index: str, by: str) -> str:
    """The period of an index of sentences of a load that is divided by this."""
    match = _DAY.search(index)
    if match is None or match[1] == _NO_DAY:
        return UNDATED
    return period_of(parse_date_start(match[1].replace(".", "-")), by)


def is_of_period(index: str) -> bool:
    """Whether an index of sentences has the documents of one period."""
    return _DAY.search(index) is not None


def undivided_index(index: str) -> str:
    """The name that the index of sentences of a load would have if the load were not divided."""
    return _DAY.sub(SENTENCES, index)


def generation_name(index: str) -> str:
    """The name of the generation whose newest index of sentences this is."""
    match = _STAMPED.search(index)
    return match[1] if match else index.removesuffix(SENTENCES)


def belongs_to(index: str, alias: str) -> bool:
    """Whether this is an index of sentences of the alias. An index of `news-de` is not one of `news`."""
    return index.startswith(alias) and _STAMPED.fullmatch(index, len(alias)) is not None


def lucene_pattern(alias: str) -> str:
    """A Lucene regular expression for the indices of an alias, of both kinds.

    A wildcard does not suffice: `news-*` would also match the indices of an alias `news-de`.
    """
    day = rf"-[0-9]{{4}}\.[0-9]{{2}}\.[0-9]{{2}}|-{_NO_DAY}"
    stamped = rf"/{re.escape(alias)}-[0-9]{{8}}t[0-9]{{12}}(-[0-9]+)?({day})?({SENTENCES}|{DOCUMENTS})/"
    return stamped.replace(r"\-", "-")
