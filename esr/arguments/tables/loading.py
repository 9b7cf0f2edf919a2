"""The arguments of loads and deliveries: how documents are read, and how an index is written and enriched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.arguments.argument import COMMAND, PYTHON, Argument
from esr.arguments.types import (
    Choice,
    FilePath,
    Flag,
    Named,
    Pairs,
    Percentage,
    Positive,
    Text,
    Texts,
    Type,
    WholeNumber,
)
from esr.index.generations import DEFAULT_KEEP
from esr.index.writer import DEFAULT_IF_EXISTS, DEFAULT_PROFILE, DEFAULT_WORKERS, IF_EXISTS, PROFILES
from esr.loaders.document_ids import DUPLICATE_POLICIES, MADE_ID_POLICIES, SAME_ID_POLICIES
from esr.loaders.fields import FIELDS
from esr.loaders.files import DEFAULT_LIMITS
from esr.text.periods import PERIODS

MAX_EMPTY = 50.0
"""Maximum percentage of documents without a sentence in a delivery, unless it says otherwise."""


def _describe(choices: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items())


def _row(name: str, help: str, type: Type, **settings: Any) -> Argument:
    return Argument(name, help, type, f"{COMMAND} {PYTHON}", **{"sets": name, **settings})


SOURCE: tuple[Argument, ...] = (
    _row(
        "format",
        "source format: see esr formats",
        Named(labels={"auto": "recognised by name and content"}, usual="auto"),
        sets="source_format",
    ),
    _row(
        "base",
        "make ids of files from their paths below this folder, instead of their full paths",
        FilePath(kind="any"),
        metavar="FOLDER",
    ),
    _row(
        "mapping",
        f"take a field ({', '.join(FIELDS)}) from a column with another name",
        Pairs(annotated="Mapping[str, str]"),
        sets="pairs",
        is_repeatable=True,
        metavar="FIELD=COLUMN",
    ),
    _row(
        "set",
        "give every document this value of a field or of its metadata (meta.desk=Berlin), in place of its "
        "own",
        Pairs(annotated="Mapping[str, Texts]"),
        sets="constants",
        is_repeatable=True,
        metavar="FIELD=VALUE",
    ),
    _row(
        "include",
        "read only these files of folders and archives: a name such as '*.json', or a path below the folder",
        Texts(),
        is_repeatable=True,
        metavar="PATTERN",
    ),
    _row(
        "exclude",
        "skip these files, and everything in folders of this name",
        Texts(),
        is_repeatable=True,
        metavar="PATTERN",
    ),
    _row(
        "strict",
        "refuse files of folders and archives that no loader knows, instead of counting them",
        Flag(),
    ),
    _row(
        "id",
        "make ids for all documents, also for those that have one: " + _describe(MADE_ID_POLICIES),
        Choice(labels=MADE_ID_POLICIES),
        sets="make_id",
    ),
    _row(
        "encoding",
        "the encoding of text, JSON and tables, such as windows-1252. Default: UTF-8, or the encoding that "
        "their letters show",
        Text(),
        metavar="NAME",
    ),
    _row(
        "delimiter",
        "the character between the columns of a table, or tab. Default: found in the first row",
        Text(),
        metavar="CHAR",
    ),
    _row(
        "quote",
        "the character around fields of a table that contain the delimiter; none if there is none",
        Text(),
        metavar="CHAR",
    ),
    _row(
        "columns",
        "the names of a table's columns, if its first row is a document",
        Texts(),
        metavar="NAME,...",
    ),
    _row(
        "day_first",
        "the order of day and month in dates such as 05/03/2024, which are refused without it",
        Flag(is_on=None, opposite="month-first"),
    ),
    _row("detect_language", "detect the language of documents without one", Flag()),
    _row(
        "max_expansion",
        "how many times its size a packed file may unpack to",
        WholeNumber(usual=DEFAULT_LIMITS.expansion),
    ),
    _row(
        "max_unpacked",
        "how much a packed file may unpack to",
        Positive(usual=DEFAULT_LIMITS.unpacked / 2**30),
        metavar="GIB",
    ),
)
"""How a source is read. `esr sync` has them for each of its sources."""
DELIVERY: tuple[Argument, ...] = (
    _row(
        "same_id",
        "documents of one delivery with the same id but other content: " + _describe(SAME_ID_POLICIES),
        Choice(labels=SAME_ID_POLICIES, usual="refuse"),
    ),
    _row(
        "duplicates",
        "documents that repeat an earlier one, exactly or nearly: " + _describe(DUPLICATE_POLICIES),
        Choice(labels=DUPLICATE_POLICIES, usual="keep"),
    ),
    _row(
        "bad_documents",
        "list documents that cannot be loaded, with the reason, in FILE (JSON Lines), and load the others; "
        "exit status 1",
        FilePath(),
        metavar="FILE",
    ),
    _row(
        "allow_empty_documents",
        "refuse a delivery of which more than this share of documents has no sentence",
        Percentage(usual=MAX_EMPTY),
    ),
)
"""How the documents of all sources together are treated."""
WRITING: tuple[Argument, ...] = (
    _row(
        "keep",
        "keep this many generations beside the new one, for esr rollback",
        WholeNumber(low=0, high=1_000, most=1_000, usual=DEFAULT_KEEP),
    ),
    _row(
        "workers",
        "send this many bulk requests at the same time (Elasticsearch only)",
        WholeNumber(high=64, most=64, usual=DEFAULT_WORKERS),
    ),
)
"""How a new generation is written."""
NEW_INDEX: tuple[Argument, ...] = (
    _row(
        "analyzer",
        "how text becomes terms: one of esr analyzers, or auto (default), which chooses by the languages of "
        "a sample of the documents",
        Text(),
    ),
    _row(
        "title",
        "count a title's terms in its document's context (default)",
        Flag(is_on=None, opposite="no-title"),
    ),
    _row(
        "by",
        "divide the new index by the dates of its documents, so that a delivery writes, a filter by date "
        "reads and esr remove --before drops only some periods. Default: not divided",
        Choice(labels=PERIODS),
    ),
    _row("shards", "shards of the new index (Elasticsearch only)", WholeNumber(high=1_024, most=1_024)),
    _row(
        "replicas",
        "copies of each shard (Elasticsearch only). Default: one if there is a second node",
        WholeNumber(low=0, high=10, most=10),
    ),
)
"""Settings of an index that does not exist yet."""
LOAD: tuple[Argument, ...] = (
    _row(
        "if_exists",
        "what to do with an existing index; " + _describe(IF_EXISTS),
        Choice(labels=IF_EXISTS, usual=DEFAULT_IF_EXISTS),
    ),
    _row("resume", "resume an interrupted load of the same documents, if any", Flag()),
    _row(
        "merge",
        "merge the segments of the new index before it is served, for faster searches (Elasticsearch only)",
        Flag(is_on=True),
    ),
    _row(
        "impacts",
        "store bounds of each sentence's score by the default model, for faster searches by it. The index is "
        "a third larger with them (Elasticsearch only)",
        Flag(is_on=True),
        sets="precomputed_mixture",
    ),
    _row(
        "profile",
        f"what the new index is made for (Elasticsearch only). Default: {DEFAULT_PROFILE}. "
        + _describe(PROFILES),
        Choice(labels=PROFILES),
    ),
    _row(
        "meaning",
        "fit a table of vectors to the documents. Default: to at least 2,000 sentences, if the encoder is on "
        "this machine",
        Flag(is_on=None, opposite="no-meaning"),
    ),
)
"""How a new index is loaded."""
LOADING = (*SOURCE, *DELIVERY, *WRITING, *NEW_INDEX, *LOAD)
ROWS: Mapping[str, Argument] = {row.name: row for row in LOADING}
"""All of them by name."""
