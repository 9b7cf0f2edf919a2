"""The plug-in of esr itself for the sources that `esr sync` fetches."""

from __future__ import annotations

from esr.plugin import Plugin

plugin = Plugin(
    name="sources",
    sources={
        "feeds": "esr.sources.kinds:FEEDS",
        "mailboxes": "esr.sources.kinds:MAILBOXES",
        "buckets": "esr.sources.kinds:BUCKETS",
    },
)
