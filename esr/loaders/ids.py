"""Ids of documents, from what a source offers as one."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from esr.loaders.format import Source

_WHITESPACE = re.compile(r"\s+")


def make_id(text: str) -> str:
    """The text as an id. Ids are single words in run files, so blanks become "_"."""
    return _WHITESPACE.sub("_", text.strip())


def make_id_from_path(source: Source) -> str:
    """The id of a file's only document: the file's path without its extension."""
    return make_id(str(PurePosixPath(source.relative).with_suffix("")))
