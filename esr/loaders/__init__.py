"""Loaders of source formats, and the reader that finds, decompresses and reads source files.

Importing this package registers every format. To add one, write a file with a function that
`@loads(…)` registers, and import it here.
"""

from esr.loaders import (  # noqa: F401
    feed,
    html_page,
    jsonl,
    mail,
    table,
    text,
    warc,
)
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
    "find_files",
    "get",
    "read_documents",
    "read_file",
    "register",
]
