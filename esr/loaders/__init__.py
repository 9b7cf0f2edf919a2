"""Loaders of source formats, and the reader that finds, decompresses and reads source files.

Importing this package registers every format. To add one, write a file that ends in `register(Format(…))` and
import it here.
"""

from esr.loaders import (
    feed,
    jsonl,
    mail,
    mediawiki,
    newsml,
    ocr,
    office,
    page,
    parquet,
    pdf,
    press_databases,
    reuters,
    subtitles,
    table,
    tei,
    text,
    trec,
    warc,
)
from esr.loaders import jsonl as json_stream
from esr.loaders.files import FoundFile
from esr.loaders.format import (
    FORMATS,
    Format,
    Malformed,
    Record,
    Remark,
    Skipped,
    Source,
    UnknownFiles,
    get,
    register,
)
from esr.loaders.reader import AUTO, ReadOptions, find_files, read_documents, read_file

__all__ = [
    "AUTO",
    "FORMATS",
    "Format",
    "FoundFile",
    "Malformed",
    "ReadOptions",
    "Record",
    "Remark",
    "Skipped",
    "Source",
    "UnknownFiles",
    "feed",
    "find_files",
    "get",
    "json_stream",
    "jsonl",
    "mail",
    "mediawiki",
    "newsml",
    "ocr",
    "office",
    "page",
    "parquet",
    "pdf",
    "press_databases",
    "read_documents",
    "read_file",
    "register",
    "reuters",
    "subtitles",
    "table",
    "tei",
    "text",
    "trec",
    "warc",
]
