"""Opens an index, or what changes one, by its location: a folder, or `http(s)://host:port/alias`."""

from __future__ import annotations

from esr import analysis
from esr.analysis.analyzer import DEFAULT as DEFAULT_ANALYZER
from esr.engines.delivery import Delivery
from esr.engines.generations import Generations
from esr.engines.index import Description, Index, IndexWriter, Migration
from esr.engines.options import IF_EXISTS, LoadOptions
from esr.engines.priors import StoredPriors
from esr.engines.redact import redacted
from esr.errors import UsageError, unknown

__all__ = [
    "IF_EXISTS",
    "LoadOptions",
    "is_elasticsearch",
    "open_delivery",
    "open_generations",
    "open_index",
    "open_migration",
    "open_priors",
    "open_writer",
]


def is_elasticsearch(where: str) -> bool:
    """Whether the place is Elasticsearch or, otherwise, a folder. Raises UsageError where it is neither."""
    if where.startswith(("http://", "https://")):
        return True
    if "://" in where:
        raise UsageError(f"{redacted(where)!r} is neither a folder nor http(s)://host:port/alias")
    return False


def open_index(where: str) -> Index:
    """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.index import ElasticsearchIndex

        return ElasticsearchIndex(where)
    from esr.engines.embedded.index import EmbeddedIndex

    return EmbeddedIndex(where)


def open_writer(where: str, options: LoadOptions) -> IndexWriter:
    """What loads into this place. Raises UsageError where the options do not fit what is there."""
    if options.if_exists not in IF_EXISTS:
        raise unknown("choice for --if-exists", options.if_exists, IF_EXISTS)
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.load import writer_factory as engine
    else:
        for option in ("shards", "replicas"):
            if getattr(options, option) is not None:
                raise UsageError(f"--{option} is for Elasticsearch: an index folder has none")
        if options.slice is not None:
            raise UsageError(
                "--slice is for Elasticsearch: an index folder has one writer, so load all of it by one load"
            )
        from esr.engines.segments.writer import folder_writer as engine  # type: ignore[no-redef]
    if options.slice is not None and options.if_exists == "append":
        raise UsageError("slices make a new generation: say --if-exists replace, or use esr append")
    existing = engine.existing(where)
    if existing is not None and options.if_exists == "fail":
        raise UsageError(
            f"there is an index at {redacted(where)}: say --if-exists replace or --if-exists append"
        )
    append = existing is not None and options.if_exists == "append"
    return engine.start(where, _description(options, existing if append else None), options, append)


def open_delivery(where: str, options: LoadOptions) -> Delivery:
    """What brings deliveries into the index at this place. Raises IndexMissing where there is none."""
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.maintenance.delivery import ElasticsearchDelivery

        return ElasticsearchDelivery(where, options)
    from esr.engines.embedded.maintenance.delivery import EmbeddedDelivery

    return EmbeddedDelivery(where, options.keep)


def open_generations(where: str) -> Generations:
    """What stands at this place. Raises IndexUnusable if it is nothing of esr's."""
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.maintenance.generations import ElasticsearchGenerations

        return ElasticsearchGenerations(where)
    from esr.engines.embedded.maintenance.generations import EmbeddedGenerations

    return EmbeddedGenerations(where)


def open_priors(where: str) -> StoredPriors:
    """The stored importance priors of the index at this place. Raises IndexMissing or IndexUnusable."""
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.maintenance.priors import ElasticsearchPriors

        return ElasticsearchPriors(where)
    from esr.engines.embedded.maintenance.priors import EmbeddedPriors

    return EmbeddedPriors(where)


def open_migration(where: str, options: LoadOptions) -> Migration:
    """What brings the index at this place to this esr's format. Raises IndexMissing or IndexUnusable."""
    if is_elasticsearch(where):
        from esr.engines.elasticsearch.maintenance.migration import ElasticsearchMigration

        return ElasticsearchMigration(where, options)
    from esr.engines.embedded.maintenance.migration import EmbeddedMigration

    return EmbeddedMigration(where, options.keep)


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
