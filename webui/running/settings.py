"""The settings of the pages and the API, in one table, and the parsers of served locations and origins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from esr.arguments.types import UsualLimits
from esr.errors import UsageError
from esr.index.login_variables import redact
from esr.processes import scratch_folder, set_environment

T = TypeVar("T", int, float, str)
PREFIX = "ESR_"
_MAXIMUM = 1_000_000_000
"""The maximum of every number."""


class Setting(NamedTuple):
    """One row of the table."""

    name: str
    default: int | float | str
    help: str
    minimum: float

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper()

    @property
    def default_text(self) -> str:
        """The default, for people."""
        if isinstance(self.default, float):
            return f"{self.default:g}"
        return f"{self.default:,}" if self.default and isinstance(self.default, int) else str(self.default)


def _setting(default: T, help: str, minimum: float = 1) -> T:
    setting: T = field(default=default, metadata={"help": help, "minimum": minimum})
    return setting


@dataclass(frozen=True)
class Settings:
    """The limits of the pages and the API. Each field is a setting, with its help text."""

    default_k: int = _setting(
        UsualLimits.default_k, "sentences in an answer where the request gives no number"
    )
    max_k: int = _setting(
        UsualLimits.max_k, "maximum number of sentences in an answer, or of documents where they are grouped"
    )
    more_k: int = _setting(10, "sentences that 'Show more' adds")
    max_depth: int = _setting(
        UsualLimits.max_depth, "how far down a ranking pages reach: the largest offset + k"
    )
    export_k: int = _setting(UsualLimits.export_k, "maximum number of sentences in a file")
    query_chars: int = _setting(UsualLimits.query_chars, "maximum number of characters in a query")
    query_terms: int = _setting(200, "maximum number of distinct terms in a query")
    text_chars: int = _setting(UsualLimits.text_chars, "maximum number of characters in a text to check")
    value_chars: int = _setting(UsualLimits.value_chars, "maximum number of characters in any other argument")
    arguments: int = _setting(120, "maximum number of arguments in an address")
    address_bytes: int = _setting(32_000, "maximum number of bytes in an address after the question mark")
    body_bytes: int = _setting(1_000_000, "maximum number of bytes in the body of a request")
    batch_queries: int = _setting(100, "maximum number of queries in a batch")
    batch_k: int = _setting(1_000, "maximum number of sentences for each query of a batch")
    deadline: float = _setting(10.0, "seconds after which a request gives up on the engine", 0.1)
    batch_deadline: float = _setting(60.0, "seconds after which a batch gives up on the engine", 0.1)
    export_deadline: float = _setting(120.0, "seconds after which a file gives up on the engine", 0.1)
    receive: float = _setting(
        20.0, "seconds in which the head of a request must arrive, and then its body", 0.1
    )
    send: float = _setting(
        20.0, "seconds in which a client must read the next part of an answer, at most 128 KiB", 0.1
    )
    searches: int = _setting(8, "requests of one worker that an index handles at a time; others wait")
    exports: int = _setting(2, "files of hits that one worker sends at a time for an index; others wait")
    client_exports: int = _setting(
        1, "files of hits that one worker sends at a time to a client without a key or a login"
    )
    threads: int = _setting(64, "requests that one worker handles at a time, including those that wait", 4)
    workers: int = _setting(1, "server processes")
    rate: str = _setting("", "requests that each client may make, such as 60/minute; empty: no limit")
    cors_origins: str = _setting(
        "", "origins whose pages may use the API, such as https://example.org, with blanks between; *: any"
    )
    proxies: int = _setting(
        0, "trusted proxies in front, which set X-Forwarded-For, -Proto, -Host, -Prefix", 0
    )
    title: str = _setting("esr", "the name at the head of each page")
    motto: str = _setting("Sentences of the news", "what stands beside the name")
    language: str = _setting(
        "en", "language of the pages for readers whose browser asks for none of en, de, fr, es and ar"
    )
    logo: str = _setting("", "file with a picture that stands before the name: SVG, PNG, WebP or JPEG")
    note: str = _setting("", "a note on the first page, such as who offers the collection and whom to ask")
    examples: str = _setting(
        "", "example queries on the first page, with | between them; empty: chosen from the collection"
    )
    desk: str = _setting(
        "",
        "file of the dossiers and saved searches of people, or address of PostgreSQL; empty: none are kept",
    )
    desk_links: str = _setting(
        "login",
        "what a link to a dossier shows: login: what its reader may search; maker: what its maker may search",
    )
    alert_to: str = _setting(
        "",
        "targets that people may give to alerts, as patterns with spaces between them, such as "
        "mailto:*@example.org; empty: none",
    )
    access: str = _setting("", "file of esr keys with those who may search; empty: anybody may")
    secret_file: str = _setting(
        "", "file with at least 32 random characters that sign the cookies of logins; empty: no logins"
    )
    session_hours: float = _setting(12.0, "hours after which somebody must log in again", 0.01)
    session_idle_hours: float = _setting(
        4.0, "hours without a request after which somebody must log in again", 0.01
    )
    plain_http: int = _setting(
        0, "1: browsers may send the cookie of a login over HTTP without TLS, for trying it out", 0
    )
    hsts: int = _setting(
        1,
        "1: over TLS, answers tell browsers to use TLS alone for this host and those below; 0: they do not",
        0,
    )
    oidc_issuer: str = _setting("", "address of a provider of OpenID Connect where people log in")
    oidc_client: str = _setting("", "id of this server at the provider")
    oidc_secret_file: str = _setting("", "file with the secret of this server at the provider")
    oidc_claim: str = _setting(
        "email", "claim of the provider with the name of a person, as in the file of keys"
    )
    oidc_groups_claim: str = _setting(
        "groups", "claim of the provider with the groups of a person, who share dossiers"
    )
    user_header: str = _setting(
        "", "header in which a proxy that authenticates names the person, such as X-Forwarded-User"
    )
    user_header_from: str = _setting(
        "", "addresses or networks of the proxies whose header is believed, with blanks between"
    )
    groups_header: str = _setting(
        "", "header in which that proxy names the groups of the person, with commas between"
    )
    audit_queries: int = _setting(0, "1: audit lines include the arguments of the address; 0: they do not", 0)
    query_log: str = _setting("", "file to which each query is appended with its number of hits; empty: none")
    access_log: int = _setting(1, "1: log each request as a line of JSON on standard error; 0: do not", 0)

    @classmethod
    def table(cls) -> list[Setting]:
        """All settings, for help texts and documents."""
        return [
            Setting(f.name, f.default, f.metadata["help"], f.metadata["minimum"])  # type: ignore[arg-type]
            for f in fields(cls)
        ]

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> Settings:
        """The settings of the environment, defaults for the others. Raises UsageError for a bad value."""
        values: dict[str, Any] = {}
        for row in cls.table():
            text = variables.get(row.variable, "").strip()
            if text:
                values[row.name] = _parse(row, text)
        return cls(**values)


def _parse(row: Setting, text: str) -> int | float | str:
    kind = type(row.default)
    if kind is str:
        return text
    number = "a whole number" if kind is int else "a number"
    try:
        value: int | float = kind(text)  # type: ignore[assignment]
    except ValueError:
        raise UsageError(f"{row.variable} must be {number}, not {text!r}") from None
    if not row.minimum <= value <= _MAXIMUM:
        raise UsageError(f"{row.variable} must be {number} from {row.minimum:g} to {_MAXIMUM:,}, not {text}")
    return value


DEFAULT_NAME = "index"
"""The name of an index that is served without a name."""
_NAMED = re.compile(r"([a-z][a-z0-9_-]*)=(.+)")


def parse_locations(text: str) -> dict[str, str]:
    """Locations by name, from one location or `name=where name=where …`. Raises UsageError."""
    if not _NAMED.match(text.strip()):
        return {DEFAULT_NAME: text}
    locations: dict[str, str] = {}
    for part in text.split():
        match = _NAMED.fullmatch(part)
        if match is None:
            raise UsageError(f"cannot read {redact(part)!r}: give several indexes as name=where name=where")
        name, where = match.groups()
        if name in locations:
            raise UsageError(f"two indexes have the name {name!r}: give each its own name")
        locations[name] = where
    return locations


ANY_ORIGIN = "*"


def parse_origins(text: str) -> frozenset[str]:
    """The origins in a setting, separated by blanks. Raises UsageError."""
    origins = frozenset(text.split())
    for origin in origins - {ANY_ORIGIN}:
        scheme, _, host = origin.partition("://")
        if scheme not in ("http", "https") or not host or "/" in host:
            raise UsageError(
                f"cannot read ESR_CORS_ORIGINS {origin!r}: give origins such as https://example.org"
            )
    return origins


COUNTS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder in which prometheus_client collects the counts of all workers."""


@contextmanager
def shared_folder(workers: int) -> Iterator[Path | None]:
    """Create the folder that workers share, if there are several. It is deleted at the end.

    Its subfolder `metrics` becomes the value of COUNTS_FOLDER.
    """
    if workers == 1:
        yield None
        return
    with scratch_folder("serve") as folder:
        metrics = folder / "metrics"
        metrics.mkdir()
        with set_environment({COUNTS_FOLDER: str(metrics)}):
            yield folder
