"""Loaders: one file a source format, and what finds and opens the files.

Importing this package registers every format. A new one is a file that ends in `register(Format(…))`
and a line here.
"""

from esr.loaders import jsonl, text, trec
from esr.loaders.base import FORMATS, Format, Record, Source, get, register
from esr.loaders.sources import AUTO, documents

__all__ = [
    "AUTO",
    "FORMATS",
    "Format",
    "Record",
    "Source",
    "documents",
    "get",
    "jsonl",
    "register",
    "text",
    "trec",
]
