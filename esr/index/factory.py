"""Opens an index, or what changes one, by its location: a folder or `http(s)://host:port/alias`.

An engine is imported when it is first used, so that a user of one does not load the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from esr.errors import UsageError, unknown
from esr.index.contract import Index
from esr.index.generations import CopyReport, Generations, StoredPriors, Verification, verify_generations
from esr.index.login_variables import redact
from esr.index.writer import IF_EXISTS, PROFILES, Delivery, Description, IndexWriter, LoadOptions, Migration
from esr.stdlib import import_lazily
from esr.text.analyzer import get_analyzer
from esr.text.periods import check_division

if TYPE_CHECKING:
    from esr.elastic import api_keys, location
    from esr.elastic import copies as elastic_copies
    from esr.elastic import index as elastic_index
    from esr.elastic import requests as elastic_requests
    from esr.elastic import tables as elastic_tables
    from esr.elastic.write import delivery as elastic_delivery
    from esr.elastic.write import maintenance as elastic_maintenance
    from esr.elastic.write import writer as elastic_writer
    from esr.folder import index as folder_index
    from esr.folder.write import delivery as folder_delivery
    from esr.folder.write import folder_writer
    from esr.folder.write import maintenance as folder_maintenance
else:
    api_keys = import_lazily("esr.elastic.api_keys")
    elastic_copies = import_lazily("esr.elastic.copies")
    elastic_delivery = import_lazily("esr.elastic.write.delivery")
    elastic_index = import_lazily("esr.elastic.index")
    elastic_requests = import_lazily("esr.elastic.requests")
    elastic_tables = import_lazily("esr.elastic.tables")
    elastic_maintenance = import_lazily("esr.elastic.write.maintenance")
    elastic_writer = import_lazily("esr.elastic.write.writer")
    folder_delivery = import_lazily("esr.folder.write.delivery")
    folder_index = import_lazily("esr.folder.index")
    folder_maintenance = import_lazily("esr.folder.write.maintenance")
    folder_writer = import_lazily("esr.folder.write.folder_writer")
    location = import_lazily("esr.elastic.location")

__all__ = [
    "IF_EXISTS",
    "LoadOptions",
    "back_up_index",
    "create_api_key",
    "describe_index",
    "has_copies",
    "has_table",
    "is_elasticsearch",
    "is_restore_unfinished",
    "open_delivery",
    "open_generations",
    "open_index",
    "open_migration",
    "open_priors",
    "open_writer",
    "restore_index",
    "role_descriptors",
    "store_search_template",
    "verify_index",
]


Where = str | PathLike[str]
"""A folder, or `http(s)://host:port/alias` of Elasticsearch."""


def read_where(where: Where) -> str:
    """A location as a string. Raises UsageError."""
    path = fspath(where) if isinstance(where, PathLike) else where
    if not isinstance(path, str) or not path.strip():
        raise UsageError(f"an index is a folder or http(s)://host:port/alias, not {where!r}")
    return path


def is_elasticsearch(where: str) -> bool:
    """Whether a location is in Elasticsearch rather than a folder. Raises UsageError if it is neither."""
    if where.startswith(("http://", "https://")):
        return True
    if "://" in where:
        raise UsageError(f"{redact(where)!r} is neither a folder nor http(s)://host:port/alias")
    if re.match(r"[\w.-]+:\d{2,5}/[a-z]", where):
        raise UsageError(f"{where!r} has no http:// or https://: write http://{where} for Elasticsearch")
    return False


def open_index(where: str) -> Index:
    """Open the index at this location. Raises IndexMissing, IndexUnusable or EngineUnreachable."""
    if is_elasticsearch(where):
        return elastic_index.ElasticsearchIndex(where)
    return folder_index.EmbeddedIndex(where)


def open_writer(where: str, options: LoadOptions) -> IndexWriter:
    """Open a writer that loads into this location. Raises UsageError if the options do not fit its index."""
    if options.if_exists not in IF_EXISTS:
        raise unknown("choice for --if-exists", options.if_exists, IF_EXISTS)
    if options.profile is not None and options.profile not in PROFILES:
        raise unknown("profile", options.profile, PROFILES)
    if options.by is not None:
        check_division(options.by)
    in_elasticsearch = is_elasticsearch(where)
    if not in_elasticsearch:
        _check_folder_options(options)
    if options.slice is not None and options.if_exists == "append":
        raise UsageError(
            "a slice cannot be appended, since slices make a new generation: "
            "use --if-exists replace, or esr append"
        )
    engine = _writer_of(where)
    existing = engine.describe_existing(where, options.if_exists)
    if existing is not None and options.if_exists == "fail":
        raise UsageError(
            f"there is an index at {redact(where)} already: use --if-exists replace or --if-exists append"
        )
    append = existing is not None and options.if_exists == "append"
    description = _resolve_description(where, options, existing if append else None)
    writer: IndexWriter = engine.create_writer(where, description, options, append)
    return writer


def describe_index(where: str) -> Description | None:
    """The description of an index, read without opening it. None if there is none. Raises as `open_index`."""
    description: Description | None = _writer_of(where).describe_existing(where, "append")
    return description


def _writer_of(where: str) -> ModuleType:
    """The module with the writer of the engine."""
    return elastic_writer if is_elasticsearch(where) else folder_writer


def open_delivery(where: str, options: LoadOptions) -> Delivery:
    """Open a delivery to the index at this location. Raises IndexMissing if there is none."""
    if is_elasticsearch(where):
        return elastic_delivery.ElasticsearchDelivery(where, options)
    return folder_delivery.EmbeddedDelivery(where, options.keep)


def has_table(where: str) -> bool:
    """Whether the index at this location has a table of vectors, without opening it."""
    return (
        elastic_tables.has_table(where) if is_elasticsearch(where) else folder_delivery.has_table(Path(where))
    )


def has_copies(where: str) -> bool:
    """Whether copies were looked for in the index at this location, without opening it."""
    if is_elasticsearch(where):
        return elastic_copies.is_compared(where)
    return folder_delivery.has_copies(Path(where))


def open_generations(where: str) -> Generations:
    """The generations at this location. Raises IndexMissing or IndexUnusable."""
    if is_elasticsearch(where):
        return elastic_maintenance.ElasticsearchGenerations(where)
    return folder_maintenance.EmbeddedGenerations(where)


def open_priors(where: str) -> StoredPriors:
    """The stored importance priors of the index at this location. Raises IndexMissing or IndexUnusable."""
    if is_elasticsearch(where):
        return elastic_maintenance.ElasticsearchPriors(where)
    return folder_maintenance.EmbeddedPriors(where)


def open_migration(where: str, options: LoadOptions) -> Migration:
    """Open a migration of an index to the current format. Raises IndexMissing or IndexUnusable."""
    if is_elasticsearch(where):
        return elastic_maintenance.ElasticsearchMigration(where, options)
    return folder_writer.EmbeddedMigration(where, options.keep)


def verify_index(
    where: str, *, fast: bool, slice: tuple[int, int] | None = None, workers: int = 1
) -> Verification:
    """Find damage in an index. Elasticsearch compares the checksums of its files itself.

    For a folder, `workers` threads read, and `slice` (i, n) is the i-th of n slices of its segments and
    layers. Raises UsageError for these in Elasticsearch.
    """
    if is_elasticsearch(where):
        if slice is not None or workers > 1:
            raise UsageError(
                "--slice and --workers are for folders: each node of Elasticsearch compares the checksums of "
                "its own files, so run esr verify once, without them"
            )
        with closing(open_generations(where)) as generations:
            return verify_generations(generations.all(), elastic_tables.find_damage(where))
    return folder_maintenance.verify(Path(where), fast=fast, slice=slice, workers=workers)


def back_up_index(
    where: str, target: str, *, copy: bool, slice: tuple[int, int] | None = None, workers: int = 1
) -> CopyReport:
    """Bring the backup of an index folder up to date, or copy a slice into it. `workers` threads copy.

    Raises UsageError for Elasticsearch.
    """
    return folder_maintenance.back_up(
        _folder(where), _folder(target), copy=copy, slice=slice, workers=workers
    )


def restore_index(
    backup: str,
    where: str,
    *,
    copy: bool,
    fast: bool = False,
    slice: tuple[int, int] | None = None,
    workers: int = 1,
) -> CopyReport:
    """Restore an index folder from its backup, or copy a slice into it. `workers` threads copy.

    With `fast`, files that are there already are compared by their sizes and times. Raises UsageError for
    Elasticsearch.
    """
    return folder_maintenance.restore(
        _folder(backup), _folder(where), copy=copy, fast=fast, slice=slice, workers=workers
    )


def is_restore_unfinished(where: str) -> bool:
    """Whether a folder has what a killed restoration or slices of one have copied, and no index yet."""
    return not is_elasticsearch(where) and folder_maintenance.is_restore_unfinished(Path(where))


def role_descriptors(aliases: Sequence[str], roles: Sequence[str]) -> dict[str, Any]:
    """What these roles need for aliases, or locations, by role and as Elasticsearch's security API takes it.

    Raises UsageError for a malformed alias.
    """
    return api_keys.role_descriptors(list(map(location.parse_alias, aliases)), roles)


def create_api_key(where: str, role_descriptors: Mapping[str, Any], patience: float = 0.0) -> str:
    """Create an API key with these roles and return it as ESR_API_KEY takes it.

    Keep trying for `patience` seconds while Elasticsearch is starting. Raises EsrError if the login may not
    create API keys.
    """
    return api_keys.issue_api_key(where, role_descriptors, patience)


def store_search_template(where: str, source: str) -> str:
    """Store a search template for other applications, and return its name, `esr-` and the alias.

    `where` is in Elasticsearch. Raises UsageError if the server stores no templates.
    """
    return elastic_requests.store_search_template(where, source)


def _folder(where: str) -> Path:
    if is_elasticsearch(where):
        raise UsageError(
            "esr backup and esr restore are for folders: take a snapshot of Elasticsearch (docs/cluster.md), "
            "or use esr export"
        )
    return Path(where)


def _check_folder_options(options: LoadOptions) -> None:
    """Raise UsageError for an option that only Elasticsearch has."""
    for option in ("shards", "replicas", "profile"):
        if getattr(options, option) is not None:
            raise UsageError(f"--{option} is for Elasticsearch only: an index folder has no {option}")
    if options.slice is not None:
        raise UsageError(
            "--slice is for Elasticsearch only: an index folder has one writer, so load everything in one run"
        )


def _resolve_description(where: str, options: LoadOptions, existing: Description | None) -> Description:
    """The description that the options ask for or, when appending, that of the existing index."""
    if existing is None:
        analyzer = options.choose_analyzer() if options.analyzer is None else options.analyzer
        return Description(get_analyzer(analyzer).name, options.title is not False, by=options.by)
    if options.analyzer not in (None, existing.analyzer):
        raise UsageError(
            f"the index was loaded with --analyzer {existing.analyzer}: append with the same analyzer"
        )
    if options.title not in (None, existing.title):
        raise UsageError(
            f"the index was loaded with --{'' if existing.title else 'no-'}title: append with the same option"
        )
    if options.by not in (None, existing.by):
        how = "is not divided" if existing.by is None else f"was loaded with --by {existing.by}"
        raise UsageError(
            f"the index {how}: append without --by, or load everything again with --if-exists replace"
        )
    return existing
