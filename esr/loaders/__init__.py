"""Loaders: one file a source format, and what finds and opens the files.

Importing this package registers every format. A new one is a file that ends in `register(Format(…))`
and a line here.
"""

from esr.loaders import feed, jsonl, mbox, newsml, nitf, page, parquet, reuters, table, text, trec, warc
from esr.loaders.base import FORMATS, Format, Malformed, PassedOver, Record, Source, get, register
from esr.loaders.sources import AUTO, Reading, documents

__all__ = [
    "AUTO",
    "FORMATS",
    "Format",
    "Malformed",
    "PassedOver",
    "Reading",
    "Record",
    "Source",
    "documents",
    "feed",
    "get",
    "jsonl",
    "mbox",
    "newsml",
    "nitf",
    "page",
    "parquet",
    "register",
    "reuters",
    "table",
    "text",
    "trec",
    "warc",
]
