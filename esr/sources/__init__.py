"""Sources that `esr sync` fetches: feeds and sitemaps of the web, mailboxes, buckets."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="sources",
    sources={
        "feeds": "esr.sources.kinds:FEEDS",
        "mailboxes": "esr.sources.kinds:MAILBOXES",
        "buckets": "esr.sources.kinds:BUCKETS",
    },
)
