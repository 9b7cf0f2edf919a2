"""The kinds of sources that `esr sync` fetches, with their keys in its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import click

import esr
from esr.plugin import Fetcher, SyncSource, UsageError
from esr.plugin.provisional import FILE, FileFilter
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


_WEB_OPTIONS = (
    click.option("--agent", default=f"esr/{esr.__version__}"),
    click.option("--delay", type=click.FloatRange(0, 3600), default=1.0),
    click.option("--max-seconds", type=click.FloatRange(0, 3600, min_open=True), default=30.0),
    click.option("--max-articles", type=click.IntRange(1), default=500),
    click.option("--recheck-hours", type=click.FloatRange(0), default=6.0),
    click.option("--retries", type=click.IntRange(0, 10), default=2),
    click.option("--private-networks", multiple=True, callback=_parse_networks),
)
"""How web feeds are fetched. These and the options of mailboxes and buckets are only keys of the file."""
_MAIL_OPTIONS = (
    click.option("--password-file", type=FILE),
    click.option("--password-variable", default="ESR_MAIL_PASSWORD"),
    click.option("--max-messages", type=click.IntRange(1), default=500),
    _WEB_OPTIONS[2],
)
_BUCKET_OPTIONS = (click.option("--max-files", type=click.IntRange(1), default=1000), _WEB_OPTIONS[2])


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
    _WEB_OPTIONS,
    _TEXTS,
    {"source_format": "jsonl", "make_id": "url"},
)
MAILBOXES = SyncSource(
    "mailboxes",
    "messages",
    "imaps://user@host/mailbox",
    _open_mailboxes,
    _MAIL_OPTIONS,
    _TEXTS,
    {"source_format": "eml"},
)
BUCKETS = SyncSource(
    "buckets", "files", "s3://bucket/prefix", _open_buckets, _BUCKET_OPTIONS, is_complete=True
)
