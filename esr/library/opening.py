"""The functions of the Python API: they open or create indexes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from os import fspath
from typing import TYPE_CHECKING, Unpack

from esr.errors import UsageError
from esr.index.factory import Where
from esr.library.options import LoadOptions, LoginOptions, check_names
from esr.library.public_index import Index, load_index, read_login
from esr.query import ParsedQuery, parse

if TYPE_CHECKING:
    from esr.library.asynchronous import AsyncIndex


def open(where: Where, **login: Unpack[LoginOptions]) -> Index:
    """Open an index: a folder, or `http(s)://host:port/alias` of Elasticsearch.

    Raises UsageError, IndexMissing, IndexUnusable or EngineUnreachable.
    """
    check_names(login, LoginOptions.__annotations__)
    return Index(where, read_login(login))


def open_async(where: Where, **login: Unpack[LoginOptions]) -> AsyncIndex:
    """Return an index for programs that use asyncio, with the arguments of `open`.

    `async with` or `await` opens it, and raises the errors of `open`.
    """
    from esr.library.asynchronous import AsyncIndex  # imports asyncio

    return AsyncIndex(partial(open, where, **login))


def create(where: Where, rows: Iterable[object], **options: Unpack[LoadOptions]) -> Index:
    """Make an index of rows, and open it. All rows are loaded, or none after an error.

    A row is a mapping, or an object with fields (a dataclass, a named tuple, a struct of msgspec, a model of
    pydantic, an `esr` document); `rows` is an iterable of them, such as a list or a generator, or a table of
    pandas, polars or pyarrow. A row has `text`, or `sentences`; `id`, `title`, `date`, `source`, `url`,
    `language`, `authors`, `section` and `keywords` are optional, and other keys are kept as metadata. Known
    other names, such as `body` for the text, are understood; `index.report.notes` says which were. `options`
    are those of `LoadOptions`.

    Raises UsageError if there is an index already (see `if_exists`), and InputError with the number of a row
    that is wrong.
    """
    return load_index(where, rows, options)


def load(where: Where, *paths: Where, **options: Unpack[LoadOptions]) -> Index:
    """Make an index of files, folders and archives, in any format that `esr load` reads, and open it.

    `options` are those of `LoadOptions`. Raises UsageError if there is an index already (see `if_exists`),
    and InputError with the place of what is wrong.
    """
    from esr.library.loading import Files

    return load_index(where, Files(fspath(path) for path in paths), options)


def parse_query(text: str) -> ParsedQuery:
    """Parse the words, phrases and fields of a query in the query language."""
    if not isinstance(text, str):
        raise UsageError(f"a query is a text, not {text!r}")
    return parse(text)
