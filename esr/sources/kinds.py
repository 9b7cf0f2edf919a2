"""The kinds of sources that `esr sync` fetches, with their keys in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import click

import esr
from esr.plugin import Fetcher, SyncSource, UsageError
from esr.plugin.provisional import ArgumentRow, FileFilter, build_option
from esr.plugin.provisional import argument_types as types
from esr.sources.buckets import BucketOptions, Buckets
from esr.sources.mailboxes import Mailboxes, MailOptions
from esr.sources.web import FeedOptions, WebFeeds, WebOptions


def _parse_networks(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(ip_network(value, strict=False) for value in values)
    except ValueError as error:
        raise click.BadParameter(f"{error}: write for example 10.1.0.0/16") from None


_MAX_SECONDS = ArgumentRow(
    "max_seconds",
    "seconds that an answer may take, or that a server may be silent",
    types.Positive(high=3600, usual=30.0),
)
_WEB = (
    ArgumentRow("agent", "the name in requests", types.Text(usual=f"esr/{esr.__version__}")),
    ArgumentRow("delay", "seconds between requests to a host", types.Between(high=3600, usual=1.0)),
    _MAX_SECONDS,
    ArgumentRow(
        "max_articles", "articles that are fetched for a source in one run", types.WholeNumber(usual=500)
    ),
    ArgumentRow(
        "recheck_hours", "hours after which a listed article is fetched again", types.Between(usual=6.0)
    ),
    ArgumentRow("retries", "how often a request is repeated", types.WholeNumber(low=0, most=10, usual=2)),
    ArgumentRow(
        "private_networks", "networks of private addresses to fetch from", types.Texts(), is_repeatable=True
    ),
)
"""How web feeds are fetched. These rows and those of mailboxes and buckets are only keys of the file."""
_MAIL = (
    ArgumentRow("password_file", "a file with the password", types.FilePath()),
    ArgumentRow("password_variable", "the variable with it", types.Text(usual="ESR_MAIL_PASSWORD")),
    ArgumentRow("max_messages", "messages that are fetched in one run", types.WholeNumber(usual=500)),
    _MAX_SECONDS,
)
_BUCKETS = (
    ArgumentRow("max_files", "files that are fetched in one run", types.WholeNumber(usual=1000)),
    _MAX_SECONDS,
)
_SETTINGS: Mapping[str, Mapping[str, Any]] = {"private_networks": {"callback": _parse_networks}}


def _build_options(rows: Iterable[ArgumentRow]) -> list[Callable[[Any], Any]]:
    return [build_option(row, **_SETTINGS.get(row.name, {})) for row in rows]


def _open_feeds(urls: Sequence[str], folder: Path, values: Mapping[str, Any]) -> Fetcher:
    for url in urls:
        if not url.startswith(("https://", "http://")):
            raise UsageError(f"{url!r} does not begin with https:// or http://")
    names = ("agent", "delay", "max_seconds", "retries", "private_networks")
    web = WebOptions(*(values[name] for name in names))
    return WebFeeds(urls, folder, FeedOptions(web, values["max_articles"], values["recheck_hours"]))


def _open_mailboxes(urls: Sequence[str], folder: Path, values: Mapping[str, Any]) -> Fetcher:
    names = ("password_file", "password_variable", "max_messages", "max_seconds")
    return Mailboxes(urls, folder, MailOptions(*(values[name] for name in names)))


def _open_buckets(urls: Sequence[str], folder: Path, values: Mapping[str, Any]) -> Fetcher:
    files = FileFilter(values["include"], values["exclude"])
    return Buckets(urls, folder, BucketOptions(files, values["max_files"], values["max_seconds"]))


_TEXTS = ("mapping", "set", "detect-language")
"""The keys for reading files that apply where each item is one text."""
FEEDS = SyncSource(
    "feeds",
    "articles",
    "https://…",
    _open_feeds,
    _build_options(_WEB),
    _TEXTS,
    {"source_format": "jsonl", "make_id": "url"},
)
MAILBOXES = SyncSource(
    "mailboxes",
    "messages",
    "imaps://user@host/mailbox",
    _open_mailboxes,
    _build_options(_MAIL),
    _TEXTS,
    {"source_format": "eml"},
)
BUCKETS = SyncSource(
    "buckets", "files", "s3://bucket/prefix", _open_buckets, _build_options(_BUCKETS), is_complete=True
)
