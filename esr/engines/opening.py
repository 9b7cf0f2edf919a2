"""Picks the engine by its place: a folder, or `http(s)://host:port/alias`."""

from __future__ import annotations

from dataclasses import dataclass

from esr import analysis
from esr.analysis.analyzer import DEFAULT as DEFAULT_ANALYZER
from esr.engines.index import Description, Index, Loading
from esr.errors import UsageError, unknown

IF_EXISTS = {
    "fail": "stop if there is an index already",
    "replace": "load anew, and let the new load take the place of the old in one step",
    "append": "add to what is there",
}


@dataclass(frozen=True)
class LoadOptions:
    """How to load. `analyzer` and `title` are those of the index where it is appended to.

    `shards` is for Elasticsearch alone.
    """

    if_exists: str = "fail"
    analyzer: str | None = None
    title: bool | None = None
    shards: int | None = None


def is_elasticsearch(where: str) -> bool:
    return where.startswith(("http://", "https://"))


def open_index(where: str) -> Index:
    """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.index import ElasticsearchIndex

        return ElasticsearchIndex(where)
    if "://" in where:
        raise UsageError(f"{where!r} is neither a folder nor http(s)://host:port/alias")
    from esr.engines.embedded.index import EmbeddedIndex

    return EmbeddedIndex(where)


def loading(where: str, options: LoadOptions) -> Loading:
    """What loads into this place. Raises UsageError where the options do not fit what is there."""
    if options.if_exists not in IF_EXISTS:
        raise unknown("choice for --if-exists", options.if_exists, IF_EXISTS)
    if is_elasticsearch(where):
        from esr.engines.elasticsearch import loading as engine
    elif "://" in where:
        raise UsageError(f"{where!r} is neither a folder nor http(s)://host:port/alias")
    else:
        if options.shards is not None:
            raise UsageError("--shards is for Elasticsearch: an index folder has none")
        from esr.engines.embedded import loading as engine  # type: ignore[no-redef]
    existing = engine.existing(where)
    if existing is not None and options.if_exists == "fail":
        raise UsageError(f"there is an index at {where}: say --if-exists replace or --if-exists append")
    append = existing is not None and options.if_exists == "append"
    return engine.start(where, _description(options, existing if append else None), append, options.shards)


def _description(options: LoadOptions, kept: Description | None) -> Description:
    """What the load asks for, or, when appending, what the index has."""
    if kept is None:
        analyzer = analysis.get(options.analyzer or DEFAULT_ANALYZER).name
        return Description(analyzer, options.title is not False)
    if options.analyzer not in (None, kept.analyzer):
        raise UsageError(f"the index was loaded with --analyzer {kept.analyzer}: append with the same")
    if options.title not in (None, kept.title):
        raise UsageError(
            f"the index was loaded with --{'' if kept.title else 'no-'}title: append with the same"
        )
    return kept
